/*
 * diff.c - `tarn diff A... -- B...`: compares the tables of analyses of two sides, traces of equal runs.
 *
 * The columns of A's tables become rows of an SQLite database, from which analysis/diff_columns.sql chooses.
 * Then the cells of these columns do, which analysis/diff.sql joins and makes tables of changes of.
 */
#include <inttypes.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/command/diff.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/sql/database.h>
#include <tools/tarn/symbols/symbols.h>

#define RUNS_MAX         32u /* of a side */
#define TEXT_TOP         8u
#define OPTIONS_MAX      32u
#define PERCENT_MAX      1e6
#define NAME_BYTES       512u
#define DEFAULT_ANALYSES "processes,profile,breakdown,syscalls,faults,irq,locks,sched,ipc"

/* The divisor of columns that add up. */
enum diff_per {
    PER_WORK,   /* each row's own count of work; without one: CPU time */
    PER_BUSY,   /* CPU time: seconds in which a CPU is busy */
    PER_SECOND, /* seconds of the trace */
    PER_EVENT,  /* the number of events of one type */
    PER_NOTHING
};

/* PER_EVENT has none. */
static const char *const units[PER_NOTHING + 1] = {
    [PER_WORK] = "work", [PER_BUSY] = "busy", [PER_SECOND] = "second", [PER_NOTHING] = "nothing"};

struct diff {
    struct run runs[2 * RUNS_MAX]; /* of A, then of B */
    unsigned run_count, a_count;
    bool has_several; /* runs of a side */
    const char *list, *by, *columns, *unit_event, *symbols;
    enum diff_per per;
    double threshold, least;
    struct table_options output;
    bool is_first; /* --first: compare events, not tables */
    bool only_order;
    struct command_option passed_on[OPTIONS_MAX];
    unsigned passed_count;
    struct arena texts; /* of these */
    sqlite3 *sqlite;
};

static bool set_per(void *context, const struct command_option *option, const char *value, struct fail *fail)
{
    struct diff *diff = context;
    diff->unit_event = value;
    diff->per = PER_EVENT;
    for (unsigned i = 0; i <= PER_NOTHING; i++)
        if (units[i] != NULL && strcmp(units[i], value) == 0)
            diff->per = i;
    return true;
}

static const struct command_option own_options[] = {
    {TEXT("analysis", "LIST", struct diff, list,
          "run these analyses (" DEFAULT_ANALYSES
          ")\n`tarn diff` also accepts those of their options that select what is counted, and passes each "
          "to all analyses that have it. --help lists these options")},
    {TEXT(
        "by", "LIST", struct diff, by,
        "compare only these tables: call, or syscalls.call; all: also tables that an analysis prints only if "
        "requested")},
    {TEXT("column", "LIST", struct diff, columns,
          "compare these columns, named as for --sort in tarn-analyses(1), or all\nThe default is CPU time "
          "or its parts, else the column by which the table is sorted. Where rows are the same work done in "
          "different ways, as in `noise.quantum`, it is the mean")},
    {CALL("per", "UNIT", set_per,
          "the divisor of sums: work (the default, see above); busy: seconds of CPU time in which "
          "something runs; second: seconds of the trace; the name of an event: its count; nothing")},
    {REAL("threshold", "PERCENT", struct diff, threshold, 0, PERCENT_MAX, "omit smaller changes")},
    {REAL("least", "PERCENT", struct diff, least, 0, PERCENT_MAX,
          "omit rows below this share of their table in both A and B")},
    {TEXT("symbols", "DIR[:DIR]", struct diff, symbols,
          "search for the executables of both traces here, by build-id (tarn-analyses(1))")},
    {FLAG("first", struct diff, is_first, "print the first event in which two traces of the same run differ"),
     .with = "order-only,from,to,cpu,class,event"},
    {FLAG("order-only", struct diff, only_order,
          "with --first: compare which events come on each CPU, their texts and enumerations; not times, "
          "numbers and addresses"),
     .need = "first"},
    {.name = NULL}};

static int run_diff(int argc, char **argv);

const struct command diff_command =
    COMMAND("diff", "compare two traces by the tables of analyses",
            "[OPTION]... A B\n[OPTION]... A1 A2 ... -- B1 B2 ...\n"
            "--first [OPTION]... A B",
            2, 2 * RUNS_MAX, run_diff, NULL, {NULL, own_options}, {"Events that count", filter_options},
            {"Output", table_options + TABLE_OPTION_WIDE});

