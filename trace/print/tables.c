/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/print/tables.c - tables of counters as text; see tables.h. Freestanding.
 *
 * A cell is the text of a key, of a column, or of a derived value; a histogram has two cells. Rows
 * are kept in the caller's memory, and `order` has their numbers, the largest first. If there are more rows
 * than fit, the smallest goes.
 */
#include "trace/events.h" /* generated */
#include <stddef.h>
#include <trace/format/text.h>
#include <trace/print/tables.h>

#define CELL_BYTES     40
#define PERCENTILE_LOW 50u
#define PERCENTILE_TOP 99u

/* ---- cells ------------------------------------------------------------------------------------------ */

static void put_hex(struct trace_text *text, uint64_t value)
{
    int shift = 60;
    while (shift > 0 && !(value >> shift & 15))
        shift -= 4;
    trace_text_add(text, "0x");
    for (; shift >= 0; shift -= 4)
        trace_text_char(text, "0123456789abcdef"[value >> shift & 15]);
}

/* 9999ns, 12.3us, 4567.8us, 12.3ms */
static void put_time(struct trace_text *text, uint64_t ticks, uint64_t hz)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    const unsigned __int128 whole = hz ? (unsigned __int128)ticks * 1000000000 / hz : ticks;
    uint64_t value = whole > UINT64_MAX / 10 ? UINT64_MAX / 10 : (uint64_t)whole, tenths = value * 10;
    unsigned unit = 0;
    for (; tenths >= 100000 && unit < 3; unit++)
        tenths /= 1000;
    trace_text_number(text, tenths / 10);
    if (unit > 0) {
        trace_text_char(text, '.');
        trace_text_char(text, (char)('0' + tenths % 10));
    }
    trace_text_add(text, units[unit]);
}

static void put_value(struct trace_text *text, const struct trace_column_info *column, uint64_t value,
                      uint64_t hz)
{
    if (column->is_hex)
        put_hex(text, value);
    else if (hz && column->unit[0] == 't') /* ticks */
        put_time(text, value, hz);
    else
        trace_text_number(text, value);
}

static void put_percent(struct trace_text *text, uint64_t hundredths)
{
    trace_text_number(text, hundredths / 100);
    trace_text_char(text, '.');
    trace_text_char(text, (char)('0' + hundredths / 10 % 10));
    trace_text_char(text, (char)('0' + hundredths % 10));
    trace_text_char(text, '%');
}

/* A cell's contents: a column, one of two percentiles of a histogram, or a derived value. */
struct cell {
    const struct trace_column_info *column; /* NULL: derived */
    unsigned percent;                       /* of a histogram; 0: it is none */
    const struct trace_derived *derived;
};

/* The cell of that number. False: there are no more. */
static bool cell_at(const struct trace_table_print *print, unsigned number, struct cell *cell)
{
    const struct trace_table_info *table = print->walk.table;
    for (unsigned c = 0; c < table->column_count; c++) {
        const bool is_histogram = table->columns[c].kind == TRACE_COLUMN_HISTOGRAM;
        if (number < 1u + is_histogram) {
            const unsigned percent = number ? PERCENTILE_TOP : PERCENTILE_LOW;
            *cell = (struct cell){.column = &table->columns[c], .percent = is_histogram ? percent : 0};
            return true;
        }
        number -= 1u + is_histogram;
    }
    if (number >= print->derived_count)
        return false;
    *cell = (struct cell){.derived = print->derived[number]};
    return true;
}

/* The cell's number; TRACE_NO_VALUE: unknown. */
static uint64_t cell_value(const struct trace_table_print *print, const struct cell *cell,
                           const uint64_t *row)
{
    if (!cell->column)
        return trace_derive(cell->derived, print->walk.table, row, 0);
    return cell->percent ? trace_histogram_bound(&row[cell->column->word], cell->percent)
                         : row[cell->column->word];
}

static bool is_key(const struct cell *cell)
{
    return cell->column && cell->column->kind == TRACE_COLUMN_KEY;
}

static const char *cell_name(const struct cell *cell)
{
    return cell->column ? cell->column->name : cell->derived->name;
}

