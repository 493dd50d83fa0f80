/*
 * objects.c - finds threads, spaces and endpoints, and what a thread waits for.
 *
 * It takes no locks: all CPUs are stopped, but perhaps in the middle of a change. Lists can be walked
 * forwards at any time, the memory of objects keeps its type while all are stopped (slab.h), loops are
 * bounded, and a bad pointer causes a fault, which ends only the command.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/debug/debug.h>
#include <kernel/ipc/endpoint.h>
#include <kernel/ipc/notification.h>
#include <kernel/kernel.h>
#include <kernel/memory/slab.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

#define THREADS_MAX 100000u
#define SPACES_MAX  100000u
#define FRAMES_MAX  100000u

/* ---- Threads and spaces ---- */

struct thread *debug_next_thread(struct thread *previous)
{
    static uint32_t count;
    count = previous ? count + 1 : 0;
    return count > THREADS_MAX ? NULL : thread_next_unlocked(previous);
}

struct space *debug_next_space(struct space *previous)
{
    static uint32_t count;
    count = previous ? count + 1 : 0;
    return count > SPACES_MAX ? NULL : space_next_unlocked(previous);
}

struct thread *debug_find_thread(uint64_t tid)
{
    struct thread *thread = debug_next_thread(NULL);
    while (thread && (thread->tid != tid || tid == 0))
        thread = debug_next_thread(thread);
    return thread;
}

struct space *debug_find_space(uint64_t pid)
{
    struct space *space = debug_next_space(NULL);
    while (space && space->pid != pid)
        space = debug_next_space(space);
    return space;
}

struct cpu *debug_cpu_of(const struct thread *thread)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i].current == thread)
            return &cpus[i];
    return NULL;
}

/* ---- Names ---- */

/* One line may need several names. */
#define NAME_BYTES 48
static char *name_buffer(void)
{
    static char buffers[8][NAME_BYTES];
    static unsigned next;
    return buffers[next++ % 8];
}

const char *debug_thread_name(const struct thread *thread)
{
    char *name = name_buffer();
    if (thread->space)
        format_text(name, NAME_BYTES, "%.16s(%u)", thread->block->name, thread->tid);
    else
        format_text(name, NAME_BYTES, "%.16s", thread->block->name);
    return name;
}

const char *debug_space_name(const struct space *space)
{
    char *name = name_buffer();
    format_text(name, NAME_BYTES, "%.16s[%u]", space->name, space->pid);
    return name;
}

const char *debug_thread_state(const struct thread *thread)
{
    static const char *const names[] = {
        [THREAD_RUNNING] = "running",     [THREAD_READY] = "ready",
        [THREAD_BLOCKED_SEND] = "send",   [THREAD_BLOCKED_RECEIVE] = "receive",
        [THREAD_BLOCKED_REPLY] = "reply", [THREAD_BLOCKED_NOTIFICATION] = "notification",
        [THREAD_BLOCKED_FUTEX] = "futex", [THREAD_SLEEPING] = "sleeping",
        [THREAD_BLOCKED_FAULT] = "fault", [THREAD_SUSPENDED] = "suspended",
        [THREAD_DEAD] = "dead",
    };
    uint32_t state = thread->state;
    return state < sizeof names / sizeof names[0] ? names[state] : "?";
}

/* ---- Endpoints ---- */

struct endpoint *debug_waits_at_endpoint(const struct thread *thread)
{
    const struct spinlock *lock = thread->wait_lock;
    uint32_t state = thread->state;
    bool queues =
        state == THREAD_BLOCKED_SEND || state == THREAD_BLOCKED_RECEIVE || state == THREAD_BLOCKED_FAULT;
    if (!lock || thread_owns_lock(thread, lock) || !queues)
        return NULL;
    return list_object(lock, struct endpoint, lock);
}

