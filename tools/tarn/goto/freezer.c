/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/freezer.c - stops another process at a store; see freezer.h. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/freezer.h>
#include <tools/tarn/goto/tracee.h>
#include <tools/tarn/source/source.h>
#include <unistd.h>

#define ASKED_SECONDS  60.0
#define PAGE_BYTES     4096ul
#define MOMENT_SECONDS 1e-4 /* CPU time; QEMU's critical sections are hundreds of times shorter */

#if __has_include(<asm/debugreg.h>)
#include <asm/debugreg.h>

/* Enables the first register, for stores to 8 bytes. */
#define DEBUG_CONTROL     (1ul | (unsigned long)(DR_RW_WRITE | DR_LEN_8) << DR_CONTROL_SHIFT)
#define DEBUG_REGISTER(n) ((void *)(offsetof(struct user, u_debugreg) + (n) * sizeof(long)))

static bool set_sampling(pid_t thread, uint64_t address)
{
    return ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_CONTROL), NULL) == 0 &&
           ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_FIRSTADDR), (void *)address) == 0 &&
           (address == 0 ||
            ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_CONTROL), (void *)DEBUG_CONTROL) == 0);
}

/* Whether the watchpoint stopped it, and not something else. */
static bool has_stored(pid_t thread)
{
    bool stored = ptrace(PTRACE_PEEKUSER, thread, DEBUG_REGISTER(DR_STATUS), NULL) & DR_TRAP0;

    ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_STATUS), NULL);
    return stored;
}

/* Whether a process stops after a store that its debug registers watch: in some virtual machines they can be
 * set, and have no effect. */
