/* SPDX-License-Identifier: BSD-2-Clause */
/* show.c - columns and cells of printed tables of counters; see show.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/tables/show.h>

enum what {
    SHOWS_NUMBER, /* a key */
    SHOWS_NAME,   /* the name of a key */
    SHOWS_VALUE,
    SHOWS_P50, /* of a histogram */
    SHOWS_P90,
    SHOWS_P99,
    SHOWS_LARGEST,
    SHOWS_CPU,
    SHOWS_CONTEXT, /* of a routine */
    SHOWS_PID,     /* of a table of routines */
    SHOWS_TID,
    SHOWS_PROCESS,
    SHOWS_DERIVED, /* `column` is its index in shown->derived */
    SHOWS_UNDER_WAY,
};

/* Keys that also have a column for their names, unless they are the first column. */
static const struct {
    const char *key, *named;
} named_keys[] = {{"lock_class", "class"}, {"pid", "process"}, {"what", "kind"}};

/* ---- columns --------------------------------------------------------------------------------------- */

static bool is_time(const struct trace_column_info *column)
{
    return strcmp(column->unit, "ticks") == 0;
}

static const char *key_of(struct shown *shown, const struct trace_column_info *column, const char *part)
{
    return table_format(&shown->table, "%s%s%s", column->name, part, is_time(column) ? "_ns" : "");
}

static void add_column(struct shown *shown, unsigned column, enum what what, struct table_column head)
{
    shown->columns[shown->count] = head;
    shown->shows[shown->count++] = (struct shown_column){(uint16_t)column, (uint8_t)what};
}

static void add_key(struct shown *shown, unsigned number)
{
    const struct trace_column_info *column = &shown->counters->columns[number];
    const enum column_kind kind = column->is_hex ? COLUMN_HEX : COLUMN_NUMBER;

    add_column(shown, number, SHOWS_NUMBER, (struct table_column){.key = column->name, .kind = kind});
    for (unsigned i = 0; number > 0 && i < sizeof(named_keys) / sizeof(named_keys[0]); i++)
        if (strcmp(named_keys[i].key, column->name) == 0)
            add_column(shown, number, SHOWS_NAME, (struct table_column)TEXT_COLUMN(named_keys[i].named));
}

static void add_histogram(struct shown *shown, unsigned number)
{
    static const char *const parts[] = {"_p50", "_p90", "_p99", "_max"};
    const struct trace_column_info *column = &shown->counters->columns[number];
    const enum column_kind kind = is_time(column) ? COLUMN_TIME : COLUMN_COUNT;

    shown->has_histogram = true;
    for (unsigned i = 0; i < 4; i++) {
        const enum what what = SHOWS_P50 + i;
        const enum column_sum sum = what == SHOWS_LARGEST ? SUM_LARGEST : SUM_NOTHING;
        add_column(shown, number, what,
                   (struct table_column)COLUMN_AS(key_of(shown, column, parts[i]), kind, sum));
    }
}

static void add_value(struct shown *shown, unsigned number)
{
    const struct trace_column_info *column = &shown->counters->columns[number];
    const enum column_kind kind = is_time(column) ? COLUMN_TIME : COLUMN_COUNT;
    const enum column_sum sum = column->kind == TRACE_COLUMN_MAX   ? SUM_LARGEST
                                : column->kind == TRACE_COLUMN_MIN ? SUM_SMALLEST
                                                                   : SUM_ADDED;

    add_column(shown, number, SHOWS_VALUE,
               (struct table_column)COLUMN_AS(key_of(shown, column, ""), kind, sum));
}

static void add_derived(struct shown *shown, unsigned number)
{
    static const enum column_kind kinds[] = {[TRACE_DERIVED_COUNT] = COLUMN_COUNT,
                                             [TRACE_DERIVED_TICKS] = COLUMN_TIME,
                                             [TRACE_DERIVED_PERCENT] = COLUMN_REAL};
    const struct trace_derived *derived = shown->derived[number];
    const char *key = derived->kind == TRACE_DERIVED_TICKS
                          ? table_format(&shown->table, "%s_ns", derived->name)
                          : derived->name;

    add_column(shown, number, SHOWS_DERIVED,
               (struct table_column)COLUMN_AS(key, kinds[derived->kind], SUM_NOTHING));
}

