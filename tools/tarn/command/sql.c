/* sql.c - `tarn sql`: questions in SQL; see sql/database.h. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <readline/history.h>
#include <readline/readline.h>
#include <sys/time.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/help.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/sql/database.h>
#include <tools/tarn/symbols/symbols.h>
#include <unistd.h>

struct asking {
    struct filter filter;
    struct table_options output;
    const char *symbols;
    double limit;
    struct database database;
    unsigned uses_duck;
    struct duck *duck;
    bool is_interactive;
    sqlite3_stmt *statement; /* of SQLite, which runs, and what it last returned */
    int status;
};

static const char *const engines[] = {"sqlite", "duckdb", NULL};

static const struct command_option known[] = {
    {REAL("limit", "SECONDS", struct asking, limit, 0.001, 1e9, "end a query after this time")},
    {WORD("engine", "ENGINE", struct asking, uses_duck, engines,
          "sqlite (default), or duckdb (after `make duckdb`): the relations are table functions")},
    {TEXT("symbols", "DIR[:DIR]", struct asking, symbols,
          "search for the trace's executables here, by build-id")},
    {.name = NULL}};

static struct asking *asked;

/* A query ends at SIGINT, or at its time limit. */
static void stop_query(int signal_number)
{
    asked->database.stop = 1;
    sqlite3_interrupt(asked->database.sqlite);
    if (asked->duck != NULL)
        duck_stop(asked->duck);
}

