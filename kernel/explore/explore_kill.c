/*
 * explore_kill.c - ends programs, single threads and servers at a random moment. Interface: explore_point.h.
 *
 * Two spaces are spared: init, without which there is no system, and the first ordinary program, which starts
 * the workload again (tests/guest/explore_again.c). A program follows a thread that was killed, because its
 * other threads may wait for that one for ever.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/lock.h>
#include <kernel/explore/explore_point.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

#define SERVER_PART 8u      /* one kill of so many ends a server */
#define FOLLOW_NS   4000000 /* at most, from a thread's end to its program's */
#define STATUS      (-9)    /* as of a signal */

static _Atomic uint32_t first_program; /* pid */
static _Atomic bool settling;          /* nothing is killed until a program starts */

static struct {
    uint32_t pid; /* of a program that has lost a thread; 0: none */
    uint64_t at;  /* ticks: its end */
} following[CPUS_MAX];

void explore_program_starts(uint32_t pid)
{
    uint32_t none = 0;
    atomic_compare_exchange_strong(&first_program, &none, pid);
    atomic_store(&settling, false);
}

bool explore_is_spared(const struct space *space)
{
    return space->parent_pid == 0 || space->pid == atomic_load(&first_program);
}

bool explore_may_kill(void)
{
    return !atomic_load(&settling);
}

/* True once in `count` calls. */
static bool falls_on(uint64_t *random, uint64_t count)
{
    *random = *random * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's */
    return (*random >> 33) % count == 0;
}

/* One of the servers, or of the ordinary programs, with a reference. NULL: there is none. */
static struct space *choose_space(uint64_t random, bool server)
{
    struct space *chosen = NULL;
    uint64_t count = 0;
    for (struct space *space = space_next(NULL); space; space = space_next(space)) {
        if (space->system != server || explore_is_spared(space) || !falls_on(&random, ++count))
            continue;
        if (chosen)
            space_put(chosen);
        space_get(chosen = space);
    }
    return chosen;
}

static struct thread *choose_thread(struct space *space, uint64_t random)
{
    struct thread *chosen = NULL;
    uint64_t count = 0;
    spin_lock(&space->lock);
    for (struct list *link = space->threads.next; link != &space->threads; link = link->next)
        if (falls_on(&random, ++count))
            chosen = list_object(link, struct thread, in_space);
    if (chosen)
        thread_get(chosen);
    spin_unlock(&space->lock);
    return chosen;
}

static void kill_thread(struct space *space, uint64_t random)
{
    struct thread *thread = choose_thread(space, random);
    if (!thread)
        return;
    log_line("explore: ends thread %u of %s (pid %u)", thread->tid, space->name, space->pid);
    following[this_cpu()->index].at = arch_clock() + timer_ticks(random % FOLLOW_NS);
    following[this_cpu()->index].pid = space->pid;
    thread_kill(thread);
    thread_put(thread);
}

void explore_kill(uint64_t random)
{
    bool server = falls_on(&random, SERVER_PART);
    bool one_thread = !server && !following[this_cpu()->index].pid && falls_on(&random, 2);
    struct space *space = choose_space(random, server);
    if (!space)
        return;
    if (one_thread) {
        kill_thread(space, random);
    } else {
        log_line("explore: ends %s%s (pid %u)", server ? "server " : "", space->name, space->pid);
        space_kill(space, STATUS);
    }
    space_put(space);
}

uint64_t explore_follow_deadline(uint64_t deadline)
{
    uint32_t cpu = this_cpu()->index;
    return following[cpu].pid && following[cpu].at < deadline ? following[cpu].at : deadline;
}

/* Kills all ordinary programs that are not spared, or only `pid`. Returns how many there were. */
static int64_t kill_programs(uint32_t pid)
{
    int64_t count = 0;
    for (struct space *space = space_next(NULL); space; space = space_next(space))
        if (!space->system && !explore_is_spared(space) && (!pid || space->pid == pid)) {
            space_kill(space, STATUS);
            count++;
        }
    return count;
}

void explore_follow(uint64_t now)
{
    uint32_t cpu = this_cpu()->index, pid = following[cpu].pid;
    if (!pid || now < following[cpu].at)
        return;
    following[cpu].pid = 0;
    kill_programs(pid);
}

/* Servers that are dying and have not returned all that they had. */
static int64_t count_dying_servers(void)
{
    int64_t count = 0;
    for (struct space *space = space_next(NULL); space; space = space_next(space))
        count += space->system && space->dying && !space->returned;
    return count;
}

int64_t explore_settle(void)
{
    atomic_store(&settling, true);
    return kill_programs(0) + count_dying_servers();
}