static void add_all_derived(struct shown *shown)
{
    const unsigned count = trace_table_derived(shown->counters, shown->derived);

    for (unsigned i = 0; i < count; i++)
        add_derived(shown, i);
}

/* The columns behind the keys. */
static void add_parts(struct shown *shown, bool by_part)
{
    if (shown->counters->is_private)
        add_column(shown, 0, SHOWS_CONTEXT, (struct table_column)TEXT_COLUMN("context"));
    if (!by_part)
        return;
    if (!shown->counters->is_private) {
        add_column(shown, 0, SHOWS_CPU, (struct table_column)NUMBER_COLUMN("cpu"));
        return;
    }
    add_column(shown, 0, SHOWS_PID, (struct table_column)NUMBER_COLUMN("pid"));
    add_column(shown, 0, SHOWS_TID, (struct table_column)NUMBER_COLUMN("tid"));
    add_column(shown, 0, SHOWS_PROCESS, (struct table_column)TEXT_COLUMN("process"));
}

static void add_columns(struct shown *shown, bool by_part)
{
    const struct trace_table_info *counters = shown->counters;

    for (unsigned c = 0; c < counters->column_count; c++) {
        if (c == counters->key_count)
            add_parts(shown, by_part);
        if (c == counters->key_count && counters->is_private)
            add_all_derived(shown);
        (c < counters->key_count                               ? add_key
         : counters->columns[c].kind == TRACE_COLUMN_HISTOGRAM ? add_histogram
                                                               : add_value)(shown, c);
    }
    if (!counters->is_private)
        add_all_derived(shown);
    add_column(shown, 0, SHOWS_UNDER_WAY,
               (struct table_column)COLUMN_CALLED("", "under_way", COLUMN_COUNT, SUM_ADDED));
}

/* Returns the column by which rows are sorted: the first sum of times, or else the first that counts. */
static const char *choose_order(const struct shown *shown)
{
    const char *first = NULL;

    for (unsigned i = 0; i < shown->count; i++) {
        if (shown->shows[i].what == SHOWS_VALUE && shown->columns[i].kind == COLUMN_TIME)
            return shown->columns[i].key;
        if (shown->shows[i].what == SHOWS_VALUE && first == NULL)
            first = shown->columns[i].key;
    }
    return first;
}

void shown_open(struct shown *shown, const struct trace_table_info *counters, uint64_t clock_hz,
                uint64_t elapsed, bool by_part)
{
    *shown = (struct shown){
        .counters = counters,
        .clock_hz = clock_hz,
        .elapsed = elapsed,
        .table = {.key = counters->name, .others = "rows", .text = counters->description, .is_wanted = true}};
    shown->table.heading = table_text(&shown->table, counters->columns[0].name);
    for (char *at = (char *)shown->table.heading; *at != '\0'; at++)
        *at = *at == '_' ? ' ' : *at;
    shown->table.columns = shown->columns;
    add_columns(shown, by_part);
    shown->table.column_count = shown->count;
    shown->table.order = choose_order(shown);
}

void shown_close(struct shown *shown)
{
    table_free(&shown->table);
}

/* ---- cells ----------------------------------------------------------------------------------------- */

/* Numbers too large for a cell are no counts. */
static uint64_t in_cell(unsigned __int128 value)
{
    return value < TABLE_NONE ? (uint64_t)value : TABLE_NONE - 1;
}

static uint64_t value_of(const struct shown *shown, const struct trace_column_info *column, uint64_t value)
{
    if (value == COUNTED_UNKNOWN && (column->kind == TRACE_COLUMN_MAX || column->kind == TRACE_COLUMN_MIN))
        return TABLE_NONE;
    return in_cell(is_time(column) ? (unsigned __int128)value * 1000000000 / shown->clock_hz : value);
}

