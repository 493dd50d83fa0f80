/* routine_rows.c - the memory of tables, and their rows. Interface: routine_rows.h. */
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/routine_rows.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

static LOCK_CLASS(routines_class, "routines");
struct spinlock routines_lock = SPINLOCK(&routines_class);
struct list routine_tables = {&routine_tables, &routine_tables};
struct trace_routines_list routines_list = {
    .magic = TRACE_ROUTINES_LIST_MAGIC,
    .row_bytes = sizeof(struct trace_routines_row),
    .rows_at = offsetof(struct routine_table, first) - offsetof(struct routine_table, head),
    .first_rows = ROUTINE_FIRST_ROWS,
    .page_rows = ROUTINE_PAGE_ROWS,
};
static uint64_t last_serial; /* under routines_lock */

#define KEPT_MAX 8u
static struct routine_table *kept[KEPT_MAX]; /* under routines_lock */
static uint32_t kept_count;

_Static_assert(ROUTINES_LARGE_INDEX * sizeof(struct trace_routines_row *) <= FRAME_SIZE, "a page frame");
_Static_assert(ROUTINE_ROWS_MAX < ROUTINES_LARGE_INDEX * 3 / 4, "the index always has free entries");

/* ---- Rows ---- */

static void begin_row(struct trace_routines_row *row, uint64_t key)
{
    *row = (struct trace_routines_row){.routine = key, .min = ~0ull};
}

/* The index entry of the key, or a free one. */
static inline struct trace_routines_row **find_entry(struct routine_table *table, uint64_t key)
{
    for (uint64_t i = (key ^ key >> 29) * 0x9e3779b97f4a7c15ull >> 40;; i++) {
        struct trace_routines_row **entry = &table->index[i & table->index_mask];
        if (!*entry || (*entry)->routine == key)
            return entry;
    }
}

/* Row 0 counts all routines for which there is no other row. */
static void reset_rows(struct routine_table *table)
{
    struct trace_routines_row *others = &table->first[0];
    begin_row(others, trace_routine_key(TRACE_ROUTINE_OTHERS, 0));
#pragma GCC unroll 8
    for (uint32_t i = 0; i < ROUTINES_CACHE; i++)
        table->rows.cache[i] = others;
    memset(table->index, 0, (table->index_mask + 1) * sizeof table->index[0]);
    table->head.count = 1;
    *find_entry(table, others->routine) = others;
}

/* ---- Page frames ---- */

static void count_frames(struct space *space, int32_t frames)
{
    if (space) /* relaxed: an amount, which orders nothing */
        atomic_fetch_add_explicit(&space->routine_frames, (uint32_t)frames, memory_order_relaxed);
}

/* Several threads that find the last one free may all take one. */
static bool may_grow(const struct space *space)
{
    return !space || atomic_load_explicit(&space->routine_frames, memory_order_relaxed) <
                         ROUTINES_MORE_FRAMES_MAX + __atomic_load_n(&space->thread_count, __ATOMIC_RELAXED);
}

/* Adds a frame to the table; FRAME_NONE: no memory, or too many. */
static paddr_t add_frame(struct routine_table *table)
{
    const paddr_t frame = may_grow(table->space) ? frame_alloc() : FRAME_NONE;
    if (frame != FRAME_NONE) {
        table->frames++;
        count_frames(table->space, 1);
    }
    return frame;
}

void routines_give(struct routine_table *table, struct space *space)
{
    count_frames(table->space, -(int32_t)table->frames);
    count_frames(space, (int32_t)table->frames);
    table->space = space;
}

/* ---- More rows ---- */

static bool grow_index(struct routine_table *table)
{
    const paddr_t frame = add_frame(table);
    if (frame == FRAME_NONE)
        return false;
    table->index = memset(phys_to_virt(frame), 0, FRAME_SIZE);
    table->index_mask = ROUTINES_LARGE_INDEX - 1;
    for (uint32_t i = 0; i < table->head.count; i++)
        *find_entry(table, routine_row(table, i)->routine) = routine_row(table, i);
    return true;
}