static void put_cell(struct trace_text *text, const struct trace_table_print *print, const struct cell *cell,
                     const uint64_t *row)
{
    static const struct trace_column_info ticks = {.unit = "ticks"}, number = {.unit = ""};
    const uint64_t value = cell_value(print, cell, row);
    const char *name = is_key(cell) && print->name_of ? print->name_of(cell_name(cell), value) : NULL;
    if (is_key(cell) && value == TRACE_KEY_ENDED)
        name = "(ended)";
    if (name)
        trace_text_add(text, name);
    else if (value == TRACE_NO_VALUE && !is_key(cell))
        trace_text_char(text, '-');
    else if (cell->column)
        put_value(text, cell->column, value, print->clock_hz);
    else if (cell->derived->kind == TRACE_DERIVED_PERCENT)
        put_percent(text, value);
    else
        put_value(text, cell->derived->kind == TRACE_DERIVED_TICKS ? &ticks : &number, value,
                  print->clock_hz);
}

/* The text of a cell; `row` NULL: its heading. */
static void make_cell(char out[CELL_BYTES], const struct trace_table_print *print, const struct cell *cell,
                      const uint64_t *row)
{
    struct trace_text text = {.bytes = out, .capacity = CELL_BYTES - 1};
    if (row) {
        put_cell(&text, print, cell, row);
    } else {
        trace_text_add(&text, cell_name(cell));
        if (cell->percent) {
            trace_text_char(&text, ' ');
            trace_text_number(&text, cell->percent);
            trace_text_char(&text, '%');
        }
    }
    out[text.length < CELL_BYTES - 1 ? text.length : CELL_BYTES - 1] = 0;
}

static void put_spaces(const struct trace_table_print *print, unsigned count)
{
    while (count-- > 0)
        print->put(" ");
}

/* Makes the columns wide enough for the cells of a row, then of the headings (`row` NULL). Cells that are 0
 * or unknown need no width, and columns without width, but for keys, no heading. */
static void measure_line(struct trace_table_print *print, const uint64_t *row)
{
    char text[CELL_BYTES];
    struct cell cell;
    for (unsigned place = 0; cell_at(print, place, &cell); place++) {
        const uint64_t value = row ? cell_value(print, &cell, row) : print->widths[place];
        make_cell(text, print, &cell, row);
        if ((is_key(&cell) || (value != 0 && value != TRACE_NO_VALUE)) &&
            print->widths[place] < (unsigned)__builtin_strlen(text))
            print->widths[place] = (uint8_t)__builtin_strlen(text);
    }
}

