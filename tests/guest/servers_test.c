/*
 * servers_test.c - tests the servers from a program in the guest: deaths at bad moments, hostile requests,
 * leaks. `servers_test ROLE` runs a child of the test.
 */
/* Heaps of the servers may grow. A leak of killed clients would be larger: dozens are killed. */
#define FRAMES_OF_SERVERS   512u
#define MEMORIES_OF_SERVERS 4u
#include "leak.h"
#include "run.h"

#include <servers/protocol/authority.h>
#include <servers/protocol/console.h>
#include <servers/protocol/fs.h>
#include <servers/protocol/proc.h>
#include <tarn/errno_of.h>
#include <tarn/server.h>
#include <tarn/trace_control.h>
#include <tests/guest/tap.h>
#include <time.h>

#define SELF     "/test/servers"
#define LABELLED "/test/labelled" /* `trace` under another name, which is used up */

static void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static int64_t ask(cap_t server, uint64_t label, uint64_t a, uint64_t b, uint64_t c)
{
    struct ipc_message message = {.label = label, .word = {a, b, c}};
    int64_t error = ipc_call(server, &message);
    return error < 0 ? -1000 + error : (int64_t)message.label;
}

/* ---- roles of child processes ---------------------------------------------------------------------- */

/* Random requests to all servers, with arguments that are often nearly valid. */
static int be_hostile(void)
{
    static const cap_t servers[] = {SLOT_FS, SLOT_CONSOLE, SLOT_PROC, SLOT_FS};
    static const uint64_t bases[] = {FS_OPEN, CONSOLE_WRITE, PROC_SPAWN, 0};
    struct ipc_message attach = {.label = SERVER_ATTACH};
    srand((unsigned)getpid());
    for (int i = 0; i < 3; i++) {
        attach.label = SERVER_ATTACH;
        ipc_call(servers[i], &attach);
    }
    for (int round = 0; round < REPEATS(10000); round++) {
        int which = rand() % 4;
        uint64_t label = bases[which] + (uint64_t)rand() % 28;
        /* Skip requests that end this process, others or the machine, that write, or that wait for ever. */
        if (label == PROC_EXIT || label == PROC_KILL || label == PROC_WAIT || label == PROC_CONNECT ||
            label == CONSOLE_WRITE || label == CONSOLE_READ || label == FS_UNLINK || label == FS_RENAME ||
            label == FS_TRUNCATE)
            continue;
        struct ipc_message message = {.label =
                                          rand() % 50 ? label : (uint64_t)rand() << 33 | (uint64_t)rand()};
        for (int i = 0; i < IPC_WORDS; i++) {
            uint64_t random = (uint64_t)rand() << 32 | (uint64_t)rand();
            message.word[i] = rand() % 3 == 0   ? random
                              : rand() % 2 == 0 ? (uint64_t)rand() % 8
                                                : SERVER_SPAN(rand() % 64, rand() % 70000, rand() % 70000);
        }
        if (rand() % 20 == 0)
            message.cap[rand() % IPC_CAPS] = SLOT_SPACE;
        if (ipc_call_deadline(servers[which], &message, deadline_after(2000000000)) == 0)
            for (int i = 0; i < IPC_CAPS; i++)
                if (message.cap[i])
                    sys_cap_close(message.cap[i]);
    }
    return 0;
}

static int play_role(const char *role)
{
    int ends[2];
    char byte;
    if (!strcmp(role, "exit7"))
        return 7;
    if (!strcmp(role, "sleeper"))
        sleep_ms(1000);
    if (!strcmp(role, "reader")) /* waits for ever on a pipe that it holds itself */
        return pipe(ends) || read(ends[0], &byte, 1) != 1;
    if (!strcmp(role, "parent")) /* exits without waiting for its child */
        return start_program(SELF, "sleeper") < 0;
    if (!strcmp(role, "hostile"))
        return be_hostile();
    if (!strcmp(role, "files"))
        for (int i = 0; i < 20; i++)
            if (open("/tmp/many", O_CREAT | O_RDWR, 0644) < 0)
                return 1;
    return 0;
}

struct figures {
    struct system_stats system;
    uint64_t files, handles;
};

static struct figures take_figures(void)
{
    struct ipc_message message = {.label = FS_STATFS};
    ipc_call(SLOT_FS, &message);
    return (struct figures){read_stats(), message.word[1], message.word[3]};
}

/* Servers reclaim shared buffers a moment after a client's death. */
static void check_settled(const struct figures *before, const char *what)
{
    const bool is_same = same_stats_soon(&before->system);
    const struct figures after = take_figures();
    check(is_same && after.files == before->files && after.handles == before->handles, "%s", what);
    printf("# %lu files, %lu handles; before %lu, %lu\n", after.files, after.handles, before->files,
           before->handles);
}

