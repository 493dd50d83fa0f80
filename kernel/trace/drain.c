/*
 * kernel/trace/drain.c - wakes the drain of the trace when a ring reaches the low-water mark.
 *
 * The idea is KLogger's (Etsion, Tsafrir, Kirkpatrick and Feitelson, EuroSys 2007). The drain is a program
 * that takes packets out of the rings in mode stream. It registers a notification, which is signalled while
 * at most `low_water` percent of a ring are free: when a packet was begun, not for each event. So the path
 * of an event costs nothing more.
 *
 * Code that logs may hold any lock, or be an NMI. So it only interrupts its own CPU (IPI_RESCHEDULE), which
 * signals when it takes the interrupt: when it leaves the kernel or sleeps.
 *
 * There is at most one drain. The kernel has a reference to its notification, and gives it back at the next
 * heartbeat after all others have done so: when the program has ended.
 *
 * Locking: trace_lock covers the drain. `is_set` is a hint that is read without it.
 */
#include <arch/cpu.h>
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/notification.h>
#include <kernel/object/cap_table.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>

static struct {
    struct notification *notification; /* a reference; NULL: none */
    uint64_t bits;
} drain;
static _Atomic bool is_set;
static _Atomic bool is_due[CPUS_MAX]; /* this CPU must signal; set and taken by it */

/* ---- the drain ------------------------------------------------------------------------------------ */

/* trace_lock held. Returns the old reference, which the caller gives back without the lock. */
static struct notification *replace(struct notification *notification, uint64_t bits)
{
    struct notification *old = drain.notification;
    drain.notification = notification;
    drain.bits = bits;
    atomic_store_explicit(&is_set, notification != NULL, memory_order_relaxed);
    return old;
}

int trace_set_drain(cap_t slot, uint64_t bits)
{
    void *object;
    if (bits & ~NOTIFICATION_BITS)
        return -E_BAD_ARGUMENT;
    int error = cap_get(&current_thread()->space->caps, slot, CAP_NOTIFICATION, RIGHT_WRITE, &object);
    if (error)
        return error;
    struct notification *notification = object, *old = notification;
    spin_lock(&trace_lock);
    if (bits)
        old = replace(notification, bits);
    else if (drain.notification == notification)
        notification_put(replace(NULL, 0)); /* not the last: the caller has another */
    spin_unlock(&trace_lock);
    if (old)
        notification_put(old);
    if (bits)
        trace_tell_drain();
    return 0;
}

void trace_tell_drain(void)
{
    struct notification *notification = NULL;
    uint64_t bits = 0;
    if (!atomic_load_explicit(&is_set, memory_order_relaxed))
        return;
    spin_lock(&trace_lock);
    /* Still signalled: the drain will check the rings anyway. */
    if (drain.notification && (atomic_load(&drain.notification->bits) & drain.bits) != drain.bits) {
        notification = drain.notification;
        bits = drain.bits;
        notification_get(notification);
    }
    spin_unlock(&trace_lock);
    if (!notification)
        return;
    notification_signal(notification, bits);
    notification_put(notification);
}

/* Nobody can wait for a notification to which only the kernel has a reference, and nobody can get one. */
void trace_forget_drain(void)
{
    struct notification *old = NULL;
    if (!atomic_load_explicit(&is_set, memory_order_relaxed) || !spin_try_lock(&trace_lock))
        return;
    /* Acquire: pairs with the release in notification_put. */
    if (drain.notification &&
        atomic_load_explicit(&drain.notification->references, memory_order_acquire) == 1)
        old = replace(NULL, 0);
    spin_unlock(&trace_lock);
    if (old)
        notification_put(old);
}

/* ---- the mark ------------------------------------------------------------------------------------- */

/* A program may have changed the control page: any result is harmless. */
static bool is_low(uint32_t cpu)
{
    const struct trace_info *info = &trace_info_page;
    const struct trace_reader reader = trace_reader_of(cpu);
    const uint64_t index = __atomic_load_n(&trace_control_of(reader.ring)->index, __ATOMIC_RELAXED);
    const uint64_t consumed = __atomic_load_n(&info->consumed[cpu], __ATOMIC_RELAXED);
    const uint64_t size = reader.eras.ring_words, words = trace_geometry_words(reader.geometry);
    uint64_t used = trace_index_head_start(index, words) - trace_eras_start(&reader.eras, consumed);
    if (!(index & TRACE_INDEX_CLOSED))
        used += words;
    const uint64_t left = used < size ? size - used : 0;
    return left * 100 <= size * __atomic_load_n(&info->low_water, __ATOMIC_RELAXED);
}

void trace_check_mark(void)
{
    const uint32_t cpu = this_cpu()->index;
    const struct trace_info *info = &trace_info_page;
    if (!atomic_load_explicit(&is_set, memory_order_relaxed) ||
        __atomic_load_n(&info->mode, __ATOMIC_RELAXED) != TRACE_MODE_STREAM ||
        trace_geometry_is_changing(trace_geometry_of(info)) ||
        atomic_load_explicit(&is_due[cpu], memory_order_relaxed) || !is_low(cpu))
        return;
    atomic_store_explicit(&is_due[cpu], true, memory_order_relaxed);
    arch_interrupt_self();
}

void trace_wake_drain(void)
{
    const uint32_t cpu = this_cpu()->index;
    if (!atomic_load_explicit(&is_due[cpu], memory_order_relaxed))
        return;
    /* First: a ring that is found low from now on interrupts again. */
    atomic_store_explicit(&is_due[cpu], false, memory_order_relaxed);
    if (is_low(cpu)) /* still: the interrupt may come late */
        trace_tell_drain();
}

int trace_set_low_water(uint64_t percent)
{
    if (percent > 100)
        return -E_BAD_ARGUMENT;
    __atomic_store_n(&trace_info_page.low_water, (uint32_t)percent, __ATOMIC_RELAXED);
    trace_tell_drain(); /* a ring may be past the new mark */
    return 0;
}
