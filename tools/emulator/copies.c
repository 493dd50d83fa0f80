/*
 * copies.c - a library for LD_PRELOAD, beside icount_order.so, with which an emulator copies itself for
 * `tarn goto` (tools/tarn/goto/emulator.h).
 *
 * An emulator that is started with TARN_GOTO=PATH makes a copy of itself before the guest's first
 * instruction, and ends. A copy waits at the socket PATH. For each connection it forks a runner, which
 * executes the commands that come from there, and ends with the connection. A copy ends if nobody connects
 * for half an hour, and soon after PATH is deleted.
 *
 * The vCPUs' thread forks, between two turns of vCPUs, while it holds QEMU's lock. Nothing that decides the
 * run is in other threads: the main thread waits for the lock or for files, and begins its loop again in the
 * runner.
 *
 * A runner stops at a store to a word of the guest's memory: its page is read-only, a store there is executed
 * as a single step, and the thread waits for tarn if the word has changed.
 *
 * It needs an x86-64 host. On others it is empty, and `tarn goto` says so.
 */
#if __has_include(<asm/debugreg.h>) /* only x86 has it */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <tools/tarn/goto/copies.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE_BYTES    4096ul
#define LOOK_MS       5000 /* between two looks whether a copy's socket still exists */
#define LOOKS_MAX     360  /* half an hour */
#define STATE_PAUSED  4    /* QEMU's number of it */
#define CLOCK_VIRTUAL 1    /* QEMU's number of the guest's clock */
#define TRAP_FLAG     0x100

static int (*real_unlock)(pthread_mutex_t *);
static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*real_madvise)(void *, size_t, int);

/* Functions of QEMU, and of icount_order.so. */
static bool (*has_lock)(void), (*is_running)(void);
static void (*lock)(const char *, int), (*unlock)(void), (*rcu_enable_atfork)(void),
    (*rcu_register_thread)(void);
static int64_t (*get_clock)(int);
static int (*main_loop)(void), (*gdbserver_start)(const char *), (*vm_stop)(int);
static void (*icount_order_be_main)(void);

static const char *first;           /* path of the first copy's socket, until it is made */
static pthread_mutex_t *turn_mutex; /* the vCPUs' thread unlocks it between two turns */
static _Thread_local bool is_vcpu_thread, is_controller;
static uint8_t *memory; /* the guest's */
static size_t memory_bytes;

/* ---- of a runner ---- */
static int tarn = -1;          /* the connection */
static int wish[2] = {-1, -1}; /* pipe: gdb is wanted */
static char gdb_device[COPIES_PATH_MAX + 40];
static sem_t stopping;
static uint64_t until = UINT64_MAX; /* guest time at which to stop */
static uint64_t now;  /* guest time of the last stop between turns; elsewhere QEMU cannot tell it */
static uint8_t *page; /* read-only; NULL: none */
static uint64_t *watched, value;

int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int madvise(void *address, size_t bytes, int advice);
void exit(int status);

__attribute__((constructor)) static void start(void)
{
    static const struct {
        void *function;
        const char *name;
    } names[] = {{&has_lock, "qemu_mutex_iothread_locked"},
                 {&is_running, "runstate_is_running"},
                 {&lock, "qemu_mutex_lock_iothread_impl"},
                 {&unlock, "qemu_mutex_unlock_iothread"},
                 {&rcu_enable_atfork, "rcu_enable_atfork"},
                 {&rcu_register_thread, "rcu_register_thread"},
                 {&get_clock, "qemu_clock_get_ns"},
                 {&main_loop, "qemu_main_loop"},
                 {&gdbserver_start, "gdbserver_start"},
                 {&vm_stop, "vm_stop"},
                 {&icount_order_be_main, "icount_order_be_main"}};

    if (real_unlock != NULL)
        return;
    *(void **)&real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    *(void **)&real_wait = dlsym(RTLD_NEXT, "pthread_cond_wait");
    *(void **)&real_madvise = dlsym(RTLD_NEXT, "madvise");
    bool is_complete = real_wait != NULL;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        *(void **)names[i].function = dlsym(RTLD_DEFAULT, names[i].name);
        is_complete &= *(void **)names[i].function != NULL;
    }
    if (is_complete)
        first = getenv("TARN_GOTO");
}

