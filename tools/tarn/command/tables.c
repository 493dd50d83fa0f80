/*
 * tables.c - `tarn tables SOURCE [NAME]`: the tables of counters of a guest; and `tarn routines SOURCE`, the
 * one of them that has a part for each thread instead of each CPU.
 *
 * tables/moment.h copies them, tables/counted.h adds parts up; then they become a table to print (table.h).
 */
#include <inttypes.h>
#include <math.h>
#include <time.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/tables/counted.h>
#include <tools/tarn/tables/key_names.h>
#include <trace/ring/table_derive.h>

#define ROWS_TOP 20u /* usually, in text */

struct options {
    struct table_options output;
    double interval;    /* seconds; 0: none */
    double wait;        /* seconds to connect */
    const char *source; /* its name */
    const char *name;   /* of the table; NULL: list all */
    const char *symbols, *tau;
    uint64_t pid; /* of routines; UINT64_MAX: all */
    bool by_part, previous;
};

static const struct command_option known[] = {
    {FLAG("by-cpu", struct options, by_part,
          "a row for each CPU, or, of routines, for each thread, instead of sums over all of them")},
    {FLAG("previous", struct options, previous, "show the tables that the previous boot left in memory")},
    {.name = NULL}};

static const struct command_option routines_known[] = {
    {FLAG("by-thread", struct options, by_part,
          "rows for each thread and process, instead of sums over all of them")},
    {COUNT("pid", "PID", struct options, pid, 0, UINT32_MAX,
           "only those of this process; 0: of idle threads and orphans")},
    {TEXT("tau", "DIRECTORY", struct options, tau,
          "write a profile of TAU for each thread into DIRECTORY, for pprof and ParaProf: "
          "profile.0.CONTEXT.THREAD, numbered from 0")},
    {TEXT(
        "symbols", "DIR[:DIR]", struct options, symbols,
        "search for the programs' executables here, by build-id: they name functions that were compiled with "
        "-finstrument-functions")},
    {.name = NULL}};

static const struct command_option moments[] = {
    {CALL("interval", "DURATION", take_duration,
          "show what was counted between now and DURATION (500ms, 5s) later\nRows that did not change are "
          "left "
          "out"),
     .place = offsetof(struct options, interval)},
    {REAL("wait", "SEC", struct options, wait, 0, 1e9, "keep trying to connect for SEC seconds (0)")},
    {.name = NULL}};

/* clang-format off */
#define GROUPS {"Moments", moments}, {"Output", table_options}
/* clang-format on */

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

/* What is shown, and as what. */
struct shown {
    const struct options *options;
    const struct trace_table_info *counters;
    const struct key_names *names;
    struct counted counted;
    uint64_t clock_hz, ticks; /* between the two moments; 0: there is one */
    unsigned cpu_count;
    struct table table;
    unsigned count;
    struct table_column columns[TABLE_COLUMNS_MAX];
    /* the contents of a printed column */
    struct shown_column {
        enum what what;
        struct trace_value value;
    } shows[TABLE_COLUMNS_MAX];
    bool has_histogram;
};

/* ---- columns --------------------------------------------------------------------------------------- */

