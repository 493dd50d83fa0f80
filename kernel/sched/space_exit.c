/*
 * space_exit.c - death of spaces. How a thread ends: thread.h.
 *
 * space_kill marks the space and kills its threads. A thread ends on the CPU where it is current, when it
 * next passes the scheduler (thread.h). The last one calls space_finish, which closes capabilities,
 * releases memory, kills the spaces that this one created, and calls the listeners (SPACE_END).
 *
 * `dying` is set once, under the space's lock; then no thread can join. The CPU that takes the number of
 * threads to 0 while `dying` is set, or sets `dying` while there is none, finishes the space. Exactly one
 * does.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <trace/process.h>

#define STATUS_ABANDONED (-100)

/* Returns a thread that was not killed yet, with a reference; NULL: none. */
static struct thread *next_victim(struct space *space)
{
    spin_lock(&space->lock);
    struct thread *victim = NULL;
    for (struct list *link = space->threads.next; link != &space->threads && !victim; link = link->next) {
        struct thread *thread = list_object(link, struct thread, in_space);
        victim = atomic_load(&thread->pending) & PENDING_KILL ? NULL : thread;
    }
    if (victim)
        thread_get(victim);
    spin_unlock(&space->lock);
    return victim;
}

bool space_kill(struct space *space, int32_t status)
{
    spin_lock(&space->lock);
    bool first = !space->dying;
    bool deserted = space->thread_count == 0;
    if (first) {
        __atomic_store_n(&space->dying, true, __ATOMIC_RELAXED); /* others read it without the lock */
        space->status = status;
    }
    spin_unlock(&space->lock);
    if (!first)
        return false;
    /* Without the space's lock: thread_kill may take a wait's lock, which may come before it in the lock
     * order. */
    struct thread *thread;
    while ((thread = next_victim(space))) {
        thread_kill(thread);
        thread_put(thread);
    }
    if (deserted)
        space_finish(space);
    return true;
}

void space_abandon(struct space *space)
{
    if (space->creator_pid != 0)
        space_kill(space, STATUS_ABANDONED);
}

/* One walk is enough: a space without threads gets no more children. Most spaces never had one, and skip
 * it. */
static void kill_children(const struct space *parent)
{
    for (struct space *child = parent->is_parent ? space_next(NULL) : NULL; child; child = space_next(child))
        if (child->creator_pid == parent->pid)
            space_kill(child, STATUS_ABANDONED);
}

static void finish(struct space *space)
{
    trace_process_exit(space->pid, space->status);
    cap_table_close(&space->caps);
    space_release_memory(space);
    kill_children(space);
    for (space_end *const *end = space_ends_first; end < space_ends_last; end++)
        (*end)(space);
    space_put(space);
}

void space_finish(struct space *space)
{
    space_get(space);
    space_defer(space, finish);
}