static void say(enum copies_reply what)
{
    const struct copies_reply_packet packet = {.what = what,
                                               .pid = getpid(),
                                               .clock = now,
                                               .base = (uint64_t)(uintptr_t)memory,
                                               .bytes = memory_bytes};
    if (send(tarn, &packet, sizeof(packet), MSG_NOSIGNAL) != sizeof(packet))
        _exit(0);
}

/* ---- a runner ---- */

static void watch(uint64_t place)
{
    if (page != NULL)
        mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE);
    page = NULL;
    if (place >= memory_bytes)
        return;
    watched = (uint64_t *)(void *)(memory + place);
    value = *watched;
    page = memory + (place & ~(PAGE_BYTES - 1));
    mprotect(page, PAGE_BYTES, PROT_READ);
}

static bool make_copy(const char *path);

/* Executes commands up to the one that continues. */
static void obey(void)
{
    struct copies_command command;
    for (;;) {
        if (recv(tarn, &command, sizeof(command), 0) != sizeof(command))
            _exit(0);
        switch (command.what) {
        case COPIES_GO:
            until = command.until;
            watch(command.place);
            return;
        case COPIES_COPY:
            if (make_copy(command.path))
                return; /* in a runner, which has had its own commands */
            say(COPIES_STOPPED);
            break;
        case COPIES_END:
            kill(getppid(), SIGKILL);
            _exit(0);
        case COPIES_GDB: /* wait until the controller waits for this thread to stop */
            until = UINT64_MAX;
            watch(UINT64_MAX);
            snprintf(gdb_device, sizeof(gdb_device), "unix:%s,server=on,wait=off", command.path);
            if (write(wish[1], "", 1) != 1)
                _exit(0);
            while (sem_wait(&stopping) != 0)
                ;
            return;
        }
    }
}

static void on_fault(int number, siginfo_t *about, void *context)
{
    ucontext_t *at = context;
    uintptr_t address = (uintptr_t)about->si_addr & ~(PAGE_BYTES - 1);
    if (page == NULL || address != (uintptr_t)page) {
        signal(number, SIG_DFL);
        return;
    }
    mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE);
    at->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int number, siginfo_t *about, void *context)
{
    ucontext_t *at = context;
    (void)number, (void)about;
    at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    if (page == NULL)
        return;
    mprotect(page, PAGE_BYTES, PROT_READ);
    if (*watched == value)
        return;
    value = *watched;
    say(COPIES_STORED);
    obey();
}

/* What woke others in the copy does not wake them here. */
static void renew_eventfds(void)
{
    DIR *files = opendir("/proc/self/fd");
    struct dirent *entry;
    char name[40];
    while (files != NULL && (entry = readdir(files)) != NULL) {
        ssize_t length = readlinkat(dirfd(files), entry->d_name, name, sizeof(name) - 1);
        name[length > 0 ? length : 0] = '\0';
        int old = atoi(entry->d_name);
        if (strcmp(name, "anon_inode:[eventfd]") != 0)
            continue;
        int fresh = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
        dup3(fresh, old, O_CLOEXEC);
        close(fresh);
    }
    if (files != NULL)
        closedir(files);
}

static void *run_main(void *unused)
{
    icount_order_be_main();
    rcu_register_thread();
    lock(__FILE__, __LINE__);
    main_loop();
    say(COPIES_ENDED);
    for (;;)
        pause();
    return unused;
}

/* Ends the runner with its connection, and starts gdb's server. */
static void *control(void *unused)
{
    struct pollfd files[] = {{.fd = tarn, .events = POLLRDHUP}, {.fd = wish[0], .events = POLLIN}};
    char byte;
    is_controller = true;
    icount_order_be_main(); /* its waits are none of the vCPUs' thread */
    rcu_register_thread();
    for (;;) {
        if (poll(files, 2, -1) < 0)
            continue;
        if (files[0].revents != 0)
            _exit(0);
        if (read(wish[0], &byte, 1) != 1)
            continue;
        lock(__FILE__, __LINE__);
        if (gdbserver_start(gdb_device) < 0)
            _exit(0);
        vm_stop(STATE_PAUSED);
        unlock();
        say(COPIES_STOPPED);
    }
    return unused;
}