/* ---- parsing ---- */

static bool add_analysis(struct run *run, const char *name, size_t length, bool is_asked, struct fail *fail)
{
    char text[64];
    const struct analysis_kind *kind;
    snprintf(text, sizeof(text), "%.*s", (int)(length < 60 ? length : 60), name);
    kind = analysis_find(text);
    if (kind == NULL)
        return is_asked ? fail_set(fail, "no analysis '%s'; see tarn --help", text) : true;
    if (run->count == DIFF_ANALYSES_MAX)
        return fail_set(fail, "too many analyses");
    run->analyses[run->count++] = analysis_new(kind);
    return true;
}

/* --analysis decides which options are known, so it is found before the options are parsed. */
static bool find_analyses(struct run *run, int argc, char **argv, struct fail *fail)
{
    const char *asked = NULL;
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--analysis=", 11) == 0)
            asked = argv[i] + 11;
        else if (strcmp(argv[i], "--analysis") == 0 && i + 1 < argc)
            asked = argv[i + 1];
    const char *list = asked != NULL ? asked : DEFAULT_ANALYSES;
    do {
        size_t length = strcspn(list, ",");
        if (!add_analysis(run, list, length, asked != NULL, fail))
            return false;
        list += length;
    } while (*list++ == ',');
    run->analyses[run->count] = analysis_new(analysis_find("stats"));
    return true;
}

/* Passes the option on to every analysis of the run that has it. */
static bool pass_on(void *context, const struct command_option *option, const char *value, struct fail *fail)
{
    struct run *run = context;
    for (unsigned i = 0; i < run->count; i++)
        if (option_find(run->analyses[i]->kind->options, option->name) != NULL &&
            !analysis_set(run->analyses[i], option->name, value, fail))
            return false;
    return true;
}

/* Returns the description of an option, and the analyses that have it. */
static const char *describe_option(struct diff *diff, const struct command_option *option)
{
    const struct run *run = &diff->runs[0];
    char text[400];
    const char *between = " (";
    size_t used =
        (size_t)snprintf(text, sizeof(text), "%.*s", (int)strcspn(option->text, "\n"), option->text);
    for (unsigned i = 0; i < run->count && used < sizeof(text); i++)
        if (option_find(run->analyses[i]->kind->options, option->name) != NULL) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", between,
                                     run->analyses[i]->kind->name);
            between = ", ";
        }
    snprintf(text + strlen(text), sizeof(text) - strlen(text), ")");
    return arena_string(&diff->texts, text, strlen(text));
}

static void add_options(struct diff *diff, const struct command_option *option)
{
    for (; option != NULL && option->name != NULL; option++)
        if (!option->is_extra && option_find(own_options, option->name) == NULL &&
            option_find(diff->passed_on, option->name) == NULL && diff->passed_count + 1 < OPTIONS_MAX)
            diff->passed_on[diff->passed_count++] = (struct command_option){
                CALL(option->name, option->argument, pass_on, describe_option(diff, option))};
}

/* Returns the number of words after "--", which are the traces of B. 0: there is no "--". */
static unsigned count_after_dashes(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return (unsigned)(argc - i - 1);
    return 0;
}

/* WORDS are traces, the last AFTER of which follow "--". */
static bool name_runs(struct diff *diff, char **words, unsigned count, unsigned after)
{
    if (after == 0 || after == count) {
        if (count != 2)
            return false;
        after = 1;
    }
    diff->run_count = count;
    diff->a_count = count - after;
    diff->has_several = count > 2;
    if (diff->a_count > RUNS_MAX || after > RUNS_MAX)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const bool is_b = i >= diff->a_count;
        diff->runs[i].directory = words[i];
        snprintf(diff->runs[i].name, sizeof(diff->runs[i].name),
                 (is_b ? after : diff->a_count) > 1 ? "%c%u" : "%c", is_b ? 'B' : 'A',
                 (is_b ? i - diff->a_count : i) % RUNS_MAX + 1);
    }
    return true;
}

/* Each run has analyses and a filter of its own, so the options are parsed for each. Returns -1 to go on, or
 * the exit status. */
