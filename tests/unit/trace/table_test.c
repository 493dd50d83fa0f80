/*
 * tests/unit/trace/table_test.c - tables of counters: updates that are interrupted, full tables, rows that
 * are given back while threads update, take and read rows, and garbage in all writable memory, whose
 * surroundings are not mapped. Sums, percentiles and what is computed from them: tests/host/made_tables.
 */
#include "trace/events.h" /* generated */
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <tests/tap.h>
#include <trace/event/lock_tables.h>
#include <trace/ring/table_read.h>
#include <trace/tables.h>
#include <user/tarnprof/rows.h>

#define CPUS  4u
#define CLASS 5u
#define MANY  TRACE_ROW_OF_MANY

struct trace_info test_info; /* of the port */

static char *rings[CPUS];
static const struct trace_table_info *const locks = &trace_table_list[TRACE_TABLE_LOCKS];
static const struct trace_table_info *const classes = &trace_table_list[TRACE_TABLE_LOCK_CLASSES];
static const struct trace_table_info *const sites = &trace_table_list[TRACE_TABLE_LOCK_SITES];

static const char *ring_of(uint32_t cpu)
{
    return rings[cpu];
}

static uint64_t *words_of(uint32_t cpu)
{
    return (uint64_t *)(void *)(rings[cpu] + TRACE_TABLES_OFFSET);
}