static void limit_query(double seconds)
{
    struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)seconds,
                     .tv_usec = (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- results ---- */

static void print_csv_row(struct answer *answer, bool is_heading)
{
    for (unsigned c = 0; c < answer->columns; c++) {
        bool is_number;
        const char *text = is_heading ? answer->name(answer, c) : answer->text(answer, c, &is_number);
        fputs(c > 0 ? "," : "", stdout);
        print_csv_string(stdout, text != NULL ? text : "");
    }
    putchar('\n');
}

/* Text waits for the first rows, which give the columns their widths; later ones may be wider. */
#define TEXT_ROWS  200u
#define TEXT_WIDTH 48u

struct text_rows {
    char **texts; /* row by row */
    unsigned *widths;
    bool *is_number;
    unsigned count;
};

static void print_text_rows(struct text_rows *rows, unsigned columns)
{
    for (unsigned i = 0; i < rows->count; i++)
        for (unsigned c = 0; c < columns; c++) {
            char *text = rows->texts[i * columns + c];
            int width = (int)rows->widths[c];
            printf(rows->is_number[c] ? "%*s%s" : "%-*s%s",
                   c + 1 == columns && !rows->is_number[c] ? 0 : width, text != NULL ? text : "",
                   c + 1 == columns ? "\n" : "  ");
            free(text);
        }
    rows->count = 0;
}

static void keep_text_row(struct answer *answer, struct text_rows *rows, bool is_heading)
{
    for (unsigned c = 0; c < answer->columns; c++) {
        bool is_number = false;
        const char *text = is_heading ? answer->name(answer, c) : answer->text(answer, c, &is_number);
        size_t length = text != NULL ? strlen(text) : 0;
        char *copy = alloc_zero(length + 1, 1);
        plain_text(text != NULL ? text : "", copy, length + 1);
        rows->texts[rows->count * answer->columns + c] = copy;
        if (length > rows->widths[c])
            rows->widths[c] = length < TEXT_WIDTH ? (unsigned)length : TEXT_WIDTH;
        rows->is_number[c] |= is_number;
    }
    rows->count++;
}

static void print_text(struct answer *answer)
{
    unsigned columns = answer->columns;
    struct text_rows rows = {.texts = alloc_zero(TEXT_ROWS * columns, sizeof(char *)),
                             .widths = alloc_zero(columns, sizeof(unsigned)),
                             .is_number = alloc_zero(columns, sizeof(bool))};
    keep_text_row(answer, &rows, true);
    while (answer->next(answer)) {
        keep_text_row(answer, &rows, false);
        if (rows.count == TEXT_ROWS)
            print_text_rows(&rows, columns);
    }
    print_text_rows(&rows, columns);
    free(rows.texts);
    free(rows.widths);
    free(rows.is_number);
}

static void print_csv(struct answer *answer)
{
    print_csv_row(answer, true);
    while (answer->next(answer))
        print_csv_row(answer, false);
}

static void print_json(struct answer *answer)
{
    const char *comma = "[";
    while (answer->next(answer)) {
        fputs(comma, stdout);
        for (unsigned c = 0; c < answer->columns; c++) {
            bool is_number;
            const char *text = answer->text(answer, c, &is_number);
            fputs(c > 0 ? "," : "{", stdout);
            print_json_string(stdout, answer->name(answer, c));
            putchar(':');
            if (text == NULL || is_number)
                fputs(text != NULL ? text : "null", stdout);
            else
                print_json_string(stdout, text);
        }
        putchar('}');
        comma = ",\n";
    }
    puts(*comma == '[' ? "[]" : "]");
}

static void print_answer(void *context, struct answer *answer)
{
    static void (*const prints[])(struct answer * answer) = {
        [TABLES_TEXT] = print_text, [TABLES_JSON] = print_json, [TABLES_CSV] = print_csv};
    prints[((const struct asking *)context)->output.format](answer);
}

/* ---- SQLite's statements ---- */

static bool next_row(struct answer *answer)
{
    struct asking *asking = answer->of;
    return (asking->status = sqlite3_step(asking->statement)) == SQLITE_ROW;
}

static const char *column_name(struct answer *answer, unsigned column)
{
    return sqlite3_column_name(((struct asking *)answer->of)->statement, (int)column);
}

static const char *column_text(struct answer *answer, unsigned column, bool *is_number)
{
    sqlite3_stmt *statement = ((struct asking *)answer->of)->statement;
    int type = sqlite3_column_type(statement, (int)column);
    /* JSON has no infinite numbers */
    *is_number = type == SQLITE_INTEGER ||
                 (type == SQLITE_FLOAT && isfinite(sqlite3_column_double(statement, (int)column)));
    return (const char *)sqlite3_column_text(statement, (int)column);
}

#define INTERRUPTED "the query was interrupted"

static bool run_in_sqlite(struct asking *asking, const char *sql)
{
    sqlite3 *sqlite = asking->database.sqlite;
    struct answer answer = {0, asking, next_row, column_name, column_text};
    asking->status = sqlite3_prepare_v2(sqlite, sql, -1, &asking->statement, NULL);
    if (asking->status == SQLITE_OK && asking->statement == NULL)
        return true;
    if (asking->status == SQLITE_OK) {
        answer.columns = (unsigned)sqlite3_column_count(asking->statement);
        if (answer.columns == 0)
            next_row(&answer);
        else
            print_answer(asking, &answer);
    }
    fflush(stdout);
    if (asking->status == SQLITE_INTERRUPT)
        complain(INTERRUPTED);
    else if (asking->status != SQLITE_DONE)
        complain("SQL: %s%s", sqlite3_errmsg(sqlite),
                 strncmp(sqlite3_errmsg(sqlite), "no such table", 13) != 0 ? ""
                 : asking->is_interactive                                  ? "; .tables lists them"
                                                                           : "; `tarn help sql` lists them");
    sqlite3_finalize(asking->statement);
    return asking->status == SQLITE_DONE;
}

static bool run_in_duck(struct asking *asking, const char *sql)
{
    struct fail fail;
    bool ok = duck_run(asking->duck, sql, print_answer, asking, &fail);
    fflush(stdout);
    if (!ok)
        complain("%s", asking->database.stop ? INTERRUPTED : fail.text);
    return ok;
}

/* Runs all statements of SQL, up to the first that fails. */
static bool run_text(struct asking *asking, const char *sql)
{
    struct buffer statement = {0};
    bool ok = true;
    while (sql[strspn(sql, " \t\r\n;")] != '\0' && ok) {
        statement.used = 0;
        do {
            statement.used -= statement.used > 0; /* the NUL */
            size_t length = strcspn(sql, ";");
            length += sql[length] == ';';
            buffer_add(&statement, sql, length);
            buffer_add(&statement, "", 1);
            sql += length;
        } while (*sql != '\0' && !sqlite3_complete((const char *)statement.bytes));
        asking->database.stop = 0;
        limit_query(asking->limit);
        ok = (asking->duck != NULL ? run_in_duck : run_in_sqlite)(asking, (const char *)statement.bytes);
        limit_query(0);
    }
    free(statement.bytes);
    return ok;
}

/* ---- a session ---- */

static const char help_text[] =
    "Statements end in a semicolon.  .tables: relations  .schema NAME: columns  .help  .quit\n"
    "CREATE TEMP TABLE, CREATE VIEW and ATTACH work as in SQLite.\n";

static void print_columns(const struct catalog *catalog, const char *name)
{
    static const char *const units[] = {[UNIT_NUMBER] = "number",
                                        [UNIT_TEXT] = "text",
                                        [UNIT_WHEN] = "ns",
                                        [UNIT_SPAN] = "ns",
                                        [UNIT_ADDRESS] = "address"};
    const struct relation *relation = catalog_find(catalog, name);
    if (relation == NULL) {
        complain("there is no relation '%s'; .tables lists them", name);
        return;
    }
    printf("%s: %s\n", relation->name, relation->text);
    for (unsigned c = 0; c < relation->column_count; c++)
        printf("  %-20s %-8s %s\n", relation->columns[c].name, units[relation->columns[c].unit],
               relation->columns[c].text != NULL ? relation->columns[c].text : "of the event");
}

/* False: it ends the session. */
static bool run_dot(struct asking *asking, const char *line)
{
    const struct catalog *catalog = &asking->database.catalog;
    const char *name = line + strcspn(line, " ");
    name += strspn(name, " ");
    if (strncmp(line, ".tables", 7) == 0)
        for (unsigned i = 0; i < catalog->count; i++)
            printf("%-30s %s\n", catalog->relations[i].name, catalog->relations[i].text);
    else if (strncmp(line, ".schema", 7) == 0)
        print_columns(catalog, name);
    else if (strncmp(line, ".quit", 5) == 0 || strncmp(line, ".exit", 5) == 0)
        return false;
    else
        fputs(help_text, stdout);
    return true;
}

/* Completes names of relations, then of all columns. */
static char *complete_name(const char *text, int state)
{
    const struct catalog *catalog = &asked->database.catalog;
    static unsigned relation, column;
    size_t length = strlen(text);
    if (state == 0)
        relation = column = 0;
    for (; relation < catalog->count; relation++, column = 0) {
        const struct relation *at = &catalog->relations[relation];
        if (column == 0 && ++column && strncasecmp(text, at->name, length) == 0)
            return strdup(at->name);
        while (column <= at->column_count) {
            const char *name = at->columns[column++ - 1].name;
            if (strncasecmp(text, name, length) == 0)
                return strdup(name);
        }
    }
    return NULL;
}

static char *read_line(const struct asking *asking, bool continues)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    if (asking->is_interactive)
        return readline(continues ? "  ...> " : "tarn> ");
    length = getline(&line, &size, stdin);
    if (length < 0) {
        free(line);
        return NULL;
    }
    if (length > 0 && line[length - 1] == '\n')
        line[length - 1] = '\0';
    return line;
}

