/*
 * kernel/trace/resize.c - changes the sizes of rings, and keeps their packets (trace/ring/resize.h).
 *
 * The steps, all of which leave the rings in order if nothing follows:
 *
 * 1. Memory is added to the rings, STEP_BYTES in each system call. Without enough of it nothing changes.
 * 2. Each CPU closes its packet and stops: its events are counted as discarded. The geometry word is odd.
 * 3. The change is planned for each ring. If a ring would lose unread packets, all go on as before.
 * 4. Packets with another place in the new ring move there, STEP_BYTES in each system call; none if only the
 *    buffers' size changes.
 * 5. The rings get their new sizes, and each CPU opens its next packet. The geometry word is even.
 *
 * A system call is not long, because the kernel runs with interrupts off; so its caller repeats it. If the
 * caller ends between 2 and 5, the heartbeat goes on in its place.
 *
 * Locking: trace_lock. Nothing else changes sizes, mode or `consumed` while the word is odd.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/sched/sched.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <trace/ring/resize.h>
#include <trace/ring/ring.h>

#define STEP_BYTES (1ull << 20)
#define LEFT_HZ    10 /* a caller that does not come back for so long has ended */

static struct change {
    bool is_on;
    uint64_t buffer_bytes, buffer_count;
    uint64_t stepped_at; /* ticks */
    uint32_t cpu;        /* the rings before are done */
    struct trace_resize ring[TRACE_CPUS_MAX];
} change;

bool trace_geometry_is_valid(uint64_t buffer_bytes, uint64_t buffer_count)
{
    return buffer_bytes >= TRACE_BUFFER_BYTES_MIN && buffer_bytes <= TRACE_BUFFER_BYTES_MAX &&
           !(buffer_bytes & (buffer_bytes - 1)) && buffer_count >= 2 &&
           !(buffer_count & (buffer_count - 1)) && buffer_count <= TRACE_RING_BYTES_MAX / buffer_bytes;
}

bool trace_is_resizing(void)
{
    assert(spin_held(&trace_lock));
    return change.is_on;
}

/* ---- memory --------------------------------------------------------------------------------------- */

/* Leaves three quarters of the free frames to others. 1: there is more to do. */
static int add_memory(uint64_t bytes)
{
    const uint64_t pages = bytes / FRAME_SIZE;
    uint64_t missing = 0, most = STEP_BYTES / FRAME_SIZE;
    for (uint32_t cpu = 0; cpu < trace_info_page.cpu_count; cpu++)
        missing += trace_missing_pages(cpu, pages);
    if (missing > frame_count_free() / 4)
        return -E_NO_MEMORY;
    for (uint32_t cpu = 0; cpu < trace_info_page.cpu_count; cpu++) {
        const uint64_t before = trace_missing_pages(cpu, pages);
        const int error = before && most ? trace_extend_ring(cpu, pages, most) : 0;
        if (error)
            return error;
        most -= before - trace_missing_pages(cpu, pages);
    }
    return missing > STEP_BYTES / FRAME_SIZE;
}

/* ---- stop and go on ------------------------------------------------------------------------------- */

static bool is_online(uint32_t cpu)
{
    return atomic_load_explicit(&sched_online_cpus, memory_order_relaxed) >> cpu & 1;
}

static void go_on(uint32_t cpu)
{
    char *ring = trace_ring(cpu);
    trace_ring_go_on(ring);
    trace_expect_index(cpu, __atomic_load_n(&trace_control_of(ring)->index, __ATOMIC_RELAXED));
}

static void go_on_own(void *unused)
{
    (void)unused;
    go_on(this_cpu()->index);
}

/* Stops every CPU's ring, also those of CPUs that never came up. */
static void stop_all(void)
{
    trace_on_every_cpu(trace_stop_own_ring);
    for (uint32_t cpu = 0; cpu < trace_info_page.cpu_count; cpu++)
        if (!is_online(cpu))
            trace_ring_stop(trace_ring(cpu));
}

static void go_on_all(void)
{
    for (uint32_t cpu = 0; cpu < trace_info_page.cpu_count; cpu++)
        if (!is_online(cpu))
            go_on(cpu);
    trace_on_every_cpu(go_on_own);
}

/* ---- the change ----------------------------------------------------------------------------------- */

static uint64_t new_geometry(void)
{
    return trace_geometry_word(change.buffer_bytes, change.buffer_count, 0);
}

