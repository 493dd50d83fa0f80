/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/clone.c - copies a stopped process with all its threads; see clone.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <tools/tarn/goto/clone.h>
#include <tools/tarn/goto/remote.h>
#include <tools/tarn/goto/tracee.h>
#include <unistd.h>

#define ALL_REGISTERS 0x202  /* with vector registers; the system's macro has the architecture in its name */
#define EXTENDED_MAX  16384u /* bytes of a thread's vector registers */
#define THREAD_MAX    0x900u /* size of glibc's thread control block, to which fs points */
#define ANY_STACK     16u    /* stack of a new thread until its registers are set */

#if __has_include(<asm/debugreg.h>) /* as freezer.c */

/* The state of a stopped thread. */
struct thread_state {
    struct user_regs_struct registers;
    uint8_t extended[EXTENDED_MAX];
    size_t extended_bytes;
    uint64_t mask;   /* of signals */
    uint64_t number; /* address of its thread ID in its program */
};

/* ---- reading a thread ---- */

/* Finds the thread ID, which glibc uses to send signals, and which the kernel clears when the thread ends. */
static uint64_t find_number(const struct remote *remote, uint64_t block, pid_t thread)
{
    int32_t words[THREAD_MAX / 4];
    ssize_t got = pread(remote->memory, words, sizeof(words), (off_t)block);

    for (ssize_t i = 0; i < got / 4; i++)
        if (words[i] == thread)
            return block + (uint64_t)i * 4;
    return 0;
}

static bool read_thread(struct thread_state *state, const struct remote *remote, pid_t thread)
{
    struct iovec extended = {state->extended, EXTENDED_MAX};

    if (!remote_settle(thread, &state->registers) ||
        ptrace(PTRACE_GETREGSET, thread, (void *)ALL_REGISTERS, &extended) != 0 ||
        ptrace(PTRACE_GETSIGMASK, thread, (void *)sizeof(state->mask), &state->mask) != 0)
        return false;
    state->extended_bytes = extended.iov_len;
    state->number = find_number(remote, state->registers.fs_base, thread);
    return state->number != 0;
}

static bool write_thread(struct thread_state *state, pid_t thread)
{
    struct iovec extended = {state->extended, state->extended_bytes};

    return ptrace(PTRACE_SETREGS, thread, NULL, &state->registers) == 0 &&
           ptrace(PTRACE_SETREGSET, thread, (void *)ALL_REGISTERS, &extended) == 0 &&
           ptrace(PTRACE_SETSIGMASK, thread, (void *)sizeof(state->mask), &state->mask) == 0;
}

/* ---- making a copy ---- */

/* The emulator excludes the guest's memory from forks; reverts that. */
static bool include_memory(const struct remote *remote, pid_t pid, struct fail *fail)
{
    char line[400], *flags;
    unsigned long from = 0, to = 0, begin, end;
    FILE *maps = process_file(pid, "smaps", "re");
    bool ok = true;

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        if (sscanf(line, "%lx-%lx %*s", &begin, &end) == 2)
            from = begin, to = end;
        else if (strncmp(line, "VmFlags:", 8) == 0 && (flags = strstr(line, " dc ")) != NULL)
            ok &= remote_system(remote, SYS_madvise, from, to - from, MADV_DOFORK) == 0;
    }
    if (maps != NULL)
        fclose(maps);
    return (ok && maps != NULL) || fail_set(fail, "the emulator does not let its memory be copied");
}

/* Makes a new process or thread with the state of the old one. 0: FAIL. */
static pid_t make_thread(const struct remote *remote, struct thread_state *state, unsigned long flags,
                         struct fail *fail)
{
    bool is_process = !(flags & CLONE_THREAD);
    unsigned long stack = is_process ? 0 : state->registers.rsp - ANY_STACK;
    pid_t made = 0;
    long got = remote_call(remote, SYS_clone,
                           (unsigned long[6]){flags | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID, stack, 0,
                                              state->number, state->registers.fs_base},
                           &made);

    if (got > 0 && made != 0 && write_thread(state, made) &&
        ptrace(PTRACE_SETOPTIONS, made, NULL, TRACEE_OPTIONS) == 0)
        return made;
    fail_set(fail, "the emulator cannot be copied: %s", strerror(got < 0 ? (int)-got : errno));
    if (made != 0 && is_process)
        tracee_end(made); /* the emulator was killed meanwhile */
    return 0;
}

static bool add_threads(struct freezer *to, struct thread_state *states, unsigned count, struct fail *fail)
{
    static const unsigned long flags =
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS;
    struct remote remote;
    bool ok = remote_open(&remote, to->pid, to->pid, fail);

    for (unsigned i = 1; ok && i < count; i++) {
        pid_t made = make_thread(&remote, &states[i], flags, fail);
        ok = made != 0;
        if (ok)
            to->threads[to->count++] = (struct freezer_thread){.id = made, .is_stopped = true};
    }
    remote_close(&remote);
    return ok;
}