/* Space for the next row; NULL: no memory, or too many rows. */
static struct trace_routines_row *next_row(struct routine_table *table)
{
    const uint32_t number = table->head.count;
    if (number < ROUTINE_FIRST_ROWS)
        return &table->first[number];
    if (number == ROUTINE_ROWS_MAX ||
        (table->index == table->small_index && number >= ROUTINES_SMALL_INDEX * 3 / 4 && !grow_index(table)))
        return NULL;
    const uint32_t page = (number - ROUTINE_FIRST_ROWS) / ROUTINE_PAGE_ROWS;
    if (!table->head.page[page]) {
        const paddr_t frame = add_frame(table);
        if (frame == FRAME_NONE)
            return NULL;
        table->head.page[page] = frame;
    }
    return routines_page(table, page) + (number - ROUTINE_FIRST_ROWS) % ROUTINE_PAGE_ROWS;
}

static __attribute__((noinline)) struct trace_routines_row *add_row(struct routine_table *table, uint64_t key)
{
    struct trace_routines_row *row = next_row(table);
    if (!row)
        return &table->first[0];
    begin_row(row, key);
    /* release: a reader that sees the count finds the row; pairs with the load in routines_read.c */
    __atomic_store_n(&table->head.count, table->head.count + 1, __ATOMIC_RELEASE);
    return *find_entry(table, key) = row;
}

static inline struct trace_routines_row *find_or_add(struct routine_table *table, uint64_t key)
{
    struct trace_routines_row *row = *find_entry(table, key);
    return row ? row : add_row(table, key);
}

struct trace_routines_row *routines_find_or_add(void *table, uint64_t key)
{
    return find_or_add(table, key);
}

struct trace_routines_row *routines_find_row(struct routine_rows *rows, uint64_t key)
{
    struct routine_table *table = (struct routine_table *)rows;
    return rows->cache[routine_slot(key)] = find_or_add(table, key);
}

/* ---- Tables ---- */

static struct routine_table *begin_table(struct routine_table *table, enum trace_routines_of of)
{
    table->head.of = of;
    table->head.epoch = __atomic_load_n(&routines_epoch, __ATOMIC_RELAXED);
    return table;
}

/* An empty table with the rows of an ended process: another process needs most of them, too, and finds them
 * without a search. */
static struct routine_table *take_kept(void)
{
    struct routine_table *table = kept[--kept_count];
    table->head.life = table->head.refused = table->head.next = 0;
    return table;
}

static struct routine_table *make_table(void)
{
    const paddr_t frame = frame_alloc();
    if (frame == FRAME_NONE)
        return NULL;
    struct routine_table *table = phys_to_virt(frame);
    memset(table, 0, offsetof(struct routine_table, first));
    table->frames = 1;
    table->rows.program = &table->no_program;
    table->index = table->small_index;
    table->index_mask = ROUTINES_SMALL_INDEX - 1;
    reset_rows(table);
    return table;
}

struct routine_table *routines_new(enum trace_routines_of of, struct space *space)
{
    struct routine_table *table = kept_count ? take_kept() : make_table();
    if (!table)
        return NULL;
    routines_give(table, space);
    return begin_table(table, of);
}

void routines_clear(struct routine_table *table)
{
    table->head.life = table->head.refused = 0;
    table->head.threads = 0;
    reset_rows(table);
    begin_table(table, table->head.of);
}

/* The word in which readers of guest memory find the address of the table after `link`. */
static uint64_t *next_of(struct list *link)
{
    return link == &routine_tables ? &routines_list.first
                                   : &list_object(link, struct routine_table, all)->head.next;
}

