/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/emulator.c - starts and ends the emulator of a recipe; see emulator.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/clone.h>
#include <tools/tarn/goto/emulator.h>
#include <tools/tarn/goto/guest_memory.h>
#include <tools/tarn/goto/tracee.h>
#include <tools/tarn/source/source.h>
#include <unistd.h>

#define START_SECONDS 60.0
#define WORDS_MORE    10u

bool emulator_open(struct emulator *emulator, struct fail *fail)
{
    const char *parent = getenv("TMPDIR");

    *emulator = (struct emulator){.client = {.fd = -1}};
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

/* The recipe's command, with a gdb server and without consoles. */
static char **make_command(const struct recipe *recipe, const struct emulator *emulator, struct arena *arena)
{
    char **words = arena_alloc(arena, (recipe->command_count + WORDS_MORE) * sizeof(char *)), **to = words;
    char server[EMULATOR_PATH_MAX + 40];

    for (size_t i = 0; i < recipe->command_count; i++)
        *to++ = (char *)recipe->command[i];
    snprintf(server, sizeof(server), "unix:%s,server=on,wait=off", emulator->socket_path);
    *to++ = "-S", *to++ = "-gdb", *to++ = arena_string(arena, server, strlen(server));
    *to++ = "-display", *to++ = "none", *to++ = "-serial", *to++ = "null";
    return words;
}

/* Reports the first line that the ended emulator printed. */
static bool fail_start(const struct emulator *emulator, struct fail *fail)
{
    char line[300] = "";
    FILE *log = fopen(emulator->log_path, "re");

    if (log != NULL) {
        if (fgets(line, sizeof(line), log) != NULL)
            line[strcspn(line, "\n")] = '\0';
        fclose(log);
    }
    return fail_set(fail, "the emulator does not start: %s", line[0] ? line : "it printed nothing");
}

static bool has_ended(struct emulator *emulator)
{
    if (emulator->pid > 0 && child_has_ended(emulator->pid))
        emulator->pid = 0;
    return emulator->pid == 0;
}

/* Waits until its gdb server accepts the connection: the socket exists a moment before QEMU listens. */
static bool connect_server(struct emulator *emulator, struct fail *fail)
{
    double until = now_seconds() + START_SECONDS;

    while (!gdb_client_open(&emulator->client, emulator->socket_path, fail)) {
        gdb_client_close(&emulator->client);
        if (has_ended(emulator))
            return fail_start(emulator, fail);
        if (now_seconds() > until)
            return fail_set(fail, "the emulator has not started within %.0f s", START_SECONDS);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return true;
}

/* The guest's memory is one mapping of the emulator, which contains nothing else. */
static bool find_memory(struct emulator *emulator, struct fail *fail)
{
    char *said = gdb_client_monitor(&emulator->client, "gpa2hva 0", START_SECONDS, fail), line[400];
    const char *at = said != NULL ? strstr(said, " is 0x") : NULL;
    uint64_t base = at != NULL ? strtoull(at + strlen(" is "), NULL, 16) : 0, from, to;

    free(said);
    FILE *maps = process_file(emulator->pid, "maps", "re");
    emulator->bytes = 0;
    while (base != 0 && maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && from <= base && base < to)
            emulator->base = base, emulator->bytes = to - base;
    if (maps != NULL)
        fclose(maps);
    return emulator->bytes > 0 || fail_set(fail, "cannot find the guest's memory in the emulator");
}

static bool open_memory(struct emulator *emulator, struct fail *fail)
{
    emulator->memory = guest_memory_open(emulator->pid, emulator->base, emulator->bytes, fail);
    return emulator->memory != NULL;
}

bool emulator_start(struct emulator *emulator, const struct recipe *recipe, struct fail *fail)
{
    struct arena arena = {NULL};

    emulator_stop(emulator);
    unlink(emulator->socket_path);
    int log = open(emulator->log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (log >= 0)
        emulator->pid = child_start(make_command(recipe, emulator, &arena), log, SIGKILL);
    bool is_started = log >= 0 && emulator->pid > 0;
    if (!is_started)
        fail_set(fail, "cannot start the emulator: %s", strerror(errno));
    if (log >= 0)
        close(log);
    arena_free(&arena);
    if (!is_started) {
        emulator->pid = 0;
        return false;
    }
    return connect_server(emulator, fail) && find_memory(emulator, fail) && open_memory(emulator, fail);
}

bool emulator_start_at(struct emulator *emulator, const struct checkpoint *checkpoint,
                       struct freezer *freezer, struct fail *fail)
{
    int connection;

    emulator_stop(emulator);
    if (!checkpoint_visit(checkpoint, freezer, fail))
        return false;
    emulator->pid = freezer->pid;
    emulator->seconds = checkpoint->seconds;
    emulator->base = checkpoint->base, emulator->bytes = checkpoint->bytes;
    if (!child_adopt(emulator->pid, SIGKILL)) {
        tracee_end(emulator->pid);
        emulator->pid = 0;
        return fail_set(fail, "the emulator's copy cannot be kept: %s", strerror(errno));
    }
    bool ok = clone_reconnect(freezer, emulator->socket_path, &connection, fail);
    emulator->client = (struct gdb_client){.fd = connection}; /* acknowledgements are off, as before */
    return ok && open_memory(emulator, fail);
}

uint64_t emulator_word(const struct emulator *emulator, uint64_t place)
{
    uint64_t word = 0;
    struct memory_piece piece = {place, &word, sizeof(word)};
    struct fail ignored;

    return emulator->memory->class->read(emulator->memory, &piece, 1, &ignored) ? word : 0;
}

double emulator_seconds(const struct emulator *emulator)
{
    return emulator->seconds + process_seconds(emulator->pid);
}

void emulator_stop(struct emulator *emulator)
{
    if (emulator->memory != NULL)
        emulator->memory->class->close(emulator->memory);
    emulator->memory = NULL;
    gdb_client_close(&emulator->client);
    if (emulator->pid > 0 && emulator->kept > 0)
        tracee_end(emulator->pid); /* the process does not end before that thread */
    if (emulator->pid > 0)
        child_end(emulator->pid);
    emulator->pid = emulator->kept = 0;
    emulator->seconds = 0;
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