static bool run_session(struct asking *asking)
{
    struct buffer sql = {0};
    bool ok = true, goes_on = true;
    char path[PATH_MAX], *line, *home = getenv("HOME");
    snprintf(path, PATH_MAX, "%s/.tarn_sql_history", home != NULL ? home : "");
    if (asking->is_interactive) {
        rl_completion_entry_function = complete_name;
        rl_completer_word_break_characters = " \t\n,.()=<>*+-/";
        read_history(path);
        fputs(help_text, stdout);
    }
    while (goes_on && (line = read_line(asking, sql.used > 0)) != NULL) {
        if (asking->is_interactive && *line != '\0')
            add_history(line);
        if (sql.used == 0 && line[strspn(line, " ")] == '.') {
            goes_on = run_dot(asking, line + strspn(line, " "));
        } else {
            buffer_text(&sql, line);
            buffer_add(&sql, "\n", 2);
            if (sqlite3_complete((const char *)sql.bytes)) {
                ok &= run_text(asking, (const char *)sql.bytes);
                sql.used = 0;
            } else {
                sql.used--; /* the NUL */
            }
        }
        free(line);
    }
    if (sql.used > 0)
        ok &= run_text(asking, (const char *)sql.bytes);
    if (asking->is_interactive)
        write_history(path);
    free(sql.bytes);
    return ok;
}