/* The first word of a ring that may not get lost. A flight recorder keeps the newest. */
static uint64_t first_unread(uint32_t cpu, const struct trace_eras *eras)
{
    const struct trace_info *info = &trace_info_page;
    return info->mode == TRACE_MODE_FLIGHT ? TRACE_ALL_READ : trace_eras_start(eras, info->consumed[cpu]);
}

static bool plan_all(void)
{
    bool fits = true;
    for (uint32_t cpu = 0; cpu < trace_info_page.cpu_count && fits; cpu++) {
        struct trace_eras eras;
        trace_trusted_eras(cpu, trace_info_page.geometry, &eras);
        /* a program may have changed it since the stop */
        const uint64_t index = trace_trusted_index(cpu) | (trace_info_page.buffer_mask << TRACE_INDEX_SHIFT) |
                               TRACE_INDEX_CLOSED;
        fits = trace_resize_plan(&change.ring[cpu], &eras, index, first_unread(cpu, &eras), new_geometry());
    }
    return fits;
}

static void set_word(uint64_t sizes, uint32_t changes)
{
    /* Release, here and as a fence behind: a reader of anything that follows sees that the word has changed,
     * and one that sees an even word sees the rings set up. Pairs with trace_reader_is_current() and
     * trace_geometry_of(). */
    __atomic_store_n(&trace_info_page.geometry, (sizes & 0xffffffff) | (uint64_t)changes << 32,
                     __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* False: a ring would lose unread packets. */
static bool begin(void)
{
    struct trace_info *info = &trace_info_page;
    const uint32_t changes = trace_geometry_changes(info->geometry);
    set_word(info->geometry, changes + 1);
    stop_all();
    change.is_on = plan_all();
    change.cpu = 0;
    __atomic_store_n(&info->ring_wanted, change.is_on ? 0 : change.buffer_bytes * change.buffer_count,
                     __ATOMIC_RELAXED);
    if (!change.is_on) {
        go_on_all();
        set_word(info->geometry, changes + 2);
        trace_store_refresh(); /* readers from outside look at the word again */
    }
    return change.is_on;
}

static void finish(void)
{
    struct trace_info *info = &trace_info_page;
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++) {
        const struct trace_resize *resize = &change.ring[cpu];
        trace_resize_forget(resize, trace_ring(cpu) + TRACE_BUFFERS_OFFSET);
        trace_set_eras(cpu, &resize->eras);
        __atomic_store_n(&trace_control_of(trace_ring(cpu))->index, resize->index, __ATOMIC_RELEASE);
    }
    trace_set_masks(info, change.buffer_bytes, change.buffer_count);
    go_on_all();
    change.is_on = false;
    set_word(new_geometry(), trace_geometry_changes(info->geometry) + 1);
    trace_store_refresh();
}

/* Moves at most STEP_BYTES. 1: there is more to do. */
static int step(uint64_t now)
{
    uint64_t most = STEP_BYTES / 8;
    change.stepped_at = now;
    for (; change.cpu < trace_info_page.cpu_count; change.cpu++) {
        struct trace_resize *resize = &change.ring[change.cpu];
        if (!trace_resize_move(resize, trace_ring(change.cpu) + TRACE_BUFFERS_OFFSET, &most))
            return 1;
    }
    finish();
    return 0;
}

int trace_set_geometry(uint64_t buffer_bytes, uint64_t buffer_count)
{
    const struct trace_info *info = &trace_info_page;
    assert(spin_held(&trace_lock));
    const bool is_same = change.buffer_bytes == buffer_bytes && change.buffer_count == buffer_count;
    if (change.is_on && !is_same)
        return -E_BUSY;
    if (change.is_on)
        return step(arch_trace_clock());
    if (buffer_bytes == trace_buffer_bytes(info) && buffer_count == info->buffer_count)
        return 0;
    const int result = add_memory(buffer_bytes * buffer_count);
    if (result)
        return result;
    change.buffer_bytes = buffer_bytes;
    change.buffer_count = buffer_count;
    return begin() ? step(arch_trace_clock()) : -E_BUSY;
}

void trace_resume_resize(uint64_t now)
{
    if (!spin_try_lock(&trace_lock))
        return; /* its holder is at work */
    if (change.is_on && now - change.stepped_at > trace_info_page.clock_hz / LEFT_HZ)
        step(now);
    spin_unlock(&trace_lock);
}
