/*
 * tests/unit/trace/table_test.c - tables of counters: updates that are interrupted, full tables, and garbage
 * in all writable memory, whose surroundings are not mapped. Sums, percentiles and what is computed from
 * them: tests/host/made_tables.
 */
#include "trace/events.h" /* generated */
#include <sys/mman.h>
#include <tests/tap.h>
#include <trace/ring/table_read.h>
#include <trace/tables.h>
#include <user/tarnprof/rows.h>

#define CPUS 4u

struct trace_info test_info; /* of the port */

static char *rings[CPUS];
static const struct trace_table_info *const locks = &trace_table_list[TRACE_TABLE_LOCKS];
static const struct trace_table_info *const classes = &trace_table_list[TRACE_TABLE_LOCK_CLASSES];

static const char *ring_of(uint32_t cpu)
{
    return rings[cpu];
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

static void change_columns(struct trace_locks_row *row, uint64_t value)
{
    trace_row_add(&row->sampled, 1, TRACE_ROW_OF_MANY);
    trace_row_add(&row->acquisitions, 3, TRACE_ROW_OF_MANY);
    trace_row_add(&row->wait, value, TRACE_ROW_OF_MANY);
    trace_row_raise(&row->wait_longest, value, TRACE_ROW_OF_MANY);
    trace_row_bucket(row->wait_times, value, TRACE_ROW_OF_MANY);
}

static bool update(char *ring, uint64_t lock, uint32_t pid, uint64_t value)
{
    struct trace_locks_row *row = trace_locks_row(ring, lock, 5, pid);
    if (!row)
        return false;
    trace_row_begin(&row->begun, TRACE_ROW_OF_MANY);
    change_columns(row, value);
    trace_row_end(&row->ended, TRACE_ROW_OF_MANY);
    return true;
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

/* ---- interruptions ---------------------------------------------------------------------------------- */

static void test_interrupted(void)
{
    struct trace_locks_row copy, *row;
    setup();
    row = trace_locks_row(rings[0], 64, 5, 7);
    check(read_row(row, 0, &copy) == TRACE_ROW_FREE,
          "a row that was taken, and not updated, is free for readers");
    row->lock = row->lock_class = row->pid = 0;
    check(read_row(row, 0, &copy) == TRACE_ROW_FREE, "also if its keys were not stored");
    trace_row_begin(&row->begun, TRACE_ROW_OF_MANY);
    check(read_row(row, 0, &copy) == TRACE_ROW_FREE, "or are not seen yet, in its first update");
    row->begun = 0;
    update(rings[0], 64, 7, 10);
    check(read_row(row, 0, &copy) == TRACE_ROW_WHOLE && copy.lock == 64 && copy.pid == 7,
          "the next update stores them");

    trace_row_begin(&row->begun, TRACE_ROW_OF_MANY);
    trace_row_add(&row->sampled, 1, TRACE_ROW_OF_MANY);
    check(read_row(row, 0, &copy) == TRACE_ROW_CHANGING &&
              trace_row_unfinished(locks, (uint64_t *)&copy) == 1,
          "an update under way is reported");
    update(rings[0], 64, 7, 20); /* an interrupt */
    check(read_row(row, 0, &copy) == TRACE_ROW_CHANGING && copy.wait == 30, "another one in between counts");
    trace_row_end(&row->ended, TRACE_ROW_OF_MANY);
    check(read_row(row, 0, &copy) == TRACE_ROW_WHOLE && copy.sampled == 3, "and the first one can end");

    update(rings[2], 64, 7, 5);
    trace_row_begin(&trace_locks_row(rings[3], 64, 5, 7)->begun,
                    TRACE_ROW_OF_MANY); /* its thread is killed */
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

/* ---- rows that are looked up again ------------------------------------------------------------------ */

static void test_again(void)
{
    static struct trace_places places, unused;
    unsigned same = 0, none = 0, known = 0;
    setup();
    for (unsigned i = 0; i < 4096; i++) /* with many in each place */
        same += trace_locks_row_again(rings[i & 1], i * 8ull, 5, 7, &places) ==
                trace_locks_row(rings[i & 1], i * 8ull, 5, 7);
    for (unsigned i = 0; i < 4096; i++)
        same += trace_locks_row_again(rings[i & 1], i * 8ull, 5, 7, &places) ==
                trace_locks_row(rings[i & 1], i * 8ull, 5, 7);
    check(same == 2 * 4096, "rows that are looked up again are the same, or none, on each CPU");
    const uint64_t lost = head_sum(locks, TRACE_TABLE_NO_SPACE);
    for (unsigned i = 0; i < 3; i++)
        none += !trace_locks_row_again(rings[0], 1, 1, 1, i ? &places : &unused);
    check(none == 3 && head_sum(locks, TRACE_TABLE_NO_SPACE) == lost + 3,
          "each that has no row is counted, whether it was searched or not");
    struct trace_locks_row *row = trace_locks_row_again(rings[0], 0, 5, 7, &places);
    known += row && trace_locks_row_known(rings[0], 0, 5, 7, &places) == row;
    known += !trace_locks_row_known(rings[1], 0, 5, 7, &places);
    known += !trace_locks_row_known(rings[0], 0, 6, 7, &places);
    known += !trace_locks_row_known(rings[0], 0, 5, 7, &unused);
    check(known == 4, "a place is that of the same keys on the same CPU");
}

/* ---- limits ----------------------------------------------------------------------------------------- */

static void test_full(void)
{
    static bool has_row[4096];
    uint64_t refused = 0, found = 0, wrong = 0;
    setup();
    for (unsigned i = 0; i < 4096; i++) {
        has_row[i] = update(rings[1], i, 7, i);
        refused += !has_row[i];
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

/* ---- hostile programs ------------------------------------------------------------------------------- */

static void test_damaged(void)
{
    struct trace_locks_row copy, *row;
    uint64_t sum[TRACE_TABLE_ROW_WORDS_MAX];
    setup();
    update(rings[0], 64, 7, 10);
    row = trace_locks_row(rings[0], 64, 5, 7);
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
    trace_row_begin(&class_row->begun, TRACE_ROW_OF_MANY);
    trace_row_end(&class_row->ended, TRACE_ROW_OF_MANY);
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
            trace_row_raise(&site->longest, i, TRACE_ROW_OF_MANY);
    }
}

static void test_garbage(void)
{
    unsigned seed = 1;
    setup();
    for (unsigned round = 0; round < 8; round++) {
        for (unsigned cpu = 0; cpu < CPUS; cpu++) {
            uint64_t *words = (uint64_t *)(void *)(rings[cpu] + TRACE_TABLES_OFFSET);
            for (unsigned i = 0; i < TRACE_TABLES_BYTES / 8; i++)
                words[i] = round == 0   ? ~0ull
                           : round == 1 ? 1
                                        : (uint64_t)rand_r(&seed) << (rand_r(&seed) % 64);
        }
        use_all();
    }
    check(true, "garbage in all tables leads nowhere");
}

int main(void)
{
    test_interrupted();
    test_full();
    test_again();
    test_damaged();
    test_garbage();
    return finish_tests();
}