static int parse(struct diff *diff, int argc, char **argv)
{
    struct command command = diff_command;
    struct run *first = &diff->runs[0];
    const unsigned after = count_after_dashes(argc, argv); /* before getopt reorders the words */
    struct fail fail;
    int status;
    if (!find_analyses(first, argc, argv, &fail))
        return fail_report(&fail, EXIT_USAGE);
    for (unsigned i = 0; i < first->count; i++)
        add_options(diff, first->analyses[i]->kind->options);
    command.groups[3].options = diff->passed_on;
    command.groups[3].heading = "Options of these analyses";
    status = command_parse(&command, (void *[]){diff, &first->filter, &diff->output, first}, argc, argv);
    if (status >= 0)
        return status;
    if (!name_runs(diff, argv + optind, (unsigned)(argc - optind), after))
        return complain_of_words(
            &command, "expected two traces, or the traces of A, `--`, and the traces of B, at most 32 each");
    if (diff->is_first && diff->has_several)
        return complain_of_words(&command, "--first compares two traces");
    for (struct run *run = first + 1; run < &diff->runs[diff->run_count]; run++) {
        for (run->count = 0; run->count <= first->count; run->count++)
            run->analyses[run->count] = analysis_new(first->analyses[run->count]->kind);
        run->count--; /* without stats */
        command_parse(&command, (void *[]){diff, &run->filter, &diff->output, run}, argc, argv);
    }
    return -1;
}

/* ---- tables and columns ---- */

static bool wants_table(const struct diff *diff, const struct analysis_kind *kind, const struct table *table)
{
    char name[128];
    if (diff->by == NULL)
        return !table->is_extra && table->needs == NULL;
    snprintf(name, sizeof(name), "%s.%s", kind->name, table->key);
    return list_names(diff->by, "all") || list_names(diff->by, table->key) || list_names(diff->by, name);
}

/* Copies the first word of LIST to WORD, truncated beyond the length of any column's name, and moves LIST
 * past it. Returns false at the end of the list. */
static bool next_word(const char **list, char word[HEADING_BYTES])
{
    size_t length = strcspn(*list, ",");
    bool any = **list != '\0';
    snprintf(word, HEADING_BYTES, "%.*s", (int)(length < HEADING_BYTES ? length : HEADING_BYTES), *list);
    *list += length + ((*list)[length] == ',');
    return any;
}

static bool has_column(const struct run *run, const char *name)
{
    for (unsigned i = 0; i < run->count; i++)
        for (unsigned t = 0; t < run->analyses[i]->kind->table_count; t++)
            if (run->analyses[i]->tables[t].is_wanted &&
                table_find_column(&run->analyses[i]->tables[t], name) >= 0)
                return true;
    return strcmp(name, "all") == 0;
}

/* Rejects columns that no table has. */
static bool check_columns(const struct diff *diff, struct fail *fail)
{
    char word[HEADING_BYTES];
    for (const char *list = diff->columns; next_word(&list, word);)
        if (!has_column(&diff->runs[0], word))
            return fail_set(fail, "no table has a column '%s'; `tarn help columns` lists all", word);
    return true;
}

/* Whether --column names it. */
static bool names_column(const struct diff *diff, const struct table *table, int column)
{
    char word[HEADING_BYTES];
    for (const char *list = diff->columns; list != NULL && next_word(&list, word);)
        if (strcmp(word, "all") == 0 || table_find_column(table, word) == column)
            return true;
    return false;
}

static bool choose_tables(struct diff *diff, struct fail *fail)
{
    bool any = false;
    for (struct run *run = diff->runs; run < &diff->runs[diff->run_count]; run++)
        for (unsigned i = 0; i < run->count; i++)
            for (unsigned t = 0; t < run->analyses[i]->kind->table_count; t++) {
                struct table *table = &run->analyses[i]->tables[t];
                table->is_wanted = wants_table(diff, run->analyses[i]->kind, table);
                any |= table->is_wanted;
            }
    if (!any)
        return fail_set(fail, "no analysis has a table '%.200s'; `tarn ANALYSIS --help` lists its tables",
                        diff->by);
    return diff->columns == NULL || check_columns(diff, fail);
}

/* ---- a run ---- */

bool diff_open_run(struct run *run, struct fail *fail)
{
    run->is_open = trace_open(&run->trace, run->directory, fail);
    if (!run->is_open || !filter_resolve(&run->filter, &run->trace, fail))
        return false;
    losses_begin(&run->losses, &run->trace, &run->filter);
    return true;
}

