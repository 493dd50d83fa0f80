/* counted.c - collects, subtracts and adds the rows of a table of counters; see counted.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/tables/counted.h>
#include <trace/ring/routine_copy.h>

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct trace_table_info *table = context;
    const struct counted_row *a = *(struct counted_row *const *)left,
                             *b = *(struct counted_row *const *)right;
    for (unsigned k = TRACE_ROW_KEYS, end = k + table->key_count; k < end; k++)
        if (a->words[k] != b->words[k])
            return a->words[k] < b->words[k] ? -1 : 1;
    return a->part < b->part ? -1 : a->part > b->part;
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
    trace_table_add_row(table, row->words, table, sum->words, TRACE_ROW_OF_ONE);
    sum->under_way += row->under_way;
}

static void add_up(struct counted *counted, const struct trace_table_info *table, bool by_part)
{
    size_t kept = 0;
    if (counted->count > 0)
        qsort_r(counted->rows, counted->count, sizeof(counted->rows[0]), compare_rows, (void *)table);
    for (size_t i = 0; i < counted->count; i++) {
        struct counted_row *row = counted->rows[i], *last = kept > 0 ? counted->rows[kept - 1] : NULL;
        if (last != NULL && (!by_part || last->part == row->part) &&
            memcmp(&last->words[TRACE_ROW_KEYS], &row->words[TRACE_ROW_KEYS], 8ull * table->key_count) == 0)
            sum_row(table, last, row);
        else
            counted->rows[kept++] = row;
    }
    counted->count = kept;
}

static void add_row(struct counted *counted, const struct trace_table_info *table, unsigned part,
                    const uint64_t *words)
{
    const size_t bytes = 8ull * table->row_words;
    struct counted_row *row = arena_alloc(&counted->arena, sizeof(*row) + bytes);
    row->part = part;
    row->under_way = trace_row_unfinished(table, words);
    memcpy(row->words, words, bytes);
    counted->rows = array_grow(counted->rows, counted->count, &counted->size, sizeof(counted->rows[0]));
    counted->rows[counted->count++] = row;
}

/* The number of the table in NOW that has the times of a table: the same one, or, if the thread has ended,
 * that of its process's ended threads. now->count: neither is there. */
static size_t find_table(const struct routines *now, const struct trace_routines *head)
{
    size_t ended = now->count;
    for (size_t i = 0; i < now->count; i++) {
        const struct trace_routines *here = &now->copies[i].head;
        if (here->serial == head->serial)
            return i;
        if (here->of == TRACE_ROUTINES_ENDED && here->pid == head->pid)
            ended = i;
    }
    return ended;
}

/* Adds the rows of all tables that have a part in NOW. */
static void collect_routines(struct counted *counted, const struct trace_table_info *table,
                             const struct routines *routines, const struct routines *now, bool by_part)
{
    for (size_t i = 0; i < routines->count; i++) {
        const struct routines_copy *copy = &routines->copies[i];
        const size_t part = !by_part ? 0 : routines == now ? i : find_table(now, &copy->head);
        for (uint32_t r = 0; r < copy->head.rows && part < now->count; r++)
            add_row(counted, table, (unsigned)part, (const uint64_t *)&copy->rows[r]);
        counted->life += part < now->count ? copy->head.life : 0;
        counted->threads += copy->head.threads;
        counted->no_row += copy->head.refused;
    }
}

/* Adds the rows at MOMENT, which is NOW or before it. Rows of different CPUs are added later: a largest value
 * is known by CPU. Sums over all threads are exact, because those that end hand their rows on. */
