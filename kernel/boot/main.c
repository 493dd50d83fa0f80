/*
 * main.c - from the port's boot code to the first program.
 *
 * The boot CPU sets everything up, starts the others, and starts init. Then all CPUs enter the scheduler by
 * the kernel exit (arch_return_to_user -> kernel_exit), each as its idle thread.
 */
#include <arch/boot.h>
#include <arch/clock.h>
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/debug/debugger.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/failure/panic.h>
#include <kernel/failure/watchdog.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/object/cap_table.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/sched/timer.h>
#include <kernel/syscall/machine.h>
#include <kernel/trace/control.h>

#define NANOSECONDS     1000000000ll
#define CPU_PATIENCE_MS 10000u

/* `smp=N`: maximum number of CPUs to use. */
static void limit_cpus(void)
{
    uint64_t limit;
    if (boot_number("smp=", &limit) && limit > 0 && limit < boot_info.cpu_count)
        boot_info.cpu_count = (uint32_t)limit;
}

/* On the CPU itself. From here on it has its idle thread, and may log and take locks. */
static void init_cpu(struct cpu *cpu)
{
    cpu->bit = 1ull << cpu->index;
    cpu->next_call_id = (uint64_t)cpu->index << 56;
    cpu->idle = thread_new_idle(cpu);
    cpu->current = cpu->idle;
    timer_init_cpu(cpu);
    counters_init_cpu(cpu);
    profile_init_cpu(cpu);
    arch_timer_init();
    sched_init_cpu(cpu);
    routines_init_cpu(cpu);
    timer_program();
    cpu->online = true;
}

void kernel_secondary_main(uint32_t index)
{
    init_cpu(&cpus[index]);
    arch_return_to_user();
}

static void start_cpus(void)
{
    for (uint32_t i = 1; i < boot_info.cpu_count; i++) {
        int error = arch_start_cpu(i);
        if (error) {
            log_line("cpu %u does not start: error %d", i, error);
            continue;
        }
        uint64_t limit = arch_clock() + timer_ticks_ms(CPU_PATIENCE_MS);
        while (!(atomic_load(&sched_online_cpus) >> i & 1)) {
            if (arch_clock() > limit)
                panic("cpu %u was started but does not respond", i);
            arch_relax();
        }
        cpu_count = i + 1;
    }
}

/* Warns, as the trace's metadata does, if times cannot be trusted. */
static void log_start(const struct arch_clock_rate *rate)
{
    log_line("tarn: %u CPUs, %lu MiB free, clock %lu kHz within %u ppm (%s)", cpu_count,
             frame_count_free() >> 8, clock_hz / 1000, rate->error_ppm, rate->names);
    if (!rate->is_certain)
        log_line("tarn: warning: no two sources agree on the clock's rate; durations may be wrong by more");
}

void kernel_main(void)
{
    struct arch_clock_rate rate;
    lock_init();
    panic_boot_options();
    trace_boot_options();
    limit_cpus();
    trace_previous_find();
    frame_allocator_init(trace_kept_range);
    object_types_init();
    timer_init(&rate);
    uint64_t now = timer_nanoseconds(arch_clock());
    trace_set_clock(&rate, arch_wall_clock() * NANOSECONDS - (int64_t)now);
    trace_init();
    arch_irq_init();
    pci_init();
    init_cpu(this_cpu());
    routines_boot();
    trace_boot_options_late();
    console_init();
    watchdog_init();
    explore_boot();
    start_cpus();
    log_start(&rate);
    measure_trace_points();
    debugger_boot();
    trace_statedump(); /* a reader that takes the trace from memory cannot ask for one */
    loader_start_init();
    arch_return_to_user();
}
