/* SPDX-License-Identifier: BSD-2-Clause */
/* counted.c - collects, subtracts and adds the rows of a table of counters; see counted.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/tables/counted.h>

/* ---- an interval ----------------------------------------------------------------------------------- */

static bool same_keys(const struct trace_table_info *table, const uint64_t *a, const uint64_t *b)
{
    return memcmp(&a[TRACE_ROW_KEYS], &b[TRACE_ROW_KEYS], 8ull * table->key_count) == 0;
}

/* Subtracts an earlier state of the row. False: it counted more then. */
static bool subtract_row(const struct trace_table_info *table, uint64_t *row, const uint64_t *before)
{
    for (unsigned c = table->key_count; c < table->column_count; c++) {
        const struct trace_column_info *column = &table->columns[c];
        for (uint32_t i = column->word; i < (uint32_t)column->word + column->words; i++) {
            if (row[i] < before[i])
                return false;
            if (column->kind != TRACE_COLUMN_MAX)
                row[i] -= before[i];
            else if (row[i] == before[i])
                row[i] = COUNTED_UNKNOWN;
        }
    }
    return true;
}

/* Makes ROW the change since BEFORE, and adds to UNDER_WAY the updates that were then. Returns how it is. */
static enum trace_row_state change_of(const struct trace_table_info *table, const struct moment *before,
                                      unsigned cpu, uint32_t number, uint64_t *row, uint64_t *under_way)
{
    uint64_t old[TRACE_TABLE_ROW_WORDS_MAX];
    const enum trace_row_state then = moment_row(before, cpu, table, number, old);
    const uint32_t ended = table->row_words - 1;

    if (then == TRACE_ROW_FREE)
        return TRACE_ROW_WHOLE;
    if (then == TRACE_ROW_DAMAGED || !same_keys(table, row, old) || row[ended] < old[ended])
        return TRACE_ROW_DAMAGED;
    if (row[ended] == old[ended] && row[TRACE_ROW_BEGUN] == old[TRACE_ROW_BEGUN])
        return TRACE_ROW_FREE; /* unchanged */
    *under_way += trace_row_unfinished(table, old);
    return subtract_row(table, row, old) ? TRACE_ROW_WHOLE : TRACE_ROW_DAMAGED;
}

/* ---- collecting ------------------------------------------------------------------------------------ */

static void add_row(struct counted *counted, const struct trace_table_info *table, unsigned cpu,
                    const uint64_t *words, uint64_t under_way)
{
    const size_t bytes = 8ull * table->row_words;
    struct counted_row *row = arena_alloc(&counted->arena, sizeof(*row) + bytes);

    row->cpu = cpu;
    row->under_way = under_way;
    memcpy(row->words, words, bytes);
    counted->rows = array_grow(counted->rows, counted->count, &counted->size, sizeof(counted->rows[0]));
    counted->rows[counted->count++] = row;
}

/* Adds the row of that number, or counts it as damaged. */
static void collect_row(struct counted *counted, const struct trace_table_info *table,
                        const struct moment *now, const struct moment *before, unsigned cpu, uint32_t number)
{
    uint64_t words[TRACE_TABLE_ROW_WORDS_MAX], under_way = 0;
    enum trace_row_state state = moment_row(now, cpu, table, number, words);

    if (state == TRACE_ROW_CHANGING)
        under_way = trace_row_unfinished(table, words);
    if (before != NULL && (state == TRACE_ROW_WHOLE || state == TRACE_ROW_CHANGING))
        state = change_of(table, before, cpu, number, words, &under_way);
    if (state == TRACE_ROW_WHOLE || state == TRACE_ROW_CHANGING)
        add_row(counted, table, cpu, words, under_way);
    counted->damaged += state == TRACE_ROW_DAMAGED;
}

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

/* Adds the rows of the table that TABLE adds, each as one of TABLE's own. */
static void collect_other(struct counted *counted, const struct trace_table_info *table,
                          const struct moment *now, const struct moment *before, unsigned cpu)
{
    const struct trace_table_info *other = table->adds;
    const size_t from = counted->count;

    for (uint32_t row = 0; row < other->rows; row++)
        collect_row(counted, other, now, before, cpu, row);
    for (size_t i = from; i < counted->count; i++) {
        struct counted_row *row = counted->rows[i];
        uint64_t words[TRACE_TABLE_ROW_WORDS_MAX] = {[TRACE_ROW_TAG] = 1};

        words[TRACE_ROW_KEYS] = row->words[TRACE_ROW_KEYS + table->adds_key];
        trace_table_add_other(table, words, row->words);
        memcpy(row->words, words, 8ull * table->row_words); /* which is shorter: it has fewer keys */
    }
}

void counted_collect(struct counted *counted, const struct trace_table_info *table, const struct moment *now,
                     const struct moment *before, bool by_cpu)
{
    *counted = (struct counted){0};
    for (unsigned cpu = 0; cpu < now->cpu_count; cpu++) {
        const uint64_t no_row = moment_head(now, cpu, table, TRACE_TABLE_NO_SPACE);
        const uint64_t earlier = before != NULL ? moment_head(before, cpu, table, TRACE_TABLE_NO_SPACE) : 0;

        for (uint32_t row = 0; row < table->rows; row++)
            collect_row(counted, table, now, before, cpu, row);
        if (table->adds != NULL)
            collect_other(counted, table, now, before, cpu);
        counted->no_row += no_row > earlier ? no_row - earlier : 0;
        counted->is_moving |= now->moving[cpu] || (before != NULL && before->moving[cpu]);
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
