/*
 * routines_read.c - the system call that reads tables.
 *
 * A table is copied into page frames under routines_lock, which keeps it there, while its thread may run
 * and update it on another CPU. If it has meanwhile, the copy is made again. Then the copy goes to the
 * program without the lock.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/routine_rows.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

#define COPY_TRIES 16 /* each that fails was overtaken by an update */

_Static_assert(sizeof(struct trace_routines) +
                       (ROUTINE_ROWS_MAX + TRACE_PROGRAM_ROWS_MAX + TRACE_ROUTINES_ROWS_BESIDES) *
                           sizeof(struct trace_routines_row) <=
                   TRACE_ROUTINES_BYTES_MAX,
               "a copy with open routines, and the program's rows");

struct copy {
    struct trace_routines_copy to;
    uint32_t capacity; /* of rows */
    uint32_t counted;  /* rows of the kernel that are in memory, first in the copy */
    bool is_cut;       /* there are more rows */
};

/* ---- Copying ---- */

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void copy_row(struct trace_routines_row *to, const struct trace_routines_row *from)
{
    const uint64_t *source = (const uint64_t *)from;
    uint64_t *target = (uint64_t *)to;
    const uint64_t ended = __atomic_load_n(&from->ended, __ATOMIC_ACQUIRE); /* pairs with routine_end() */
    for (unsigned i = 0; i < sizeof *from / 8; i++)
        target[i] = load(&source[i]);
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the same; for is_unchanged() */
    to->ended = ended;
}

/* Whether no update of a row has begun since before it was copied. */
static bool is_unchanged(struct routine_table *table, const struct copy *copy)
{
    if (__atomic_load_n(&table->head.count, __ATOMIC_RELAXED) != copy->counted)
        return false;
    for (uint32_t i = 0; i < copy->counted; i++)
        if (load(&routine_row(table, i)->begun) != copy->to.rows[i].ended)
            return false;
    return true;
}

/* False: it changed meanwhile. */
static bool try_copy(struct copy *copy, struct routine_table *table)
{
    struct thread *thread = table->thread;
    struct open_routines open = {0};
    bool is_open_whole = true;
    /* acquire: the row of the last number counted is there; pairs with the release in find_or_add() */
    copy->counted = __atomic_load_n(&table->head.count, __ATOMIC_ACQUIRE);
    const struct trace_program_pages pages = routines_program_pages(table);
    if (copy->counted + pages.rows + TRACE_ROUTINES_ROWS_BESIDES > copy->capacity) {
        copy->is_cut = true;
        return true;
    }
    copy->to.head->rows = copy->counted;
    const uint64_t program_moved = routines_program_moved(table);
    for (uint32_t i = 0; i < copy->counted; i++)
        copy_row(&copy->to.rows[i], routine_row(table, i));
    copy->to.now = arch_clock();
    copy->to.head->life = load(&table->head.life);
    if (thread) {
        const uint64_t *words = (const uint64_t *)&thread->routines;
        for (unsigned i = 0; i < sizeof open / 8; i++)
            ((uint64_t *)&open)[i] = load(&words[i]);
        copy->to.now = routines_counted_until(copy->to.now);
        copy->to.head->life = copy->to.now - table->head.born;
        is_open_whole = __atomic_load_n(&thread->routines.depth, __ATOMIC_RELAXED) == open.depth;
        trace_routines_add_living(&copy->to, table->head.born, &open, load(&table->rows.program->context),
                                  &pages);
    }
    return is_unchanged(table, copy) && routines_program_moved(table) == program_moved && is_open_whole;
}

static const char no_name[16];