/* Whether the emulator can be copied now: its main thread waits for files, and all others, except the last,
 * which executes the guest, wait for other threads. */
static bool can_be_copied(const struct thread_state *states, unsigned count)
{
    for (unsigned i = 0; i + 1 < count; i++)
        if (states[i].registers.rax != (i == 0 ? SYS_ppoll : SYS_futex))
            return false;
    return count > 1;
}

static bool copy(struct freezer *from, struct freezer *to, struct thread_state *states, bool *not_now,
                 struct fail *fail)
{
    struct remote remote;
    bool ok = remote_open(&remote, from->pid, from->threads[0].id, fail);

    for (unsigned i = 0; ok && i < from->count; i++)
        if (!read_thread(&states[i], &remote, from->threads[i].id))
            ok = fail_set(fail, "the emulator's threads cannot be read: %s", strerror(errno));
    *not_now = ok && !can_be_copied(states, from->count);
    pid_t pid = ok && !*not_now && include_memory(&remote, from->pid, fail)
                    ? make_thread(&remote, &states[0], CLONE_PARENT, fail)
                    : 0;
    remote_close(&remote);
    *to = (struct freezer){.pid = pid, .threads = {{.id = pid, .is_stopped = true}}, .count = pid != 0};
    if (pid == 0)
        return false;
    if (add_threads(to, states, from->count, fail))
        return true;
    tracee_end(pid);
    return false;
}

bool clone_make(struct freezer *from, struct freezer *to, bool *not_now, struct fail *fail)
{
    struct thread_state *states = alloc_zero(from->count, sizeof(*states));

    *not_now = false;
    bool ok = copy(from, to, states, not_now, fail);
    free(states);
    return ok;
}

/* ---- files of its own ---- */

/* Replaces descriptor TO by FROM. */
static bool replace(const struct remote *remote, long from, int to)
{
    return from >= 0 &&
           remote_system(remote, SYS_dup3, (unsigned long)from, (unsigned long)to, O_CLOEXEC) == to &&
           remote_system(remote, SYS_close, (unsigned long)from) == 0;
}

static bool replace_listener(const struct remote *remote, const char *path, int fd)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    long made = remote_system(remote, SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC);

    snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
    unlink(path);
    return made >= 0 && remote_put(remote, &name, sizeof(name)) &&
           remote_system(remote, SYS_bind, (unsigned long)made, remote->scratch, sizeof(name)) == 0 &&
           remote_system(remote, SYS_listen, (unsigned long)made, 1) == 0 && replace(remote, made, fd);
}

static bool replace_connection(const struct remote *remote, const char *path, int listener, int fd,
                               int *connection)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
    *connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*connection < 0 || connect(*connection, (struct sockaddr *)&name, sizeof(name)) != 0)
        return false;
    return replace(
        remote,
        remote_system(remote, SYS_accept4, (unsigned long)listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC), fd);
}

static bool is_listener(const struct remote *remote, int fd)
{
    uint32_t values[2] = {0, sizeof(values[0])}; /* the value, and its size */

    return remote_put(remote, values, sizeof(values)) &&
           remote_system(remote, SYS_getsockopt, (unsigned long)fd, SOL_SOCKET, SO_ACCEPTCONN,
                         remote->scratch, remote->scratch + sizeof(values[0])) == 0 &&
           remote_get(remote, values, sizeof(values)) && values[0] != 0;
}

/* Finds the sockets of its gdb server, and replaces event descriptors; their initial value wakes the threads
 * that wait for them. */
static bool find_files(const struct remote *remote, pid_t pid, int *listener, int *connection)
{
    char path[60], name[60];
    struct dirent *entry;
    bool ok = true;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *files = opendir(path);
    while (files != NULL && (entry = readdir(files)) != NULL) {
        int fd = atoi(entry->d_name);
        ssize_t length = readlinkat(dirfd(files), entry->d_name, name, sizeof(name) - 1);
        name[length > 0 ? length : 0] = '\0';
        if (strcmp(name, "anon_inode:[eventfd]") == 0)
            ok &= replace(remote, remote_system(remote, SYS_eventfd2, 1, EFD_CLOEXEC | EFD_NONBLOCK), fd);
        else if (strncmp(name, "socket:", 7) == 0)
            *(is_listener(remote, fd) ? listener : connection) = fd;
    }
    if (files != NULL)
        closedir(files);
    return ok && *listener >= 0 && *connection >= 0;
}

bool clone_reconnect(struct freezer *clone, const char *path, int *connection, struct fail *fail)
{
    int listener = -1, connected = -1;
    struct remote remote;

    *connection = -1;
    bool ok = remote_open(&remote, clone->pid, clone->threads[0].id, fail) &&
              ((find_files(&remote, clone->pid, &listener, &connected) &&
                replace_listener(&remote, path, listener) &&
                replace_connection(&remote, path, listener, connected, connection)) ||
               fail_set(fail, "the emulator's copy cannot get its own files: %s", strerror(errno)));
    remote_close(&remote);
    return ok;
}
#endif
