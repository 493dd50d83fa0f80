/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c - rows of tables of counters as text; see rows.h.
 *
 * A cell is the text of a key, of a column, or of a derived value; a histogram has two cells.
 */
#include "trace/events.h" /* generated */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace/ring/table_derive.h>
#include <trace/ring/table_read.h>
#include <user/tarnprof/rows.h>

#define PERCENTILE_LOW 50u
#define PERCENTILE_TOP 99u
#define READ_TRIES     4 /* each that fails was overtaken by a move of rows */
#define CELLS_MAX      (TRACE_TABLE_COLUMNS_MAX * 2 + TRACE_DERIVED_MAX)

/* A column, one of two percentiles of a histogram, or a derived value. */
struct cell {
    const struct trace_column_info *column; /* NULL: derived */
    unsigned percent;                       /* of a histogram; 0: it is none */
    const struct trace_derived *derived;
    const char *name;
    int width; /* 0: the column is left out */
};

struct print {
    FILE *to;
    const struct trace_table_info *table;
    const struct trace_rows_view *view;
    struct cell cells[CELLS_MAX];
    unsigned count;
};

static uint64_t *row_at(const struct trace_rows *rows, uint32_t number)
{
    return rows->words + (size_t)number * rows->table->row_words;
}

/* ---- cells ------------------------------------------------------------------------------------------ */

static void make_cells(struct print *print)
{
    const struct trace_derived *derived[TRACE_DERIVED_MAX];
    const unsigned derived_count = trace_table_derived(print->table, derived);
    for (unsigned c = 0; c < print->table->column_count; c++) {
        const struct trace_column_info *column = &print->table->columns[c];
        const bool is_histogram = column->kind == TRACE_COLUMN_HISTOGRAM;
        print->cells[print->count++] = (struct cell){
            .column = column, .percent = is_histogram ? PERCENTILE_LOW : 0, .name = column->name};
        if (is_histogram)
            print->cells[print->count++] =
                (struct cell){.column = column, .percent = PERCENTILE_TOP, .name = column->name};
    }
    for (unsigned i = 0; i < derived_count; i++)
        print->cells[print->count++] = (struct cell){.derived = derived[i], .name = derived[i]->name};
}

static bool is_key(const struct cell *cell)
{
    return cell->column && cell->column->kind == TRACE_COLUMN_KEY;
}

/* The cell's number; TRACE_NO_VALUE: unknown. */
static uint64_t value_of(const struct print *print, const struct cell *cell, const uint64_t *row)
{
    if (!cell->column)
        return trace_derive(cell->derived, print->table, row, print->view->elapsed);
    return cell->percent ? trace_histogram_bound(&row[cell->column->word], cell->percent)
                         : row[cell->column->word];
}

/* 9999ns, 12.3us, 4567.8us, 12.3ms */
static void put_time(char text[TRACE_TABLE_CELL_BYTES], double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    unsigned unit = 0;
    for (; ns >= 10000 && unit < 3; unit++)
        ns /= 1000;
    snprintf(text, TRACE_TABLE_CELL_BYTES, "%.*f%s", unit ? 1 : 0, ns, units[unit]);
}

static bool is_time(const struct cell *cell)
{
    return cell->column ? cell->column->unit[0] == 't' : cell->derived->kind == TRACE_DERIVED_TICKS;
}

static const char *put_cell(char text[TRACE_TABLE_CELL_BYTES], const struct print *print,
                            const struct cell *cell, const uint64_t *row)
{
    const struct trace_rows_view *view = print->view;
    const uint64_t value = value_of(print, cell, row);
    const char *name = is_key(cell) && view->name_of ? view->name_of(cell->column->name, value, text) : NULL;
    if (is_key(cell) && value == TRACE_KEY_ENDED)
        return "(ended)";
    if (name)
        return name;
    if (value == TRACE_NO_VALUE && !is_key(cell))
        return "-";
    if (is_time(cell) && view->clock_hz)
        put_time(text, (double)value * 1e9 / (double)view->clock_hz);
    else if (!cell->column && cell->derived->kind == TRACE_DERIVED_PERCENT)
        snprintf(text, TRACE_TABLE_CELL_BYTES, "%.2f%%", (double)value / 100);
    else
        snprintf(text, TRACE_TABLE_CELL_BYTES,
                 cell->column && cell->column->is_hex ? "0x%" PRIx64 : "%" PRIu64, value);
    return text;
}

static const char *put_heading(char text[TRACE_TABLE_CELL_BYTES], const struct cell *cell)
{
    snprintf(text, TRACE_TABLE_CELL_BYTES, cell->percent ? "%s %u%%" : "%s", cell->name, cell->percent);
    return text;
}

/* ---- lines ------------------------------------------------------------------------------------------ */

static void widen(struct cell *cell, const char *text)
{
    const int length = (int)strlen(text);
    cell->width = length > cell->width ? length : cell->width;
}

/* Makes the columns wide enough for the rows, then for the headings. */
static void measure(struct print *print, const struct trace_rows *rows, uint32_t shown)
{
    char text[TRACE_TABLE_CELL_BYTES];
    for (struct cell *cell = print->cells; cell < print->cells + print->count; cell++) {
        for (uint32_t i = 0; i < shown; i++) {
            const uint64_t *row = row_at(rows, i);
            const uint64_t value = value_of(print, cell, row);
            if (is_key(cell) || (value != 0 && value != TRACE_NO_VALUE))
                widen(cell, put_cell(text, print, cell, row));
        }
        if (is_key(cell) || cell->width)
            widen(cell, put_heading(text, cell));
    }
}