static void describe(struct trace_routines *head, const struct routine_table *table, uint64_t now)
{
    const char *name = table->thread  ? table->thread->block->name
                       : table->space ? table->space->name
                                      : no_name;
    head->serial = table->head.serial;
    head->epoch = table->head.epoch;
    head->until = now;
    head->of = table->head.of;
    head->pid = table->head.pid;
    head->tid = table->head.tid;
    head->threads = table->head.threads;
    head->refused = routines_refused(table);
    head->row_bytes = sizeof(struct trace_routines_row);
    memcpy(head->name, name, sizeof head->name);
}

static void copy_table(struct copy *copy, struct routine_table *table)
{
    *copy->to.head = (struct trace_routines){0};
    for (int tries = COPY_TRIES; tries && !try_copy(copy, table); tries--)
        continue;
    if (copy->is_cut)
        return;
    trace_routines_add_rest(&copy->to);
    trace_routines_drop_empty(&copy->to);
    describe(copy->to.head, table, copy->to.now);
}

/* ---- The system call ---- */

/* The next table of a space, or of all (NULL). routines_lock held. NULL: no more. */
static struct routine_table *find_next(const struct space *of, uint64_t serial)
{
    for (struct list *link = routine_tables.next; link != &routine_tables; link = link->next) {
        struct routine_table *table = list_object(link, struct routine_table, all);
        if (table->head.serial > serial && table->head.epoch == routines_epoch && (!of || table->space == of))
            return table;
    }
    return NULL;
}

/* *of: a reference to the space whose tables the caller may read; NULL: all. */
static int select_routines(cap_t slot, struct space **of)
{
    struct space *own = current_thread()->space;
    struct cap found;
    void *space = NULL;
    int error = 0;
    if (!slot)
        space_get(space = own);
    else if (cap_lookup(&own->caps, slot, CAP_TRACE, RIGHT_READ, &found))
        error = cap_get(&own->caps, slot, CAP_SPACE, RIGHT_MANAGE, &space);
    *of = space;
    return error;
}

/* Returns the bytes of the copy; 0: no more; -E_TOO_LARGE: they do not fit in `size` bytes. */
static int64_t copy_next(const struct space *of, uint64_t serial, void *buffer, uint64_t size)
{
    struct copy copy = {
        .to = {.head = buffer, .rows = (struct trace_routines_row *)((struct trace_routines *)buffer + 1)}};
    copy.capacity = (uint32_t)((size - sizeof *copy.to.head) / sizeof *copy.to.rows);
    int64_t bytes = 0;
    spin_lock(&routines_lock);
    struct routine_table *table = find_next(of, serial);
    if (table) {
        copy_table(&copy, table);
        bytes = copy.is_cut ? -E_TOO_LARGE
                            : (int64_t)(sizeof *copy.to.head + copy.to.head->rows * sizeof *copy.to.rows);
    }
    spin_unlock(&routines_lock);
    return bytes;
}

static int64_t read_next(const struct space *of, uint64_t serial, void *user_buffer, uint64_t size)
{
    int64_t bytes = -E_TOO_LARGE;
    for (unsigned order = 2; bytes == -E_TOO_LARGE && FRAME_SIZE << (order - 1) < TRACE_ROUTINES_BYTES_MAX;
         order++) {
        const paddr_t frames = frame_alloc_order(order);
        if (frames == FRAME_NONE)
            return -E_NO_MEMORY;
        bytes = copy_next(of, serial, phys_to_virt(frames), FRAME_SIZE << order);
        if (bytes > (int64_t)size) {
            frame_free_order(frames, order);
            return -E_TOO_LARGE;
        }
        int64_t error = bytes > 0 ? user_write(user_buffer, phys_to_virt(frames), (uint64_t)bytes) : 0;
        frame_free_order(frames, order);
        if (error)
            return error;
    }
    return bytes;
}

int64_t sys_routines_read(cap_t slot, uint64_t serial, void *user_buffer, uint64_t size)
{
    struct space *of;
    int64_t result = select_routines(slot, &of);
    if (result)
        return result;
    result = read_next(of, serial, user_buffer, size);
    if (of)
        space_put(of);
    return result;
}
