/*
 * sched_test.c - tests scheduler, timers and the clock's rate: golden schedules on CPUs that the test steps.
 * What CPUs do at the same time is explored (docs/explore.md).
 *
 * A golden schedule lists the threads that the CPUs run after each step; a letter is one, '-' is idle.
 */

#include <arch/clock.h>
#include <kernel/cpu/quiescent.h>
#include <kernel/debug/debugger.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/failure/watchdog.h>
#include <kernel/kernel.h>
#include <kernel/memory/slab.h>
#include <kernel/sched/run_queue.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/switch.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/syscall/machine.h>
#include <kernel/trace/control.h>
#include <tests/tap.h>
#include <tests/unit/stub.h>

#define CPUS        4u
#define THREADS_MAX 64u
#define STEPS       200000u

/* ---- Stubs ---- */

uint64_t host_clock;
struct trace_info test_info; /* tracing is off */
__thread char *test_ring;
char *test_rings;
RETURNS(0, uint64_t test_clock(void));
DOES_NOTHING(void test_point(int point));
RETURNS(0, uint64_t trace_log_slow(uint32_t id, const uint64_t *fixed, uint32_t words));
struct cpu *host_cpu, cpus[CPUS_MAX];
uint32_t cpu_count = CPUS;

/* From now on this is that CPU. */
static void host_become(uint32_t cpu)
{
    host_cpu = &cpus[cpu];
}

void panic(const char *format, ...)
{
    puts(format);
    abort();
}

DOES_NOTHING(void spin_lock_contended(struct spinlock *lock));
DOES_NOTHING(void spin_note_taken(struct spinlock *lock));
DOES_NOTHING(void spin_note_released(struct spinlock *lock, uint64_t site));
bool lock_is_watched;
void spin_init(struct spinlock *lock, struct lock_class *class)
{
    *lock = (struct spinlock){.class = class};
}
DOES_NOTHING(void arch_send_ipi(struct cpu *target, enum ipi_kind kind));
bool trace_tables_in_use;
DOES_NOTHING(void routines_beat(uint64_t now));
DOES_NOTHING(void span_begun(enum trace_routine_kind kind, uint64_t argument, uint64_t logged));
DOES_NOTHING(void span_ended(uint64_t logged));
DOES_NOTHING(void trace_tables_reclaim(bool is_heartbeat));
LOCK_CLASS(thread_lock_class, "thread");
static struct thread threads[THREADS_MAX], idle_threads[CPUS_MAX];
static struct thread_block blocks[THREADS_MAX], idle_blocks[CPUS_MAX];
static unsigned parked, finished;

DOES_NOTHING(void count_switch(struct cpu *cpu, struct thread *prev, struct thread *next));
RETURNS(0, uint64_t trace_switch(struct cpu *cpu, const struct thread *prev, const struct thread *next));
void thread_trace_resumed(struct thread *thread)
{
    thread->traced = 0;
}
void thread_finish(struct thread *thread)
{
    atomic_store(&thread->state, THREAD_DEAD);
    finished++;
}
void thread_park(struct thread *thread)
{
    atomic_store(&thread->state, THREAD_SUSPENDED);
    parked++;
}
void thread_expire(struct thread *thread, uint64_t now)
{
    if (thread->wait_deadline <= now)
        sched_wake(thread);
}
DOES_NOTHING(void arch_timer_set(uint64_t deadline));
static uint64_t test_hz = 1000000000;
void arch_clock_init(struct arch_clock_rate *rate)
{
    *rate = (struct arch_clock_rate){.hz = test_hz, .is_certain = true, .names = "test"};
}
uint64_t trace_heartbeat(uint64_t now)
{
    return now + 1000000000;
}
DOES_NOTHING(void console_poll(void));
DOES_NOTHING(void watchdog_beat(uint64_t now));
DOES_NOTHING(void quiescent_report(void));
RETURNS(0, uint32_t slab_reclaim(uint32_t most));
DOES_NOTHING(void smp_poll(void));
DOES_NOTHING(void smp_answer(void));
DOES_NOTHING(void debugger_poll(void));
DOES_NOTHING(void trace_wake_drain(void));
uint64_t profile_period;
void profile_timer(uint64_t now)
{
    timer_set_sample(TIMER_NEVER);
}
DOES_NOTHING(void profile_sleep(void));
DOES_NOTHING(void profile_wake(void));
DOES_NOTHING(void counters_beat(void));
void space_add_cpu(struct space *space, struct cpu *cpu)
{
    atomic_fetch_or(&space->cpus, cpu->bit);
}