bool debug_space_holds(const struct space *space, uint32_t type, const void *object, uint32_t rights)
{
    const struct cap_table *table = &space->caps;
    uint32_t size = table->size <= CAP_SLOTS_MAX ? table->size : 0;
    if (space->released || table->closed)
        return false;
    for (uint32_t i = 0; i < size; i++) {
        const struct cap_slot *slot = &table->leaves[i / CAP_SLOTS_PER_LEAF][i % CAP_SLOTS_PER_LEAF];
        uint64_t meta = slot->meta;
        if (cap_meta_type(meta) == type && slot->object == object &&
            (cap_meta_rights(meta) & rights) == rights)
            return true;
    }
    return false;
}

struct space *debug_receiver_space(const struct endpoint *endpoint, uint32_t index)
{
    for (struct space *space = debug_next_space(NULL); space; space = debug_next_space(space))
        if (debug_space_holds(space, CAP_ENDPOINT, endpoint, RIGHT_RECEIVE) && index-- == 0)
            return space;
    return NULL;
}

/* ---- Waits ---- */

static const char *receiver_name(const struct endpoint *endpoint)
{
    const struct space *space = debug_receiver_space(endpoint, 0);
    return space ? debug_space_name(space) : "nobody";
}

static int put_reason(char *text, size_t size, const struct thread *thread)
{
    const struct spinlock *lock = thread->wait_lock;
    const struct endpoint *endpoint = debug_waits_at_endpoint(thread);
    const struct cpu *cpu = debug_cpu_of(thread);
    if (cpu && cpu->waiting_lock)
        return format_text(text, size, "spins for lock %s, class %s",
                           debug_name_of(NULL, (uint64_t)cpu->waiting_lock), cpu->waiting_lock->class->name);
    if (cpu && smp_unanswered(cpu))
        return format_text(text, size, "waits for the answer of cpu %d",
                           __builtin_ctzll(smp_unanswered(cpu)));
    switch (lock ? (enum thread_state)thread->state : THREAD_RUNNING) {
    case THREAD_BLOCKED_SEND:
        return format_text(text, size, "%s endpoint %u of %s",
                           thread->message_kind == MESSAGE_CALL ? "calls" : "sends to", endpoint->number,
                           receiver_name(endpoint));
    case THREAD_BLOCKED_RECEIVE:
        return format_text(text, size, "receives from endpoint %u", endpoint->number);
    case THREAD_BLOCKED_FAULT:
        if (endpoint)
            return format_text(text, size, "fault, to endpoint %u of %s", endpoint->number,
                               receiver_name(endpoint));
        return format_text(text, size, "fault, waits for the reply to call %lx", thread->call_id);
    case THREAD_BLOCKED_REPLY:
        return format_text(text, size, "waits for the reply to call %lx", thread->call_id);
    case THREAD_BLOCKED_NOTIFICATION:
        return format_text(text, size, "notification %u",
                           list_object(lock, struct notification, lock)->number);
    case THREAD_BLOCKED_FUTEX:
        return format_text(text, size, "word at %#lx", thread->futex_address);
    default:
        return format_text(text, size, "%s", "");
    }
}

const char *debug_wait_reason(const struct thread *thread)
{
    static char text[240];
    size_t length = (size_t)put_reason(text, sizeof text, thread);
    if (thread->wait_lock && thread->wait_deadline != TIMER_NEVER && thread->wait_deadline) {
        int64_t left = (int64_t)(thread->wait_deadline - arch_clock());
        format_text(text + length, sizeof text - length, "%s%lu ms left", length ? ", " : "",
                    left > 0 ? timer_nanoseconds((uint64_t)left) / 1000000 : 0);
    }
    return text;
}

/* ---- Slabs ---- */

void debug_each_object(const char *name, void (*visit)(void *object, void *context), void *context)
{
    uint32_t frames = 0;
    const struct slab *slab = slab_named(name);
    void *frame = slab ? slab_next_frame_unlocked(slab, NULL) : NULL;
    for (; frame && frames++ < FRAMES_MAX; frame = slab_next_frame_unlocked(slab, frame))
        for (uint32_t i = 0; i < slab_objects_in_frame(slab); i++)
            visit(slab_object(slab, frame, i), context);
}
