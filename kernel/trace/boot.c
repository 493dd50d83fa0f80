/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/trace/boot.c - the info page, and a ring that works from the first C statement on.
 *
 * Until frames can be allocated and mapped, the boot CPU logs into a ring in the kernel's data; rings.c later
 * copies it into that CPU's ring.
 */
#include "trace/events.h" /* generated */
#include <arch/boot.h>
#include <arch/clock.h>
#include <arch/mmu.h>
#include <arch/trace.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <tarn/trace_control.h>
#include <trace/print/app_schema.h>
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

/* ---- boot options ---- */

/*
 * trace.NAME=A/B is the command NAME A B (trace/print/commands.h). trace.mask, trace.switch, trace.mode and
 * trace.low-water hold from the start of generic code (all is traced before it), others before a second CPU
 * starts. Programs' schemas are not known then.
 */

/* Before anything else runs: plain stores. */
static int64_t set_early(uint32_t operation, uint64_t a, uint64_t b)
{
    switch (operation) {
    case TRACE_OP_SET_MASK:
        trace_info_page.mask = a;
        return 0;
    case TRACE_OP_SET_MODE:
        trace_info_page.mode = (uint32_t)a;
        return 0;
    case TRACE_OP_SET_LOW_WATER:
        trace_info_page.low_water = (uint32_t)a;
        return 0;
    case TRACE_OP_SET_SWITCHES:
        trace_trace_switches((uint32_t)a, 0, trace_info_page.switches[a], b); /* for readers */
        trace_info_page.switches[a] = b;
        return 0;
    default:
        return -E_UNSUPPORTED;
    }
}

/* Settings that need clock, rings and this CPU's thread */
static int64_t set_late(uint32_t operation, uint64_t a, uint64_t b)
{
    int64_t status;
    while ((status = trace_control(operation, a, b)) > 0 && operation == TRACE_OP_SET_GEOMETRY)
        ;
    return status;
}

static int find_class(const char *name, uint64_t length)
{
    return trace_find_any_class(trace_app_schemas(), name, length);
}

static const char *class_name(uint32_t class_number)
{
    return trace_find_class_name(trace_app_schemas(), class_number);
}

static const struct trace_event_info *find_event(uint32_t id)
{
    return trace_find_event(trace_app_schemas(), id);
}

/* One element at a time */
static int64_t read(uint32_t kind, uint64_t index, void *to, uint64_t bytes)
{
    if (kind == SYSTEM_COUNTERS)
        return (int64_t)(counters_list(index, to, 1) * bytes);
    if (kind == SYSTEM_LOCK_CLASSES)
        return (int64_t)(lock_class_list(index, to, 1) * bytes);
    return counters_missing() ? format_text(to, bytes, "%s", counters_missing()) : 0;
}

struct trace_settings trace_kernel_settings(int64_t (*control)(uint32_t operation, uint64_t a, uint64_t b),
                                            void (*put)(struct trace_settings *settings, const char *text))
{
    return (struct trace_settings){.info = &trace_info_page,
                                   .find_class = find_class,
                                   .class_name = class_name,
                                   .find_event = find_event,
                                   .read = read,
                                   .control = control,
                                   .put = put};
}

static void ignore_text(struct trace_settings *settings, const char *text)
{
}

static void execute(struct trace_settings *settings, char *option, char *value)
{
    char text[256], *words[TRACE_COMMAND_WORDS_MAX] = {option, value};
    uint32_t count = 2;
    format_text(text, sizeof text, "%s", value);
    for (char *at = value; *at && count < TRACE_COMMAND_WORDS_MAX; at++)
        if (*at == '/') {
            *at = 0;
            words[count++] = at + 1;
        }
    if (trace_command_run(settings, count, words))
        log_line("boot option trace.%s=%s: %s", option, text, settings->error);
}

/* Uses the early options, which must hold before the first events, or the late ones. */
static void use_options(int64_t (*control)(uint32_t operation, uint64_t a, uint64_t b), bool is_early)
{
    char option[32], value[256];
    struct trace_settings settings = trace_kernel_settings(control, ignore_text);
    for (uint32_t i = 0; i < trace_command_count; i++) {
        const struct trace_command *command = &trace_commands[i];
        format_text(option, sizeof option, "trace.%s=", command->name);
        if (command->is_setting && command->is_early == is_early &&
            boot_option(option, value, sizeof value)) {
            option[strlen(option) - 1] = 0;
            execute(&settings, option + strlen("trace."), value);
        }
    }
}

void trace_boot_options(void)
{
    use_options(set_early, true);
    trace_sites_agree();
}

void trace_boot_options_late(void)
{
    use_options(set_late, false);
}

/* ---- the beginning ---- */

/* Nothing is shared yet: plain stores. The mask comes last, because it enables logging. */
void trace_boot_init(void)
{
    struct trace_info *info = &trace_info_page;
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    info->magic = TRACE_INFO_MAGIC;
    info->version = TRACE_INFO_VERSION;
    info->cpu_count = 1;
    trace_set_masks(info, TRACE_BUFFER_BYTES_DEFAULT, TRACE_BOOT_BUFFERS);
    info->geometry = trace_geometry_word(TRACE_BUFFER_BYTES_DEFAULT, TRACE_BOOT_BUFFERS, 0);
    info->mode = TRACE_MODE_FLIGHT;
    info->low_water = TRACE_LOW_WATER_DEFAULT;
    info->window_shift = TRACE_RING_SHIFT;
    info->buffers_offset = TRACE_BUFFERS_OFFSET;
    memcpy(info->uuid, uuid, sizeof(uuid));
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