static bool try_watching(void)
{
    static volatile uint64_t word;
    int status;
    pid_t parent = getpid(), child = fork();

    if (child == 0) {
        child_end_with(parent); /* a stopped process stays for ever otherwise */
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        raise(SIGSTOP);
        word = 1;
        _exit(0);
    }
    bool works = child > 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
                 set_sampling(child, (uint64_t)(uintptr_t)&word) &&
                 ptrace(PTRACE_CONT, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child &&
                 WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
    if (child > 0 && kill(child, SIGKILL) == 0)
        waitpid(child, &status, 0);
    return works;
}

static bool has_debug_registers(void)
{
    static enum { UNKNOWN, NO, YES } known;

    if (known == UNKNOWN)
        known = try_watching() ? YES : NO;
    return known == YES;
}

static bool is_tracers_stop(int status)
{
    return status >> 16 != 0;
}

/* Notes the STATUS of a stopped thread. A pending signal is delivered when it resumes. */
static void note_stop(struct freezer_thread *thread, int status)
{
    thread->is_stopped = true;
    thread->is_ending = status >> 16 == PTRACE_EVENT_EXIT;
    thread->signal = is_tracers_stop(status) ? 0 : WSTOPSIG(status);
}

/* False: it has ended. */
static bool stop_thread(struct freezer_thread *thread)
{
    int status;

    if (thread->is_stopped)
        return true;
    ptrace(PTRACE_INTERRUPT, thread->id, NULL, NULL);
    if (!tracee_wait(thread->id, &status))
        return false;
    note_stop(thread, status);
    return true;
}

struct opening {
    struct freezer *freezer;
    struct fail *fail;
};

static bool seize(void *context, pid_t id)
{
    struct opening *opening = context;
    struct freezer *freezer = opening->freezer;

    if (freezer->count == FREEZER_THREADS_MAX)
        return fail_set(opening->fail, "the emulator has more than %u threads", FREEZER_THREADS_MAX);
    if (ptrace(PTRACE_SEIZE, id, NULL, (void *)TRACEE_OPTIONS) != 0)
        return errno == ESRCH ||
               fail_set(opening->fail, "the system does not let tarn trace the emulator: %s",
                        strerror(errno));
    freezer->threads[freezer->count] = (struct freezer_thread){.id = id};
    freezer->count +=
        stop_thread(&freezer->threads[freezer->count]); /* a worker thread may have ended meanwhile */
    return true;
}

bool freezer_open(struct freezer *freezer, pid_t pid, struct fail *fail)
{
    *freezer = (struct freezer){.pid = pid};
    return tracee_threads(pid, seize, &(struct opening){freezer, fail}) &&
           (freezer->count > 0 || fail_set(fail, "the emulator has ended"));
}

static bool watch_by_registers(struct freezer *freezer, uint64_t address, struct fail *fail)
{
    for (unsigned i = 0; i < freezer->count; i++)
        if (freezer->threads[i].is_stopped && !set_sampling(freezer->threads[i].id, address) &&
            errno != ESRCH)
            return fail_set(fail, "cannot use this host's debug registers: %s", strerror(errno));
    return true;
}

/* ---- without debug registers ---- */

static bool protect(struct freezer *freezer, pid_t thread, int protection)
{
    struct user_regs_struct registers;
    bool ok = remote_begin(&freezer->remote, thread) && remote_settle(thread, &registers) &&
              remote_system(&freezer->remote, SYS_mprotect, freezer->page, PAGE_BYTES,
                            (unsigned long)protection) == 0;

    remote_end(&freezer->remote);
    return ok;
}

static uint64_t read_watched(const struct freezer *freezer)
{
    uint64_t word = 0;

    return pread(freezer->remote.memory, &word, sizeof(word), (off_t)freezer->watched) == sizeof(word)
               ? word
               : freezer->value;
}

/* A thread that can make a system call; NULL: none. */
static struct freezer_thread *find_caller(struct freezer *freezer)
{
    for (unsigned i = freezer->count; i-- > 0;)
        if (freezer->threads[i].is_stopped && !freezer->threads[i].is_ending)
            return &freezer->threads[i];
    return NULL;
}

static bool watch_by_page(struct freezer *freezer, uint64_t address, struct fail *fail)
{
    struct freezer_thread *caller = find_caller(freezer);

    if (freezer->page != 0 && caller != NULL)
        protect(freezer, caller->id, PROT_READ | PROT_WRITE);
    if (freezer->page != 0)
        remote_close(&freezer->remote);
    freezer->page = 0;
    if (address == 0 || caller == NULL) /* NULL: the emulator ends */
        return true;
    if (!remote_open(&freezer->remote, freezer->pid, caller->id, fail)) {
        remote_close(&freezer->remote);
        return false;
    }
    freezer->page = address & ~(PAGE_BYTES - 1);
    freezer->watched = address;
    freezer->value = read_watched(freezer);
    return protect(freezer, caller->id, PROT_READ) ||
           fail_set(fail, "cannot protect the emulator's memory: %s", strerror(errno));
}

static bool is_at_page(const struct freezer *freezer, const struct freezer_thread *thread)
{
    siginfo_t about;

    return freezer->page != 0 && thread->signal == SIGSEGV &&
           ptrace(PTRACE_GETSIGINFO, thread->id, NULL, &about) == 0 &&
           ((uint64_t)(uintptr_t)about.si_addr & ~(PAGE_BYTES - 1)) == freezer->page;
}

/* Executes the store at which the thread is stopped. Returns whether the word has changed. */
static bool pass_page(struct freezer *freezer, struct freezer_thread *thread)
{
    const uint64_t before = freezer->value;
    int status;

    thread->signal = 0;
    if (!protect(freezer, thread->id, PROT_READ | PROT_WRITE) ||
        ptrace(PTRACE_SINGLESTEP, thread->id, NULL, NULL) != 0 || !tracee_wait(thread->id, &status))
        return false;
    note_stop(thread, status);
    if (thread->signal == SIGTRAP)
        thread->signal = 0;
    freezer->value = read_watched(freezer);
    if (!thread->is_ending)
        protect(freezer, thread->id, PROT_READ);
    return freezer->value != before;
}

/* Nothing in the emulator depends on tarn any more. */
static void leave_page(struct freezer *freezer)
{
    struct fail ignored;

    if (freezer->page == 0)
        return;
    freezer_stop(freezer);
    watch_by_page(freezer, 0, &ignored);
}

bool freezer_watch(struct freezer *freezer, uint64_t address, struct fail *fail)
{
    return (has_debug_registers() ? watch_by_registers : watch_by_page)(freezer, address, fail);
}

/* ---- stopping and resuming ---- */

static void resume_thread(struct freezer_thread *thread)
{
    if (thread->is_stopped)
        ptrace(PTRACE_CONT, thread->id, NULL, (void *)(long)thread->signal);
    thread->is_stopped = false;
}

static struct freezer_thread *find_thread(struct freezer *freezer, pid_t id)
{
    for (unsigned i = 0; i < freezer->count; i++)
        if (freezer->threads[i].id == id)
            return &freezer->threads[i];
    return NULL;
}

/* Waits until all threads except the stopped main one have run for a moment, or sleep. */
static void let_others_run(const struct freezer *freezer)
{
    double enough = process_seconds(freezer->pid) + MOMENT_SECONDS, until = now_seconds() + ASKED_SECONDS;

    while (process_seconds(freezer->pid) < enough && now_seconds() < until) {
        bool runs = false;
        for (unsigned i = 0; i < freezer->count; i++)
            runs |= freezer->threads[i].id != freezer->pid &&
                    tracee_state(freezer->pid, freezer->threads[i].id) == 'R';
        if (!runs)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
}

/* Resumes the main thread last, when the others have left the places where they were stopped. There are
 * instants in QEMU at which the clock or a vCPU's budget is already updated, but timers have not run yet. If
 * the vCPUs' thread is stopped at one, and the main thread wakes, the main thread runs the timers instead.
 * Then another vCPU gets its turn, and the run differs. */
void freezer_resume(struct freezer *freezer)
{
    struct freezer_thread *main = find_thread(freezer, freezer->pid);
    bool is_main_stopped = main != NULL && main->is_stopped;

    for (unsigned i = 0; i < freezer->count; i++)
        if (&freezer->threads[i] != main)
            resume_thread(&freezer->threads[i]);
    if (is_main_stopped) {
        let_others_run(freezer);
        resume_thread(main);
    }
}

void freezer_stop(struct freezer *freezer)
{
    for (unsigned i = 0; i < freezer->count; i++) {
        struct freezer_thread *thread = &freezer->threads[i];
        if (thread->is_stopped || !stop_thread(thread))
            continue;
        if ((thread->signal == SIGTRAP && has_stored(thread->id)) || is_at_page(freezer, thread))
            thread->signal = 0; /* a store to the page is tried again */
    }
}

bool freezer_is_ending(const struct freezer *freezer)
{
    for (unsigned i = 0; i < freezer->count; i++)
        if (freezer->threads[i].is_stopped && freezer->threads[i].is_ending)
            return true;
    return false;
}

void freezer_resume_main(struct freezer *freezer)
{
    struct freezer_thread *main = find_thread(freezer, freezer->pid);

    if (main != NULL)
        resume_thread(main);
}

/* Removes a thread that has ended. */
static void forget(struct freezer *freezer, struct freezer_thread *thread)
{
    *thread = freezer->threads[--freezer->count];
}

static enum freezer_got fail_killed(struct fail *fail)
{
    fail_set(fail, "a signal ended the emulator");
    return FREEZER_FAILED;
}

enum freezer_got freezer_wait(struct freezer *freezer, struct fail *fail)
{
    int status;

    for (;;) {
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR)
            return FREEZER_INTERRUPTED;
        if (id < 0) {
            fail_set(fail, "cannot wait for the emulator: %s", strerror(errno));
            return FREEZER_FAILED;
        }
        struct freezer_thread *thread = find_thread(freezer, id);
        if (thread == NULL) {
            if (WIFSTOPPED(status)) /* an incomplete copy */
                tracee_end(id);
            continue; /* it ended while it was seized */
        }
        if (!WIFSTOPPED(status)) {
            forget(freezer, thread);
            if (id == freezer->pid) {
                child_forget(id);
                return WIFSIGNALED(status) ? fail_killed(fail) : FREEZER_ENDED;
            }
            continue;
        }
        note_stop(thread, status);
        if (id == freezer->pid && status >> 16 == PTRACE_EVENT_EXIT)
            return tracee_is_killed(id) ? fail_killed(fail) : FREEZER_ENDED;
        if (thread->signal == SIGTRAP && has_stored(id)) {
            thread->signal = 0;
            return FREEZER_STORED;
        }
        if (!is_at_page(freezer, thread))
            freezer_resume(freezer);
        else if (pass_page(freezer, thread))
            return FREEZER_STORED;
        else
            resume_thread(thread);
    }
}

bool freezer_wait_asleep(const struct freezer *freezer, struct fail *fail)
{
    double until = now_seconds() + ASKED_SECONDS;

    while (now_seconds() < until && !child_is_interrupted()) {
        long number = -1;
        FILE *file = process_file(freezer->pid, "syscall", "re"); /* of its main thread */
        if (file == NULL)
            return fail_set(fail, "cannot read /proc/%d/syscall: %s", (int)freezer->pid, strerror(errno));
        bool is_asleep = fscanf(file, "%ld", &number) == 1 && number == SYS_futex;
        fclose(file);
        if (is_asleep)
            return true;
        if (tracee_is_killed(freezer->pid))
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return fail_set(fail, "the emulator does not stop");
}

pid_t freezer_hold(struct freezer *freezer)
{
    struct freezer_thread *thread = find_thread(freezer, freezer->pid);

    if (thread != NULL)
        forget(freezer, thread);
    return thread != NULL ? freezer->pid : 0;
}

/* The system kills a process if the tracer of any of its threads ends. The second thread gets no signals: all
 * but the first block them. */
pid_t freezer_let_run(struct freezer *freezer)
{
    pid_t kept = freezer->count > 1 ? freezer->threads[1].id : 0;

    leave_page(freezer);
    if (kept != 0 && stop_thread(&freezer->threads[1])) {
        set_sampling(kept, 0);
        ptrace(PTRACE_SETOPTIONS, kept, NULL, (void *)PTRACE_O_EXITKILL);
        ptrace(PTRACE_CONT, kept, NULL, NULL);
        forget(freezer, &freezer->threads[1]);
    }
    freezer_close(freezer);
    return kept;
}

/* The main thread, which is the first, comes last. */
void freezer_close(struct freezer *freezer)
{
    leave_page(freezer);
    while (freezer->count > 0) {
        struct freezer_thread *thread = &freezer->threads[--freezer->count];
        if (!stop_thread(thread))
            continue;
        set_sampling(thread->id, 0);
        tracee_detach(thread->id, thread->signal);
    }
    *freezer = (struct freezer){0};
}
#endif