static void make_machine(unsigned cpu_total)
{
    sched_idle_cpus = sched_online_cpus = 0;
    memset(threads, 0, sizeof threads);
    for (unsigned i = 0; i < cpu_total; i++) {
        struct cpu *cpu = &cpus[i];
        memset(cpu, 0, sizeof *cpu);
        cpu->index = cpu->block.cpu = i;
        cpu->bit = 1ull << i;
        cpu->online = true;
        host_become(i);
        memset(&idle_threads[i], 0, sizeof idle_threads[i]);
        idle_threads[i].block = &idle_blocks[i];
        idle_threads[i].on_cpu = 1;
        idle_threads[i].cpu = cpu;
        cpu->idle = cpu->current = &idle_threads[i];
        timer_init_cpu(cpu);
        sched_init_cpu(cpu);
    }
    host_become(0);
}

/* Thread n, blocked. Its name is a letter from A on. */
static struct thread *make_thread(unsigned n, uint32_t priority, uint64_t affinity)
{
    struct thread *thread = &threads[n];
    thread->block = &blocks[n];
    thread->tid = n;
    thread->priority = priority;
    thread->affinity = affinity ? affinity : ~0ull;
    thread->cpu = &cpus[0];
    thread->state = THREAD_BLOCKED_RECEIVE;
    return thread;
}

/* ---- Golden schedules ---- */

static void leave_kernel(unsigned cpu)
{
    host_become(cpu);
    do {
        cpus[cpu].need_resched = 0;
        sched_reschedule();
    } while (cpus[cpu].need_resched);
    uint64_t bit = 1ull << cpu;
    sched_idle_cpus = (sched_idle_cpus & ~bit) | (cpus[cpu].current == cpus[cpu].idle ? bit : 0);
}

/* Lets CPUs that must reschedule leave the kernel, until none must. `running` gets the thread of each. */
static void settle(unsigned cpu_total, char *running)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < cpu_total; i++) {
            if (!cpus[i].need_resched)
                continue;
            again = true;
            leave_kernel(i);
        }
    }
    for (unsigned i = 0; i < cpu_total; i++)
        running[i] = cpus[i].current == cpus[i].idle ? '-' : (char)('A' + cpus[i].current->tid);
    running[cpu_total] = 0;
    host_become(0);
}

/* Steps, and after each `=` what the CPUs run then. CPU 0 does them, if they name no other:
 *
 *   +A5@2/4  wakes a new thread A of priority 5, which last ran on CPU 2 and may run on those of mask 4
 *   qA5 QA5  queues one on CPU 0, which was chosen before; Q: it preempts there
 *   aA3 pA9  sets the affinity or priority of A
 *   xA kA    suspends or kills A
 *   -1       the thread on CPU 1 blocks
 *   i1       CPU 1, which was not there yet, becomes idle
 *   s t h    a time slice passes, with a timer interrupt (t), or half of one (h)
 *   y        the thread yields
 */
static const struct schedule {
    const char *what;
    unsigned cpus, late; /* the last `late` ones are not there yet */
    const char *steps;
} schedules[] = {
    {"priorities, and preempted threads before their equals", 1, 0,
     "+A5=A +B5=A +C9=C +D2=C -0=A -0=B -0=D -0=-"},
    {"slices and yield rotate among equals; a preempted thread gets the rest of its slice", 1, 0,
     "+A5=A +B5=A +C5=A +D4=A t=B t=C t=A t=B t=C y=A h=A +E9=E s=E -0=A h=B"},
    {"placement: last, this, any idle one; then preemption; then a queue", 3, 0,
     "+A5@2=--A +B5@2=B-A +C5@2=BCA +D7@1=BDA +E6@1=EDA +F1@1/4=EDA"},
    {"a CPU takes from its own queue first, also a lower priority; an idle one from others", 3, 0,
     "+A5@2=--A +B5@2=B-A +C5@2=BCA +D7@1=BDA +E6@1=EDA +F1@1/4=EDA -2=EDF -2=EDB -1=ECB"},
    {"a CPU that went idle before a thread was queued takes it, unless that may not run there or preempts", 2,
     1, "+A5=A- i1=A- qB5=AB -1=A- qC5/1=A- QD5=A-"},
    {"no CPU takes a thread that may not run there; affinity and priority change at once", 2, 0,
     "+A5/1=A- +B5/1=A- +C9/1=C- aB2=CB aC2=AC pB12=AB aB3=AB pA1=AB xA=-B kB=-C"},
};

