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
    SHOWS_CPU,
    SHOWS_CONTEXT, /* of a routine */
    SHOWS_PID,     /* of a table of routines */
    SHOWS_TID,
    SHOWS_PROCESS,
    SHOWS_UNDER_WAY,
};

/* Keys that also have a column for their names, unless they are the first column. */
static const struct {
    const char *key, *named;
} named_keys[] = {{"lock_class", "class"}, {"pid", "process"}, {"what", "kind"}};

/* ---- columns --------------------------------------------------------------------------------------- */

/* VALUE: NULL: of no column of the table of counters. */
static void add_column(struct shown *shown, enum what what, const struct trace_value *value,
                       struct table_column head)
{
    shown->columns[shown->count] = head;
    shown->shows[shown->count++] = (struct shown_column){.what = (uint8_t)what};
    if (value != NULL)
        shown->shows[shown->count - 1].value = *value;
}

static void add_key(struct shown *shown, const struct trace_value *value)
{
    const enum column_kind kind = value->column->is_hex ? COLUMN_HEX : COLUMN_NUMBER;
    const bool is_first = shown->count == 0;
    add_column(shown, SHOWS_NUMBER, value, (struct table_column){.key = value->name, .kind = kind});
    for (unsigned i = 0; !is_first && i < sizeof(named_keys) / sizeof(named_keys[0]); i++)
        if (strcmp(named_keys[i].key, value->name) == 0)
            add_column(shown, SHOWS_NAME, value, (struct table_column)TEXT_COLUMN(named_keys[i].named));
}

static void add_value(struct shown *shown, const struct trace_value *value)
{
    static const enum column_kind kinds[] = {[TRACE_VALUE_COUNT] = COLUMN_COUNT,
                                             [TRACE_VALUE_TICKS] = COLUMN_TIME,
                                             [TRACE_VALUE_PERCENT] = COLUMN_REAL};
    static const enum column_sum sums[] = {[TRACE_COLUMN_COUNT] = SUM_ADDED,
                                           [TRACE_COLUMN_SUM] = SUM_ADDED,
                                           [TRACE_COLUMN_MAX] = SUM_LARGEST,
                                           [TRACE_COLUMN_MIN] = SUM_SMALLEST,
                                           [TRACE_COLUMN_HISTOGRAM] = SUM_NOTHING};
    const char *unit = value->kind == TRACE_VALUE_TICKS ? "_ns" : "";
    const char *key = value->percent == 0 ? table_format(&shown->table, "%s%s", value->name, unit)
                      : value->percent == 100
                          ? table_format(&shown->table, "%s_max%s", value->name, unit)
                          : table_format(&shown->table, "%s_p%u%s", value->name, value->percent, unit);
    const enum column_sum sum = value->column == NULL   ? SUM_NOTHING
                                : value->percent == 100 ? SUM_LARGEST
                                                        : sums[value->column->kind];
    shown->has_histogram |= value->percent != 0;
    add_column(shown, SHOWS_VALUE, value, (struct table_column)COLUMN_AS(key, kinds[value->kind], sum));
}

/* The columns behind the keys. */
static void add_parts(struct shown *shown, bool by_part)
{
    if (shown->counters->is_private)
        add_column(shown, SHOWS_CONTEXT, &shown->shows[0].value, (struct table_column)TEXT_COLUMN("context"));
    if (!by_part)
        return;
    if (!shown->counters->is_private) {
        add_column(shown, SHOWS_CPU, NULL, (struct table_column)NUMBER_COLUMN("cpu"));
        return;
    }
    add_column(shown, SHOWS_PID, NULL, (struct table_column)NUMBER_COLUMN("pid"));
    add_column(shown, SHOWS_TID, NULL, (struct table_column)NUMBER_COLUMN("tid"));
    add_column(shown, SHOWS_PROCESS, NULL, (struct table_column)TEXT_COLUMN("process"));
}

/* Derived values of routines come before the others. */
static void add_columns(struct shown *shown, bool by_part)
{
    const struct trace_table_info *counters = shown->counters;
    struct trace_value values[TRACE_VALUES_MAX];
    const unsigned count = trace_table_values(counters, values), keys = counters->key_count;
    for (unsigned i = 0; i < keys; i++)
        add_key(shown, &values[i]);
    add_parts(shown, by_part);
    for (unsigned i = keys; i < count; i++)
        if ((values[i].derived != NULL) == counters->is_private)
            add_value(shown, &values[i]);
    for (unsigned i = keys; i < count; i++)
        if ((values[i].derived != NULL) != counters->is_private)
            add_value(shown, &values[i]);
    add_column(shown, SHOWS_UNDER_WAY, NULL,
               (struct table_column)COLUMN_CALLED("", "under_way", COLUMN_COUNT, SUM_ADDED));
}

/* Returns the column by which rows are sorted: the first sum of times, or else the first that counts. */
static const char *choose_order(const struct shown *shown)
{
    const char *first = NULL;
    for (unsigned i = 0; i < shown->count; i++) {
        const struct shown_column *shows = &shown->shows[i];
        if (shows->what != SHOWS_VALUE || shows->value.derived != NULL || shows->value.percent != 0)
            continue;
        if (shows->value.kind == TRACE_VALUE_TICKS)
            return shown->columns[i].key;
        if (first == NULL)
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

static union table_cell value_of(const struct shown *shown, const struct trace_value *value,
                                 const struct counted_row *row)
{
    const uint64_t number = trace_value_of(value, shown->counters, row->words, shown->elapsed);
    if (value->kind == TRACE_VALUE_PERCENT)
        return (union table_cell){.real = number == TRACE_NO_VALUE ? NAN : (double)number / 100};
    if (number == TRACE_NO_VALUE)
        return (union table_cell){.count = TABLE_NONE};
    return (union table_cell){.count = in_cell(value->kind == TRACE_VALUE_TICKS
                                                   ? (unsigned __int128)number * 1000000000 / shown->clock_hz
                                                   : number)};
}

static const struct trace_routines *table_of(const struct key_names *names, const struct counted_row *row)
{
    return &names->routines->copies[row->part].head;
}

static union table_cell cell_of(struct shown *shown, const struct shown_column *shows,
                                const struct counted_row *row, struct key_names *names)
{
    const struct trace_column_info *column = shows->value.column;
    const uint64_t number = column != NULL ? row->words[column->word] : 0;
    char text[KEY_NAME_BYTES];
    const char *name;
    switch ((enum what)shows->what) {
    case SHOWS_NAME:
        name = key_name(names, column->name, number, text);
        return (union table_cell){.text = name != NULL ? table_text(&shown->table, name) : NULL};
    case SHOWS_NUMBER:
        if (number == TRACE_KEY_ENDED)
            return (union table_cell){.count = TABLE_NONE};
        return (union table_cell){.count = column->is_hex ? number : in_cell(number)};
    case SHOWS_VALUE:
        return value_of(shown, &shows->value, row);
    case SHOWS_CPU:
        return (union table_cell){.count = row->part};
    case SHOWS_CONTEXT:
        name = context_name(names, number, text);
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
    default: /* SHOWS_UNDER_WAY */
        return (union table_cell){.count = in_cell(row->under_way)};
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
    if (strcmp(shown->shows[place].value.name, "pid") == 0 || shown->shows[place + 1].what != SHOWS_NAME)
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