/* Only the tables are mapped: whatever is read or written outside ends the test. */
static void setup(void)
{
    for (unsigned i = 0; i < CPUS; i++) {
        if (!rings[i]) {
            rings[i] = mmap(NULL, TRACE_BUFFERS_OFFSET, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (rings[i] == MAP_FAILED ||
                mprotect(rings[i] + TRACE_TABLES_OFFSET, TRACE_TABLES_BYTES, PROT_READ | PROT_WRITE))
                abort();
        }
        memset(rings[i] + TRACE_TABLES_OFFSET, 0, TRACE_TABLES_BYTES);
    }
    test_info.table_bytes = TRACE_TABLES_BYTES;
}

/* Updates the row of a lock, or, if there is none, that of its class, as programs do. */
static void update(char *ring, uint64_t lock, uint32_t pid, uint64_t value)
{
    const struct lock_row row = lock_row_of(ring, (struct lock_key){lock, CLASS, pid});
    trace_row_begin(row.begun, MANY);
    trace_row_add(&row.columns->sampled, 1, MANY);
    trace_row_add(&row.columns->acquisitions, 3, MANY);
    trace_row_add(&row.columns->wait, value, MANY);
    trace_row_raise(&row.columns->wait_longest, value, MANY);
    trace_row_bucket(row.columns->wait_times, value, MANY);
    trace_row_end(&row.columns->ended, MANY);
}

/* The sum of its rows: two writers that take one at once, while others are freed, may get two. */
static struct trace_locks_row find_lock(uint64_t lock, uint32_t pid)
{
    struct trace_locks_row row, sum = {0};
    struct trace_table_walk walk = {.table = locks, .ring = rings[0]};
    while (trace_table_next(&walk, (uint64_t *)&row))
        if (row.lock == lock && row.pid == pid)
            trace_table_add_row(locks, (const uint64_t *)&row, locks, (uint64_t *)&sum, TRACE_ROW_OF_ONE);
    return sum;
}

/* The sum of the rows of the class, of both tables. */
static struct trace_lock_classes_row read_class(struct trace_table_walk *walk)
{
    struct trace_lock_classes_row sum = {0};
    uint64_t row[TRACE_TABLE_ROW_WORDS_MAX];
    *walk = (struct trace_table_walk){.table = classes, .ring = rings[0]};
    while (trace_table_next(walk, row))
        if (row[TRACE_ROW_KEYS] == CLASS)
            trace_table_add_row(classes, row, classes, (uint64_t *)&sum, TRACE_ROW_OF_ONE);
    return sum;
}

static struct trace_rows read_table(const struct trace_table_info *table)
{
    struct trace_rows rows = {.table = table};
    if (!trace_rows_read(&rows, ring_of, CPUS))
        abort();
    return rows;
}

static uint64_t head_sum(const struct trace_table_info *table, enum trace_table_head_word word)
{
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        sum += trace_table_head_word(table, rings[cpu], word);
    return sum;
}

/* The place of a row in its CPU's table. */
static uint32_t place_of(const struct trace_locks_row *row, uint32_t cpu)
{
    const char *first =
        rings[cpu] + TRACE_TABLES_OFFSET + locks->offset + TRACE_TABLE_HEAD_WORDS * sizeof(uint64_t);
    return (uint32_t)((size_t)((const char *)row - first) / sizeof(*row));
}

static enum trace_row_state read_row(const struct trace_locks_row *row, uint32_t cpu,
                                     struct trace_locks_row *copy)
{
    return trace_table_read_row(locks, rings[cpu], place_of(row, cpu), (uint64_t *)copy);
}

static void test_interrupted(void)
{
    struct trace_locks_row copy, *row;
    setup();
    row = trace_locks_row(rings[0], 64, CLASS, 7);
    check(read_row(row, 0, &copy) == TRACE_ROW_FREE,
          "a row that was taken, and not updated, is free for readers");
    row->lock = row->lock_class = row->pid = 0;
    check(read_row(row, 0, &copy) == TRACE_ROW_FREE, "also if its keys were not stored");
    trace_row_begin(&row->begun, MANY);
    check(read_row(row, 0, &copy) == TRACE_ROW_FREE, "or are not seen yet, in its first update");
    row->begun = 0;
    update(rings[0], 64, 7, 10);
    check(read_row(row, 0, &copy) == TRACE_ROW_WHOLE && copy.lock == 64 && copy.pid == 7,
          "the next update stores them");

    trace_row_begin(&row->begun, MANY);
    trace_row_add(&row->sampled, 1, MANY);
    check(read_row(row, 0, &copy) == TRACE_ROW_CHANGING &&
              trace_row_unfinished(locks, (uint64_t *)&copy) == 1,
          "an update under way is reported");
    update(rings[0], 64, 7, 20); /* an interrupt */
    check(read_row(row, 0, &copy) == TRACE_ROW_CHANGING && copy.wait == 30, "another one in between counts");
    trace_row_end(&row->ended, MANY);
    check(read_row(row, 0, &copy) == TRACE_ROW_WHOLE && copy.sampled == 3, "and the first one can end");

    update(rings[2], 64, 7, 5);
    trace_row_begin(&trace_locks_row(rings[3], 64, CLASS, 7)->begun, MANY); /* its thread is killed */
    struct trace_rows rows = read_table(locks);
    const struct trace_locks_row *sum = (const struct trace_locks_row *)rows.words;
    check(rows.count == 1 && sum->wait == 35 && sum->wait_longest == 20 && sum->sampled == 4 &&
              trace_row_unfinished(locks, rows.words) == 1,
          "the rows of one key on several CPUs are added");
    trace_rows_free(&rows);

    /* as after a swap that failed spuriously */
    const struct trace_locks_row *twin =
        row + (place_of(row, 0) + 1 < locks->rows ? 1 : 1 - (int)locks->rows);
    memcpy((void *)twin, row, sizeof(*row));
    rows = read_table(locks);
    check(rows.count == 1 && ((const struct trace_locks_row *)rows.words)->sampled == 7,
          "so are two rows of one table");
    trace_rows_free(&rows);
}

static void test_again(void)
{
    static struct trace_places places, unused;
    unsigned same = 0, none = 0, known = 0;
    setup();
    for (unsigned i = 0; i < 4096; i++) /* with many in each place */
        same += trace_locks_row_again(rings[i & 1], i * 8ull, CLASS, 7, &places) ==
                trace_locks_row(rings[i & 1], i * 8ull, CLASS, 7);
    for (unsigned i = 0; i < 4096; i++)
        same += trace_locks_row_again(rings[i & 1], i * 8ull, CLASS, 7, &places) ==
                trace_locks_row(rings[i & 1], i * 8ull, CLASS, 7);
    check(same == 2 * 4096, "rows that are looked up again are the same, or none, on each CPU");
    const uint64_t lost = head_sum(locks, TRACE_TABLE_NO_SPACE);
    for (unsigned i = 0; i < 3; i++)
        none += !trace_locks_row_again(rings[0], 1, 1, 1, i ? &places : &unused);
    check(none == 3 && head_sum(locks, TRACE_TABLE_NO_SPACE) == lost + 3,
          "each that has no row is counted, whether it was searched or not");
    struct trace_locks_row *row = trace_locks_row_again(rings[0], 0, CLASS, 7, &places);
    known += row && trace_locks_row_known(rings[0], 0, CLASS, 7, &places) == row;
    known += !trace_locks_row_known(rings[1], 0, CLASS, 7, &places);
    known += !trace_locks_row_known(rings[0], 0, 6, 7, &places);
    known += !trace_locks_row_known(rings[0], 0, CLASS, 7, &unused);
    check(known == 4, "a place is that of the same keys on the same CPU");
}

static void test_full(void)
{
    static bool has_row[4096];
    uint64_t refused = 0, found = 0, wrong = 0;
    setup();
    for (unsigned i = 0; i < 4096; i++) {
        has_row[i] = trace_locks_row(rings[1], i, CLASS, 7);
        refused += !has_row[i];
        if (has_row[i])
            update(rings[1], i, 7, i);
    }
    struct trace_rows rows = read_table(locks);
    for (; found < rows.count; found++) {
        const struct trace_locks_row *row = (const void *)(rows.words + found * locks->row_words);
        wrong += row->lock >= 4096 || !has_row[row->lock] || row->wait != row->lock;
    }
    trace_rows_free(&rows);
    check(refused + found == 4096 && wrong == 0, "a full table refuses keys, and keeps those that it has");
    check(head_sum(locks, TRACE_TABLE_NO_SPACE) == refused && head_sum(locks, TRACE_TABLE_USED) == found &&
              found == TRACE_TABLE_ROWS_USED(locks->rows),
          "and counts both");

    check(trace_lock_classes_row(rings[0], 63) && !trace_lock_classes_row(rings[0], 64) &&
              !trace_lock_classes_row(rings[0], ~0u),
          "a direct table has as many rows as declared");
    check(head_sum(classes, TRACE_TABLE_NO_SPACE) == 2, "and counts what it refuses");
    test_info.table_bytes = 0;
    check(!trace_lock_classes_row(rings[0], 1) && !trace_locks_row(rings[0], 1, 2, 3),
          "without tables there is no row");
}

/* ---- rows that are moved ------------------------------------------------------------------------------ */

static uint32_t first_alive; /* processes and threads below have ended */

static bool is_below(const struct trace_table_info *table, const uint64_t *keys)
{
    for (unsigned k = 0; k < table->key_count; k++) {
        const unsigned owner = table->columns[k].owner;
        if (owner == TRACE_OWNER_PROCESS && keys[k] &&
            keys[k] < __atomic_load_n(&first_alive, __ATOMIC_ACQUIRE))
            return true;
    }
    return false;
}

static struct trace_table_mover mover = {.has_ended = is_below};

static uint32_t move(const struct trace_table_info *table)
{
    mover.ring = rings[0];
    mover.into = table == locks ? classes : NULL;
    return trace_table_move(&mover, table);
}

static void test_locks(void)
{
    struct trace_table_walk walk;
    setup();
    for (uint32_t pid = 1; pid <= 200; pid++)
        update(rings[0], 64 * pid, pid, pid);
    update(rings[0], 64, 0, 1000);                                              /* the kernel's */
    trace_row_begin(&trace_locks_row(rings[0], 64 * 7, CLASS, 7)->begun, MANY); /* its thread is killed */
    first_alive = 151;
    check(move(locks) == 150 && head_sum(locks, TRACE_TABLE_USED) == 51 &&
              head_sum(locks, TRACE_TABLE_MOVED) == 150,
          "rows of processes that have ended are free, and counted");
    check(!find_lock(64 * 150, 150).begun && find_lock(64 * 151, 151).wait == 151 &&
              find_lock(64, 0).wait == 1000,
          "those of others, and of the kernel, are not");
    const struct trace_lock_classes_row row = read_class(&walk);
    check(row.sampled == 201 && row.acquisitions == 603 && row.wait == 200 * 201 / 2 + 1000 &&
              row.wait_longest == 1000 && row.wait_times[7] == 73 && row.ended == 201 && row.begun == 202,
          "the class has all of them, with the update that a killed thread did not end");
    check(trace_lock_classes_row(rings[0], CLASS)->begun == 151, "in its own row what the ended ones had");
    check(move(locks) == 0 && head_sum(locks, TRACE_TABLE_MOVED) == 150, "they are moved once");
}

static void test_of_ended(void)
{
    setup();
    for (uint32_t i = 1; i <= 80; i++) {
        struct trace_lock_sites_row *site = trace_lock_sites_row(rings[0], 0x1000 * i, CLASS, i, i & 1);
        trace_row_begin(&site->begun, MANY);
        trace_row_add(&site->ticks, i, MANY), trace_row_raise(&site->longest, i, MANY);
        trace_row_end(&site->ended, MANY);
    }
    first_alive = 41;
    check(move(sites) == 40 && head_sum(sites, TRACE_TABLE_USED) == 42,
          "two rows have places of processes that ended");
    struct trace_lock_sites_row row;
    struct trace_table_walk walk = {.table = sites, .ring = rings[0]};
    uint64_t ticks[2] = {0}, sum = 0;
    for (; trace_table_next(&walk, (uint64_t *)&row); sum += row.ticks)
        if (row.site == TRACE_KEY_ENDED && row.pid == TRACE_KEY_ENDED && row.lock_class == CLASS &&
            row.what < 2 && row.longest == 39 + !row.what && row.ended == 20)
            ticks[row.what] += row.ticks;
    check(ticks[0] == 420 && ticks[1] == 400 && sum == 80 * 81 / 2 && !walk.damaged &&
              !trace_table_moves(&walk),
          "one for waits and one for holds: their other keys say so");
    check(move(sites) == 0, "rows of the ended stay");
    first_alive = 1000;
    check(move(sites) == 40 && head_sum(sites, TRACE_TABLE_USED) == 2, "later ones are added to them");
}

/* Far more than there is space for, one after another. */
static void test_newest(void)
{
    static struct trace_places places;
    struct trace_table_walk walk;
    uint64_t sum = 0, missing = 0;
    setup();
    for (uint32_t pid = 1; pid <= 20000; pid++) {
        first_alive = pid;
        if (head_sum(locks, TRACE_TABLE_USED) >= locks->rows / 2)
            move(locks);
        for (unsigned i = 0; i < 5; i++, sum += pid) {
            update(rings[0], 0x1000 + 64 * i, pid, pid);
            missing += !trace_locks_row_again(rings[0], 0x1000 + 64 * i, CLASS, pid, &places);
        }
    }
    const struct trace_lock_classes_row row = read_class(&walk);
    check(missing < 100 && head_sum(locks, TRACE_TABLE_NO_SPACE) == 2 * missing,
          "20000 processes have a row for nearly each lock: others may be in all that one could be in");
    check(row.wait == sum && row.sampled == 100000 && row.ended == 100000 && row.begun == 100000,
          "and the class has each of their updates");
}

/* A program that found no row must find one when there is one again. */
static void test_full_while_moved(void)
{
    static struct trace_places places;
    unsigned refused = 0, found = 0;
    setup();
    first_alive = 0;
    trace_locks_row_again(rings[0], 64, CLASS, 1, &places);
    for (uint32_t pid = 1; pid <= 4096; pid++)
        update(rings[0], 64, pid, 1);
    for (unsigned i = 0; i < 2; i++)
        refused += !trace_locks_row_again(rings[0], 64, CLASS, 99999, &places);
    check(trace_locks_row_again(rings[0], 64, CLASS, 1, &places) && refused == 2,
          "in a full table there is no row");
    refused = !trace_locks_row_again(rings[0], 64, CLASS, 99999, &places); /* is remembered */
    first_alive = 3;
    move(locks);
    found = trace_locks_row_again(rings[0], 64, CLASS, 99999, &places) != NULL;
    check(refused && found, "until one is free, also for a program that remembers that it has none");
}

/* What a reader finds that looks in the middle of a move. */
static void test_half_moved(void)
{
    struct trace_table_walk walk = {.table = locks, .ring = rings[0]};
    uint64_t copy[TRACE_TABLE_ROW_WORDS_MAX];
    setup();
    update(rings[0], 64, 7, 10);
    struct trace_locks_row *row = trace_locks_row(rings[0], 64, CLASS, 7);
    const uint32_t place = (uint32_t)(row->tag % locks->rows);
    row->lock = row->pid = row->begun = 0; /* half of it is free */
    check(trace_table_read_row(locks, rings[0], place, copy) == TRACE_ROW_DAMAGED,
          "a row without its keys is damaged");
    words_of(0)[TRACE_TABLE_MOVES_BEGUN] = 1;
    check(trace_table_read_row(locks, rings[0], place, copy) == TRACE_ROW_FREE &&
              !trace_table_next(&walk, copy) && !walk.damaged && trace_table_moves(&walk) == 1,
          "but not while rows are moved: then it is elsewhere, and the reader knows that it may have missed "
          "it");
    words_of(0)[TRACE_TABLE_MOVES_BEGUN] = 1000000;
    check(trace_table_read_row(locks, rings[0], place, copy) == TRACE_ROW_DAMAGED,
          "counts of moves that are damaged themselves excuse nothing");
}

#define WRITERS   3u
#define LIVES     5000u /* processes, one after another, of each writer */
#define LIFE      20u   /* updates of each */
#define FIRST_PID 1u
#define SHARED    0x9000u /* a lock of the kernel, of all writers */

static uint8_t ended[FIRST_PID + WRITERS * LIVES];
static unsigned running;

static bool is_marked(const struct trace_table_info *table, const uint64_t *keys)
{
    (void)table;
    return keys[2] && keys[2] < sizeof(ended) && __atomic_load_n(&ended[keys[2]], __ATOMIC_ACQUIRE);
}

static void *live(void *argument)
{
    const uint32_t first = FIRST_PID + (uint32_t)(uintptr_t)argument * LIVES;
    for (uint32_t pid = first; pid < first + LIVES; pid++) {
        for (unsigned i = 0; i < LIFE; i++)
            update(rings[0], 64 * (i % 4), pid, i), update(rings[0], SHARED, 0, i);
        __atomic_store_n(&ended[pid], 1, __ATOMIC_RELEASE);
        if (pid % 16 == 0)
            do /* a busy host may not run the mover for long */
                sched_yield();
            while (head_sum(locks, TRACE_TABLE_USED) >= TRACE_TABLE_ROWS_USED(locks->rows));
    }
    __atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void *keep_moving(void *unused)
{
    mover = (struct trace_table_mover){.ring = rings[0], .into = classes, .has_ended = is_marked};
    while (__atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
        if (head_sum(locks, TRACE_TABLE_USED) >= locks->rows / 2)
            trace_table_move(&mover, locks);
        sched_yield();
    }
    return unused;
}

static bool is_of_one_moment(const uint64_t *acquisitions, uint64_t sampled, const uint64_t *times)
{
    uint64_t in_buckets = 0;
    for (unsigned b = 0; b < TRACE_TABLE_BUCKETS; b++)
        in_buckets += times[b];
    return *acquisitions == 3 * sampled && in_buckets == sampled;
}

static void test_threads(void)
{
    pthread_t threads[WRITERS], moving;
    uint64_t whole = 0, wrong = 0, damaged = 0, settled = 0, less = 0, last = 0;
    struct trace_locks_row row;
    struct trace_table_walk walk;
    setup();
    running = WRITERS;
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, live, (void *)i);
    pthread_create(&moving, NULL, keep_moving, NULL);
    while (__atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
        for (uint32_t i = 0; i < locks->rows; i++) {
            const enum trace_row_state state = trace_table_read_row(locks, rings[0], i, (uint64_t *)&row);
            damaged += state == TRACE_ROW_DAMAGED;
            whole += state == TRACE_ROW_WHOLE;
            wrong += state == TRACE_ROW_WHOLE &&
                     (!is_of_one_moment(&row.acquisitions, row.sampled, row.wait_times) ||
                      (row.pid && row.sampled > LIFE));
        }
        const struct trace_lock_classes_row class_row = read_class(&walk);
        if (trace_table_moves(&walk))
            continue;
        settled++;
        less += class_row.ended < last;
        last = class_row.ended;
    }
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(moving, NULL);
    check(whole > 0 && wrong == 0 && damaged == 0,
          "rows that are read while others are moved and taken are of one moment");
    printf("# %lu sums without a move meanwhile, %lu of them less than before; %lu rows moved\n", settled,
           less, head_sum(locks, TRACE_TABLE_MOVED));
    check(settled > 0 && less == 0, "sums never become less, unless the reader knows that rows were moved");
    const struct trace_lock_classes_row class_row = read_class(&walk);
    const uint64_t all = (uint64_t)WRITERS * LIVES * LIFE;
    printf("# %lu updates of %lu, %lu of the shared lock; damaged %u, moved %lu\n", class_row.ended, 2 * all,
           find_lock(SHARED, 0).sampled, (unsigned)walk.damaged, head_sum(locks, TRACE_TABLE_MOVED));
    check(class_row.ended == 2 * all && class_row.begun == 2 * all && class_row.sampled == 2 * all &&
              find_lock(SHARED, 0).sampled == all && !walk.damaged &&
              head_sum(locks, TRACE_TABLE_MOVED) > locks->rows,
          "no update of any thread is lost, or counted twice");
}

/* ---- hostile programs ------------------------------------------------------------------------------- */

static void test_damaged(void)
{
    struct trace_locks_row copy, *row;
    uint64_t sum[TRACE_TABLE_ROW_WORDS_MAX];
    setup();
    update(rings[0], 64, 7, 10);
    row = trace_locks_row(rings[0], 64, CLASS, 7);
    row->ended += 2;
    check(read_row(row, 0, &copy) == TRACE_ROW_DAMAGED, "more ended than begun: damaged");
    row->ended -= 2;
    row->pid = 8;
    check(read_row(row, 0, &copy) == TRACE_ROW_DAMAGED, "keys that do not belong to their tag: damaged");
    row->pid = 7;
    struct trace_locks_row *elsewhere = row + (place_of(row, 0) < locks->rows / 2 ? 100 : -100);
    memcpy(elsewhere, row, sizeof(*row));
    check(read_row(elsewhere, 0, &copy) == TRACE_ROW_DAMAGED,
          "a row that is not where its keys belong: damaged");
    struct trace_rows rows = read_table(locks);
    check(rows.count == 1 && rows.damaged == 1, "the reader counts it, and leaves it out");
    trace_rows_free(&rows);

    struct trace_lock_classes_row *class_row = trace_lock_classes_row(rings[0], 3);
    trace_row_begin(&class_row->begun, MANY);
    trace_row_end(&class_row->ended, MANY);
    class_row->lock_class = 4;
    check(trace_table_read_row(classes, rings[0], 3, sum) == TRACE_ROW_DAMAGED,
          "in a direct table, a key that is not the row's index: damaged");
    rows = read_table(classes);
    check(rows.count == 1 && rows.damaged == 2,
          "the reader of a table that adds another one counts what is damaged in both");
    trace_rows_free(&rows);
}

/* Reads and updates everything. */
static void use_all(void)
{
    FILE *nowhere = fopen("/dev/null", "w");
    const struct trace_rows_view view = {.clock_hz = 1000000000, .top = 64};
    for (const struct trace_table_info *table = trace_table_list; table->name; table++) {
        struct trace_rows rows = read_table(table);
        trace_rows_print(nowhere, &rows, &view);
        trace_rows_free(&rows);
    }
    fclose(nowhere);
    for (unsigned i = 0; i < 1000; i++) {
        update(rings[i % CPUS], (uint64_t)i << 32 | i, i, i);
        struct trace_lock_sites_row *site = trace_lock_sites_row(rings[i % CPUS], i, i, i, i & 1);
        if (site)
            trace_row_raise(&site->longest, i, MANY);
    }
}

static bool all_have(const struct trace_table_info *table, const uint64_t *keys)
{
    return table && keys;
}

static void test_garbage(void)
{
    unsigned seed = 1, sound = 0;
    for (unsigned round = 0; round < 30; round++) {
        setup();
        for (uint32_t pid = 1; pid < 200; pid++)
            update(rings[0], 64, pid, pid);
        for (unsigned cpu = 0; cpu < CPUS; cpu++)
            for (unsigned i = 0; i < TRACE_TABLES_BYTES / 8;
                 i += 1 + (unsigned)rand_r(&seed) % (1 + round * 4))
                words_of(cpu)[i] = round == 0   ? ~0ull
                                   : round == 1 ? 1
                                                : (uint64_t)rand_r(&seed) << (rand_r(&seed) % 64);
        use_all();
        mover = (struct trace_table_mover){.ring = rings[0], .has_ended = all_have};
        for (const struct trace_table_info *table = trace_table_list; table->name; table++) {
            mover.into = table == locks ? classes : NULL;
            if (table->is_hashed)
                trace_table_move(&mover, table);
        }
        sound += words_of(0)[TRACE_TABLE_MOVES_BEGUN] == mover.moves &&
                 words_of(0)[classes->moves_ended / 8] == mover.moves;
    }
    check(sound > 0, "garbage in all tables leads nowhere, and the counts of moves are right afterwards");
}

int main(void)
{
    test_interrupted();
    test_full();
    test_again();
    test_damaged();
    test_locks();
    test_of_ended();
    test_newest();
    test_full_while_moved();
    test_half_moved();
    test_threads();
    test_garbage();
    return finish_tests();
}