static uint64_t bound_of(const struct shown *shown, const struct trace_column_info *column,
                         const uint64_t *buckets, unsigned percent)
{
    const uint64_t bound = trace_histogram_bound(buckets, percent);

    return bound == TRACE_NO_VALUE ? TABLE_NONE : value_of(shown, column, bound);
}

/* Derived columns treat an unknown largest value as none. */
static union table_cell derived_cell(const struct shown *shown, const struct trace_derived *derived,
                                     const struct counted_row *row)
{
    uint64_t words[TRACE_TABLE_ROW_WORDS_MAX];
    const struct trace_table_info *counters = shown->counters;

    memcpy(words, row->words, 8ull * counters->row_words);
    for (unsigned c = counters->key_count; c < counters->column_count; c++)
        if (counters->columns[c].kind == TRACE_COLUMN_MAX &&
            words[counters->columns[c].word] == COUNTED_UNKNOWN)
            words[counters->columns[c].word] = UINT32_MAX; /* above the bound of any bucket */
    const uint64_t value = trace_derive(derived, counters, words, shown->elapsed);
    if (derived->kind == TRACE_DERIVED_PERCENT)
        return (union table_cell){.real = value == TRACE_NO_VALUE ? NAN : (double)value / 100};
    if (value == TRACE_NO_VALUE)
        return (union table_cell){.count = TABLE_NONE};
    return (union table_cell){.count = in_cell(derived->kind == TRACE_DERIVED_TICKS
                                                   ? (unsigned __int128)value * 1000000000 / shown->clock_hz
                                                   : value)};
}

static const struct trace_routines *table_of(const struct key_names *names, const struct counted_row *row)
{
    return &names->routines->copies[row->part].head;
}

static union table_cell cell_of(struct shown *shown, const struct shown_column *shows,
                                const struct counted_row *row, struct key_names *names)
{
    const struct trace_column_info *column = &shown->counters->columns[shows->column];
    const uint64_t *words = &row->words[column->word];
    char text[KEY_NAME_BYTES];
    const char *name;

    switch ((enum what)shows->what) {
    case SHOWS_NAME:
        name = key_name(names, column->name, *words, text);
        return (union table_cell){.text = name != NULL ? table_text(&shown->table, name) : NULL};
    case SHOWS_NUMBER:
        if (*words == TRACE_KEY_ENDED)
            return (union table_cell){.count = TABLE_NONE};
        return (union table_cell){.count = column->is_hex ? *words : in_cell(*words)};
    case SHOWS_VALUE:
        return (union table_cell){.count = value_of(shown, column, *words)};
    case SHOWS_CPU:
        return (union table_cell){.count = row->part};
    case SHOWS_CONTEXT:
        name = context_name(names, *words, text);
        return (union table_cell){.text = name != NULL ? table_text(&shown->table, name) : NULL};
    case SHOWS_PID:
        return (union table_cell){.count = table_of(names, row)->pid};
    case SHOWS_TID:
        return (union table_cell){.count = table_of(names, row)->of == TRACE_ROUTINES_THREAD
                                               ? table_of(names, row)->tid
                                               : TABLE_NONE};
    case SHOWS_PROCESS:
        return (union table_cell){.text =
                                      table_text(&shown->table, routines_name(table_of(names, row), text))};
    case SHOWS_DERIVED:
        return derived_cell(shown, shown->derived[shows->column], row);
    case SHOWS_UNDER_WAY:
        return (union table_cell){.count = in_cell(row->under_way)};
    default:
        return (union table_cell){
            .count = bound_of(shown, column, words,
                              ((const unsigned[]){50, 90, 99, 100})[shows->what - SHOWS_P50])};
    }
}

/* Returns the row's name: that of its first key. */
static const char *row_name(struct shown *shown, const struct counted_row *row, struct key_names *names,
                            char text[KEY_NAME_BYTES])
{
    const struct trace_column_info *key = &shown->counters->columns[0];
    const uint64_t value = row->words[key->word];
    const char *name = key_name(names, key->name, value, text);

    if (value == TRACE_KEY_ENDED)
        return "(ended)";
    if (name != NULL)
        return name;
    snprintf(text, KEY_NAME_BYTES, key->is_hex ? "0x%" PRIx64 : "%" PRIu64, value);
    return text;
}

