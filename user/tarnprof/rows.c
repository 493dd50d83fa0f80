/*
 * rows.c - rows of tables of counters as text; see rows.h.
 *
 * A cell is the text of a value (trace/ring/table_derive.h); a histogram has two cells.
 */
#include "trace/events.h" /* generated */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace/ring/table_derive.h>
#include <trace/ring/table_read.h>
#include <user/tarnprof/rows.h>

#define READ_TRIES 4 /* each that fails was overtaken by a move of rows */

struct print {
    FILE *to;
    const struct trace_table_info *table;
    const struct trace_rows_view *view;
    struct trace_value values[TRACE_VALUES_MAX];
    int widths[TRACE_VALUES_MAX]; /* 0: the column is left out */
    unsigned count;
};

static uint64_t *row_at(const struct trace_rows *rows, uint32_t number)
{
    return rows->words + (size_t)number * rows->table->row_words;
}

/* ---- cells ------------------------------------------------------------------------------------------ */

static bool is_key(const struct trace_value *value)
{
    return value->column && value->column->kind == TRACE_COLUMN_KEY;
}

static uint64_t number_of(const struct print *print, const struct trace_value *value, const uint64_t *row)
{
    return trace_value_of(value, print->table, row, print->view->elapsed);
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

static const char *put_cell(char text[TRACE_TABLE_CELL_BYTES], const struct print *print,
                            const struct trace_value *value, const uint64_t *row)
{
    const struct trace_rows_view *view = print->view;
    const uint64_t number = number_of(print, value, row);
    const char *name = is_key(value) && view->name_of ? view->name_of(value->name, number, text) : NULL;
    if (is_key(value) && number == TRACE_KEY_ENDED)
        return "(ended)";
    if (name)
        return name;
    if (number == TRACE_NO_VALUE && !is_key(value))
        return "-";
    if (value->kind == TRACE_VALUE_TICKS && view->clock_hz)
        put_time(text, (double)number * 1e9 / (double)view->clock_hz);
    else if (value->kind == TRACE_VALUE_PERCENT)
        snprintf(text, TRACE_TABLE_CELL_BYTES, "%.2f%%", (double)number / 100);
    else
        snprintf(text, TRACE_TABLE_CELL_BYTES,
                 value->column && value->column->is_hex ? "0x%" PRIx64 : "%" PRIu64, number);
    return text;
}

static const char *put_heading(char text[TRACE_TABLE_CELL_BYTES], const struct trace_value *value)
{
    snprintf(text, TRACE_TABLE_CELL_BYTES, value->percent ? "%s %u%%" : "%s", value->name, value->percent);
    return text;
}

/* ---- lines ------------------------------------------------------------------------------------------ */

static void widen(int *width, const char *text)
{
    const int length = (int)strlen(text);
    *width = length > *width ? length : *width;
}

/* Makes the columns wide enough for the rows, then for the headings. */
static void measure(struct print *print, const struct trace_rows *rows, uint32_t shown)
{
    char text[TRACE_TABLE_CELL_BYTES];
    for (unsigned c = 0; c < print->count; c++) {
        const struct trace_value *value = &print->values[c];
        if (value->percent == 90 || value->percent == 100)
            continue; /* lines are long enough */
        for (uint32_t i = 0; i < shown; i++) {
            const uint64_t number = number_of(print, value, row_at(rows, i));
            if (is_key(value) || (number != 0 && number != TRACE_NO_VALUE))
                widen(&print->widths[c], put_cell(text, print, value, row_at(rows, i)));
        }
        if (is_key(value) || print->widths[c])
            widen(&print->widths[c], put_heading(text, value));
    }
}

/* `row` NULL: the headings. */
static void print_line(const struct print *print, const uint64_t *row)
{
    char text[TRACE_TABLE_CELL_BYTES];
    for (unsigned c = 0; c < print->count; c++)
        if (print->widths[c])
            fprintf(print->to, c == 0 ? "%-*s" : "  %*s", print->widths[c],
                    row ? put_cell(text, print, &print->values[c], row)
                        : put_heading(text, &print->values[c]));
    fputc('\n', print->to);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* The value by which rows are sorted: view->by, or the first sum, or else the first count. NULL: none. */
static const struct trace_value *find_order(const struct print *print)
{
    const enum trace_column_kind kinds[] = {TRACE_COLUMN_SUM, TRACE_COLUMN_COUNT, TRACE_COLUMN_KEY};
    for (unsigned k = 0; k < 3; k++)
        for (const struct trace_value *value = print->values; value < print->values + print->count; value++)
            if (print->view->by ? !strcmp(value->name, print->view->by)
                                : value->column && value->column->kind == kinds[k])
                return value;
    return NULL;
}

static int compare_tags(const void *a, const void *b)
{
    const uint64_t one = ((const uint64_t *)a)[TRACE_ROW_TAG], other = ((const uint64_t *)b)[TRACE_ROW_TAG];
    return (one < other) - (one > other);
}

/* By the numbers of that value, which take the place of the tags. */
static void sort(const struct print *print, struct trace_rows *rows, const struct trace_value *order)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        uint64_t *row = row_at(rows, i);
        const uint64_t number = number_of(print, order, row);
        row[TRACE_ROW_TAG] = number == TRACE_NO_VALUE && !is_key(order) ? 0 : number;
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
    print.count = trace_table_values(print.table, print.values);
    const struct trace_value *order = find_order(&print);
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
            trace_table_add_row(table, row, table, row_at(rows, i), TRACE_ROW_OF_ONE);
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
