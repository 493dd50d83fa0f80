/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles_program.c - the kernel's side of routines of programs: memory in which programs count them, and
 * what is credible of it. Interface: profile_rows.h; struct trace_program in trace/format/profile.h.
 *
 * The program may write anything there at any time. What is read is checked: rows lie in page frames that the
 * kernel has mapped, and nothing exceeds the thread's life. The kernel's rows do not depend on it, and the
 * time that rows of the program get is taken from what these leave.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/profile_rows.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/ring/profile_copy.h>

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* The frames that are mapped for the thread, also for one before it with the same block. */
static void find_program(struct routine_profile *profile, const struct thread *thread)
{
    uint32_t pages = 0;
    paddr_t frame;
    while (thread->space && pages < TRACE_PROGRAM_PAGES &&
           (frame = space_counting_frame(thread->space, thread->block_user, pages)) != FRAME_NONE)
        profile->head.program_page[pages++] = frame;
    profile->head.program_pages = pages;
}

void profile_begin_program(struct routine_profile *profile, const struct thread *thread)
{
    find_program(profile, thread);
    struct trace_program *program = profile_program(profile);
    profile->rows.program = &profile->no_program;
    profile->head.context = 0;
    if (program)
        __atomic_store_n(&program->epoch, profile->head.epoch, __ATOMIC_RELAXED);
}

/* The thread is about to count, or wants memory for more. */
static void use_program(struct routine_profile *profile, const struct thread *thread)
{
    find_program(profile, thread);
    struct trace_program *program = profile_program(profile);
    if (!program)
        return;
    if (!trace_program_counts(program, profile->head.epoch))
        __atomic_store_n(&program->clock.context, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&program->epoch, profile->head.epoch, __ATOMIC_RELAXED);
    __atomic_store_n(&program->pages, profile->head.program_pages, __ATOMIC_RELAXED);
    profile->rows.program = &program->clock;
    profile->head.context = profile->head.program_page[0]; /* it begins with that word */
}

int64_t sys_profile_map(uint32_t pages)
{
    struct thread *self = current_thread();
    struct routine_profile *profile = self->profile;
    if (!pages || pages > TRACE_PROGRAM_PAGES)
        return -E_TOO_LARGE;
    if (!profile || !profiles_on)
        return -E_NOT_FOUND;
    int error = 0;
    for (uint32_t i = profile->head.program_pages; !error && i < pages; i++)
        error = space_map_counting(self->space, self->block_user, i);
    use_program(profile, self);
    return error && profile->head.program_pages < pages ? error
                                                        : (int64_t)space_counting_address(self->block_user);
}

/* ---- Rows ---------------------------------------------------------------------------------------------- */

uint32_t profile_program_rows(const struct routine_profile *profile)
{
    return trace_program_rows(profile_program(profile), profile->head.program_pages, profile->head.epoch);
}

const struct trace_profile_row *profile_program_row(const struct routine_profile *profile, uint32_t number)
{
    const uint32_t page = trace_program_row_page(number);
    const struct trace_profile_row *rows =
        page ? phys_to_virt(profile->head.program_page[page]) : profile_program(profile)->first;
    return &rows[trace_program_row_index(number)];
}

uint64_t profile_program_moved(const struct routine_profile *profile)
{
    const struct trace_program *program = profile_program(profile);
    return program ? trace_profile_load(&program->since) : 0;
}

uint64_t profile_refused(const struct routine_profile *profile)
{
    const struct trace_program *program = profile_program(profile);
    return profile->head.refused +
           (trace_program_counts(program, profile->head.epoch)
                ? trace_profile_least(trace_profile_load(&program->refused), UINT32_MAX)
                : 0);
}

/* ---- Ends ---------------------------------------------------------------------------------------------- */

/* The part of the thread's life in which it was not in the kernel. */
static uint64_t time_outside(struct routine_profile *profile)
{
    uint64_t time = profile->head.life;
    for (uint32_t i = 0; i < profile->head.count; i++) {
        const struct trace_profile_row *row = profile_row(profile, i);
        if (trace_routine_kind(row->key) != TRACE_ROUTINE_SERVED)
            time -= trace_profile_least(time, row->exclusive);
    }
    return time;
}

static void add_program(struct routine_profile *profile, const struct open_routines *open, uint64_t now)
{
    const uint32_t rows = profile_program_rows(profile);
    uint64_t outside = time_outside(profile);
    struct trace_program_open rest =
        trace_program_open(profile_program(profile), profile->head.epoch, open, now);
    for (uint32_t i = 0; i < rows; i++) {
        const struct trace_profile_row *from = profile_program_row(profile, i);
        const uint64_t key = trace_program_key(from);
        if (!trace_routine_context(key))
            continue;
        struct trace_profile_row *row = profile_find_or_add(profile, key);
        const uint64_t own =
            trace_program_add_row(row, from, profile->head.life) + trace_program_take_open(&rest, key);
        row->exclusive += trace_profile_least(outside, own);
        outside -= trace_profile_least(outside, own);
    }
}

void profile_end_program(struct routine_profile *profile, const struct open_routines *open, uint64_t now)
{
    struct trace_program *program = profile_program(profile);
    if (!program)
        return;
    profile->head.refused = profile_refused(profile);
    if (trace_program_counts(program, profile->head.epoch))
        add_program(profile, open, now);
    /* for the next thread with this block */
    __atomic_store_n(&program->rows_epoch, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&program->clock.context, 0, __ATOMIC_RELAXED);
    profile->rows.program = &profile->no_program; /* the space may end before what becomes of the profile */
    profile->head.program_pages = 0;
    profile->head.context = 0;
}