void diff_tell_losses(const struct run *run)
{
    const struct losses *losses = &run->losses;
    const char *const name = run->name, *text;
    if (losses->lost_events || losses->lost_packets || losses->lost_unknown || losses->is_unfinished)
        complain("%s lost %" PRIu64 " events%s%s, %" PRIu64 " packets: lower counts may be due to this", name,
                 losses->lost_events, losses->lost_unknown ? " and some before its start" : "",
                 losses->is_unfinished ? " and an unknown number after its end" : "", losses->lost_packets);
    if (losses->damaged)
        complain("%s is damaged: %" PRIu64 " anomal%s; see tarn check", name, losses->damaged,
                 losses->damaged == 1 ? "y" : "ies");
    if (losses->lacks[0] != '\0')
        complain("%s: %s", name, losses->lacks);
    for (unsigned i = 0; run->symbols != NULL && (text = symbols_complaint(run->symbols, i)) != NULL; i++)
        complain("%s: %s", name, text);
}

static double count_events(const struct analysis *stats, const char *event)
{
    const struct table *table = stats->tables;
    while (strcmp(table->key, "event") != 0)
        table++;
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i]->name, event) == 0)
            return (double)table->rows[i]->cells[table_find_column(table, "events")].count;
    return 0;
}

static bool find_unit(const struct diff *diff, struct run *run, struct fail *fail)
{
    const struct analysis *stats = run->analyses[run->count];
    double seconds = analysis_seconds(stats), worked = (double)analysis_ns(stats, stats->worked) / 1e9;
    if (diff->per == PER_EVENT)
        run->unit = count_events(stats, diff->unit_event);
    else if (diff->per == PER_NOTHING)
        run->unit = 1;
    else
        run->unit = diff->per != PER_SECOND && worked > 0 ? worked : seconds;
    if (run->unit > 0)
        return true;
    return diff->per == PER_EVENT
               ? fail_set(fail, "%s: no event '%.60s' to divide by", run->directory, diff->unit_event)
               : fail_set(fail,
                          "%s: nothing in this time range; `tarn info` shows when the trace begins and ends",
                          run->directory);
}

/* Analyses the run. */
static bool ask_run(const struct diff *diff, struct run *run, struct fail *fail)
{
    char left_out[400];
    if (!diff_open_run(run, fail))
        return false;
    model_lacks(&run->trace.schema, false, run->losses.lacks, sizeof(run->losses.lacks));
    for (unsigned i = 0; i < run->count && run->symbols == NULL; i++)
        if (run->analyses[i]->kind->uses_symbols)
            run->symbols = symbols_open(run->directory, diff->symbols);
    if (!analyses_ask(run->analyses, run->count + 1, &run->trace, &run->filter, run->symbols,
                      &run->losses.reporter, fail))
        return false;
    analysis_describe_left_out(run->analyses[0], left_out, sizeof(left_out));
    if (*left_out != '\0')
        complain("%s: %s", run->directory, left_out);
    diff_tell_losses(run);
    return find_unit(diff, run, fail);
}

/* Counts are the same whatever the clock counts. */
static void complain_of_clocks(const struct diff *diff)
{
    const struct trace *a = &diff->runs[0].trace, *b = &diff->runs[diff->a_count].trace;
    if (trace_shares_clock(a) || trace_shares_clock(b))
        complain("clock: %s counts the instructions of all its CPUs together (A has %" PRIu64
                 ", B has %" PRIu64 "): a thread's time also contains the instructions of other CPUs that "
                 "were busy meanwhile%s. Compare "
                 "counts, or runs on one CPU",
                 trace_shares_clock(a) && trace_shares_clock(b) ? "each side's"
                 : trace_shares_clock(a)                        ? "A's"
                                                                : "B's",
                 schema_cpu_count(&a->schema), schema_cpu_count(&b->schema),
                 schema_cpu_count(&a->schema) != schema_cpu_count(&b->schema)
                     ? ", more on the side with more CPUs"
                     : "");
}

/* ---- the database ---- */

static void add_chance(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct sample samples[2];
    for (unsigned side = 0; side < 2; side++, argv += 3)
        samples[side] = (struct sample){(unsigned)sqlite3_value_int(argv[0]), sqlite3_value_double(argv[1]),
                                        sqlite3_value_double(argv[2])};
    sqlite3_result_double(context, chance_of(samples[0], samples[1]));
}

