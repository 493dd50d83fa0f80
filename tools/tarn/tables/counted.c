/* SPDX-License-Identifier: BSD-2-Clause */
/* counted.c - collects, subtracts and adds the rows of a table of counters; see counted.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/tables/counted.h>

/* ---- collecting ------------------------------------------------------------------------------------ */

/* The tables that are walked: one CPU's at a time. */
static const struct moment *walked;
static unsigned walked_cpu;

static const char *walked_ring(uint32_t unused)
{
    (void)unused;
    return moment_ring(walked, walked_cpu);
}

static void add_row(struct counted *counted, const struct trace_table_info *table, unsigned cpu,
                    const uint64_t *words)
{
    const size_t bytes = 8ull * table->row_words;
    struct counted_row *row = arena_alloc(&counted->arena, sizeof(*row) + bytes);

    row->cpu = cpu;
    row->under_way = trace_row_unfinished(table, words);
    memcpy(row->words, words, bytes);
    counted->rows = array_grow(counted->rows, counted->count, &counted->size, sizeof(counted->rows[0]));
    counted->rows[counted->count++] = row;
}

/* Adds the rows of a CPU at a moment. */
static void collect(struct counted *counted, const struct trace_table_info *table,
                    const struct moment *moment, unsigned cpu)
{
    struct trace_table_walk walk = {.table = table, .ring_of = walked_ring, .cpu_count = 1};
    uint64_t words[TRACE_TABLE_ROW_WORDS_MAX];

    walked = moment, walked_cpu = cpu;
    while (trace_table_next(&walk, words))
        add_row(counted, table, cpu, words);
    counted->damaged += walk.damaged;
    counted->is_moving |= moment->moving[cpu];
}

/* ---- an interval ----------------------------------------------------------------------------------- */

static bool same_keys(const struct trace_table_info *table, const uint64_t *a, const uint64_t *b)
{
    return memcmp(&a[TRACE_ROW_KEYS], &b[TRACE_ROW_KEYS], 8ull * table->key_count) == 0;
}

/* Whether a row is that of the ended to which the kernel adds a row with these keys. */
static bool is_of_ended(const struct trace_table_info *table, const uint64_t *row, const uint64_t *keys)
{
    bool is_ended = false;

    for (unsigned k = 0; k < table->key_count; k++) {
        const uint64_t key = row[TRACE_ROW_KEYS + k];
        if (key != keys[TRACE_ROW_KEYS + k] && key != TRACE_KEY_ENDED)
            return false;
        is_ended |= key == TRACE_KEY_ENDED;
    }
    return is_ended;
}

/* Returns the row of ROWS that has what OLD had counted; NULL: it was moved to a table that adds this one. */
static struct counted_row *find_heir(const struct trace_table_info *table, struct counted_row **rows,
                                     size_t count, const struct counted_row *old)
{
    const uint32_t ended = table->row_words - 1;

    for (size_t i = 0; i < count; i++)
        if (same_keys(table, rows[i]->words, old->words) && rows[i]->words[ended] >= old->words[ended])
            return rows[i];
    for (size_t i = 0; i < count; i++)
        if (is_of_ended(table, rows[i]->words, old->words))
            return rows[i];
    return NULL;
}

/* False: it counted more then. */
static bool subtract_row(const struct trace_table_info *table, struct counted_row *row,
                         const struct counted_row *old)
{
    row->words[TRACE_ROW_BEGUN] -= old->words[TRACE_ROW_BEGUN];
    row->words[table->row_words - 1] -= old->words[table->row_words - 1];
    row->under_way += old->under_way;
    for (unsigned c = table->key_count; c < table->column_count; c++) {
        const struct trace_column_info *column = &table->columns[c];
        for (uint32_t i = column->word; i < (uint32_t)column->word + column->words; i++) {
            if (row->words[i] < old->words[i])
                return false;
            if (column->kind != TRACE_COLUMN_MAX)
                row->words[i] -= old->words[i];
            else if (row->words[i] == old->words[i])
                row->words[i] = COUNTED_UNKNOWN;
        }
    }
    return true;
}

