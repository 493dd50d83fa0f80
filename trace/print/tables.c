/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/print/tables.c - tables of counters as text; see tables.h. Freestanding.
 *
 * A cell is the text of a key or of a column; a histogram has two cells. Rows are kept in the caller's
 * memory, and `order` has their numbers, the largest first. If there are more rows than fit, the smallest
 * goes.
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

static unsigned cells_of(const struct trace_column_info *column)
{
    return column->kind == TRACE_COLUMN_HISTOGRAM ? 2 : 1;
}

/* The text of one cell, `upper` if it is a histogram's second one; `row` NULL: its heading. */
static void make_cell(char out[CELL_BYTES], const struct trace_column_info *column, unsigned upper,
                      const uint64_t *row, uint64_t hz)
{
    const unsigned percent = upper ? PERCENTILE_TOP : PERCENTILE_LOW;
    struct trace_text text = {.bytes = out, .capacity = CELL_BYTES - 1};
    if (column->kind != TRACE_COLUMN_HISTOGRAM) {
        if (row)
            put_value(&text, column, row[column->word], hz);
        else
            trace_text_add(&text, column->name);
    } else if (row) {
        put_value(&text, column, trace_histogram_percentile(&row[column->word], percent), hz);
    } else {
        trace_text_add(&text, column->name);
        trace_text_char(&text, ' ');
        trace_text_number(&text, percent);
        trace_text_char(&text, '%');
    }
    out[text.length < CELL_BYTES - 1 ? text.length : CELL_BYTES - 1] = 0;
}

static unsigned length_of(const char *text)
{
    unsigned length = 0;
    while (text[length])
        length++;
    return length;
}

static void put_spaces(const struct trace_table_print *print, unsigned count)
{
    while (count-- > 0)
        print->put(" ");
}

/* Prints the cells of a row, or the headings, or (`measures`) makes the columns wide enough for them. */
static void do_line(struct trace_table_print *print, const uint64_t *row, bool measures)
{
    const struct trace_table_info *table = print->walk.table;
    char cell[CELL_BYTES];
    unsigned place = 0;
    for (unsigned c = 0; c < table->column_count; c++)
        for (unsigned i = 0; i < cells_of(&table->columns[c]); i++, place++) {
            make_cell(cell, &table->columns[c], i, row, print->clock_hz);
            const unsigned length = length_of(cell);
            if (measures && print->widths[place] < length)
                print->widths[place] = (uint8_t)length;
            if (measures)
                continue;
            put_spaces(print, print->widths[place] - length + (place ? 2 : 0));
            print->put(cell);
        }
    if (!measures)
        print->put("\n");
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static uint32_t sort_word(const struct trace_table_info *table)
{
    const enum trace_column_kind kinds[] = {TRACE_COLUMN_SUM, TRACE_COLUMN_COUNT};
    for (unsigned k = 0; k < 2; k++)
        for (unsigned c = 0; c < table->column_count; c++)
            if (table->columns[c].kind == kinds[k])
                return table->columns[c].word;
    return TRACE_ROW_BEGUN;
}

static uint64_t *kept_row(const struct trace_table_print *print, uint32_t place)
{
    return print->rows + (uint64_t)print->order[place] * TRACE_TABLE_ROW_WORDS_MAX;
}

/* Keeps print->sum at its place. */
static void keep_row(struct trace_table_print *print, uint32_t word)
{
    const uint64_t value = print->sum[word];
    uint32_t place = print->count;
    while (place > 0 && kept_row(print, place - 1)[word] < value)
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
    walk->damaged = 0;
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

void trace_table_print(struct trace_table_print *print, const struct trace_table_info *table)
{
    const uint32_t word = sort_word(table);
    uint64_t unfinished = 0;
    begin_walk(print, table);
    print->count = 0, print->keys = 0;
    for (unsigned i = 0; i < TRACE_TABLE_CELLS_MAX; i++)
        print->widths[i] = 0;
    for (; trace_table_next(&print->walk, print->sum); print->keys++) {
        unfinished += trace_row_unfinished(table, print->sum);
        keep_row(print, word);
    }
    do_line(print, NULL, true);
    for (uint32_t i = 0; i < print->count; i++)
        do_line(print, kept_row(print, i), true);
    do_line(print, NULL, false);
    for (uint32_t i = 0; i < print->count; i++)
        do_line(print, kept_row(print, i), false);
    put_number(print, print->keys, 0);
    print->put(print->keys == 1 ? " row\n" : " rows\n");
    put_if_any(print, print->keys - print->count, " of them, with less, are not shown\n");
    put_if_any(print, unfinished,
               " updates are under way, or their threads were killed: they are counted in part\n");
    put_if_any(print, print->walk.damaged, " rows are damaged, and left out\n");
    put_if_any(print, trace_table_head_sum(&print->walk, TRACE_TABLE_NO_SPACE),
               " updates were lost: their table was full\n");
}

void trace_tables_list(struct trace_table_print *print)
{
    print->put("table                rows used   of all  updates lost  contents\n");
    for (const struct trace_table_info *table = trace_table_list; table->name; table++) {
        begin_walk(print, table);
        print->put(table->name);
        put_spaces(print, length_of(table->name) < 20 ? 20 - length_of(table->name) : 1);
        put_number(print, trace_table_head_sum(&print->walk, TRACE_TABLE_USED), 10);
        put_number(print, (uint64_t)table->rows * print->cpu_count, 9);
        put_number(print, trace_table_head_sum(&print->walk, TRACE_TABLE_NO_SPACE), 14);
        print->put("  ");
        print->put(table->description);
        print->put("\n");
    }
}

static bool is_same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

const struct trace_table_info *trace_table_named(const char *name)
{
    for (const struct trace_table_info *table = trace_table_list; table->name; table++)
        if (is_same_text(table->name, name))
            return table;
    return NULL;
}