void routines_link(struct routine_table *table)
{
    table->head.serial = ++last_serial;
    table->head.self = virt_to_phys(&table->head);
    table->head.magic = TRACE_ROUTINES_HEAD_MAGIC;
    list_add_tail(&routine_tables, &table->all);
    routines_end_change(table);
    /* release: a reader that finds the table finds its head; pairs with the reader's loads, in this order */
    __atomic_store_n(next_of(table->all.previous), table->head.self, __ATOMIC_RELEASE);
}

void routines_unlink(struct routine_table *table)
{
    __atomic_store_n(next_of(table->all.previous), table->head.next, __ATOMIC_RELAXED);
    list_remove(&table->all);
    table->head.magic = 0;
    /* a reader that copies later contents of these frames sees that the table is gone */
    routines_begin_change(table);
}

void routines_begin_change(struct routine_table *table)
{
    __atomic_store_n(&table->head.changes, table->head.changes | 1, __ATOMIC_RELAXED);
    /* a reader of any part of the change sees the odd number; pairs with its second check of the number */
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

void routines_end_change(struct routine_table *table)
{
    /* release: a reader that sees the even number sees the whole change */
    __atomic_store_n(&table->head.changes, (table->head.changes | 1) + 1, __ATOMIC_RELEASE);
}

void routines_free(struct routine_table *table)
{
    for (uint32_t i = 0; i < ROUTINES_PAGES && table->head.page[i]; i++)
        frame_free(table->head.page[i]);
    if (table->index != table->small_index)
        frame_free(virt_to_phys(table->index));
    routines_give(table, NULL);
    frame_free(virt_to_phys(table));
}

void routines_free_kept(void)
{
    while (kept_count)
        routines_free(kept[--kept_count]);
}

/* Moves the counts. Only the buckets between the least and the greatest time can have any.
 * trace_table_add_row() would add the same, as it does when rows of other tables go, but knows neither this
 * nor the columns before it runs: with it, counting routines in `sdet` costs more than tests/bench.d/limits
 * allow. */
static inline void move_counts(struct trace_routines_row *to, struct trace_routines_row *from)
{
    to->own += from->own; /* includes routines that were open at the end */
    from->own = 0;
    if (!from->ended)
        return;
    to->total += from->total;
    if (from->min < to->min)
        to->min = from->min;
    if (from->max > to->max)
        to->max = from->max;
    for (uint32_t i = trace_table_bucket(from->min), last = trace_table_bucket(from->max); i <= last; i++) {
        to->times[i] += from->times[i];
        from->times[i] = 0;
    }
    to->begun += from->ended;
    to->ended += from->ended;
    from->begun = from->ended = from->total = from->max = from->limit = 0;
    from->min = ~0ull;
}

void routines_keep(struct routine_table *table)
{
    if (routines_on && kept_count < KEPT_MAX && table->index == table->small_index) {
        routines_give(table, NULL);
        kept[kept_count++] = table;
    } else {
        routines_free(table);
    }
}

static inline void move_rows(struct routine_table *to, struct trace_routines_row *rows, uint32_t count)
{
    for (struct trace_routines_row *row = rows; row < rows + count; row++)
        if (row->ended || row->own)
            move_counts(find_or_add(to, row->routine), row);
}

static inline uint32_t at_most(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

void routines_add(struct routine_table *to, struct routine_table *from)
{
    const uint32_t first = at_most(from->head.count, ROUTINE_FIRST_ROWS);
    uint32_t left = from->head.count - first;
    move_rows(to, from->first, first);
    for (uint32_t i = 0; left; i++) {
        const uint32_t count = at_most(left, ROUTINE_PAGE_ROWS);
        move_rows(to, routines_page(from, i), count);
        left -= count;
    }
    to->head.life += from->head.life;
    to->head.refused += from->head.refused;
    to->head.threads += from->head.threads;
}

uint64_t routines_time_in(struct routine_table *table, uint32_t kinds)
{
    uint64_t time = 0;
    for (uint32_t i = 0; i < table->head.count && i < ROUTINE_ROWS_MAX; i++)
        time += trace_routine_time(routine_row(table, i), kinds);
    return time;
}
