/*
 * thread.c - creation, suspension and death of threads. States: thread.h; waits: wait.c; choice of CPUs:
 * sched.c.
 *
 * thread_list_lock is innermost; it covers the list of all threads.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/memory/slab.h>
#include <kernel/object/cap_table.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/sched.h>

_Static_assert(offsetof(struct thread, frame) == 0, "ports store registers at current");
_Static_assert(offsetof(struct thread, arch) == sizeof(struct arch_frame), "arch_thread_of()");

LOCK_CLASS(thread_lock_class, "thread");
static LOCK_CLASS(thread_list_class, "thread list");
static LOCK_CLASS(thread_slab_class, "thread slab");

static void construct(void *object)
{
    struct thread *thread = object;
    spin_init(&thread->lock, &thread_lock_class);
    spin_init(&thread->reply_lock, &thread_lock_class);
}

static struct slab thread_slab = SLAB("thread", struct thread, construct, &thread_slab_class);

static struct spinlock thread_list_lock = SPINLOCK(&thread_list_class);
static struct list thread_list = {&thread_list, &thread_list}; /* under thread_list_lock */
static _Atomic uint32_t last_tid;

/* ---- Creation ---- */

/* Resets a reused slab object, except the locks. A thread begins suspended. */
static void reset_thread(struct thread *thread)
{
    atomic_store_explicit(&thread->on_cpu, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->pending, PENDING_SUSPEND, memory_order_relaxed);
    atomic_store_explicit(&thread->state, THREAD_SUSPENDED, memory_order_relaxed);
    atomic_store_explicit(&thread->queued_on, NULL, memory_order_relaxed);
    thread->wait_deadline = TIMER_NEVER;
    thread->timer = (struct timer){0};
    thread->reply_target = (struct reply_target){0};
    thread->call_id = 0;
    thread->bound = NULL;
    thread->run_ticks = thread->slice_used = 0;
    thread->traced = 0;
    thread->routines.depth = 0;
    thread->routine_table = NULL;
    atomic_store_explicit(&thread->references, 2, memory_order_relaxed); /* alive, and the caller's */
}

static void name_block(struct thread *thread, const char *name)
{
    struct thread_block *block = thread->block;
    block->cpu = this_cpu()->index;
    block->ring = cpu_user_ring(this_cpu());
    block->pid = thread->space ? thread->space->pid : 0;
    block->tid = thread->tid;
    memcpy(block->name, name, sizeof block->name - 1);
    block->name[sizeof block->name - 1] = 0;
}

static void link_thread(struct thread *thread)
{
    spin_lock(&thread_list_lock);
    list_add_tail(&thread_list, &thread->all);
    spin_unlock(&thread_list_lock);
}

static void trace_birth(const struct thread *thread)
{
    const struct thread *parent = current_thread();
    trace_sched_process_fork(parent->block->name, parent->tid, parent->block->pid, thread->block->name,
                             thread->tid, thread->block->pid);
}

/* Adds the thread, with a reference, to its lists; -E_DEAD if the space is dying. The thread must be
 * complete: it may be found and killed as soon as the lock is free. Its block can be written only here: a
 * space without threads may be released, with its blocks, at any time. */
static int join_space(struct thread *thread, struct space *space, const char *name)
{
    spin_lock(&space->lock);
    int error = space->dying ? -E_DEAD : 0;
    if (!error) {
        name_block(thread, name);
        space_get(space);
        list_add_head(&space->threads, &thread->in_space);
        space->thread_count++;
        link_thread(thread);
        trace_birth(thread);
    }
    spin_unlock(&space->lock);
    return error;
}

struct thread *thread_new(struct space *space, const struct thread_config *config, int *error)
{
    struct thread *thread = slab_alloc(&thread_slab);
    *error = -E_NO_MEMORY;
    if (!thread)
        return NULL;
    *error = space_alloc_block(space, &thread->block, &thread->block_user);
    if (*error) {
        slab_free(&thread_slab, thread);
        return NULL;
    }
    reset_thread(thread);
    thread->space = space;
    thread->tid = atomic_fetch_add_explicit(&last_tid, 1, memory_order_relaxed) + 1;
    thread->priority = config->priority;
    atomic_store_explicit(&thread->affinity, config->affinity ? config->affinity : ~0ull,
                          memory_order_relaxed);
    atomic_store_explicit(&thread->cpu, this_cpu(), memory_order_relaxed);
    frame_init(&thread->frame, config->entry, config->stack, config->arg);
    arch_thread_init(thread, config->tls);
    /* It is suspended before other CPUs can see it. */
    atomic_store(&thread->wait_lock, &thread->lock);
    *error = join_space(thread, space, config->name);
    if (*error) {
        space_free_block(space, thread->block_user);
        slab_free(&thread_slab, thread);
        return NULL;
    }
    return thread;
}

static struct thread_block idle_blocks[CPUS_MAX];