/* A running program does not see changes of its file. */
static void test_running_executable(void)
{
    static const char junk[65536];
    check(copy_file(SELF, "/tmp/executable"), "copy a program");
    pid_t pid = start_program("/tmp/executable", "sleeper");
    sleep_ms(50);
    int file = open("/tmp/executable", O_WRONLY);
    ssize_t written = 0;
    for (int i = 0; i < 4; i++)
        written += write(file, junk, sizeof(junk));
    close(file);
    check(pid > 0 && written == 4 * sizeof(junk), "overwrite it while it runs");
    sleep_ms(50);
    check(kill(pid, 0) == 0 && kill(pid, SIGKILL) == 0 && WTERMSIG(status_of(pid)) == SIGKILL,
          "the overwritten program still runs");
    check(start_program("/tmp/executable", "exit7") == -ENOEXEC,
          "a file that is no executable is not started");
    check(unlink("/tmp/executable") == 0, "remove it");
}

static void test_refused(void)
{
    check(ask(SLOT_FS, SERVER_CLIENT_EXIT, (uint64_t)getpid(), 0, 0) == -EPERM, "only proc reports deaths");
    check(ask(SLOT_FS, SERVER_INHERIT, 1, 2, 0) == -EPERM, "proc passes files on");
    check(ask(SLOT_FS, FS_READ, 12345, SERVER_SPAN(0, 0, 8), FS_HERE) == -EBADF, "an unknown handle");
    check(ask(SLOT_FS, FS_OPEN, SERVER_SPAN(65535, 0, 8), 0, 0) == -EFAULT, "another client's shared buffer");
    check(ask(SLOT_FS, FS_OPEN, SERVER_SPAN(0, 65535, 65535), 0, 0) == -EFAULT, "a span that is too long");
    check(ask(SLOT_PROC, PROC_KILL, 0xffffffffffull, 9, 0) == -ESRCH, "an unknown process");
    check(ask(SLOT_PROC, PROC_KILL, 1, 9, 0) < 0, "init cannot be killed");
    check(ask(SLOT_CONSOLE, 99, 0, 0, 0) == -ENOSYS, "an unknown request");
}

/* Everything that needs authority, by an ordinary program, which this is. */
static void test_authority(void)
{
    static char bytes[4096];
    posix_spawnattr_t attributes;
    unsigned held = 0, refused = 0;
    for (cap_t slot = 1; slot < 1000; slot++) {
        const int64_t info = sys_cap_info(slot);
        held += info >= 0 && (info >> 8 == CAP_TRACE || info >> 8 == CAP_MACHINE || info >> 8 == CAP_DEVICE);
    }
    check(held == 0, "an ordinary program holds neither the trace nor the machine nor a device");
    check(all_return(
              -E_BAD_CAP, sys_trace_control(SLOT_TRACE, TRACE_OP_STATEDUMP, 0, 0),
              sys_trace_consume(SLOT_TRACE, 0, 0), sys_trace_metadata(SLOT_TRACE, 0, 0, bytes, sizeof bytes),
              sys_trace_previous(SLOT_TRACE, bytes, sizeof bytes),
              sys_trace_previous_memory(SLOT_TRACE, 0, 0), sys_trace_sites(SLOT_TRACE, SLOT_SPACE, 0, 0, 0),
              sys_routines_read(SLOT_TRACE, 0, bytes, sizeof bytes)),
          "it cannot read or control the trace");
    check(all_return(-E_BAD_CAP, sys_machine_shutdown(SLOT_MACHINE, 1),
                     sys_machine_debug(SLOT_MACHINE, MACHINE_DEBUG_ENTER, 0),
                     sys_machine_console_read(SLOT_MACHINE, bytes, 1),
                     sys_machine_console_write(SLOT_MACHINE, "x", 1),
                     sys_machine_console_bind(SLOT_MACHINE, 0, 1), sys_irq_create(SLOT_MACHINE, 1),
                     sys_machine_device(SLOT_MACHINE, 0)),
          "it cannot use the machine");
    check(all_return(-E_BAD_CAP, sys_device_read(SLOT_DEVICE, 0, 4), sys_device_write(SLOT_DEVICE, 4, 2, 0),
                     sys_device_memory(SLOT_DEVICE, 0), sys_memory_create_contiguous(SLOT_DEVICE, 4096),
                     sys_memory_physical(SLOT_DEVICE, 0, 0),
                     sys_irq_create_message(SLOT_DEVICE, (struct irq_message *)bytes)),
          "nor a device or physical memory");
    posix_spawnattr_init(&attributes);
    for (unsigned i = 0; i < AUTHORITIES; i++) {
        posix_spawnattr_setauthority_np(&attributes, 1u << i);
        refused += start_words(WORDS(SELF, "exit7"), NULL, &attributes) == -EPERM;
    }
    posix_spawnattr_destroy(&attributes);
    check(refused == AUTHORITIES, "and cannot hand on what it does not hold");
}

