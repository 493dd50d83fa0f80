/* SPDX-License-Identifier: BSD-2-Clause */
/* locks.c - commands endpoints and locks. */
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/debug/debug.h>
#include <kernel/ipc/endpoint.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

#define WAITERS_SHOWN 100u

/* ---- Endpoints ---- */

static void put_queue(const char *what, const struct list *queue)
{
    const struct list *link = queue->next;
    for (uint32_t i = 0; link && link != queue && i < WAITERS_SHOWN; i++, link = link->next)
        debug_print("%s %s", i ? "," : what, debug_thread_name(list_object(link, struct thread, link)));
}

static void put_endpoint(void *object, void *context)
{
    const struct endpoint *endpoint = object;
    const struct space *space;
    if (endpoint->references == 0)
        return;
    debug_print("%8u%s", endpoint->number, endpoint->dead ? " dead" : " ");
    for (uint32_t i = 0; i < 8 && (space = debug_receiver_space(endpoint, i)); i++)
        debug_print("%s%s", i ? ", " : "of ", debug_space_name(space));
    put_queue("; send:", &endpoint->senders);
    put_queue("; receive:", &endpoint->receivers);
    debug_print("\n");
}

void debug_endpoints(const struct debug_words *words)
{
    debug_print("endpoint\n");
    debug_each_object("endpoint", put_endpoint, NULL);
}

/* ---- Locks ---- */

static void put_waiters(const struct spinlock *lock)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i].waiting_lock == lock)
            debug_print("    cpu %u waits for it: %s\n", i, debug_thread_name(cpus[i].current));
}

static void put_lock(const struct spinlock *lock, void *context)
{
    const struct cpu *holder = spin_holder(lock);
    if (!holder) /* a CPU that is not stopped has released it */
        return;
    ++*(uint32_t *)context;
    debug_print("%016lx %-24s class %-16s held by cpu %u: %s\n", (uint64_t)lock,
                debug_name_of(NULL, (uint64_t)lock), lock->class->name, holder->index,
                holder->current ? debug_thread_name(holder->current) : "");
    put_waiters(lock);
}

void debug_locks(const struct debug_words *words)
{
    uint32_t count = 0;
    debug_each_held_lock(put_lock, &count);
    debug_print("%u lock%s held\n", count, count == 1 ? "" : "s");
}