struct thread *thread_new_idle(struct cpu *cpu)
{
    struct thread *thread = slab_alloc(&thread_slab);
    assert(thread);
    reset_thread(thread);
    thread->block = &idle_blocks[cpu->index];
    thread->block_user = 0;
    thread->space = NULL;
    thread->tid = 0;
    thread->priority = 0;
    atomic_store_explicit(&thread->wait_lock, NULL, memory_order_relaxed);
    atomic_store_explicit(&thread->pending, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->affinity, 1ull << cpu->index, memory_order_relaxed);
    atomic_store_explicit(&thread->cpu, cpu, memory_order_relaxed);
    atomic_store_explicit(&thread->state, THREAD_RUNNING, memory_order_relaxed);
    atomic_store_explicit(&thread->on_cpu, 1, memory_order_relaxed);
    char name[TARN_NAME_BYTES];
    format_text(name, sizeof name, "idle/%u", cpu->index);
    name_block(thread, name);
    thread->block->cpu = cpu->index;
    frame_init(&thread->frame, 0, 0, 0);
    arch_thread_init(thread, 0);
    link_thread(thread);
    return thread;
}

bool frame_is_for_system(void)
{
    const struct thread *thread = this_cpu()->current;
    return !thread || !thread->space || thread->space->system;
}

/* ---- Suspension ---- */

static void unpark(struct thread *thread)
{
    struct spinlock *lock = thread_lock_wait(thread);
    if (!lock)
        return;
    bool parked = atomic_load_explicit(&thread->state, memory_order_relaxed) == THREAD_SUSPENDED;
    if (parked)
        thread_end_wait(thread);
    spin_unlock(lock);
    if (parked)
        sched_wake(thread);
}

int64_t sys_thread_resume(struct thread *thread)
{
    /* Sequentially consistent: pairs with thread_park, which begins to wait and then tests again. */
    atomic_fetch_and(&thread->pending, ~PENDING_SUSPEND);
    unpark(thread);
    return 0;
}

void thread_park(struct thread *self)
{
    spin_lock(&self->lock);
    thread_begin_wait(self, THREAD_SUSPENDED, &self->lock, TIMER_NEVER);
    if (!(atomic_load(&self->pending) & PENDING_SUSPEND))
        unpark(self);
}

int64_t sys_thread_suspend(struct thread *thread)
{
    atomic_fetch_or(&thread->pending, PENDING_SUSPEND);
    sched_kick(thread);
    return 0;
}

/* ---- Death ---- */

void thread_kill(struct thread *thread)
{
    if (atomic_load(&thread->state) == THREAD_DEAD)
        return;
    atomic_fetch_or(&thread->pending, PENDING_KILL);
    /* It must run once more to end; nothing delays it at this priority. */
    sched_set_priority(thread, TARN_PRIORITIES - 1);
    if (!thread_abort_wait(thread, -E_CANCELED))
        sched_kick(thread);
}

static void leave_space(struct thread *thread)
{
    struct space *space = thread->space;
    space_free_block(space, thread->block_user);
    spin_lock(&space->lock);
    list_remove(&thread->in_space);
    bool last = --space->thread_count == 0;
    if (last)
        __atomic_store_n(&space->dying, true, __ATOMIC_RELAXED); /* others read it without the lock */
    spin_unlock(&space->lock);
    if (last)
        space_finish(space);
}
THREAD_END(3_space, leave_space);

void thread_finish(struct thread *thread)
{
    struct space *space = thread->space;
    spin_lock(&thread->lock); /* thread_set_name tests the state under this lock */
    atomic_store(&thread->state, THREAD_DEAD);
    spin_unlock(&thread->lock);
    trace_sched_process_exit(thread->block->name, thread->tid, thread_priority(thread), space->pid);
    timer_remove(&thread->timer);
    spin_lock(&thread_list_lock);
    list_remove(&thread->all);
    spin_unlock(&thread_list_lock);
    for (thread_end *const *end = thread_ends_first; end < thread_ends_last; end++)
        (*end)(thread);
    space_put(space);
    thread_put(thread);
}

void thread_put(struct thread *thread)
{
    /* Release and acquire: as in memory_put. */
    if (atomic_fetch_sub_explicit(&thread->references, 1, memory_order_acq_rel) == 1)
        slab_free(&thread_slab, thread);
}

OBJECT_TYPE(CAP_THREAD, thread);

void thread_for_each(void (*visit)(struct thread *thread, void *context), void *context)
{
    spin_lock(&thread_list_lock);
    for (struct list *link = thread_list.next; link != &thread_list; link = link->next)
        visit(list_object(link, struct thread, all), context);
    spin_unlock(&thread_list_lock);
}

struct thread *thread_next_unlocked(const struct thread *previous)
{
    struct list *link = previous ? previous->all.next : thread_list.next;
    return link == &thread_list ? NULL : list_object(link, struct thread, all);
}