/* The statement is freed. */
static bool run_sql(const struct diff *diff, char *sql)
{
    bool ok = sqlite3_exec(diff->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_free(sql);
    return ok;
}

/* NULL: it failed. The caller finalizes it. */
static sqlite3_stmt *prepare(const struct diff *diff, const char *query)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(diff->sqlite, query, -1, &statement, NULL);
    return statement;
}

/* Returns the first column of the first row; 0: QUERY has none, or failed. */
static int64_t number_of(const struct diff *diff, const char *query)
{
    sqlite3_stmt *statement = prepare(diff, query);
    int64_t number = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return number;
}

/* Describes the columns of a table, from which analysis/diff_columns.sql chooses. */
static bool describe(const struct diff *diff, unsigned analysis, unsigned number)
{
    const struct analysis *from = diff->runs[0].analyses[analysis];
    const struct table *table = &from->tables[number];
    bool ok = true;
    for (unsigned c = 0; ok && table->is_wanted && c < table->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        char heading[HEADING_BYTES];
        ok = run_sql(diff,
                     sqlite3_mprintf("INSERT INTO shown VALUES (%u, %u, %u, '%q.%q', %Q, %Q, %Q, %d, %d, %d, "
                                     "%d, %d, %d, %d, %d, %d)",
                                     analysis, number, c, from->kind->name, table->key, table->others,
                                     column->key, column_heading(column, heading),
                                     column->kind == COLUMN_COUNT, column->kind == COLUMN_TIME,
                                     column->kind == COLUMN_REAL, column->kind == COLUMN_HEX,
                                     (int)column->sum, table_order(table) == (int)c, table->is_whole,
                                     table->columns == histogram_columns, names_column(diff, table, (int)c)));
    }
    return ok;
}

static void name_row(const struct table *table, const struct table_row *row, char name[NAME_BYTES])
{
    size_t used = (size_t)snprintf(name, NAME_BYTES, "%s", row->name);
    for (unsigned i = 0; i < table->column_count && used < NAME_BYTES; i++)
        if (table->columns[i].is_key && row->cells[i].text != NULL)
            used += (size_t)snprintf(name + used, NAME_BYTES - used, ", %s", row->cells[i].text);
}

/* The divisor of a sum, if it is no column of its row: */
#define WORK_UNIT (-1) /* the run's unit */
#define WORK_ROWS (-2) /* the number of rows of that name: processes of a program */

/* Adds the cells of a column of TABLE, divided by the column DIVISOR. */
static bool add_cells(sqlite3_stmt *add, const struct table *table, int place, int divisor)
{
    const struct table_column *column = &table->columns[place];
    char name[NAME_BYTES];
    bool ok = true;
    for (size_t i = 0; ok && i < table->count; i++) {
        const union table_cell *cells = table->rows[i]->cells, cell = cells[place];
        name_row(table, table->rows[i], name);
        sqlite3_bind_text(add, 4, name, -1, SQLITE_TRANSIENT);
        if (!table_cell_is_known(column, cell))
            sqlite3_bind_null(add, 5);
        else if (column->kind == COLUMN_REAL)
            sqlite3_bind_double(add, 5, cell.real);
        else
            sqlite3_bind_int64(add, 5, cell.number);
        if (divisor != WORK_UNIT)
            sqlite3_bind_int64(add, 6, divisor == WORK_ROWS ? 1 : cells[divisor].number);
        ok = sqlite3_step(add) == SQLITE_DONE;
        sqlite3_reset(add);
    }
    return ok;
}

/* Adds the cells of all columns that are compared. */
static bool fill(const struct diff *diff)
{
    sqlite3_stmt *add = prepare(diff, "INSERT INTO cell VALUES (?, ?, ?, ?, ?, ?)"),
                 *column = prepare(diff, "SELECT number, analysis, table_number, column_number, divisor "
                                         "FROM compared");
    bool ok = add != NULL && column != NULL;
    while (ok && sqlite3_step(column) == SQLITE_ROW)
        for (unsigned i = 0; ok && i < diff->run_count; i++) {
            const struct analysis *analysis = diff->runs[i].analyses[sqlite3_column_int(column, 1)];
            sqlite3_clear_bindings(add);
            sqlite3_bind_int64(add, 1, sqlite3_column_int64(column, 0));
            sqlite3_bind_int64(add, 2, i >= diff->a_count);
            sqlite3_bind_int64(add, 3, i);
            ok = add_cells(add, &analysis->tables[sqlite3_column_int(column, 2)],
                           sqlite3_column_int(column, 3), sqlite3_column_int(column, 4));
        }
    for (unsigned i = 0; ok && i < diff->run_count; i++)
        ok = run_sql(diff, sqlite3_mprintf("INSERT INTO run VALUES (%d, %u, %.17g)", i >= diff->a_count, i,
                                           diff->runs[i].unit));
    sqlite3_finalize(add);
    sqlite3_finalize(column);
    return ok;
}

