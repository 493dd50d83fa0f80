/*
 * export.c - `tarn export`: writes a trace in the formats of other tools.
 *
 * Perfetto's and Chrome's have lanes of a picture (export/tracks.h). CSV, SQLite and Parquet have the
 * relations (relation/relation.h), one after another, each by a query. DuckDB writes Parquet files from its
 * table functions (sql/duck.c). Readers of the Common Trace Format need no export: the trace directory is in
 * that format.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/export/tracks.h>
#include <tools/tarn/help.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/sql/database.h>
#include <tools/tarn/symbols/symbols.h>
#include <unistd.h>

struct tables;
/* Writes the rows of SELECT under NAME. *HAS_ROWS: false, it left nothing. */
typedef bool write_function(struct tables *tables, const char *name, const char *select, bool *has_rows);

struct tables {
    struct database database;
    struct duck *duck; /* NULL: SQLite */
    const char *output;
    struct fail *fail;
    write_function *write;
};

static bool refuse(const struct tables *tables, const char *path, const char *why)
{
    return fail_set(tables->fail, "cannot write '%s': %s", path, why);
}

static bool refuse_sql(const struct tables *tables)
{
    return refuse(tables, tables->output, sqlite3_errmsg(tables->database.sqlite));
}

/* The statement is freed. */
static bool run(struct tables *tables, char *sql)
{
    bool ok = sqlite3_exec(tables->database.sqlite, sql, NULL, NULL, NULL) == SQLITE_OK || refuse_sql(tables);
    sqlite3_free(sql);
    return ok;
}

/* BEFORE: a comma, or the end of the last line; 0: the file begins. */
static void put_text(struct out *out, char before, const char *text, size_t length)
{
    char *at = out_reserve(out, 2 * length + 4);
    if (before != '\0')
        *at++ = before;
    out_commit(out, put_csv_text(at, text != NULL ? text : "", length));
}

/* TYPE: its first letter. */
static void put_cell(struct out *out, char before, sqlite3_value *value, char type)
{
    const uint64_t number = (uint64_t)sqlite3_value_int64(value);
    char *at;
    if (sqlite3_value_type(value) != SQLITE_INTEGER) {
        put_text(out, before, (const char *)sqlite3_value_text(value), (size_t)sqlite3_value_bytes(value));
        return;
    }
    at = out_reserve(out, PUT_NUMBER_MAX + 1);
    *at++ = before;
    out_commit(out, type == 'H'   ? put_hex(at, number, hex_lower)
                    : type == 'U' ? put_unsigned(at, number)
                                  : put_signed(at, (int64_t)number));
}

static bool write_rows(struct tables *tables, sqlite3_stmt *statement, const char *path)
{
    const int columns = sqlite3_column_count(statement), fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    struct out out;
    int status = SQLITE_ROW;
    if (fd < 0)
        return refuse(tables, path, strerror(errno));
    char *types = alloc_zero((size_t)columns, 1);
    out_open(&out, fd, 0);
    for (int c = 0; c < columns; c++) {
        const char *name = sqlite3_column_name(statement, c), *type = sqlite3_column_decltype(statement, c);
        put_text(&out, c > 0 ? ',' : '\0', name, strlen(name));
        types[c] = type != NULL ? *type : '\0';
    }
    for (; status == SQLITE_ROW && !out.failed; status = sqlite3_step(statement))
        for (int c = 0; c < columns; c++)
            put_cell(&out, c > 0 ? ',' : '\n', sqlite3_column_value(statement, c), types[c]);
    put_text(&out, '\n', NULL, 0);
    free(types);
    if (!out_close_file(&out, path))
        return refuse(tables, path, strerror(errno));
    return status == SQLITE_DONE || refuse_sql(tables);
}

static bool write_csv(struct tables *tables, const char *name, const char *select, bool *has_rows)
{
    char *path = sqlite3_mprintf("%s/%s.csv", tables->output, name);
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(tables->database.sqlite, select, -1, &statement, NULL);
    bool ok;
    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    *has_rows = status == SQLITE_ROW;
    ok = *has_rows ? write_rows(tables, statement, path) : status == SQLITE_DONE || refuse_sql(tables);
    sqlite3_finalize(statement);
    sqlite3_free(path);
    return ok;
}