/* `row` NULL: the headings. */
static void print_line(const struct trace_table_print *print, const uint64_t *row)
{
    char text[CELL_BYTES];
    struct cell cell;
    for (unsigned place = 0; cell_at(print, place, &cell); place++) {
        if (!print->widths[place])
            continue;
        make_cell(text, print, &cell, row);
        const unsigned length = (unsigned)__builtin_strlen(text);
        put_spaces(print,
                   (length < print->widths[place] ? print->widths[place] - length : 0) + (place ? 2 : 0));
        print->put(text);
    }
    print->put("\n");
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* The cell by which rows are sorted: print->by, or the first sum, or else the first count. */
static bool find_order(const struct trace_table_print *print, struct cell *order)
{
    const enum trace_column_kind kinds[] = {TRACE_COLUMN_SUM, TRACE_COLUMN_COUNT, TRACE_COLUMN_KEY};
    for (unsigned k = 0; k < 3; k++)
        for (unsigned place = 0; cell_at(print, place, order); place++)
            if (print->by ? trace_is_same(cell_name(order), print->by)
                          : order->column && order->column->kind == kinds[k])
                return true;
    return false;
}

static uint64_t order_of(const struct trace_table_print *print, const struct cell *order, const uint64_t *row)
{
    const uint64_t value = cell_value(print, order, row);
    return value == TRACE_NO_VALUE && !is_key(order) ? 0 : value;
}

static uint64_t *kept_row(const struct trace_table_print *print, uint32_t place)
{
    return print->rows + (uint64_t)print->order[place] * TRACE_TABLE_ROW_WORDS_MAX;
}

/* Keeps print->sum at its place. */
static void keep_row(struct trace_table_print *print, const struct cell *order)
{
    const uint64_t value = order_of(print, order, print->sum);
    uint32_t place = print->count;
    while (place > 0 && order_of(print, order, kept_row(print, place - 1)) < value)
        place--;
    if (place == print->capacity)
        return;
    const bool is_full = print->count == print->capacity;
    const uint16_t number = is_full ? print->order[print->count - 1] : (uint16_t)print->count;
    print->count += !is_full;
    for (uint32_t i = print->count - 1; i > place; i--)
        print->order[i] = print->order[i - 1];
    print->order[place] = number;
    for (uint32_t i = 0; i < print->walk.table->row_words; i++)
        kept_row(print, place)[i] = print->sum[i];
}

static void begin_walk(struct trace_table_print *print, const struct trace_table_info *table)
{
    struct trace_table_walk *walk = &print->walk;
    walk->table = table, walk->ring_of = print->ring_of, walk->cpu_count = print->cpu_count;
    walk->cpu = walk->row = 0;
    walk->damaged = walk->moves = 0;
    walk->has_begun = false;
}

static void put_number(const struct trace_table_print *print, uint64_t value, unsigned width)
{
    char out[24];
    struct trace_text text = {.bytes = out, .capacity = sizeof(out) - 1};
    trace_text_number(&text, value);
    out[text.length] = 0;
    put_spaces(print, text.length < width ? width - (unsigned)text.length : 0);
    print->put(out);
}

static void put_if_any(const struct trace_table_print *print, uint64_t count, const char *what)
{
    if (count == 0)
        return;
    put_number(print, count, 0);
    print->put(what);
}

bool trace_table_print(struct trace_table_print *print, const struct trace_table_info *table)
{
    struct cell order;
    uint64_t unfinished = 0;
    begin_walk(print, table);
    print->count = 0, print->keys = 0;
    print->derived_count = trace_table_derived(table, print->derived);
    if (!find_order(print, &order))
        return false;
    for (unsigned i = 0; i < TRACE_TABLE_CELLS_MAX; i++)
        print->widths[i] = 0;
    for (; trace_table_next(&print->walk, print->sum); print->keys++) {
        unfinished += trace_row_unfinished(table, print->sum);
        keep_row(print, &order);
    }
    for (uint32_t i = 0; i < print->count; i++)
        measure_line(print, kept_row(print, i));
    measure_line(print, NULL);
    print_line(print, NULL);
    for (uint32_t i = 0; i < print->count; i++)
        print_line(print, kept_row(print, i));
    put_number(print, print->keys, 0);
    print->put(print->keys == 1 ? " row\n" : " rows\n");
    put_if_any(print, print->keys - print->count, " of them, with less, are not shown\n");
    put_if_any(print, unfinished,
               " updates are under way, or their threads were killed: they are counted in part\n");
    put_if_any(print, print->walk.damaged, " rows are damaged, and left out\n");
    if (trace_table_moves(&print->walk))
        print->put(
            "rows of what had ended were moved meanwhile: sums over rows may have them twice, or not at "
            "all; print them again\n");
    put_if_any(print, trace_table_head_sum(&print->walk, TRACE_TABLE_NO_SPACE),
               " of the updates found no row, because no more may be used: their keys are missing\n");
    return true;
}

void trace_tables_list(struct trace_table_print *print)
{
    print->put("table                rows used   of all  moved rows  updates lost  contents\n");
    for (const struct trace_table_info *table = trace_table_list; table->name; table++) {
        begin_walk(print, table);
        print->put(table->name);
        put_spaces(print, (unsigned)__builtin_strlen(table->name) < 20
                              ? 20 - (unsigned)__builtin_strlen(table->name)
                              : 1);
        put_number(print, trace_table_head_sum(&print->walk, TRACE_TABLE_USED), 10);
        put_number(print, (uint64_t)table->rows * print->cpu_count, 9);
        put_number(print, trace_table_head_sum(&print->walk, TRACE_TABLE_MOVED), 12);
        put_number(print, trace_table_head_sum(&print->walk, TRACE_TABLE_NO_SPACE), 14);
        print->put("  ");
        print->put(table->description);
        print->put("\n");
    }
}

const struct trace_table_info *trace_table_named(const char *name)
{
    for (const struct trace_table_info *table = trace_table_list; table->name; table++)
        if (trace_is_same(table->name, name))
            return table;
    return NULL;
}