/* Whether text shows a key's number: not if all rows have a name in its place. JSON and CSV have both. */
static bool needs_number(const struct shown *shown, unsigned place)
{
    const struct trace_column_info *key = &shown->counters->columns[shown->shows[place].column];

    if (strcmp(key->name, "pid") == 0 || shown->shows[place + 1].what != SHOWS_NAME)
        return true;
    for (size_t r = 0; r < shown->table.count; r++)
        if (shown->table.rows[r]->cells[place + 1].text == NULL)
            return true;
    return false;
}

void shown_fill(struct shown *shown, const struct counted *counted, struct key_names *names)
{
    char text[KEY_NAME_BYTES];
    bool is_under_way = false;

    for (size_t r = 0; r < counted->count; r++) {
        const struct counted_row *from = counted->rows[r];
        struct table_row *row = table_add(&shown->table, row_name(shown, from, names, text));

        for (unsigned i = 0; i < shown->count; i++)
            row->cells[i] = cell_of(shown, &shown->shows[i], from, names);
        is_under_way |= from->under_way != 0;
    }
    for (unsigned i = 1; i + 1 < shown->count; i++)
        if (shown->shows[i].what == SHOWS_NUMBER && !needs_number(shown, i))
            shown->columns[i].heading = "";
    if (is_under_way)
        shown->columns[shown->count - 1].heading = NULL;
}

/* ---- the list of tables ---------------------------------------------------------------------------- */

static const struct table_column list_columns[] = {
    COUNT_COLUMN("rows_used"), COUNT_COLUMN("fullest_cpu"), COUNT_COLUMN("rows"), COUNT_COLUMN("moved"),
    COUNT_COLUMN("no_row"),    COUNT_COLUMN("damaged"),     TEXT_COLUMN("text")};

#define LIST_TEXT (sizeof(list_columns) / sizeof(list_columns[0]) - 1)

static uint64_t count_used(const struct moment *moment, unsigned cpu, const struct trace_table_info *table,
                           uint64_t *damaged)
{
    uint64_t words[TRACE_TABLE_ROW_WORDS_MAX], used = 0;

    for (uint32_t row = 0; row < table->rows; row++) {
        const enum trace_row_state state = trace_table_read_row(table, moment_ring(moment, cpu), row, words);
        used += state != TRACE_ROW_FREE;
        *damaged += state == TRACE_ROW_DAMAGED;
    }
    return used;
}

void shown_list(struct table *list, const struct moment *moment)
{
    *list = (struct table)TABLE("table", "table", "tables", list_columns);
    for (unsigned t = 0; t < TRACE_TABLE_COUNT; t++) {
        const struct trace_table_info *table = &trace_table_list[t];
        uint64_t used = 0, fullest = 0, moved = 0, no_row = 0, damaged = 0;
        struct table_row *row = table_add(list, table->name);

        row->cells[LIST_TEXT].text = table_text(list, table->description);
        for (unsigned i = 0; i < LIST_TEXT; i++)
            row->cells[i].count = TABLE_NONE;
        if (table->is_private)
            continue;
        for (unsigned cpu = 0; cpu < moment->cpu_count; cpu++) {
            const uint64_t of_cpu = count_used(moment, cpu, table, &damaged);
            used += of_cpu;
            fullest = of_cpu > fullest ? of_cpu : fullest;
            moved += moment_head(moment, cpu, table, TRACE_TABLE_MOVED);
            no_row += moment_head(moment, cpu, table, TRACE_TABLE_NO_SPACE);
        }
        cells_put(row->cells, {.count = used}, {.count = fullest}, {.count = table->rows},
                  {.count = in_cell(moved)}, {.count = in_cell(no_row)}, {.count = damaged});
    }
}
