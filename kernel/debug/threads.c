/* threads.c - commands cpu, threads, thread, spaces, bt. */
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/debug/debug.h>
#include <kernel/debug/debugger.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

/* ---- Call chains ---- */

static const struct space *space_of(const struct cpu *cpu)
{
    return cpu->current ? cpu->current->space : NULL;
}

/* A CPU that was asked to stop was about to return to a thread, which is in its trap frame, or to the idle
 * loop. */
static bool was_left_in_frame(const struct cpu *cpu)
{
    return debug_stop_state(cpu->index) == STOP_ASKED && space_of(cpu);
}

/* From where the CPU stopped: the kernel's chain, if any, then the program's. */
static void put_cpu_chain(struct cpu *cpu)
{
    const struct kernel_regs *regs = debugger_stopped_at(cpu->index);
    if (!regs) {
        debug_print("cpu %u is not stopped\n", cpu->index);
    } else if (arch_trap_of_user(regs)) {
        debugger_print_user_calls(cpu->current, regs, debug_print);
    } else {
        if (!was_left_in_frame(cpu))
            debugger_print_kernel_calls(cpu, regs, debug_print);
        if (space_of(cpu))
            debugger_print_user_calls(cpu->current, NULL, debug_print);
    }
}

static void put_thread_chain(struct thread *thread)
{
    struct cpu *cpu = debug_cpu_of(thread);
    if (cpu)
        put_cpu_chain(cpu);
    else if (thread->space)
        debugger_print_user_calls(thread, NULL, debug_print);
}

static struct thread *thread_numbered(const char *text)
{
    struct thread *thread = debug_find_thread(debug_number(text));
    if (thread)
        return thread;
    debug_print("no thread %s\n", text);
    debug_end_command();
}

void debug_backtrace(const struct debug_words *words)
{
    if (words->count < 2)
        put_cpu_chain(this_cpu());
    else if (words->count > 2 && !strcmp(words->word[1], "cpu"))
        put_cpu_chain(debug_cpu(words->word[2]));
    else if (words->count > 2 && strcmp(words->word[1], "tid"))
        debug_refuse(words, 1);
    else
        put_thread_chain(thread_numbered(words->word[words->count > 2 ? 2 : 1]));
}

/* ---- cpu ---- */

static const char *const stop_names[] = {
    [STOP_RUNNING] = "no answer", [STOP_ASKED] = "stopped",   [STOP_FORCED] = "forced",
    [STOP_ENDED] = "ended",       [STOP_SESSION] = "session",
};

static bool is_in_user_mode(const struct cpu *cpu, const struct kernel_regs *regs)
{
    return arch_trap_of_user(regs) || was_left_in_frame(cpu);
}

static const char *mode_of(const struct cpu *cpu, const struct kernel_regs *regs)
{
    return !regs ? "?" : is_in_user_mode(cpu, regs) ? "user" : cpu->current == cpu->idle ? "idle" : "kernel";
}

static const char *place_of(const struct cpu *cpu, const struct kernel_regs *regs)
{
    if (!regs)
        return "";
    uint64_t ip = was_left_in_frame(cpu) ? frame_ip(&cpu->current->frame) : arch_trap_ip(regs);
    return debug_name_of(is_in_user_mode(cpu, regs) ? space_of(cpu) : NULL, ip);
}

static void put_cpu(const struct cpu *cpu)
{
    const struct kernel_regs *regs = debugger_stopped_at(cpu->index);
    debug_print("%3u %-9s %-6s %-20s %5u %s%s\n", cpu->index, stop_names[debug_stop_state(cpu->index)],
                mode_of(cpu, regs), cpu->current ? debug_thread_name(cpu->current) : "",
                cpu->run_queue.length, place_of(cpu, regs), cpu->waiting_lock ? " spins for a lock" : "");
}

static void put_cpu_registers(struct cpu *cpu)
{
    const struct kernel_regs *regs = debugger_stopped_at(cpu->index);
    if (regs && was_left_in_frame(cpu)) {
        arch_print_frame(&cpu->current->frame, debug_print);
    } else if (regs) {
        debug_print("interrupts were %s\n", arch_trap_was_interruptible(regs) ? "on" : "off");
        arch_print_trap(regs, debug_print);
    }
    if (cpu->waiting_lock)
        debug_print("%s\n", debug_wait_reason(cpu->current));
    put_cpu_chain(cpu);
}

void debug_cpus(const struct debug_words *words)
{
    if (words->count > 1) {
        struct cpu *cpu = debug_cpu(words->word[1]);
        put_cpu(cpu);
        put_cpu_registers(cpu);
        return;
    }
    debug_print("cpu state     mode   thread               ready at\n");
    for (uint32_t i = 0; i < cpu_count; i++)
        put_cpu(&cpus[i]);
}

/* ---- Threads ---- */

static void put_thread(const struct thread *thread)
{
    debug_print("%5u %4u %-16.16s %3u %2u %-12s %s\n", thread->tid, thread->space ? thread->space->pid : 0,
                thread->block->name, thread->cpu ? thread->cpu->index : 0, thread->priority,
                debug_thread_state(thread), debug_wait_reason(thread));
}

void debug_threads(const struct debug_words *words)
{
    uint64_t pid = words->count > 1 ? debug_number(words->word[1]) : 0;
    debug_print("  tid  pid name             cpu pr state        waits\n");
    struct thread *thread = debug_next_thread(NULL);
    for (; thread; thread = debug_next_thread(thread))
        if (!pid || (thread->space && thread->space->pid == pid))
            put_thread(thread);
}

void debug_thread(const struct debug_words *words)
{
    if (words->count < 2) {
        debug_print("thread TID\n");
        return;
    }
    struct thread *thread = thread_numbered(words->word[1]);
    debug_print("%s of %s: %s %s\n", debug_thread_name(thread), debug_space_name(thread->space),
                debug_thread_state(thread), debug_wait_reason(thread));
    debug_print("priority %u, affinity %#lx, cpu %u, ran %lu ms, pending %#x, block %#lx\n", thread->priority,
                thread->affinity, thread->cpu->index, timer_nanoseconds(thread->run_ticks) / 1000000,
                thread->pending, (uint64_t)thread->block);
    struct cpu *cpu = debug_cpu_of(thread);
    const struct kernel_regs *regs = cpu ? debugger_stopped_at(cpu->index) : NULL;
    if (regs && arch_trap_of_user(regs))
        arch_print_trap(regs, debug_print);
    else
        arch_print_frame(&thread->frame, debug_print);
    put_thread_chain(thread);
}

/* ---- Spaces ---- */

void debug_spaces(const struct debug_words *words)
{
    debug_print("  pid parent name             threads mappings frames  cpus     program\n");
    struct space *space = debug_next_space(NULL);
    for (; space; space = debug_next_space(space))
        debug_print("%5u %6u %-16.16s %7u %8lu %6lu  %-8lx %.100s%s\n", space->pid, space->parent_pid,
                    space->name, space->thread_count, space->mapping_count, space->private_frames,
                    space->cpus, space->executable_path, space->dying ? " (dying)" : "");
}
