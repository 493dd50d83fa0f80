/*
 * routines_program.c - the kernel's side of routines of programs: maps the memory in which programs count
 * them, and validates it. Interface: routine_rows.h; struct trace_program in trace/format/routine.h.
 *
 * The program may write anything there at any time. So everything is validated: rows lie in page frames that
 * the kernel has mapped, and nothing exceeds the thread's life. The kernel's rows do not depend on it; the
 * program's rows get only time that these leave.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/routine_rows.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* Finds the frames mapped for the thread, perhaps for an earlier one with the same block. */
static void find_program(struct routine_table *table, const struct thread *thread)
{
    uint32_t pages = 0;
    paddr_t frame;
    while (thread->space && pages < TRACE_PROGRAM_PAGES &&
           (frame = space_counting_frame(thread->space, thread->block_user, pages)) != FRAME_NONE)
        table->head.program_page[pages++] = frame;
    table->head.program_pages = pages;
}

void routines_begin_program(struct routine_table *table, const struct thread *thread)
{
    find_program(table, thread);
    struct trace_program *program = routines_program(table);
    table->rows.program = &table->no_program;
    table->head.context = 0;
    if (program)
        __atomic_store_n(&program->epoch, table->head.epoch, __ATOMIC_RELAXED);
}

/* The thread is about to count, or wants memory for more. */
static void use_program(struct routine_table *table, const struct thread *thread)
{
    find_program(table, thread);
    struct trace_program *program = routines_program(table);
    if (!program)
        return;
    if (!trace_program_counts(program, table->head.epoch))
        __atomic_store_n(&program->clock.context, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&program->epoch, table->head.epoch, __ATOMIC_RELAXED);
    __atomic_store_n(&program->pages, table->head.program_pages, __ATOMIC_RELAXED);
    table->rows.program = &program->clock;
    table->head.context = table->head.program_page[0]; /* it begins with that word */
}

int64_t sys_routines_map(uint32_t pages)
{
    struct thread *self = current_thread();
    struct routine_table *table = self->routine_table;
    if (!pages || pages > TRACE_PROGRAM_PAGES)
        return -E_TOO_LARGE;
    if (!table || !routines_on)
        return -E_NOT_FOUND;
    int error = 0;
    for (uint32_t i = table->head.program_pages; !error && i < pages; i++)
        error = space_map_counting(self->space, self->block_user, i);
    use_program(table, self);
    return error && table->head.program_pages < pages ? error
                                                      : (int64_t)space_counting_address(self->block_user);
}

/* ---- Rows ---------------------------------------------------------------------------------------------- */

struct trace_program_pages routines_program_pages(const struct routine_table *table)
{
    struct trace_program_pages pages = {.epoch = table->head.epoch, .count = table->head.program_pages};
    for (uint32_t i = 0; i < pages.count; i++)
        pages.page[i] = phys_to_virt(table->head.program_page[i]);
    trace_program_begin(&pages);
    return pages;
}

uint64_t routines_program_moved(const struct routine_table *table)
{
    const struct trace_program *program = routines_program(table);
    return program ? trace_routines_load(&program->since) : 0;
}

uint64_t routines_refused(const struct routine_table *table)
{
    const struct trace_program *program = routines_program(table);
    return table->head.refused +
           (trace_program_counts(program, table->head.epoch)
                ? trace_routines_least(trace_routines_load(&program->refused), UINT32_MAX)
                : 0);
}

/* ---- Ends ---------------------------------------------------------------------------------------------- */

void routines_end_open(struct routine_table *table, struct open_routines *open, uint64_t now)
{
    struct trace_program *program = routines_program(table);
    const struct trace_program_pages pages = routines_program_pages(table);
    trace_routines_add_open(open, table->head.born, now, table->rows.program->context, routines_find_or_add,
                            table);
    if (pages.rows) {
        const uint64_t inside = routines_time_in(table, TRACE_ROUTINES_NESTED);
        trace_program_add_rows(&pages, open, now, table->head.life,
                               trace_routines_difference(table->head.life, inside), routines_find_or_add,
                               table);
    }
    open->depth = 0;
    if (!program)
        return;
    table->head.refused = routines_refused(table);
    /* for the next thread with this block */
    __atomic_store_n(&program->rows_epoch, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&program->clock.context, 0, __ATOMIC_RELAXED);
    table->rows.program = &table->no_program; /* the space may end before what becomes of the table */
    table->head.program_pages = 0;
    table->head.context = 0;
}