static void act(const char *step)
{
    unsigned n = (unsigned)(step[1] - 'A'), last = 0, mask = 0;
    const bool is_of_thread = n < 26;
    const char *at = strchr(step, '@'), *slash = strchr(step, '/'), *end = strchr(step, '=');
    const unsigned number = (unsigned)strtoul(step + 1 + is_of_thread, NULL, 10);
    if (at && at < end)
        last = (unsigned)strtoul(at + 1, NULL, 10);
    if (slash && slash < end)
        mask = (unsigned)strtoul(slash + 1, NULL, 10);
    if (*step == '+' || *step == 'q' || *step == 'Q')
        make_thread(n, number, mask)->cpu = &cpus[last];
    switch (*step) {
    case '+':
        return sched_wake(&threads[n]);
    case 'q':
    case 'Q':
        return sched_enqueue(&threads[n], &cpus[0], *step == 'Q');
    case 'a':
        return sched_set_affinity(&threads[n], number);
    case 'p':
        return sched_set_priority(&threads[n], number);
    case 'x':
    case 'k':
        atomic_fetch_or(&threads[n].pending, *step == 'x' ? PENDING_SUSPEND : PENDING_KILL);
        return sched_kick(&threads[n]);
    case '-':
        host_become(number);
        atomic_store(&cpus[number].current->state, THREAD_BLOCKED_RECEIVE);
        cpus[number].need_resched = 1;
        return;
    case 'i':
        return leave_kernel(number);
    case 'y':
        return sched_yield();
    default:
        host_clock += *step == 'h' ? sched_slice / 2 : sched_slice;
        if (*step != 's')
            handle_timer();
    }
}

static void test_schedule(const struct schedule *schedule)
{
    bool good = true;
    char running[CPUS_MAX + 1];
    make_machine(schedule->cpus);
    for (unsigned i = 0; i < schedule->cpus - schedule->late; i++)
        leave_kernel(i);
    host_become(0);
    for (const char *step = schedule->steps; good && step; step = strchr(step, ' ')) {
        step += *step == ' ';
        const char *expected = strchr(step, '=') + 1;
        act(step);
        settle(schedule->cpus, running);
        good = !strncmp(expected, running, schedule->cpus);
        if (!good)
            printf("# %s after ... %s\n", running, step);
    }
    check(good, "%s", schedule->what);
}

static void test_timers(void)
{
    static struct timer timers[500];
    bool armed[500] = {0}, ordered = true;
    make_machine(1);
    srand(1);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = (unsigned)rand() % 500;
        armed[i] = rand() % 3;
        if (armed[i])
            timer_add(&timers[i], 1 + (uint64_t)rand() % 100000);
        else
            timer_remove(&timers[i]);
    }
    unsigned expected = 0, taken = 0;
    uint64_t last = 0;
    for (unsigned i = 0; i < 500; i++)
        expected += armed[i];
    struct timer *timer;
    check(timer_take_due(0) == NULL, "nothing is due before its time");
    while ((timer = timer_take_due(~0ull))) {
        ordered &= timer->deadline >= last && armed[timer - timers];
        last = timer->deadline;
        taken++;
    }
    check(ordered && taken == expected, "timers come out in order, all that were not removed");
    test_hz = 2599998123;
    timer_init(&(struct arch_clock_rate){0});
    uint64_t ns = 123456789012345;
    check(timer_nanoseconds(timer_ticks(ns)) - ns < 100000 ||
              ns - timer_nanoseconds(timer_ticks(ns)) < 100000,
          "conversions of units are reversible");
    check(timer_ticks(TARN_FOREVER) == TIMER_NEVER && timer_ticks(~1ull) <= TIMER_NEVER,
          "an infinite time stays infinite");
}