static bool write_sqlite(struct tables *tables, const char *name, const char *select, bool *has_rows)
{
    sqlite3_stmt *statement = NULL;
    bool ok = run(tables, sqlite3_mprintf("CREATE TABLE out.\"%w\" AS %s", name, select));
    char *first = sqlite3_mprintf("SELECT 1 FROM out.\"%w\"", name);
    *has_rows = ok && sqlite3_prepare_v2(tables->database.sqlite, first, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    sqlite3_free(first);
    return ok && (*has_rows || run(tables, sqlite3_mprintf("DROP TABLE out.\"%w\"", name)));
}

static bool write_parquet(struct tables *tables, const char *name, const char *select, bool *has_rows)
{
    char *sql = sqlite3_mprintf("COPY (%s) TO '%q/%q.parquet' (FORMAT parquet, COMPRESSION zstd)", select,
                                tables->output, name);
    bool ok = duck_run(tables->duck, sql, NULL, NULL, tables->fail);
    *has_rows = true;
    sqlite3_free(sql);
    return ok;
}

/* Writes the relations; adds to PLACES queries for addresses in events, and to VIEW those for all events. */
static bool write_relations(struct tables *tables, sqlite3_str *places, sqlite3_str *view)
{
    const struct catalog *catalog = &tables->database.catalog;
    bool ok = true, has_rows;
    for (unsigned i = 0; i < catalog->count && ok; i++) {
        const struct relation *relation = &catalog->relations[i];
        bool is_event = relation->source == SOURCE_EVENT;
        char *select = sqlite3_mprintf("SELECT * FROM \"%w\"", relation->name);
        if (tables->write != write_sqlite && strchr(relation->name, '/') != NULL)
            ok = fail_set(tables->fail, "event '%s': its name cannot be a file name", relation->name);
        else if (tables->duck != NULL || !is_event || relation->type != NULL)
            ok = tables->write(tables, relation->name, select, &has_rows);
        else
            has_rows = false; /* the others have these rows */
        sqlite3_free(select);
        if (!ok || !has_rows || !is_event)
            continue;
        if (relation->ip != NULL)
            sqlite3_str_appendf(places,
                                "%s SELECT vpid AS pid, ip AS address FROM main.\"%w\" WHERE vpid NOTNULL",
                                sqlite3_str_length(places) > 0 ? " UNION" : "", relation->name);
        sqlite3_str_appendf(view, "%s SELECT ts, cpu_id, vpid, vtid, procname, %Q AS name FROM \"%w\"",
                            sqlite3_str_length(view) > 0 ? " UNION ALL" : "CREATE VIEW out.event AS",
                            relation->name, relation->name);
    }
    return ok;
}

/* For queries by time. */
static bool make_indexes(struct tables *tables)
{
    static const char *const indexes[][2] = {
        {"thread_state", "tid, ts"}, {"activity", "name, ts"}, {"place", "pid, address"}};
    for (unsigned i = 0; i < sizeof(indexes) / sizeof(indexes[0]); i++)
        if (sqlite3_table_column_metadata(tables->database.sqlite, "out", indexes[i][0], NULL, NULL, NULL,
                                          NULL, NULL, NULL) == SQLITE_OK &&
            !run(tables, sqlite3_mprintf("CREATE INDEX out.%s_index ON %s (%s)", indexes[i][0], indexes[i][0],
                                         indexes[i][1])))
            return false;
    return true;
}

/* No journal is needed: the file is created as a whole, and has no other users meanwhile. A path with a
 * directory is never one of SQLite's special names: "", :memory:, file:... */
static bool open_file(struct tables *tables)
{
    return run(tables, sqlite3_mprintf("ATTACH '%s%q' AS out; PRAGMA out.journal_mode = OFF; "
                                       "PRAGMA out.synchronous = OFF; BEGIN",
                                       *tables->output == '/' ? "" : "./", tables->output));
}

static bool close_file(struct tables *tables)
{
    int was_moved = 0;
    return make_indexes(tables) && run(tables, sqlite3_mprintf("COMMIT")) &&
           (sqlite3_file_control(tables->database.sqlite, "out", SQLITE_FCNTL_HAS_MOVED, &was_moved) !=
                SQLITE_OK ||
            !was_moved || refuse(tables, tables->output, "it was removed or replaced meanwhile"));
}

/* The first walk reports losses, for all of them. */
static bool write_all(struct tables *tables)
{
    const bool is_file = tables->write == write_sqlite;
    sqlite3_str *places = sqlite3_str_new(NULL), *view = sqlite3_str_new(NULL);
    bool ok = database_final(&tables->database) != NULL;
    tables->database.source.reporter = NULL;
    if (ok && !is_file && mkdir(tables->output, 0777) != 0)
        ok = refuse(tables, tables->output, strerror(errno));
    ok = ok && (!is_file || open_file(tables)) && write_relations(tables, places, view);
    char *addresses = sqlite3_str_finish(places), *all = sqlite3_str_finish(view);
    if (ok && tables->duck == NULL && addresses != NULL) {
        char *select = sqlite3_mprintf("SELECT pid, address, symbol(pid, address) AS function, "
                                       "symbol(pid, address, 'executable') AS executable FROM (%s)",
                                       addresses);
        bool has_rows;
        ok = tables->write(tables, "place", select, &has_rows);
        sqlite3_free(select);
    }
    if (ok && is_file)
        ok = (all == NULL || run(tables, sqlite3_mprintf("%s", all))) && close_file(tables);
    sqlite3_free(addresses);
    sqlite3_free(all);
    return ok;
}

/* Arguments as of an export_function. */
static bool export_tables(write_function *write, const struct scan_source *source, const char *output,
                          const char **nothing, struct fail *fail)
{
    struct tables tables = {.output = output, .fail = fail, .write = write};
    struct database *database = &tables.database;
    bool ok;
    if (write == write_parquet && (tables.duck = duck_open(fail)) == NULL)
        return false;
    ok = database_open(database, source, fail) &&
         (tables.duck == NULL || duck_relations(tables.duck, database, fail)) && write_all(&tables);
    if (database->analysis != NULL) {
        analyses_finish(&database->analysis, 1);
        *nothing = analysis_has_nothing(database->analysis);
    }
    duck_close(tables.duck);
    database_close(database);
    return ok;
}

struct format {
    const char *what;
    const char *suffix;      /* of the default output name */
    export_function *export; /* NULL: the relations, by this: */
    write_function *write;
};
static const char *const names[] = {"perfetto", "chrome", "csv", "sqlite", "parquet", NULL};
static const struct format formats[] = {
    {"a protobuf trace for ui.perfetto.dev and trace_processor", "perfetto-trace", export_perfetto, NULL},
    {"JSON trace events, for chrome://tracing, Perfetto, speedscope", "json", export_chrome, NULL},
    {"a directory of tables: one per event type, and tables of the model's results", "csv", NULL, write_csv},
    {"a database with the same tables", "sqlite", NULL, write_sqlite},
    {"a directory of the relations as Parquet files; needs DuckDB (make duckdb)", "parquet", NULL,
     write_parquet},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

struct options {
    struct filter filter;
    unsigned format; /* its place; FORMATS: not given */
    const char *directory, *output;
    char default_output[PATH_MAX];
};

static const struct command_option known[] = {
    {WORD("format", "FORMAT", struct options, format, names, "the format to write")},
    {TEXT("output", "PATH", struct options, output,
          "where to write; must not exist (default: DIRECTORY.SUFFIX)"),
     .letter = 'o'},
    {.name = NULL}};

static void describe_formats(struct page *page, const struct command *self)
{
    page_heading(page, "Formats");
    for (unsigned i = 0; i < FORMATS; i++) {
        char text[200];
        snprintf(text, sizeof(text), "%s (.%s)", formats[i].what, formats[i].suffix);
        page_entry(page, names[i], NULL, text);
    }
}

static void choose_output(struct options *options)
{
    size_t length = strlen(options->directory);
    while (length > 1 && options->directory[length - 1] == '/')
        length--;
    snprintf(options->default_output, sizeof(options->default_output), "%.*s.%s", (int)length,
             options->directory, formats[options->format].suffix);
    options->output = options->default_output;
}

static int export_trace(struct options *options, const struct trace *trace)
{
    const struct format *format = &formats[options->format];
    const char *nothing = NULL;
    struct losses losses;
    struct scan_source source = {.trace = trace,
                                 .filter = &options->filter,
                                 .symbols = symbols_open(options->directory, NULL),
                                 .reporter = &losses.reporter,
                                 .losses = &losses};
    struct fail fail = {.text = ""};
    losses_open(&losses, trace);
    losses.quiet = true;
    losses_judge(&losses);
    const bool ok = format->export != NULL
                        ? format->export(&source, options->output, &nothing, &fail)
                        : export_tables(format->write, &source, options->output, &nothing, &fail);
    symbols_close(source.symbols);
    if (!ok)
        return fail_report(&fail, EXIT_USAGE);
    model_lacks(&trace->schema, false, losses.lacks, sizeof(losses.lacks));
    if (nothing != NULL)
        complain("%s: %s", options->directory, nothing);
    losses_summary(&losses);
    losses_durations(&losses);
    printf("%s\n", options->output);
    return losses_status(&losses);
}

static int run_export(int argc, char **argv)
{
    struct options options = {.format = FORMATS};
    struct trace trace;
    struct fail fail;
    int status = command_parse(&export_command, (void *[]){&options, &options.filter}, argc, argv);
    if (status >= 0)
        return status;
    if (options.format == FORMATS)
        return complain_of_words(&export_command,
                                 "--format is missing: perfetto, chrome, csv, sqlite or parquet");
    options.directory = argv[optind];
    if (options.output == NULL)
        choose_output(&options);
    if (!trace_open(&trace, options.directory, &fail))
        return fail_report(&fail, EXIT_DAMAGE);
    if ((access(options.output, F_OK) != 0 ||
         fail_set(&fail, "'%s' exists; choose another path with --output", options.output)) &&
        filter_resolve(&options.filter, &trace, &fail))
        status = export_trace(&options, &trace);
    else
        status = fail_report(&fail, EXIT_USAGE);
    filter_free(&options.filter);
    trace_close(&trace);
    return status;
}

const struct command export_command =
    COMMAND("export", "write a trace in the format of another tool", "--format FORMAT [OPTION]... DIRECTORY",
            1, 1, run_export, describe_formats, {NULL, known}, {"Events to export", filter_options});
