/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/emulator.c - starts and ends the emulator of a recipe; see emulator.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/emulator.h>
#include <tools/tarn/source/source.h>
#include <unistd.h>

#define START_SECONDS 60.0
#define WORDS_MORE    14u

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number)
{
    interrupted = number;
}

bool emulator_is_interrupted(void)
{
    return interrupted != 0;
}

bool emulator_open(struct emulator *emulator, struct fail *fail)
{
    struct sigaction action = {.sa_handler = note_interrupt};
    const char *parent = getenv("TMPDIR");

    *emulator = (struct emulator){.client = {.fd = -1}};
    if (parent == NULL || strlen(parent) > 40)
        parent = "/tmp";
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    snprintf(emulator->directory, sizeof(emulator->directory), "%s/tarn-goto-XXXXXX", parent);
    if (mkdtemp(emulator->directory) == NULL) {
        emulator->directory[0] = '\0';
        return fail_set(fail, "cannot make a directory in %s: %s", parent, strerror(errno));
    }
    snprintf(emulator->memory_path, sizeof(emulator->memory_path), "%s/memory", emulator->directory);
    snprintf(emulator->socket_path, sizeof(emulator->socket_path), "%s/gdb", emulator->directory);
    snprintf(emulator->log_path, sizeof(emulator->log_path), "%s/log", emulator->directory);
    snprintf(emulator->wish_path, sizeof(emulator->wish_path), "%s/wish", emulator->directory);
    return true;
}

/* WORD with PATH in place of its mem-path; NULL: it has none. */
static char *with_memory(struct arena *arena, const char *word, const char *path)
{
    const char *at = strstr(word, "mem-path="), *rest;
    char *made;

    if (at == NULL)
        return NULL;
    at += strlen("mem-path=");
    rest = at + strcspn(at, ",");
    size_t room = (size_t)(at - word) + strlen(path) + strlen(rest) + 1;
    made = arena_alloc(arena, room);
    snprintf(made, room, "%.*s%s%s", (int)(at - word), word, path, rest);
    return made;
}

/* The recipe's, with memory, gdb server and consoles of our own. */
static char **make_command(const struct recipe *recipe, const struct emulator *emulator, struct arena *arena)
{
    char **words = arena_alloc(arena, (recipe->command_count + WORDS_MORE) * sizeof(char *)), **to = words,
         *made;
    char object[200], server[120];
    bool has_memory = false;

    for (size_t i = 0; i < recipe->command_count; i++) {
        made = with_memory(arena, recipe->command[i], emulator->memory_path);
        has_memory |= made != NULL;
        *to++ = made != NULL ? made : (char *)recipe->command[i];
    }
    if (!has_memory) {
        snprintf(object, sizeof(object), "memory-backend-file,id=ram,size=%.40s,mem-path=%s,share=on",
                 recipe->memory, emulator->memory_path);
        *to++ = "-object", *to++ = arena_string(arena, object, strlen(object));
        *to++ = "-machine", *to++ = "memory-backend=ram";
    }
    snprintf(server, sizeof(server), "unix:%s,server=on,wait=off", emulator->socket_path);
    *to++ = "-S", *to++ = "-gdb", *to++ = arena_string(arena, server, strlen(server));
    *to++ = "-display", *to++ = "none", *to++ = "-serial", *to++ = "null";
    return words;
}

/* The emulator's first words, of one that ended. */
static bool fail_start(const struct emulator *emulator, struct fail *fail)
{
    char line[300] = "";
    FILE *log = fopen(emulator->log_path, "re");

    if (log != NULL) {
        if (fgets(line, sizeof(line), log) != NULL)
            line[strcspn(line, "\n")] = '\0';
        fclose(log);
    }
    return fail_set(fail, "the emulator does not start: %s", line[0] ? line : "it says nothing");
}

/* Until its gdb server takes the connection: the socket is there a moment before it listens. */
static bool connect_server(struct emulator *emulator, struct fail *fail)
{
    double until = now_seconds() + START_SECONDS;

    while (!gdb_client_open(&emulator->client, emulator->socket_path, fail)) {
        gdb_client_close(&emulator->client);
        if (waitpid(emulator->pid, NULL, WNOHANG) == emulator->pid) {
            emulator->pid = 0;
            return fail_start(emulator, fail);
        }
        if (emulator_is_interrupted())
            return fail_set(fail, "interrupted");
        if (now_seconds() > until)
            return fail_set(fail, "the emulator does not start in %.0f s", START_SECONDS);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return true;
}

bool emulator_start(struct emulator *emulator, const struct recipe *recipe, struct fail *fail)
{
    struct arena arena = {NULL};

    emulator_stop(emulator);
    unlink(emulator->socket_path);
    unlink(emulator->memory_path); /* memory must be zeros */
    int log = open(emulator->log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    emulator->pid = child_start(make_command(recipe, emulator, &arena), log);
    close(log);
    arena_free(&arena);
    if (emulator->pid < 0) {
        emulator->pid = 0;
        return fail_set(fail, "cannot start the emulator: %s", strerror(errno));
    }
    if (!connect_server(emulator, fail))
        return false;
    emulator->memory = memory_ram.open(emulator->memory_path, fail);
    return emulator->memory != NULL;
}

void emulator_stop(struct emulator *emulator)
{
    if (emulator->memory != NULL)
        emulator->memory->class->close(emulator->memory);
    emulator->memory = NULL;
    gdb_client_close(&emulator->client);
    if (emulator->pid > 0) {
        kill(emulator->pid, SIGKILL);
        child_wait(emulator->pid);
    }
    emulator->pid = 0;
}

void emulator_close(struct emulator *emulator)
{
    emulator_stop(emulator);
    unlink(emulator->memory_path);
    unlink(emulator->socket_path);
    unlink(emulator->log_path);
    unlink(emulator->wish_path);
    if (emulator->directory[0] != '\0')
        rmdir(emulator->directory);
}