/* ---- clock sources that agree, differ, or lie ---- */

#define GHZ 1000000000ull
#define SOURCES(...)                                 \
    (const struct arch_clock_source[]){__VA_ARGS__}, \
        sizeof((const struct arch_clock_source[]){__VA_ARGS__}) / sizeof(struct arch_clock_source)

static struct arch_clock_rate agree(const struct arch_clock_source *sources, uint32_t count)
{
    struct arch_clock_rate rate;
    arch_clock_agree(&rate, sources, count);
    return rate;
}

static void expect(const char *what, struct arch_clock_rate rate, uint64_t low, uint64_t high,
                   bool is_certain, uint32_t error_ppm, const char *names)
{
    bool good = rate.hz >= low && rate.hz <= high && rate.is_certain == is_certain &&
                rate.error_ppm == error_ppm && !strcmp(rate.names, names);
    check(good, "%s", what);
    if (!good)
        printf("# %llu Hz, %s, %u ppm, \"%s\"\n", (unsigned long long)rate.hz,
               rate.is_certain ? "certain" : "uncertain", rate.error_ppm, rate.names);
}

/* Of three sources, each in turn is far off and narrow, so that it would be preferred. */
static void test_liars(void)
{
    static const uint64_t wrong[] = {1, GHZ / 1000, 7 * GHZ / 5, 1000 * GHZ, ~0ull - 10};
    for (uint32_t place = 0; place < 3; place++)
        for (uint32_t w = 0; w < sizeof(wrong) / sizeof(wrong[0]); w++) {
            struct arch_clock_source sources[] = {{"a", GHZ - 10000, GHZ + 10000},
                                                  {"b", GHZ - 10000, GHZ + 10000},
                                                  {"c", GHZ - 10000, GHZ + 10000}};
            sources[place] = (struct arch_clock_source){"liar", wrong[w], wrong[w] + 1};
            struct arch_clock_rate rate = agree(sources, 3);
            check(rate.hz == GHZ && rate.is_certain && rate.error_ppm == 10 && !strstr(rate.names, "liar"),
                  "two sources outvote a third that states %llu Hz, in place %u",
                  (unsigned long long)wrong[w], place);
        }
}

static void test_clock_sources(void)
{
    expect("the narrowest agreeing source gives the rate, and the range shared by all bounds the error",
           agree(SOURCES({"a", GHZ - 100000, GHZ + 100000}, {"b", GHZ - 10000, GHZ + 10000})), GHZ, GHZ, true,
           10, "a b");
    expect("the rate lies in the range shared by all",
           agree(SOURCES({"a", GHZ - 20000, GHZ + 20000}, {"b", GHZ + 10000, GHZ + 90000})), GHZ + 10000,
           GHZ + 10000, true, 10, "a b");
    expect("one source alone is not certain", agree(SOURCES({"a", GHZ - 50000, GHZ + 50000})), GHZ, GHZ,
           false, 50, "a");
    expect("two different sources are not certain, and the error includes both",
           agree(SOURCES({"a", GHZ - 1000, GHZ + 1000}, {"b", 2 * GHZ - 500000, 2 * GHZ})), GHZ, GHZ, false,
           1000000, "a");
    expect("without any source the rate is a guess", agree(NULL, 0), GHZ, GHZ, false, ~0u, "none");
    check(agree(SOURCES({"a", 0, 0}, {"b", 0, 0})).hz != 0, "the rate is never 0");
    test_liars();
}

int main(void)
{
    timer_init(&(struct arch_clock_rate){0});
    for (unsigned i = 0; i < sizeof schedules / sizeof *schedules; i++)
        test_schedule(&schedules[i]);
    check(parked == 1 && finished == 1, "a suspended thread is parked once, and a killed one ends once");
    test_timers();
    test_clock_sources();
    return finish_tests();
}
