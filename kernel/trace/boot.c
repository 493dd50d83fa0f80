/*
 * kernel/trace/boot.c - the info page, and a ring that works from the first C statement on.
 *
 * Until frames can be allocated and mapped, the boot CPU logs into a ring in the kernel's data; rings.c later
 * copies it into that CPU's ring.
 */
#include "trace/events.h" /* generated */
#include <arch/boot.h>
#include <arch/clock.h>
#include <arch/trace.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/trace/control.h>
#include <trace/ring/ring.h>
#include <trace/trace.h>

#define PAGE 4096

/* The union makes the info page exactly a page: programs see all of it. */
union info_page {
    struct trace_info info;
    char page[PAGE];
};
_Static_assert(sizeof(union info_page) == PAGE, "one page");
extern union info_page trace_info_storage __asm__("trace_info_page");
union info_page trace_info_storage __attribute__((aligned(PAGE)));

static struct {
    struct trace_control control;
    char buffers[TRACE_BOOT_BUFFERS][TRACE_BUFFER_BYTES_DEFAULT];
    char slack[TRACE_SLACK_BYTES];
} boot_ring __attribute__((aligned(PAGE)));

/* ---- the beginning ---- */

/* Nothing is shared yet: plain stores. The mask comes last, because it enables logging. */
void trace_boot_init(void)
{
    struct trace_info *info = &trace_info_page;
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    trace_info_begin(info, 1, TRACE_MODE_FLIGHT, TRACE_BUFFER_BYTES_DEFAULT, TRACE_BOOT_BUFFERS, uuid);
    info->low_water = TRACE_LOW_WATER_DEFAULT;
    for (unsigned i = 0; i < TRACE_CLASS_COUNT; i++)
        info->switches[i] = ~0ull;
    this_cpu()->block.ring = (uint64_t)boot_ring.buffers;
    trace_ring_open(trace_ring(0), 0);
    trace_expect_index(0, boot_ring.control.index);
    info->mask = ~0ull;
}

void trace_set_clock(const struct arch_clock_rate *rate, int64_t wall_ns_at_tick_0)
{
    trace_info_page.clock_hz = rate->hz;
    trace_info_page.clock_error_ppm = rate->error_ppm;
    trace_info_page.clock_is_certain = rate->is_certain;
    _Static_assert(sizeof(rate->names) == sizeof(trace_info_page.clock_sources), "the same text");
    memcpy(trace_info_page.clock_sources, rate->names, sizeof(trace_info_page.clock_sources));
    trace_info_page.clock_offset_ns = wall_ns_at_tick_0;
}

/* On another CPU the thread may end meanwhile. Its memory stays a thread as long as this CPU is in the kernel
 * (quiescent.h). */
void trace_kernel_context(const char *ring, struct trace_context *context)
{
    const struct cpu *cpu = &cpus[arch_trace_cpu(ring)];
    const struct thread *thread = __atomic_load_n(&cpu->current, __ATOMIC_RELAXED);
    const struct thread_block *block = thread ? __atomic_load_n(&thread->block, __ATOMIC_RELAXED) : NULL;
    *context = (struct trace_context){0};
    if (!block)
        return; /* the kernel itself, while it boots */
    context->pid = block->pid;
    context->tid = block->tid;
    memcpy(context->name, block->name, TRACE_NAME_BYTES);
}