static void collect(struct counted *counted, const struct trace_table_info *table,
                    const struct moment *moment, const struct moment *now, bool by_part)
{
    uint64_t words[TRACE_TABLE_ROW_WORDS_MAX];
    if (table->is_private)
        collect_routines(counted, table, &moment->routines, &now->routines, by_part);
    for (unsigned cpu = 0; cpu < moment->cpu_count && !table->is_private; cpu++) {
        struct trace_table_walk walk = {.table = table, .ring = moment_ring(moment, cpu)};
        while (trace_table_next(&walk, words))
            add_row(counted, table, cpu, words);
        counted->damaged += walk.damaged;
        counted->is_moving |= moment->moving[cpu];
    }
    add_up(counted, table, by_part || !table->is_private);
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

/* Returns the row to which what OLD had counted was moved; NULL: it is in a table that adds this one. */
static struct counted_row *find_ended(const struct counted *counted, const struct trace_table_info *table,
                                      const struct counted_row *old)
{
    for (size_t i = 0; i < counted->count; i++)
        if (counted->rows[i]->part == old->part && is_of_ended(table, counted->rows[i]->words, old->words))
            return counted->rows[i];
    return NULL;
}

/* False: it counted more then. The moment of guest memory is an estimate, and times of open routines with it:
 * they may seem to shrink. */
static bool subtract_row(const struct trace_table_info *table, struct counted_row *row,
                         const struct counted_row *old)
{
    row->words[TRACE_ROW_BEGUN] -= old->words[TRACE_ROW_BEGUN];
    row->words[table->row_words - 1] -= old->words[table->row_words - 1];
    row->under_way += old->under_way;
    for (unsigned c = table->key_count; c < table->column_count; c++) {
        const struct trace_column_info *column = &table->columns[c];
        for (uint32_t i = column->word; i < (uint32_t)column->word + column->words; i++) {
            const uint64_t now = row->words[i], then = old->words[i];
            if (column->kind == TRACE_COLUMN_MAX || column->kind == TRACE_COLUMN_MIN)
                row->words[i] = now != then ? now : COUNTED_UNKNOWN;
            else
                row->words[i] = now > then ? now - then : 0;
            if (now < then && !table->is_private)
                return false;
        }
    }
    return true;
}

static bool has_changed(const struct trace_table_info *table, const uint64_t *words)
{
    uint64_t changes = words[TRACE_ROW_BEGUN] | words[table->row_words - 1];
    for (unsigned c = table->key_count; c < table->column_count; c++)
        if (table->columns[c].kind == TRACE_COLUMN_SUM)
            changes |= words[table->columns[c].word];
    return changes != 0;
}

/* Subtracts the rows THEN, and leaves out rows without change. */
static void subtract(struct counted *counted, const struct trace_table_info *table,
                     const struct counted *then)
{
    const uint32_t ended = table->row_words - 1;
    size_t at = 0, kept = 0;
    for (size_t i = 0; i < then->count; i++) {
        struct counted_row *old = then->rows[i], *row = NULL;
        while (at < counted->count && compare_rows(&counted->rows[at], &old, (void *)table) < 0)
            at++;
        if (at < counted->count && compare_rows(&counted->rows[at], &old, (void *)table) == 0)
            row = counted->rows[at];
        if (!table->is_private && (row == NULL || row->words[ended] < old->words[ended]))
            row = find_ended(counted, table, old);
        if (row != NULL && !subtract_row(table, row, old)) {
            counted->damaged++;
            row->words[TRACE_ROW_BEGUN] = row->words[ended] = 0;
        }
    }
    for (size_t i = 0; i < counted->count; i++)
        if (has_changed(table, counted->rows[i]->words))
            counted->rows[kept++] = counted->rows[i];
    counted->count = kept;
}

void counted_collect(struct counted *counted, const struct trace_table_info *table, const struct moment *now,
                     const struct moment *before, bool by_part)
{
    const struct routines *a = &now->routines, *b = before != NULL ? &before->routines : NULL;
    struct counted then = {0};
    *counted = (struct counted){0};
    collect(counted, table, now, now, by_part);
    if (before != NULL && (!table->is_private || (a->count > 0 && b->count > 0 &&
                                                  a->copies[0].head.epoch == b->copies[0].head.epoch)))
        collect(&then, table, before, now, by_part);
    if (before != NULL || table->is_private)
        subtract(counted, table, &then);
    counted->is_moving |= then.is_moving;
    counted->life -= then.life;
    counted->ran = counted->life;
    for (size_t i = 0; i < counted->count && table->is_private; i++)
        counted->ran -= trace_routine_time((const void *)counted->rows[i]->words, TRACE_ROUTINES_OUT);
    for (unsigned cpu = 0; cpu < now->cpu_count && !table->is_private; cpu++) {
        const uint64_t no_row = moment_head(now, cpu, table, TRACE_TABLE_NO_SPACE);
        const uint64_t earlier = before != NULL ? moment_head(before, cpu, table, TRACE_TABLE_NO_SPACE) : 0;
        counted->no_row += no_row > earlier ? no_row - earlier : 0;
    }
    add_up(counted, table, by_part);
    counted_free(&then);
}

void counted_complain(const struct counted *counted, const struct trace_table_info *table)
{
    const char *name = table->name;
    uint64_t under_way = 0;
    for (size_t i = 0; i < counted->count && table->is_private; i++)
        under_way += counted->rows[i]->under_way != 0;
    if (under_way != 0)
        complain("%" PRIu64 " row%s updated while they were read: they may lack a part of an update",
                 under_way, under_way == 1 ? " was being" : "s were being");
    if (counted->damaged != 0)
        complain("%s: %" PRIu64 " damaged row%s left out: a program has written over the tables", name,
                 counted->damaged, counted->damaged == 1 ? " is" : "s are");
    if (counted->is_moving)
        complain("%s: rows were moved while they were read: sums may count some updates twice, or not at "
                 "all; try again",
                 name);
    if (counted->no_row != 0 && table->is_private)
        complain("%" PRIu64
                 " entries into routines of programs count as part of their callers: too many names, "
                 "too many routines of a thread, or nested too deep",
                 counted->no_row);
    else if (counted->no_row != 0)
        complain("%s: %" PRIu64 " update%s found no row, because no more may be used: %s keys are missing",
                 name, counted->no_row, counted->no_row == 1 ? "" : "s",
                 counted->no_row == 1 ? "its" : "their");
}

void counted_free(struct counted *counted)
{
    free(counted->rows);
    arena_free(&counted->arena);
    *counted = (struct counted){0};
}