/* Tells which tables that the user named cannot be compared. */
static void complain_of_tables(const struct diff *diff)
{
    sqlite3_stmt *statement =
        prepare(diff, "SELECT group_concat(name || ' (' || reason || ')', ', ') FROM "
                      "(SELECT * FROM described WHERE reason NOTNULL ORDER BY analysis, table_number)");
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        complain("not compared: %s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

static bool compare(struct diff *diff)
{
    bool ok =
        sqlite3_open(":memory:", &diff->sqlite) == SQLITE_OK &&
        sqlite3_create_function(diff->sqlite, "chance", 6, SQLITE_UTF8, NULL, add_chance, NULL, NULL) ==
            SQLITE_OK &&
        run_sql(diff,
                sqlite3_mprintf(
                    "BEGIN; CREATE TABLE setting AS SELECT %.17g AS threshold, %.17g AS least, "
                    "%d AS is_several, %d AS has_choice, %d AS has_columns, %d AS by_work;"
                    "CREATE TABLE shown (analysis, table_number, place, name, others, key, heading, "
                    "is_count, is_time, is_real, is_hex, sum, is_order, is_whole, is_histogram, "
                    "is_named); CREATE TABLE run (side, run, unit); "
                    "CREATE TABLE cell (number, side, run, name, value, work)",
                    diff->threshold, diff->least, diff->has_several,
                    diff->by != NULL || diff->columns != NULL, diff->columns != NULL, diff->per == PER_WORK));
    for (unsigned i = 0; i < diff->runs[0].count; i++)
        for (unsigned t = 0; ok && t < diff->runs[0].analyses[i]->kind->table_count; t++)
            ok = describe(diff, i, t);
    ok = ok && run_sql(diff, sqlite3_mprintf("%s", analysis_sql("diff_columns")));
    if (ok && diff->by != NULL)
        complain_of_tables(diff);
    return ok && fill(diff) && run_sql(diff, sqlite3_mprintf("%s", analysis_sql("diff")));
}

/* ---- output ---- */

static void print_run(const struct run *run)
{
    printf("\"trace\":");
    print_json_string(stdout, run->directory);
    printf(",\"unit\":%.9f,", run->unit);
    losses_print_json(stdout, &run->losses);
    printf(",\"clock_is_shared\":%s", trace_shares_clock(&run->trace) ? "true" : "false");
}

/* The members of the first run, then all runs. */
static void print_side(const struct run *runs, unsigned count)
{
    printf("\"%c\":{", *runs->name == 'A' ? 'a' : 'b');
    print_run(runs);
    printf(",\"runs\":[");
    for (unsigned i = 0; i < count; i++) {
        printf("%s{", i ? "," : "");
        print_run(&runs[i]);
        printf("}");
    }
    printf("]},");
}

static void print_unit(const struct diff *diff, const struct run *run)
{
    printf("%s: %s", run->name, run->directory);
    if (diff->per == PER_EVENT)
        printf(": %.0f %s\n", run->unit, diff->unit_event);
    else if (diff->per != PER_NOTHING)
        printf(": %.6g s%s\n", run->unit, diff->per == PER_SECOND ? "" : " of CPU time");
    else
        printf("\n");
}

/* Prints what the numbers mean and how reliable they are. */
static void print_method(const struct diff *diff, int64_t judged, int64_t significant)
{
    static const char *const divided[] = {
        [PER_WORK] = "Times are per unit of each row's work; without a unit, per second of CPU time.",
        [PER_BUSY] = "Sums are per second of CPU time.",
        [PER_SECOND] = "Sums are per second of the trace.",
        [PER_EVENT] = "Sums are per event of that type.",
        [PER_NOTHING] = "Sums are not divided."};
    puts(divided[diff->per]);
    if (!diff->has_several)
        puts("The variation between equal runs is not known. To measure it, compare several runs: "
             "tarn diff A1 A2 A3 -- B1 B2 B3.");
    else if (diff->a_count < 2 || diff->run_count - diff->a_count < 2)
        puts("Significance is not known: it requires several runs on both sides.");
    else if (significant == 0)
        printf("No change is significant: %" PRId64
               " rows were compared with the variation between runs of one side.\n",
               judged);
    else
        printf("%" PRId64 " of %" PRId64
               " rows changed significantly, compared with the variation between runs of one side.\n",
               significant, judged);
}

/* Prints TABLE with the rows of the statement, which is freed: a name and its cells. Text leaves it out if
 * there are none. Returns whether it has rows, or -1. */
static int print_rows(const struct diff *diff, struct table *table, bool is_next, char *sql)
{
    const bool is_text = diff->output.format == TABLES_TEXT;
    sqlite3_stmt *statement = prepare(diff, sql);
    const bool ok = statement != NULL;
    while (ok && sqlite3_step(statement) == SQLITE_ROW) {
        struct table_row *row = table_add(table, (const char *)sqlite3_column_text(statement, 0));
        for (unsigned c = 0; c < table->column_count; c++)
            row->cells[c] = sql_cell(table, &table->columns[c], statement, (int)c + 1);
    }
    const bool has_rows = table->count != 0;
    if (!is_text && is_next)
        fputc(diff->output.format == TABLES_JSON ? ',' : '\n', stdout);
    if (!is_text || has_rows)
        table_print(stdout, &diff->output, table, TEXT_TOP);
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    table_free(table);
    return ok ? has_rows : -1;
}

/* The largest changes of CPU time or, without it, of all times that add up. With several runs, only
 * significant ones. */
static bool print_largest(const struct diff *diff)
{
    static const struct table_column columns[] = {TEXT_COLUMN("in"), TIME_OF_ONE("a_ns"), TIME_OF_ONE("b_ns"),
                                                  COLUMN_AS("change_ns", COLUMN_CHANGE, SUM_NOTHING),
                                                  MEAN_COLUMN("ratio")};
    const bool has_processor = number_of(diff, "SELECT max(is_of_processor) FROM compared") != 0;
    struct table table = TABLE("largest", has_processor ? "largest changes of CPU time" : "largest changes",
                               "changes", columns);
    return print_rows(diff, &table, false,
                      sqlite3_mprintf(
                          "SELECT name, key, a, b, change, ratio FROM ranked JOIN compared USING (number) "
                          "JOIN setting WHERE is_time AND place <= %u AND is_of_processor >= %d "
                          "AND (NOT is_several OR verdict = 'significant') "
                          "ORDER BY abs(change) DESC, number, place",
                          TEXT_TOP, has_processor)) >= 0;
}

/* Prints the changes of the column at which the statement is. Times are in nanoseconds. With one run on each
 * side, there are no columns about noise. Returns as print_rows. */
static int print_changes(const struct diff *diff, sqlite3_stmt *compared)
{
    const char *key = (const char *)sqlite3_column_text(compared, 1),
               *heading = (const char *)sqlite3_column_text(compared, 2);
    const bool is_time = sqlite3_column_int(compared, 3), has_spread = diff->has_several;
    const enum column_sum sum = sqlite3_column_int(compared, 4) ? SUM_ADDED : SUM_NOTHING;
    const enum column_kind kind = is_time ? COLUMN_TIME : COLUMN_REAL;
    const struct table_column columns[] = {
        COLUMN_CALLED("A", is_time ? "a_ns" : "a", kind, sum),
        COLUMN_CALLED("B", is_time ? "b_ns" : "b", kind, sum),
        COLUMN_AS(is_time ? "change_ns" : "change", is_time ? COLUMN_CHANGE : COLUMN_REAL, sum),
        MEAN_COLUMN("ratio"),
        COLUMN_CALLED(has_spread ? "spread A %" : "", "spread_a_percent", COLUMN_REAL, SUM_NOTHING),
        COLUMN_CALLED(has_spread ? "spread B %" : "", "spread_b_percent", COLUMN_REAL, SUM_NOTHING),
        COLUMN_CALLED("", "chance", COLUMN_REAL, SUM_NOTHING),
        COLUMN_CALLED(has_spread ? NULL : "", "verdict", COLUMN_TEXT, SUM_NOTHING)};
    struct table table = TABLE(key, heading, (const char *)sqlite3_column_text(compared, 5), columns);
    return print_rows(diff, &table, true,
                      sqlite3_mprintf("SELECT name, a, b, change, ratio, spread_a, spread_b, chance, verdict "
                                      "FROM ranked WHERE number = %d ORDER BY place",
                                      sqlite3_column_int(compared, 0)));
}

/* Tables that have not changed are only counted in text. */
static bool print_tables(const struct diff *diff)
{
    sqlite3_stmt *compared =
        prepare(diff, "SELECT number, compared.key, compared.heading, compared.is_time, compared.sum = 1 AND "
                      "by_unit, others FROM compared JOIN shown USING (analysis, table_number) "
                      "WHERE place = column_number ORDER BY number");
    unsigned same = 0, count = 0;
    bool ok = compared != NULL && print_largest(diff);
    for (; ok && sqlite3_step(compared) == SQLITE_ROW; count++) {
        const int has_changes = print_changes(diff, compared);
        same += has_changes == 0;
        ok = has_changes >= 0;
    }
    sqlite3_finalize(compared);
    if (diff->output.format == TABLES_TEXT && same != 0)
        printf("\n%u of %u tables have not changed\n", same, count);
    return ok;
}

static bool print(const struct diff *diff)
{
    const int64_t judged = number_of(diff, "SELECT count(chance) FROM changed"),
                  significant = number_of(diff, "SELECT count(*) FROM ranked WHERE verdict = 'significant'");
    bool ok;
    if (diff->output.format == TABLES_JSON) {
        fputc('{', stdout);
        print_side(diff->runs, diff->a_count);
        print_side(&diff->runs[diff->a_count], diff->run_count - diff->a_count);
        fputs("\"per\":", stdout);
        print_json_string(stdout, diff->per == PER_EVENT ? diff->unit_event : units[diff->per]);
        printf(",\"judged\":%" PRId64 ",\"significant\":%" PRId64 ",\"tables\":{", judged, significant);
    } else if (diff->output.format == TABLES_TEXT) {
        for (unsigned i = 0; i < diff->run_count; i++)
            print_unit(diff, &diff->runs[i]);
        print_method(diff, judged, significant);
    }
    ok = print_tables(diff);
    if (diff->output.format == TABLES_JSON)
        fputs("}}\n", stdout);
    for (unsigned i = 0; diff->output.format == TABLES_CSV && i < diff->run_count; i++) {
        const char *name = diff->runs[i].name;
        char text[32];
        snprintf(text, sizeof(text), "losses_%c%s", *name - 'A' + 'a', name[1] != '\0' ? name + 1 : "1");
        losses_print_csv(stdout, &diff->runs[i].losses, text);
    }
    return ok;
}

static int show(struct diff *diff)
{
    int status = EXIT_OK;
    struct fail fail = {0};
    if (!choose_tables(diff, &fail))
        return fail_report(&fail, EXIT_USAGE);
    for (struct run *run = diff->runs; run < &diff->runs[diff->run_count]; run++) {
        if (!ask_run(diff, run, &fail))
            return fail_report(&fail, run->is_open ? EXIT_USAGE : EXIT_DAMAGE);
        if (losses_status(&run->losses) != EXIT_OK)
            status = losses_status(&run->losses);
    }
    complain_of_clocks(diff);
    if (compare(diff) && print(diff))
        return status;
    complain("SQLite: %s", sqlite3_errmsg(diff->sqlite));
    return EXIT_USAGE;
}

static int run_diff(int argc, char **argv)
{
    struct diff *diff = alloc_zero(1, sizeof(*diff));
    int status;
    diff->output.top = TABLE_TOP_DEFAULT;
    status = parse(diff, argc, argv);
    if (status < 0)
        status = diff->is_first ? diff_first(diff->runs, diff->only_order) : show(diff);
    for (struct run *run = diff->runs; run < &diff->runs[2 * RUNS_MAX]; run++) {
        for (unsigned n = 0; n <= DIFF_ANALYSES_MAX; n++)
            if (run->analyses[n] != NULL)
                analysis_free(run->analyses[n]);
        symbols_close(run->symbols);
        filter_free(&run->filter);
        if (run->is_open)
            trace_close(&run->trace);
    }
    sqlite3_close(diff->sqlite);
    arena_free(&diff->texts);
    free(diff);
    return status;
}
