/*
 * kernel/trace/tables.c - recycles rows of tables of counters whose process or lock has ended
 * (trace/ring/table_move.c). Interface: control.h.
 *
 * Each CPU recycles rows of its own tables only: the kernel is not updating any of them, and owners of rows
 * ran on this CPU before, so they are in the lists that are read now. (A process newer than its list may have
 * a row already, from another CPU: such rows stay.) It does so when a thread ends and few rows are left: rows
 * of the longest ended go first, so that the others can be read as long as possible.
 * If too few can go, it tries again when half of the rest is used, and, while no row is left, a few times a
 * second.
 *
 * tables_lock is taken by trying, and covers the static data here. The list lock of spaces is inside
 * of it.
 */
#include "trace/events.h" /* generated */
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <trace/ring/table_read.h>

#define ID_BITS 4096u /* a row whose process has ended stays while one exists with the same rest of this */

static LOCK_CLASS(tables_class, "trace tables");
static struct spinlock tables_lock = SPINLOCK(&tables_class);
/* Living objects, under tables_lock: numbers in use, the newest process, and lock classes by number. */
static uint64_t processes[ID_BITS / 64];
static uint32_t newest_process;
static const struct lock_class *lock_classes[LOCK_CLASSES_MAX];

/* Of rows of processes that have ended; under tables_lock. Their numbers grow, so those up to the
 * mean ended first. Locks have none, and go at once. */
static struct {
    uint64_t sum;        /* of the numbers */
    uint32_t rows, last; /* last: the largest number to go */
} ended;

/* Of each CPU: its moves so far, and how many used rows of each table are too many. Its own. */
static struct {
    uint64_t moves;
    uint32_t too_many[TRACE_TABLE_COUNT];
} known[CPUS_MAX];

bool trace_tables_in_use;

/* ---- living objects --------------------------------------------------------------------------------- */

static void note_process(uint32_t pid)
{
    processes[pid % ID_BITS / 64] |= 1ull << pid % 64;
}

static bool has_ended_process(uint64_t pid)
{
    return pid <= newest_process && !(processes[pid % ID_BITS / 64] >> pid % 64 & 1);
}

/* A space that was released has no threads, and gets none. */
static void note_space(struct space *space, void *unused)
{
    (void)unused;
    /* acquire: its threads' last updates; pairs with space_release_memory() */
    if (!__atomic_load_n(&space->released, __ATOMIC_ACQUIRE))
        note_process(space->pid);
}

static void note_all(void)
{
    memset(processes, 0, sizeof processes);
    newest_process = space_newest_pid(); /* before the list is read */
    note_process(0);                     /* the kernel */
    space_for_each(note_space, NULL);
    for (const struct lock_class *class = lock_class_first; class < lock_class_last; class ++)
        lock_classes[class->number] = class; /* constant, and below LOCK_CLASSES_MAX: lock_init() */
}

/* Whether the kernel has a lock of that class at an address: memory keeps its locks until it is reused for
 * something else (slab.h). Rows can hold anything, so only RAM is read. */
static bool has_lock(uint64_t address, uint64_t number)
{
    const uint64_t physical = address - (uint64_t)phys_to_virt(0);
    if (address % _Alignof(struct spinlock) || number >= LOCK_CLASSES_MAX || !lock_classes[number])
        return false;
    if (!frame_is_ram(physical))
        return address >= (uint64_t)phys_to_virt(0); /* in the kernel itself */
    return __atomic_load_n(&((const struct spinlock *)address)->class, __ATOMIC_RELAXED) ==
           lock_classes[number];
}