/* `row` NULL: the headings. */
static void print_line(const struct print *print, const uint64_t *row)
{
    char text[TRACE_TABLE_CELL_BYTES];
    for (const struct cell *cell = print->cells; cell < print->cells + print->count; cell++)
        if (cell->width)
            fprintf(print->to, cell == print->cells ? "%-*s" : "  %*s", cell->width,
                    row ? put_cell(text, print, cell, row) : put_heading(text, cell));
    fputc('\n', print->to);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* The cell by which rows are sorted: view->by, or the first sum, or else the first count. NULL: none. */
static const struct cell *find_order(const struct print *print)
{
    const enum trace_column_kind kinds[] = {TRACE_COLUMN_SUM, TRACE_COLUMN_COUNT, TRACE_COLUMN_KEY};
    for (unsigned k = 0; k < 3; k++)
        for (const struct cell *cell = print->cells; cell < print->cells + print->count; cell++)
            if (print->view->by ? !strcmp(cell->name, print->view->by)
                                : cell->column && cell->column->kind == kinds[k])
                return cell;
    return NULL;
}

static int compare_tags(const void *a, const void *b)
{
    const uint64_t one = ((const uint64_t *)a)[TRACE_ROW_TAG], other = ((const uint64_t *)b)[TRACE_ROW_TAG];
    return (one < other) - (one > other);
}

/* By the values of that cell, which take the place of the tags. */
static void sort(const struct print *print, struct trace_rows *rows, const struct cell *order)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        uint64_t *row = row_at(rows, i);
        const uint64_t value = value_of(print, order, row);
        row[TRACE_ROW_TAG] = value == TRACE_NO_VALUE && !is_key(order) ? 0 : value;
    }
    if (rows->count)
        qsort(rows->words, rows->count, rows->table->row_words * sizeof *rows->words, compare_tags);
}

static void print_if_any(FILE *to, uint64_t count, const char *what)
{
    if (count)
        fprintf(to, "%" PRIu64 " %s\n", count, what);
}

static void print_missing(FILE *to, const struct trace_rows *rows, uint32_t shown)
{
    uint64_t unfinished = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        unfinished += trace_row_unfinished(rows->table, row_at(rows, i));
    print_if_any(to, rows->count - shown, "of them, with less, are not shown");
    print_if_any(to, unfinished,
                 "updates are under way, or their threads were killed: they are counted in part");
    print_if_any(to, rows->damaged, "rows are damaged, and left out");
    if (rows->moves)
        fprintf(to,
                "rows of what had ended were moved meanwhile: sums over rows may have them twice, or not at "
                "all; print them again\n");
    print_if_any(to, rows->no_row,
                 "of the updates found no row, because no more may be used: their keys are missing");
}

bool trace_rows_print(FILE *to, struct trace_rows *rows, const struct trace_rows_view *view)
{
    struct print print = {.to = to, .table = rows->table, .view = view};
    const uint32_t shown = rows->count < view->top ? rows->count : view->top;
    make_cells(&print);
    const struct cell *order = find_order(&print);
    if (!order)
        return false;
    sort(&print, rows, order);
    measure(&print, rows, shown);
    print_line(&print, NULL);
    for (uint32_t i = 0; i < shown; i++)
        print_line(&print, row_at(rows, i));
    fprintf(to, "%" PRIu32 " row%s\n", rows->count, rows->count == 1 ? "" : "s");
    print_missing(to, rows, shown);
    return true;
}

/* NULL: no memory. */
static uint64_t *append(struct trace_rows *rows)
{
    const uint32_t words = rows->table->row_words;
    if (rows->count == rows->capacity) {
        const uint32_t capacity = rows->capacity ? 2 * rows->capacity : 64;
        uint64_t *larger = realloc(rows->words, (size_t)capacity * words * sizeof *larger);
        if (!larger)
            return NULL;
        rows->words = larger;
        rows->capacity = capacity;
    }
    return row_at(rows, rows->count++);
}

bool trace_rows_add(struct trace_rows *rows, const uint64_t *row)
{
    const struct trace_table_info *table = rows->table;
    for (uint32_t i = 0; i < rows->count; i++)
        if (!memcmp(row_at(rows, i) + TRACE_ROW_KEYS, row + TRACE_ROW_KEYS, table->key_count * sizeof *row)) {
            trace_table_add_row(table, row_at(rows, i), row);
            return true;
        }
    uint64_t *copy = append(rows);
    if (copy)
        memcpy(copy, row, table->row_words * sizeof *row);
    return copy;
}

static bool read_once(struct trace_rows *rows, const char *(*ring_of)(uint32_t cpu), uint32_t cpu_count)
{
    uint64_t row[TRACE_TABLE_ROW_WORDS_MAX];
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
        struct trace_table_walk walk = {.table = rows->table, .ring = ring_of(cpu)};
        while (trace_table_next(&walk, row))
            if (!trace_rows_add(rows, row))
                return false;
        rows->damaged += walk.damaged;
        rows->moves += trace_table_moves(&walk);
        rows->no_row += trace_table_head_word(rows->table, walk.ring, TRACE_TABLE_NO_SPACE);
    }
    return true;
}

bool trace_rows_read(struct trace_rows *rows, const char *(*ring_of)(uint32_t cpu), uint32_t cpu_count)
{
    bool ok = read_once(rows, ring_of, cpu_count);
    for (int i = 1; ok && rows->moves && i < READ_TRIES; i++) {
        trace_rows_free(rows);
        ok = read_once(rows, ring_of, cpu_count);
    }
    return ok;
}

void trace_rows_free(struct trace_rows *rows)
{
    free(rows->words);
    *rows = (struct trace_rows){.table = rows->table};
}

const struct trace_table_info *trace_table_named(const char *name)
{
    for (const struct trace_table_info *table = trace_table_list; table->name; table++)
        if (!strcmp(table->name, name))
            return table;
    return NULL;
}
