/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/explore_priority.c - lets the CPU with the highest priority go on, and changes priorities at few
 * random points. Interface: explore_point.h.
 *
 * PCT (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010) draws a priority for each thread and d - 1
 * points of the run, and lets the thread with the highest priority that does not wait execute up to the next
 * one; there the thread that executes gets a priority below all others. Here CPUs stand for threads, because
 * the kernel is not preempted. A run has millions of points, of which a defect needs a few that lie close
 * together. So a run is divided into windows of `window` points, and each has priorities and points of its
 * own.
 *
 * At each of its points a CPU ends its turn again and again as long as one with a higher priority executes. A
 * CPU does not execute when it is idle or waits for another one (explore_waits). In a program it does, for
 * all that is known: a CPU that has let others go on for `patience` gets the highest priority.
 */
#ifdef TARN_EXPLORE
#include <arch/clock.h>
#include <kernel/cpu.h>
#include <kernel/explore.h>
#include <kernel/explore_point.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>

#define CHANGES_MAX 8u
#define DRAWN                                                                                               \
    (1ull << 32) /* drawn priorities; below are those of CPUs at change points, above those of starved ones \
                  */
#define STARVED (1ull << 40)

static struct explore_priorities options;
static struct processor {
    uint64_t priority; /* the higher one goes first; 0 before the first window */
    uint64_t waits;    /* how often it has ended its turn because it waits */
} processors[CPUS_MAX];

static uint64_t steps, starved;              /* points of all CPUs */
static uint64_t changes[CHANGES_MAX], level; /* steps; the lowest priority that was given */

void explore_priorities_choose(const struct explore_priorities *chosen)
{
    options = *chosen;
}

void explore_waits(void)
{
    processors[this_cpu()->index].waits++;
}

static void begin_window(uint64_t step)
{
    uint64_t random = explore_perform_priority();
    uint64_t places = explore_mix(options.seed ^ step);
    level = CHANGES_MAX;
    starved = STARVED;
    for (uint32_t i = 0; i < options.changes; i++) {
        places = explore_mix(places);
        changes[i] = step + places % options.window;
    }
    for (uint32_t i = 0; i < cpu_count; i++) {
        if (random) /* else the perturbation is left out: all are equal */
            random = explore_mix(random);
        processors[i].priority = random ? DRAWN + random % DRAWN : 0;
    }
}

static void take_step(uint32_t cpu)
{
    uint64_t step = __atomic_fetch_add(&steps, 1, __ATOMIC_RELAXED);
    if (step % options.window == 0)
        begin_window(step);
    for (uint32_t i = 0; i < options.changes; i++)
        if (changes[i] == step && explore_perform_priority())
            processors[cpu].priority = level ? level-- : 0;
}

/* A CPU that goes first and executes; NULL: there is none. */
static const struct processor *find_higher(uint32_t cpu, uint64_t waited)
{
    uint64_t idle = atomic_load_explicit(&sched_idle_cpus, memory_order_relaxed);
    for (uint32_t i = 0; i < cpu_count; i++)
        if (processors[i].priority > processors[cpu].priority && !(idle >> i & 1) && !(waited >> i & 1))
            return &processors[i];
    return NULL;
}

/* One turn of each other CPU; bits of those that ended it because they wait. */
static uint64_t let_others_go_on(void)
{
    uint64_t before[CPUS_MAX], waited = 0;
    for (uint32_t i = 0; i < cpu_count; i++)
        before[i] = processors[i].waits;
    arch_relax();
    for (uint32_t i = 0; i < cpu_count; i++)
        waited |= (uint64_t)(processors[i].waits != before[i]) << i;
    return waited;
}

uint64_t explore_priorities_point(uint32_t cpu, bool may_stand)
{
    uint64_t waited = 0, begin = arch_clock();
    take_step(cpu);
    if (!may_stand || !find_higher(cpu, 0))
        return 0;
    do {
        waited = let_others_go_on();
        if (arch_clock() - begin > options.patience)
            processors[cpu].priority = ++starved;
    } while (find_higher(cpu, waited));
    return arch_clock() - begin;
}

#endif
