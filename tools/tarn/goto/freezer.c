/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/freezer.c - watches stores of another process; see freezer.h. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/freezer.h>
#include <tools/tarn/goto/tracee.h>
#include <tools/tarn/source/source.h>

#define ASKED_SECONDS  60.0
#define MOMENT_SECONDS 1e-4 /* of a processor; QEMU's moments are hundreds of times shorter */

#if __has_include(<asm/debugreg.h>)
#include <asm/debugreg.h>

/* The first register is on, for stores of 8 bytes. */
#define DEBUG_CONTROL     (1ul | (unsigned long)(DR_RW_WRITE | DR_LEN_8) << DR_CONTROL_SHIFT)
#define DEBUG_REGISTER(n) ((void *)(offsetof(struct user, u_debugreg) + (n) * sizeof(long)))

static bool set_watch(pid_t thread, uint64_t address)
{
    return ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_CONTROL), NULL) == 0 &&
           ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_FIRSTADDR), (void *)address) == 0 &&
           (address == 0 ||
            ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_CONTROL), (void *)DEBUG_CONTROL) == 0);
}

/* Has the watch stopped it, and not something else? */
static bool has_stored(pid_t thread)
{
    bool stored = ptrace(PTRACE_PEEKUSER, thread, DEBUG_REGISTER(DR_STATUS), NULL) & DR_TRAP0;

    ptrace(PTRACE_POKEUSER, thread, DEBUG_REGISTER(DR_STATUS), NULL);
    return stored;
}
static bool is_tracers_stop(int status)
{
    return status >> 16 != 0;
}

/* What waitpid said of a thread: it is stopped. A signal of its own is kept for it. */
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
    freezer->count += stop_thread(&freezer->threads[freezer->count]); /* a helper may have ended meanwhile */
    return true;
}

bool freezer_open(struct freezer *freezer, pid_t pid, struct fail *fail)
{
    *freezer = (struct freezer){.pid = pid};
    return tracee_threads(pid, seize, &(struct opening){freezer, fail}) &&
           (freezer->count > 0 || fail_set(fail, "the emulator has ended"));
}

bool freezer_watch(struct freezer *freezer, uint64_t address, struct fail *fail)
{
    for (unsigned i = 0; i < freezer->count; i++)
        if (freezer->threads[i].is_stopped && !set_watch(freezer->threads[i].id, address) && errno != ESRCH)
            return fail_set(fail, "this host's debug registers cannot be had: %s", strerror(errno));
    return true;
}

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

/* Until all threads but the main one, which is stopped, have run a moment, or sleep. */
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

/* The main thread last, when the others have got away from where they stood. QEMU has moments in which the
 * clock or a processor's rest is already what it will be, and timers not yet run. If the guest's thread
 * stands there, and the main thread wakes, that runs them in its place: then another processor has its turn,
 * and it is another run. */
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
        if (!thread->is_stopped && stop_thread(thread) && thread->signal == SIGTRAP && has_stored(thread->id))
            thread->signal = 0;
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

/* A thread that has gone is not waited for any more. */
static void forget(struct freezer *freezer, struct freezer_thread *thread)
{
    *thread = freezer->threads[--freezer->count];
}

static enum freezer_got fail_killed(struct fail *fail)
{
    fail_set(fail, "a signal has ended the emulator");
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
            fail_set(fail, "the emulator cannot be waited for: %s", strerror(errno));
            return FREEZER_FAILED;
        }
        struct freezer_thread *thread = find_thread(freezer, id);
        if (thread == NULL) {
            if (WIFSTOPPED(status)) /* a copy whose making was interrupted */
                tracee_end(id);
            continue; /* it ended while it was taken hold of */
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
        freezer_resume(freezer);
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

/* The system kills a process with the tracer of any of its threads. The second is none that signals come to:
 * all block them but the first. */
pid_t freezer_let_run(struct freezer *freezer)
{
    pid_t kept = freezer->count > 1 ? freezer->threads[1].id : 0;

    if (kept != 0 && stop_thread(&freezer->threads[1])) {
        set_watch(kept, 0);
        ptrace(PTRACE_SETOPTIONS, kept, NULL, (void *)PTRACE_O_EXITKILL);
        ptrace(PTRACE_CONT, kept, NULL, NULL);
        forget(freezer, &freezer->threads[1]);
    }
    freezer_close(freezer);
    return kept;
}

/* The first one, which is the process, after all others. */
void freezer_close(struct freezer *freezer)
{
    while (freezer->count > 0) {
        struct freezer_thread *thread = &freezer->threads[--freezer->count];
        if (!stop_thread(thread))
            continue;
        set_watch(thread->id, 0);
        tracee_detach(thread->id, thread->signal);
    }
    *freezer = (struct freezer){0};
}
#endif