/* The status of a program that controls the trace. */
#define CONTROL(path) run_program(path, "statedump")

static void test_labels(void)
{
    check(CONTROL(LABELLED) == 0, "a program has what the label of its file says");
    check(copy_file(LABELLED, "/tmp/copy") && CONTROL("/tmp/copy"), "a copy has no label");
    check(rename(LABELLED, "/tmp/copy") == 0 && CONTROL("/tmp/copy") == 0, "another name keeps it");
    int file = open("/tmp/copy", O_WRONLY | O_APPEND);
    check(write(file, "", 1) == 1 && CONTROL("/tmp/copy"), "a changed file has lost it");
    close(file);
    unlink("/tmp/copy");
}

static void test_hostile(void)
{
    pid_t pids[4];
    int good = 0;
    for (int i = 0; i < 4; i++)
        pids[i] = start_program(SELF, "hostile");
    for (int i = 0; i < 4; i++)
        good += status_of(pids[i]) == 0;
    check(good == 4, "the servers still reply after so many random requests");
}

static int64_t ask_executable(struct ipc_message *message, const struct shared_buffer *shared,
                              const char *path)
{
    memcpy(shared->base, path, strlen(path));
    *message = (struct ipc_message){.label = FS_EXECUTABLE, .word = {buffer_span(shared, 0, strlen(path))}};
    return ipc_call(SLOT_FS, message) < 0 ? -1000 : (int64_t)message->label;
}

enum { FULL_SLOTS = 65536, FULL_FILES = 20 };

/* All of this program's slots for capabilities are taken, and the capability of a reply finds none. It would
 * keep the memory of a file that is removed. */
static void test_full_table(void)
{
    cap_t *slots = malloc(FULL_SLOTS * sizeof *slots);
    char paths[FULL_FILES][32];
    struct shared_buffer shared;
    struct ipc_message message;
    int made = 0, full = 0;
    unsigned count = 0;
    check(slots && borrow_buffer(SLOT_FS, &shared) == 0, "memory and a shared buffer");
    for (int i = 0; i < FULL_FILES; i++) {
        snprintf(paths[i], 32, "/tmp/full%d", i);
        made += copy_file("/bin/true", paths[i]);
    }
    for (int64_t slot;
         count < FULL_SLOTS && (slot = sys_cap_copy(SLOT_SPACE, SLOT_FS, 0, RIGHT_SEND, 0)) > 0;)
        slots[count++] = (cap_t)slot;
    for (int i = 0; i < FULL_FILES; i++)
        full += ask_executable(&message, &shared, paths[i]) == -EMFILE && !message.caps;
    int64_t attached = ask(SLOT_FS, SERVER_ATTACH, 0, 0, 0);
    while (count)
        sys_cap_close(slots[--count]);
    check(made == FULL_FILES && full == FULL_FILES && attached == -EMFILE,
          "a client that has no slot for a capability gets EMFILE");
    check(ask_executable(&message, &shared, SELF) == 0 && message.cap[0],
          "and the capability once it has one");
    sys_cap_close(message.cap[0]);
    for (int i = 0; i < FULL_FILES; i++)
        unlink(paths[i]);
    return_buffer(&shared);
    free(slots);
}

/* Kills children at any point: starting, opening, waiting, exiting. */
static void test_kill_anywhere(void)
{
    static const char *const roles[] = {"reader", "sleeper", "files", "parent", "exit7", "hostile"};
    int good = 0;
    for (int round = 0; round < 60; round++) {
        pid_t pid = start_program(SELF, roles[round % 6]);
        if (round % 3)
            sleep_ms(round % 7);
        kill(pid, SIGKILL);
        good += status_of(pid) != -1;
    }
    check(good == 60, "60 children killed anywhere are all waited for");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return play_role(argv[1]);
    test_refused();
    test_authority();
    test_labels();
    test_full_table();
    test_hostile();
    test_running_executable(); /* the first run also makes what stays: shared buffers, heaps */
    test_kill_anywhere();
    close(open("/tmp/many", O_CREAT | O_RDWR, 0644));
    sleep_ms(2500); /* sleepers end, shared buffers are reclaimed */
    struct figures before = take_figures();
    test_running_executable();
    check_settled(&before, "programs and files leave nothing behind");
    test_kill_anywhere();
    check_settled(&before, "killed processes leave nothing behind");
    test_full_table();
    check_settled(&before, "the server does not keep what it could not send");
    return finish_tests();
}