/* Whether a row's owner has ended, and the number of that process; 0: a lock. */
static bool has_ended(const struct trace_table_info *table, const uint64_t *keys, uint32_t *number)
{
    bool is_of_kernel = true, has = false;
    *number = 0;
    for (unsigned k = 0; k < table->key_count; k++) {
        const enum trace_key_owner owner = table->columns[k].owner;
        if (owner == TRACE_OWNER_PROCESS && has_ended_process(keys[k])) {
            has = true;
            *number = (uint32_t)keys[k];
        }
        is_of_kernel &= owner != TRACE_OWNER_PROCESS || keys[k] == 0;
    }
    for (unsigned k = 0; k + 1 < table->key_count && is_of_kernel && !has; k++)
        has = table->columns[k].owner == TRACE_OWNER_LOCK && !has_lock(keys[k], keys[k + 1]);
    return has;
}

static bool note_ended(const struct trace_table_info *table, const uint64_t *keys)
{
    uint32_t number;
    if (has_ended(table, keys, &number) && number) {
        ended.sum += number;
        ended.rows++;
    }
    return false;
}

static bool is_to_go(const struct trace_table_info *table, const uint64_t *keys)
{
    uint32_t number;
    return has_ended(table, keys, &number) && number <= ended.last;
}

/* ---- a CPU's tables -------------------------------------------------------------------------------- */

static uint32_t rows_used(const struct trace_table_info *table, const char *ring)
{
    const uint64_t *head = (const uint64_t *)(ring + TRACE_TABLES_OFFSET + table->offset);
    const uint64_t used = __atomic_load_n(&head[TRACE_TABLE_USED], __ATOMIC_RELAXED);
    return used < table->rows ? (uint32_t)used : table->rows; /* a program may write there */
}

static const struct trace_table_info *table_that_adds(const struct trace_table_info *table)
{
    const struct trace_table_info *adding = trace_table_list;
    while (adding->name && adding->adds != table)
        adding++;
    return adding->name ? adding : NULL;
}

/* The number of used rows at which to recycle next: an eighth is left, or half of what is left now. */
static uint32_t choose_too_many(const struct trace_table_info *table, uint32_t used)
{
    const uint32_t most = TRACE_TABLE_ROWS_USED(table->rows), usual = most - table->rows / 8;
    if (used < usual)
        return usual;
    return used < most ? used + (most - used + 1) / 2 : table->rows + 1; /* leaves it to the heartbeat */
}

static void reclaim(const struct trace_table_info *table, char *ring)
{
    const uint32_t cpu = this_cpu()->index;
    struct trace_table_mover mover = {
        .ring = ring, .into = table_that_adds(table), .has_ended = note_ended, .moves = known[cpu].moves};
    ended.sum = ended.rows = 0;
    trace_table_move(&mover, table);
    ended.last = ended.rows ? (uint32_t)(ended.sum / ended.rows) : 0;
    mover.has_ended = is_to_go;
    if (trace_table_move(&mover, table))
        forget_lock_places(this_lock_watch());
    known[cpu].moves = mover.moves;
    known[cpu].too_many[table->number] = choose_too_many(table, rows_used(table, ring));
}

void trace_tables_reclaim(bool is_heartbeat)
{
    char *ring = trace_ring(this_cpu()->index);
    bool has_noted = false;
    if (!trace_info_page.table_bytes)
        return;
    for (const struct trace_table_info *table = trace_table_list; table->name; table++) {
        const uint32_t *too_many = &known[this_cpu()->index].too_many[table->number];
        const uint32_t limit = is_heartbeat ? TRACE_TABLE_ROWS_USED(table->rows)
                               : *too_many  ? *too_many
                                            : choose_too_many(table, 0);
        if (!table->is_hashed || rows_used(table, ring) < limit)
            continue;
        if (!has_noted && !spin_try_lock(&tables_lock))
            return; /* the next heartbeat, or thread that ends */
        if (!has_noted)
            note_all();
        has_noted = true;
        reclaim(table, ring);
    }
    if (has_noted)
        spin_unlock(&tables_lock);
}

static void reclaim_after(struct thread *thread)
{
    (void)thread;
    if (__builtin_expect(__atomic_load_n(&trace_tables_in_use, __ATOMIC_RELAXED), 0))
        trace_tables_reclaim(false);
}
THREAD_END(4_tables, reclaim_after);