/* VALUE: NULL: of no column of the table of counters. */
static void add_column(struct shown *shown, enum what what, const struct trace_value *value,
                       struct table_column head)
{
    shown->columns[shown->count] = head;
    shown->shows[shown->count++] = (struct shown_column){.what = what};
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
static void add_parts(struct shown *shown)
{
    if (shown->counters->is_private)
        add_column(shown, SHOWS_CONTEXT, &shown->shows[0].value, (struct table_column)TEXT_COLUMN("context"));
    if (!shown->options->by_part)
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
static void add_columns(struct shown *shown)
{
    const struct trace_table_info *counters = shown->counters;
    struct trace_value values[TRACE_VALUES_MAX];
    const unsigned count = trace_table_values(counters, values), keys = counters->key_count;
    for (unsigned i = 0; i < keys; i++)
        add_key(shown, &values[i]);
    add_parts(shown);
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

/* ---- cells ----------------------------------------------------------------------------------------- */

/* Numbers too large for a cell are no counts. */
static uint64_t in_cell(unsigned __int128 value)
{
    return value < TABLE_NONE ? (uint64_t)value : TABLE_NONE - 1;
}

static union table_cell value_of(const struct shown *shown, const struct trace_value *value,
                                 const struct counted_row *row)
{
    const uint64_t number = trace_value_of(value, shown->counters, row->words,
                                           shown->counters->is_private ? shown->counted.ran : shown->ticks);
    if (value->kind == TRACE_VALUE_PERCENT)
        return (union table_cell){.real = number == TRACE_NO_VALUE ? NAN : (double)number / 100};
    if (number == TRACE_NO_VALUE)
        return (union table_cell){.count = TABLE_NONE};
    return (union table_cell){.count = in_cell(value->kind == TRACE_VALUE_TICKS
                                                   ? (unsigned __int128)number * 1000000000 / shown->clock_hz
                                                   : number)};
}

static const struct trace_routines *table_of(const struct shown *shown, const struct counted_row *row)
{
    return &shown->names->routines->copies[row->part].head;
}

static union table_cell cell_of(struct shown *shown, const struct shown_column *shows,
                                const struct counted_row *row)
{
    const struct trace_column_info *column = shows->value.column;
    const uint64_t number = column != NULL ? row->words[column->word] : 0;
    char text[KEY_NAME_BYTES];
    const char *name;
    switch (shows->what) {
    case SHOWS_NAME:
        name = key_name(shown->names, column->name, number, text);
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
        name = context_name(shown->names, number, text);
        return (union table_cell){.text = name != NULL ? table_text(&shown->table, name) : NULL};
    case SHOWS_PID:
        return (union table_cell){.count = table_of(shown, row)->pid};
    case SHOWS_TID:
        return (union table_cell){.count = table_of(shown, row)->of == TRACE_ROUTINES_THREAD
                                               ? table_of(shown, row)->tid
                                               : TABLE_NONE};
    case SHOWS_PROCESS:
        return (union table_cell){.text =
                                      table_text(&shown->table, routines_name(table_of(shown, row), text))};
    default: /* SHOWS_UNDER_WAY */
        return (union table_cell){.count = in_cell(row->under_way)};
    }
}

/* Returns the row's name: that of its first key. */
static const char *row_name(struct shown *shown, const struct counted_row *row, char text[KEY_NAME_BYTES])
{
    const struct trace_column_info *key = &shown->counters->columns[0];
    const uint64_t value = row->words[key->word];
    const char *name = key_name(shown->names, key->name, value, text);
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

static void fill(struct shown *shown)
{
    struct table *table = &shown->table;
    char text[KEY_NAME_BYTES];
    bool is_under_way = false;
    *table = (struct table){.key = shown->counters->name,
                            .others = "rows",
                            .text = shown->counters->description,
                            .is_wanted = true,
                            .columns = shown->columns};
    table->heading = table_text(table, shown->counters->columns[0].name);
    for (char *at = (char *)table->heading; *at != '\0'; at++)
        *at = *at == '_' ? ' ' : *at;
    add_columns(shown);
    table->column_count = shown->count;
    table->order = choose_order(shown);
    for (size_t r = 0; r < shown->counted.count; r++) {
        const struct counted_row *from = shown->counted.rows[r];
        struct table_row *row = table_add(table, row_name(shown, from, text));
        for (unsigned i = 0; i < shown->count; i++)
            row->cells[i] = cell_of(shown, &shown->shows[i], from);
        is_under_way |= from->under_way != 0;
    }
    for (unsigned i = 1; i + 1 < shown->count; i++)
        if (shown->shows[i].what == SHOWS_NUMBER && !needs_number(shown, i))
            shown->columns[i].heading = "";
    if (is_under_way)
        shown->columns[shown->count - 1].heading = NULL;
}

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

/* Fills a table, to be freed by table_free, with a row for each table of counters. */
static void fill_list(struct table *list, const struct moment *moment)
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

/* ---- printing -------------------------------------------------------------------------------------- */

static bool sort(struct table *table, const struct table_options *options, struct fail *fail)
{
    return table_sort_as(table, options) ||
           fail_set(fail, "no column '%.60s' in table %s; --json shows their names", options->sort,
                    table->key);
}

static double in_seconds(const struct shown *shown, uint64_t ticks)
{
    return (double)ticks / (double)shown->clock_hz;
}

static void print_rows(const struct shown *shown)
{
    const struct counted *counted = &shown->counted;
    const struct table_options *output = &shown->options->output;
    const bool is_json = output->format == TABLES_JSON, is_text = output->format == TABLES_TEXT;
    const bool is_private = shown->counters->is_private;
    const double seconds = in_seconds(shown, shown->ticks), life = in_seconds(shown, counted->life),
                 ran = in_seconds(shown, counted->ran);
    if (is_json) {
        printf("{\"table\":\"%s\",\"cpus\":%u,\"clock_hz\":%" PRIu64 ",\"no_row\":%" PRIu64
               ",\"damaged_rows\":%" PRIu64 ",\"moving\":%s",
               shown->counters->name, shown->cpu_count, shown->clock_hz, counted->no_row, counted->damaged,
               counted->is_moving ? "true" : "false");
        if (is_private)
            printf(",\"threads\":%" PRIu64 ",\"life_ns\":%.0f,\"ran_ns\":%.0f", counted->threads, life * 1e9,
                   ran * 1e9);
        printf(shown->ticks > 0 ? ",\"seconds\":%.9f" : ",\"seconds\":null", seconds);
        printf(",\"tables\":{");
    }
    if (is_text && shown->ticks > 0)
        printf("between two moments %.3f s apart\n", seconds);
    if (is_text && is_private)
        printf("threads %" PRIu64 ", life %.3f ms, on CPUs %.3f ms\n", counted->threads, life * 1e3,
               ran * 1e3);
    table_print(stdout, output, &shown->table, ROWS_TOP);
    if (is_json)
        printf("}}\n");
    else if (is_text && shown->has_histogram)
        printf(
            "\np50, p90, p99 and max of a histogram are upper bounds of its buckets, each twice as wide as "
            "the one before\n");
}

/* Prints the rows of a table at NOW, or, if there is a BEFORE, between both. */
static bool print_table(struct shown *shown, const struct moment *now, const struct moment *before,
                        int *status, struct fail *fail)
{
    const char *name = shown->counters->name;
    struct counted *counted = &shown->counted;
    counted_collect(counted, shown->counters, now, before, shown->options->by_part);
    fill(shown);
    const bool ok = sort(&shown->table, &shown->options->output, fail);
    if (ok) {
        if (counted->count == 0 && counted->damaged == 0)
            complain(
                "%s: no rows, because nothing was counted; tarn-tables(1) says how to switch counting on",
                name);
        counted_complain(counted, shown->counters);
        print_rows(shown);
        *status = counted->damaged != 0 ? EXIT_DAMAGE : EXIT_OK;
    }
    counted_free(counted);
    table_free(&shown->table);
    return ok;
}

/* ---- running --------------------------------------------------------------------------------------- */

/* NULL: FAIL. */
static const struct trace_table_info *find_table(const char *name, struct fail *fail)
{
    char list[400] = "";
    for (unsigned t = 0; t < TRACE_TABLE_COUNT; t++) {
        if (strcmp(trace_table_list[t].name, name) == 0)
            return &trace_table_list[t];
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", t > 0 ? ", " : "",
                 trace_table_list[t].name);
    }
    fail_set(fail, "no table '%.60s'; there are %s", name, list);
    return NULL;
}

/* Returns how many ticks it is from one moment to the other: by the guest's clock, if it is known. */
static uint64_t ticks_between(const struct moment *before, const struct moment *now, uint64_t clock_hz)
{
    if (before->clock[0] != 0 && now->clock[0] > before->clock[0])
        return now->clock[0] - before->clock[0];
    const double ticks = (now->time - before->time) * (double)clock_hz;
    return ticks < 0 ? 0 : ticks < 0x1p63 ? (uint64_t)ticks : 1ull << 63;
}

static bool show_rows(const struct options *options, struct source *source,
                      const struct trace_table_info *counters, const struct moment *now,
                      const struct moment *before, int *status, struct fail *fail)
{
    struct key_names names;
    struct shown shown = {.options = options,
                          .counters = counters,
                          .names = &names,
                          .clock_hz = source->hello.clock_hz,
                          .cpu_count = now->cpu_count};
    if (counters->is_private && now->routines.count == 0)
        return fail_set(fail, options->pid == UINT64_MAX ? ROUTINES_ARE_OFF : "that process has no tables");
    if (before != NULL)
        shown.ticks = ticks_between(before, now, shown.clock_hz);
    if (counters->is_private)
        key_names_open_routines(&names, &now->routines, options->symbols);
    else
        key_names_open(&names, source);
    const bool ok = options->tau != NULL ? write_tau(&now->routines, &names, options->tau, fail)
                                         : print_table(&shown, now, before, status, fail);
    key_names_close(&names);
    return ok;
}

/* Opens the source again at the end of an interval: a guest ends a link that is silent for so long. */
static bool open_again(const struct options *options, struct source **source, double end, struct fail *fail)
{
    const uint64_t boot = (*source)->hello.boot_id;
    (*source)->class->close(*source);
    const double left = end - now_seconds();
    if (left > 0)
        nanosleep(&(struct timespec){.tv_sec = (time_t)left, .tv_nsec = (long)(fmod(left, 1) * 1e9)}, NULL);
    *source = open_source(options->source, options->wait, fail);
    return *source != NULL && ((*source)->hello.boot_id == boot ||
                               fail_set(fail, "the guest was started again in the interval"));
}

static bool read_moment(struct moment *moment, const struct options *options, struct source *source,
                        const struct trace_table_info *counters, struct fail *fail)
{
    const bool ok = moment_read(moment, source, counters->is_private, fail);
    if (ok)
        routines_keep(&moment->routines, options->pid);
    return ok;
}

static bool show_table(const struct options *options, struct source **source,
                       const struct trace_table_info *counters, int *status, struct fail *fail)
{
    struct moment before = {0}, now = {0};
    const bool has_interval = options->interval != 0;
    bool ok = !has_interval || (read_moment(&before, options, *source, counters, fail) &&
                                open_again(options, source, before.time + options->interval, fail));
    ok = ok && read_moment(&now, options, *source, counters, fail) &&
         show_rows(options, *source, counters, &now, has_interval ? &before : NULL, status, fail);
    moment_free(&before);
    moment_free(&now);
    return ok;
}

static bool show_list(const struct options *options, struct source *source, struct fail *fail)
{
    struct table list;
    struct moment moment;
    if (!moment_read(&moment, source, false, fail))
        return false;
    fill_list(&list, &moment);
    bool ok = sort(&list, &options->output, fail);
    if (ok) {
        printf(options->output.format == TABLES_JSON ? "{\"cpus\":%u,\"tables\":{" : "", moment.cpu_count);
        table_print(stdout, &options->output, &list, ROWS_TOP);
        printf(options->output.format == TABLES_JSON ? "}}\n" : "");
    }
    table_free(&list);
    moment_free(&moment);
    return ok;
}

static bool show(const struct options *options, struct source **source, int *status, struct fail *fail)
{
    struct wire_previous previous;
    const struct trace_table_info *counters = options->name != NULL ? find_table(options->name, fail) : NULL;
    if (options->name != NULL && counters == NULL)
        return false;
    if (counters != NULL && counters->is_private && options->previous)
        return fail_set(fail, "no routines are kept of the previous boot");
    if (options->previous && !source_choose_previous(*source, &previous, fail))
        return false;
    return counters != NULL ? show_table(options, source, counters, status, fail)
                            : show_list(options, *source, fail);
}

/* NAME: of the table; NULL: it may be an argument. */
static int run(const struct command *command, const char *name, int argc, char **argv)
{
    struct options options = {.output.top = TABLE_TOP_DEFAULT, .pid = UINT64_MAX, .name = name};
    struct fail fail;
    int status = command_parse(command, (void *[]){&options, &options, &options.output}, argc, argv);
    if (status >= 0)
        return status;
    options.source = argv[optind];
    if (optind + 1 < argc)
        options.name = argv[optind + 1];
    if (options.name == NULL && (options.interval != 0 || options.by_part))
        return complain_of_words(command, "--interval and --by-cpu require the NAME of a table");
    if (options.previous && options.interval != 0)
        return complain_of_words(command,
                                 "the previous boot has ended, so nothing changes: remove --interval");
    status = EXIT_OK;
    struct source *source = open_source(options.source, options.wait, &fail);
    if (source == NULL || !show(&options, &source, &status, &fail))
        status = fail_report(&fail, EXIT_USAGE);
    if (source != NULL)
        source->class->close(source);
    return status;
}

static int run_tables(int argc, char **argv)
{
    return run(&tables_command, NULL, argc, argv);
}

const struct command tables_command =
    COMMAND("tables", "show the tables of counters of a guest", "[OPTION]... SOURCE [NAME]", 1, 2, run_tables,
            NULL, {NULL, known}, GROUPS);

static int run_routines(int argc, char **argv)
{
    return run(&routines_command, "routines", argc, argv);
}

const struct command routines_command =
    COMMAND("routines", "show how often and how long threads were in routines of the kernel",
            "[OPTION]... SOURCE", 1, 1, run_routines, NULL, {NULL, routines_known}, GROUPS);
