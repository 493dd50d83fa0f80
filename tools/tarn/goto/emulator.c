/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/emulator.c - starts and ends the emulator of a recipe; see emulator.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/emulator.h>
#include <tools/tarn/source/source.h>
#include <unistd.h>

#define START_SECONDS  60.0
#define WORDS_MORE     14u
#define PATH_OF_FD_MAX 40u

bool emulator_open(struct emulator *emulator, struct fail *fail)
{
    const char *parent = getenv("TMPDIR");

    *emulator = (struct emulator){.client = {.fd = -1}, .memory_fd = -1};
    if (parent == NULL || *parent == '\0')
        parent = "/tmp";
    child_catch_signals();
    if (snprintf(emulator->directory, sizeof(emulator->directory), "%s/tarn-goto-XXXXXX", parent) >=
        (int)sizeof(emulator->directory)) {
        emulator->directory[0] = '\0';
        return fail_set(fail, "TMPDIR is too long for the path of a socket: %.200s", parent);
    }
    if (mkdtemp(emulator->directory) == NULL) {
        emulator->directory[0] = '\0';
        return fail_set(fail, "cannot make a directory in %s: %s", parent, strerror(errno));
    }
    snprintf(emulator->socket_path, sizeof(emulator->socket_path), "%s/gdb", emulator->directory);
    snprintf(emulator->log_path, sizeof(emulator->log_path), "%s/log", emulator->directory);
    snprintf(emulator->wish_path, sizeof(emulator->wish_path), "%s/wish", emulator->directory);
    return true;
}

/* For tarn and for its children. */
static void write_memory_path(const struct emulator *emulator, char path[PATH_OF_FD_MAX])
{
    snprintf(path, PATH_OF_FD_MAX, "/proc/%d/fd/%d", (int)getpid(), emulator->memory_fd);
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
    char memory[PATH_OF_FD_MAX], object[200], server[EMULATOR_PATH_MAX + 40];
    bool has_memory = false;

    write_memory_path(emulator, memory);

    for (size_t i = 0; i < recipe->command_count; i++) {
        made = with_memory(arena, recipe->command[i], memory);
        has_memory |= made != NULL;
        *to++ = made != NULL ? made : (char *)recipe->command[i];
    }
    if (!has_memory) {
        snprintf(object, sizeof(object), "memory-backend-file,id=ram,size=%.40s,mem-path=%s,share=on",
                 recipe->memory, memory);
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
        if (emulator_has_ended(emulator))
            return fail_start(emulator, fail);
        if (now_seconds() > until)
            return fail_set(fail, "the emulator does not start in %.0f s", START_SECONDS);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return true;
}

bool emulator_start(struct emulator *emulator, const struct recipe *recipe, struct fail *fail)
{
    struct arena arena = {NULL};
    char memory[PATH_OF_FD_MAX];

    emulator_stop(emulator);
    unlink(emulator->socket_path);
    emulator->memory_fd = memfd_create(EMULATOR_MEMORY_NAME, MFD_CLOEXEC);
    if (emulator->memory_fd < 0)
        return fail_set(fail, "there is no memory for the guest: %s", strerror(errno));
    int log = open(emulator->log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    emulator->pid = child_start(make_command(recipe, emulator, &arena), log, SIGKILL);
    close(log);
    arena_free(&arena);
    if (emulator->pid < 0) {
        emulator->pid = 0;
        return fail_set(fail, "cannot start the emulator: %s", strerror(errno));
    }
    if (!connect_server(emulator, fail))
        return false;
    write_memory_path(emulator, memory);
    emulator->memory = memory_ram.open(memory, fail);
    return emulator->memory != NULL;
}

bool emulator_has_ended(struct emulator *emulator)
{
    if (emulator->pid > 0 && child_has_ended(emulator->pid))
        emulator->pid = 0;
    return emulator->pid == 0;
}

void emulator_stop(struct emulator *emulator)
{
    if (emulator->memory != NULL)
        emulator->memory->class->close(emulator->memory);
    emulator->memory = NULL;
    if (emulator->memory_fd >= 0)
        close(emulator->memory_fd);
    emulator->memory_fd = -1;
    gdb_client_close(&emulator->client);
    if (emulator->pid > 0)
        child_end(emulator->pid);
    emulator->pid = 0;
}

void emulator_close(struct emulator *emulator)
{
    emulator_stop(emulator);
    unlink(emulator->socket_path);
    unlink(emulator->log_path);
    unlink(emulator->wish_path);
    if (emulator->directory[0] != '\0')
        rmdir(emulator->directory);
}
