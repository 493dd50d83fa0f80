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

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* NULL: the thread counts nothing. */
static struct trace_program *program_of(const struct routine_profile *profile)
{
    return profile->program_pages ? phys_to_virt(profile->program_page[0]) : NULL;
}

void profile_use_program(struct routine_profile *profile, const struct thread *thread)
{
    uint32_t pages = 0;
    paddr_t frame;
    while (thread && thread->space && pages < TRACE_PROGRAM_PAGES &&
           (frame = space_counting_frame(thread->space, thread->block_user, pages)) != FRAME_NONE)
        profile->program_page[pages++] = frame;
    profile->program_pages = pages;
    struct trace_program *program = program_of(profile);
    profile->rows.program = program ? &program->clock : &profile->no_program;
    if (!program)
        return;
    __atomic_store_n(&program->pages, pages, __ATOMIC_RELAXED);
    __atomic_store_n(&program->epoch, profile->epoch, __ATOMIC_RELAXED);
}

int64_t sys_profile_map(uint32_t pages)
{
    struct thread *self = current_thread();
    struct routine_profile *profile = self->profile;
    if (pages > TRACE_PROGRAM_PAGES)
        return -E_TOO_LARGE;
    if (!profile || !profiles_on)
        return -E_NOT_FOUND;
    int error = 0;
    for (uint32_t i = profile->program_pages; !error && i < pages; i++)
        error = space_map_counting(self->space, self->block_user, i);
    profile_use_program(profile,
                        self); /* also those that a thread before it had, or that came before an error */
    return error ? error : (int64_t)space_counting_address(self->block_user);
}

/* ---- Rows ---------------------------------------------------------------------------------------------- */

/* Whether the program has begun to count in this epoch. */
static bool has_rows(const struct routine_profile *profile, const struct trace_program *program)
{
    return program && load(&program->rows_epoch) == profile->epoch;
}

uint32_t profile_program_rows(const struct routine_profile *profile)
{
    const struct trace_program *program = program_of(profile);
    if (!has_rows(profile, program))
        return 0;
    const uint32_t rows = __atomic_load_n(&program->rows, __ATOMIC_RELAXED),
                   most = TRACE_PROGRAM_FIRST_ROWS + (profile->program_pages - 1) * TRACE_PROGRAM_PAGE_ROWS;
    return rows < most ? rows : most;
}

static const struct trace_profile_row *program_row(const struct routine_profile *profile, uint32_t number)
{
    if (number < TRACE_PROGRAM_FIRST_ROWS)
        return &program_of(profile)->first[number];
    number -= TRACE_PROGRAM_FIRST_ROWS;
    const struct trace_profile_row *rows =
        phys_to_virt(profile->program_page[1 + number / TRACE_PROGRAM_PAGE_ROWS]);
    return &rows[number % TRACE_PROGRAM_PAGE_ROWS];
}

/* Adds what is credible of a row. Each call takes at least a tick, so there are no more calls than ticks of
 * life. */
static void add_row(struct trace_profile_row *to, const struct trace_profile_row *from, uint64_t life)
{
    const uint64_t greatest = least_of(load(&from->greatest), life),
                   least = least_of(load(&from->least), greatest);
    uint64_t calls = 0;
    for (uint32_t i = profile_bucket(least); i <= profile_bucket(greatest); i++) {
        const uint64_t times = least_of(load(&from->times[i]), life - calls);
        calls += times;
        to->times[i] += times;
    }
    if (!calls)
        return;
    to->begun += calls;
    to->ended += calls;
    to->inclusive += least_of(load(&from->inclusive), life);
    to->greatest = to->greatest > greatest ? to->greatest : greatest;
    to->least = least_of(to->least, least);
}

uint64_t profile_program_key(const struct routine_profile *profile, uint32_t number)
{
    const uint64_t context = trace_routine_context(load(&program_row(profile, number)->key));
    return trace_routine_key(TRACE_ROUTINE_PROGRAM, 0) | context << TRACE_PROFILE_CONTEXT_SHIFT;
}

uint64_t profile_add_program_row(struct trace_profile_row *to, const struct routine_profile *profile,
                                 uint32_t number, uint64_t life)
{
    const struct trace_profile_row *from = program_row(profile, number);
    add_row(to, from, life);
    return least_of(load(&from->exclusive), life);
}

uint64_t profile_program_open(const struct routine_profile *profile, const struct open_routines *open,
                              uint64_t now, uint32_t *context)
{
    const struct trace_program *program = program_of(profile);
    *context = 0;
    if (!has_rows(profile, program))
        return 0;
    const uint64_t until = (open->depth ? open->at[0].since : now) - load(&program->clock.kernel),
                   since = load(&program->since);
    *context = (uint32_t)(load(&program->clock.context) & TRACE_PROFILE_CONTEXT_MAX);
    return *context && until > since ? until - since : 0;
}

uint64_t profile_program_moved(const struct routine_profile *profile)
{
    const struct trace_program *program = program_of(profile);
    return program ? load(&program->since) : 0;
}

uint64_t profile_refused(const struct routine_profile *profile)
{
    const struct trace_program *program = program_of(profile);
    return profile->refused +
           (has_rows(profile, program) ? least_of(load(&program->refused), UINT32_MAX) : 0);
}

/* ---- Ends ---------------------------------------------------------------------------------------------- */

/* The part of the thread's life in which it was not in the kernel. */
static uint64_t time_outside(struct routine_profile *profile)
{
    uint64_t time = profile->life;
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct trace_profile_row *row = profile_row(profile, i);
        if (trace_routine_kind(row->key) != TRACE_ROUTINE_SERVED)
            time -= row->exclusive;
    }
    return time;
}

static void add_program(struct routine_profile *profile, const struct open_routines *open, uint64_t now)
{
    const uint32_t rows = profile_program_rows(profile);
    uint32_t current;
    uint64_t left = time_outside(profile), rest = profile_program_open(profile, open, now, &current);
    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t key = profile_program_key(profile, i);
        const uint32_t context = trace_routine_context(key);
        if (!context)
            continue;
        struct trace_profile_row *row = profile_find_or_add(profile, key);
        const uint64_t own = least_of(left, profile_add_program_row(row, profile, i, profile->life) +
                                                (context == current ? rest : 0));
        row->exclusive += own;
        left -= own;
        rest = context == current ? 0 : rest;
    }
}

void profile_end_program(struct routine_profile *profile, const struct open_routines *open, uint64_t now)
{
    struct trace_program *program = program_of(profile);
    if (!program)
        return;
    profile->refused = profile_refused(profile);
    if (has_rows(profile, program))
        add_program(profile, open, now);
    /* for the next thread with this block */
    __atomic_store_n(&program->rows_epoch, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&program->clock.context, 0, __ATOMIC_RELAXED);
    profile_use_program(profile, NULL); /* the space may end before what becomes of the profile */
}
