/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles_instructions.c - counts instructions beside the time of routines. Interface: profiles.h.
 *
 * A CPU's counter has 32 bits. Each begin, end and switch reads it, timer interrupts among them several times
 * a second, and so extends it to 64 bits: cpu->executed. That less `apart` of what is open in the thread is
 * what the thread has executed since its profile began. At a switch both threads' counts change at the same
 * reading, so over all threads instructions add up to those of the CPUs, to the last one.
 *
 * A row of instructions is counted like one of times. While a thread does not run it executes nothing, so its
 * waits have no instructions.
 */
#include <arch/counter.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/profile_rows.h>
#include <kernel/sched/thread.h>

static inline uint64_t read_counter(struct cpu *cpu)
{
    return cpu->executed += (uint32_t)(arch_instructions() - (uint32_t)cpu->executed);
}

void profile_begin_cpu(void)
{
    read_counter(this_cpu());
}

void profile_begin_instructions(struct open_routines *routines)
{
    routines->executed = routines->executed_in_kernel = 0;
    routines->apart = this_cpu()->executed;
}

uint64_t profile_executed(struct open_routines *routines)
{
    return routines->executed = read_counter(this_cpu()) - routines->apart;
}

void profile_switch_instructions(struct cpu *cpu, struct open_routines *prev, struct open_routines *next)
{
    const uint64_t now = read_counter(cpu);
    prev->executed = now - prev->apart;
    next->apart = now - next->executed;
}

/* ---- Begins and ends ---- */

static inline void begin_at(struct open_routines *routines, uint32_t depth, uint64_t executed)
{
    routines->instructions[depth] = (struct open_instructions){.since = executed};
}

/* A reader that sees the routine's depth sees what it began with. */
void routine_begin_counted(struct open_routines *routines, uint32_t depth, uint64_t key, uint64_t now)
{
    begin_at(routines, depth, profile_executed(routines));
    routine_begin(routines, depth, key, now);
}

/* The thread goes on in its program, which counts from here. */
static inline void tell_program(struct trace_program_clock *program, const struct open_routines *routines)
{
    program->executed = routines->executed;
    program->executed_in_kernel = routines->executed_in_kernel;
    program->counter = (uint32_t)(routines->executed + routines->apart);
}

/* A routine that is older than the profile counts for nothing. */
static inline void count_instructions(struct thread *thread, struct profile_rows *rows, uint64_t key,
                                      uint64_t since, uint64_t executed, uint64_t own)
{
    if (since >= thread->profile->head.born)
        profile_count(thread, rows, key | TRACE_PROFILE_INSTRUCTIONS, since, executed, own);
}

void profile_count_instructions(struct thread *thread, struct profile_rows *rows, uint64_t key,
                                uint64_t executed, uint64_t own)
{
    count_instructions(thread, rows, key, UINT64_MAX, executed, own);
}

/* At what the thread has executed so far. */
static void end_at(struct thread *thread, struct profile_rows *rows, uint32_t depth, uint64_t now)
{
    struct open_routines *routines = &thread->routines;
    const struct open_routine *open = &routines->at[depth];
    const struct open_instructions *instructions = &routines->instructions[depth];
    const uint64_t executed = routines->executed - instructions->since, key = open->key, since = open->since;
    routine_end(thread, rows, routines, depth, now);
    if (depth) {
        routines->instructions[depth - 1].nested += executed;
    } else {
        routines->executed_in_kernel += executed;
        tell_program(rows->program, routines);
    }
    count_instructions(thread, rows, key, since, executed, executed - instructions->nested);
}

void routine_end_counted(struct thread *thread, struct profile_rows *rows, uint32_t depth, uint64_t now)
{
    profile_executed(&thread->routines);
    end_at(thread, rows, depth, now);
}

/* ---- Switches, and the end ---- */

void profile_begin_out_counted(struct open_routines *routines, uint64_t key, uint64_t now)
{
    const uint32_t depth = routine_depth(routines);
    begin_at(routines, depth, routines->executed);
    routine_begin(routines, depth, key, now);
}

void profile_end_out_counted(struct thread *thread, struct profile_rows *rows, uint64_t now)
{
    end_at(thread, rows, thread->routines.depth - 1, now);
}

void profile_close_instructions(struct thread *thread, struct routine_profile *profile)
{
    struct open_routines *routines = &thread->routines;
    uint64_t inner = routines->executed;
    for (uint32_t i = routines->depth; i-- > 0;) {
        const struct open_routine *open = &routines->at[i];
        const struct open_instructions *instructions = &routines->instructions[i];
        const uint64_t key = open->key | profile->rows.program->context << TRACE_PROFILE_CONTEXT_SHIFT |
                             TRACE_PROFILE_INSTRUCTIONS;
        if (open->since >= profile->head.born)
            profile_find_or_add(profile, key)->exclusive +=
                inner - instructions->since - instructions->nested;
        inner = instructions->since;
    }
}