static void offer_memory(const char *text)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0 && write(file, text, strlen(text)) < 0)
        (void)text; /* it is as any other process then */
    close(file);
}

static void begin_run(int connection)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    pthread_t thread;
    sigset_t step;
    tarn = connection;
    offer_memory("0");
    renew_eventfds();
    sem_init(&stopping, 0, 0);
    sigaction(SIGSEGV, &action, NULL);
    action.sa_sigaction = on_step;
    sigaction(SIGTRAP, &action, NULL);
    sigemptyset(&step);
    sigaddset(&step, SIGTRAP);
    pthread_sigmask(SIG_UNBLOCK, &step, NULL);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    if (pipe2(wish, O_CLOEXEC) != 0 || pthread_create(&thread, NULL, run_main, NULL) != 0 ||
        pthread_create(&thread, NULL, control, NULL) != 0)
        _exit(0);
    say(COPIES_STOPPED);
    obey();
}

/* ---- a copy ---- */

/* The socket at PATH is still the one that WAS describes. Another copy's may have its name, even its inode.
 */
static bool is_there(const char *path, const struct stat *was)
{
    struct stat now_there;
    return stat(path, &now_there) == 0 && now_there.st_ino == was->st_ino &&
           now_there.st_dev == was->st_dev && now_there.st_ctim.tv_sec == was->st_ctim.tv_sec &&
           now_there.st_ctim.tv_nsec == was->st_ctim.tv_nsec;
}

/* Waits for connections; returns in runners. */
static void serve(int listener, const char *path, const struct stat *about)
{
    struct pollfd wait = {.fd = listener, .events = POLLIN};
    setsid();
    signal(SIGCHLD, SIG_IGN);
    offer_memory("1000");
    if (tarn >= 0)
        close(tarn), close(wish[0]), close(wish[1]);
    tarn = -1;
    for (int looks = 0; looks < LOOKS_MAX && is_there(path, about); looks++) {
        if (poll(&wait, 1, LOOK_MS) <= 0)
            continue;
        looks = 0;
        int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (connection >= 0 && fork() == 0) {
            close(listener);
            begin_run(connection);
            return;
        }
        close(connection);
    }
    if (is_there(path, about))
        unlink(path);
    _exit(0);
}

/* If it fails, tarn finds no socket. Returns true in a runner of the copy. */
static bool make_copy(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    char copy[COPIES_PATH_MAX];
    struct stat about;
    snprintf(copy, sizeof(copy), "%s", path);
    memcpy(address.sun_path, copy, sizeof(address.sun_path));
    if (listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        listen(listener, 8) == 0 && stat(copy, &about) == 0 && fork() == 0) {
        serve(listener, copy, &about);
        return true;
    }
    close(listener);
    return false;
}

/* ---- between two turns ---- */

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (first != NULL && gettid() != getpid()) /* see icount_order.c */
        is_vcpu_thread = true;
    if (is_controller)
        sem_post(&stopping);
    return real_wait(condition, mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    start();
    int result = real_unlock(mutex);

    if ((first == NULL && until == UINT64_MAX) || !is_vcpu_thread || !has_lock())
        return result;
    if (turn_mutex == NULL && is_running())
        turn_mutex = mutex;
    if (mutex != turn_mutex)
        return result;
    if (first != NULL) {
        const char *path = first;
        first = NULL;
        rcu_enable_atfork();
        if (!make_copy(path))
            _exit(0);
    } else if ((now = (uint64_t)get_clock(CLOCK_VIRTUAL)) >= until) {
        until = UINT64_MAX;
        say(COPIES_STOPPED);
        obey();
    }
    return result;
}

/* The guest's memory is the largest block that QEMU excludes from copies. */
int madvise(void *address, size_t bytes, int advice)
{
    start();
    if (advice != MADV_DONTFORK)
        return real_madvise(address, bytes, advice);
    if (bytes > memory_bytes)
        memory = address, memory_bytes = bytes;
    return 0;
}

/* A device may end the emulator; its memory is still read. */
void exit(int status)
{
    static void (*real_exit)(int) __attribute__((noreturn));
    if (tarn >= 0) {
        say(COPIES_ENDED);
        for (;;)
            pause();
    }
    *(void **)&real_exit = dlsym(RTLD_NEXT, "exit");
    real_exit(status);
}
#endif