/* Subtracts the CPU's rows at the moment BEFORE from its rows, which are those from FIRST on. Leaves out rows
 * without change. */
static void subtract(struct counted *counted, size_t first, const struct trace_table_info *table,
                     const struct moment *before, unsigned cpu)
{
    struct counted then = {0};
    size_t kept = first;

    collect(&then, table, before, cpu);
    for (size_t i = 0; i < then.count; i++) {
        struct counted_row *row =
            find_heir(table, &counted->rows[first], counted->count - first, then.rows[i]);
        if (row != NULL && !subtract_row(table, row, then.rows[i])) {
            counted->damaged++;
            row->words[TRACE_ROW_BEGUN] = row->words[table->row_words - 1] = 0;
        }
    }
    for (size_t i = first; i < counted->count; i++)
        if (counted->rows[i]->words[TRACE_ROW_BEGUN] != 0 ||
            counted->rows[i]->words[table->row_words - 1] != 0)
            counted->rows[kept++] = counted->rows[i];
    counted->count = kept;
    counted->is_moving |= then.is_moving;
    counted_free(&then);
}

/* ---- adding up ------------------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct trace_table_info *table = context;
    const struct counted_row *a = *(struct counted_row *const *)left,
                             *b = *(struct counted_row *const *)right;

    for (unsigned k = TRACE_ROW_KEYS, end = k + table->key_count; k < end; k++)
        if (a->words[k] != b->words[k])
            return a->words[k] < b->words[k] ? -1 : 1;
    return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/* Adds ROW to SUM, where a largest value that is unknown changes nothing. */
static void sum_row(const struct trace_table_info *table, struct counted_row *sum, struct counted_row *row)
{
    for (unsigned c = table->key_count; c < table->column_count; c++) {
        const uint32_t word = table->columns[c].word;
        if (table->columns[c].kind != TRACE_COLUMN_MAX)
            continue;
        if (row->words[word] == COUNTED_UNKNOWN)
            row->words[word] = sum->words[word];
        if (sum->words[word] == COUNTED_UNKNOWN)
            sum->words[word] = row->words[word];
    }
    trace_table_add_row(table, sum->words, row->words);
    sum->under_way += row->under_way;
}

static void add_up(struct counted *counted, const struct trace_table_info *table, bool by_cpu)
{
    size_t kept = 0;

    for (size_t i = 0; i < counted->count; i++) {
        struct counted_row *row = counted->rows[i], *last = kept > 0 ? counted->rows[kept - 1] : NULL;
        if (last != NULL && same_keys(table, last->words, row->words) && (!by_cpu || last->cpu == row->cpu))
            sum_row(table, last, row);
        else
            counted->rows[kept++] = row;
    }
    counted->count = kept;
}

void counted_collect(struct counted *counted, const struct trace_table_info *table, const struct moment *now,
                     const struct moment *before, bool by_cpu)
{
    *counted = (struct counted){0};
    for (unsigned cpu = 0; cpu < now->cpu_count; cpu++) {
        const uint64_t no_row = moment_head(now, cpu, table, TRACE_TABLE_NO_SPACE);
        const uint64_t earlier = before != NULL ? moment_head(before, cpu, table, TRACE_TABLE_NO_SPACE) : 0;
        const size_t first = counted->count;

        collect(counted, table, now, cpu);
        if (before != NULL)
            subtract(counted, first, table, before, cpu);
        counted->no_row += no_row > earlier ? no_row - earlier : 0;
    }
    if (counted->count > 0)
        qsort_r(counted->rows, counted->count, sizeof(counted->rows[0]), compare_rows, (void *)table);
    add_up(counted, table, by_cpu);
}

void counted_free(struct counted *counted)
{
    free(counted->rows);
    arena_free(&counted->arena);
    *counted = (struct counted){0};
}