/* ---- the command ---- */

/* Each statement, and each relation in one, reads the trace again. A loss is reported and counted once. */
struct once {
    struct reporter reporter, *next;
    struct map told;
};

static void report_once(struct reporter *self, const struct report *report)
{
    struct once *once = OUTER(self, struct once, reporter);
    const uint64_t rank = report->stream != NULL ? report->stream->rank : UINT32_MAX;
    bool is_new;
    map_add(&once->told, (uint64_t)report->anomaly << 32 | rank, report->offset,
            report->other != NULL ? report->other->rank : report->begin, &is_new);
    if (is_new)
        once->next->report(once->next, report);
}

static int ask(struct asking *asking, const struct trace *trace, const char *sql)
{
    struct scan_source source = {.trace = trace, .filter = &asking->filter};
    struct sigaction action = {.sa_handler = stop_query, .sa_flags = SA_RESTART};
    struct losses losses;
    struct once once = {{report_once}, &losses.reporter, {0}};
    struct fail fail;
    const char *text;
    bool ok;
    if (!filter_resolve(&asking->filter, trace, &fail))
        return fail_report(&fail, EXIT_USAGE);
    losses_begin(&losses, trace, &asking->filter);
    map_open(&once.told, 0);
    source.reporter = &once.reporter;
    source.losses = &losses;
    source.symbols = symbols_open(trace->directory, asking->symbols);
    if (!database_open(&asking->database, &source, &fail))
        return fail_report(&fail, EXIT_USAGE);
    if (asking->uses_duck && ((asking->duck = duck_open(&fail)) == NULL ||
                              !duck_relations(asking->duck, &asking->database, &fail)))
        return fail_report(&fail, EXIT_USAGE);
    asked = asking;
    asking->is_interactive = sql == NULL && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    ok = sql != NULL ? run_text(asking, sql) : run_session(asking);
    duck_close(asking->duck);
    database_close(&asking->database);
    map_close(&once.told);
    for (unsigned i = 0; (text = symbols_complaint(source.symbols, i)) != NULL; i++)
        complain("%s", text);
    symbols_close(source.symbols);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("cannot write the result: %s", strerror(errno));
        return EXIT_USAGE;
    }
    model_lacks(&trace->schema, false, losses.lacks, sizeof(losses.lacks));
    if (ok)
        losses_summary(&losses);
    return ok ? losses_status(&losses) : EXIT_USAGE;
}

static int run_sql(int argc, char **argv)
{
    struct asking asking = {.uses_duck = 0};
    struct trace trace;
    struct fail fail;
    int status = command_parse(&sql_command, (void *[]){&asking, &asking.filter, &asking.output}, argc, argv);
    if (status >= 0)
        return status;
    if (!trace_open(&trace, argv[optind], &fail))
        return fail_report(&fail, EXIT_DAMAGE);
    status = ask(&asking, &trace, argv[optind + 1]);
    filter_free(&asking.filter);
    trace_close(&trace);
    return status;
}

static void describe_relations(struct page *page, const struct command *self)
{
    struct catalog catalog;
    page_heading(page, "Relations");
    catalog_open(&catalog, NULL);
    for (unsigned i = 0; i < catalog.count; i++) {
        char text[600];
        size_t used = (size_t)snprintf(text, sizeof(text), "%s:", catalog.relations[i].text);
        for (unsigned c = 0; c < catalog.relations[i].column_count && used < sizeof(text); c++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s", c > 0 ? "," : "",
                                     catalog.relations[i].columns[c].name);
        page_entry(page, catalog.relations[i].name, NULL, text);
    }
    arena_free(&catalog.arena);
}

const struct command sql_command = COMMAND(
    "sql", "query a trace in SQL", "[OPTION]... DIRECTORY ['SELECT ...']", 1, 2, run_sql, describe_relations,
    {NULL, known}, {"What counts", filter_running_options}, {"Output", table_options + TABLE_OPTION_JSON});
