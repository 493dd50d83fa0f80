/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.c - CSV and SQLite: the relations that have rows, all in one walk; see export.h.
 *
 * A relation's file or table is made with its first row.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <tools/tarn/export/export.h>
#include <tools/tarn/out.h>
#include <tools/tarn/print/print_value.h>
#include <tools/tarn/sql/database.h>

struct tables {
    struct database database;
    const char *output;
    bool is_csv, has_failed; /* has_failed: FAIL says why */
    struct fail *fail;
};

struct relation_table {
    struct relation_sink sink; /* first */
    struct tables *tables;
    bool is_made;
    struct out out;       /* of CSV: the file */
    char path[PATH_MAX];  /* of that */
    sqlite3_stmt *insert; /* of SQLite */
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

/* ---- CSV ---- */

/* BEFORE: a comma, or the end of the last line; 0: the file begins. */
static void put_value(struct out *out, char before, struct value value)
{
    size_t length = value.kind == VALUE_TEXT ? value.length : 0;
    char *at = out_reserve(out, 2 * length + PUT_NUMBER_MAX + 4);

    if (before != '\0')
        *at++ = before;
    if (value.kind == VALUE_TEXT)
        at = put_csv_text(at, value.text, length);
    else if (value.kind == VALUE_SIGNED)
        at = put_signed(at, (int64_t)value.number);
    else if (value.kind == VALUE_HEX)
        at = put_hex(at, value.number, hex_lower);
    else if (value.kind == VALUE_UNSIGNED)
        at = put_unsigned(at, value.number);
    out_commit(out, at);
}

static bool open_file(const struct tables *tables, const char *name, struct out *out, char path[PATH_MAX])
{
    if (strchr(name, '/') != NULL)
        return fail_set(tables->fail, "event '%s': its name cannot be a file name", name);
    snprintf(path, PATH_MAX, "%s/%s.csv", tables->output, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return refuse(tables, path, strerror(errno));
    out_open(out, fd, 0);
    return true;
}

static bool close_file(const struct tables *tables, struct out *out, const char *path)
{
    put_value(out, '\n', (struct value){.kind = VALUE_NULL});
    return out_close_file(out, path) || refuse(tables, path, strerror(errno));
}

/* Writes the rows of SELECT: a number, an address, then texts. */
static bool write_places(struct tables *tables, const char *select)
{
    sqlite3_stmt *statement = NULL;
    char path[PATH_MAX];
    struct out out;

    if (sqlite3_prepare_v2(tables->database.sqlite, select, -1, &statement, NULL) != SQLITE_OK)
        return refuse_sql(tables);
    if (!open_file(tables, "place", &out, path)) {
        sqlite3_finalize(statement);
        return false;
    }
    for (int c = 0; c < sqlite3_column_count(statement); c++)
        put_value(&out, c > 0 ? ',' : '\0', value_text(sqlite3_column_name(statement, c)));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        put_value(&out, '\n', VALUE_NUMBER((uint64_t)sqlite3_column_int64(statement, 0)));
        put_value(&out, ',', VALUE_OF(VALUE_HEX, sqlite3_column_int64(statement, 1)));
        for (int c = 2; c < sqlite3_column_count(statement); c++)
            put_value(&out, ',', value_text((const char *)sqlite3_column_text(statement, c)));
    }
    sqlite3_finalize(statement);
    return close_file(tables, &out, path);
}

/* ---- rows of relations ---- */

static bool make_file(struct relation_table *table)
{
    const struct relation *relation = table->sink.relation;

    if (!open_file(table->tables, relation->name, &table->out, table->path))
        return false;
    for (unsigned c = 0; c < relation->column_count && relation->columns[c].parameter == 0; c++)
        put_value(&table->out, c > 0 ? ',' : '\0', value_text(relation->columns[c].name));
    return true;
}

/* The columns are those of SELECT *, which leaves out the parameters: they come last. */
static bool make_table(struct relation_table *table)
{
    struct tables *tables = table->tables;
    const struct relation *relation = table->sink.relation;
    sqlite3_str *sql = sqlite3_str_new(NULL);

    sqlite3_str_appendf(sql, "INSERT INTO out.\"%w\" VALUES (?", relation->name);
    for (unsigned c = 1; c < relation->column_count && relation->columns[c].parameter == 0; c++)
        sqlite3_str_appendall(sql, ", ?");
    sqlite3_str_appendall(sql, ")");
    char *insert = sqlite3_str_finish(sql);
    bool ok = run(tables, sqlite3_mprintf("CREATE TABLE out.\"%w\" AS SELECT * FROM main.\"%w\" LIMIT 0",
                                          relation->name, relation->name)) &&
              (sqlite3_prepare_v2(tables->database.sqlite, insert, -1, &table->insert, NULL) == SQLITE_OK ||
               refuse_sql(tables));
    sqlite3_free(insert);
    return ok;
}

/* SQLite's integers are signed: an address from 2^63 on is the negative number with the same bits. Texts of a
 * row may share a buffer. */
static void bind_value(sqlite3_stmt *insert, int place, struct value value)
{
    if (value.kind == VALUE_TEXT)
        sqlite3_bind_text(insert, place, value.text, (int)value.length, SQLITE_TRANSIENT);
    else if (value.kind == VALUE_NULL)
        sqlite3_bind_null(insert, place);
    else
        sqlite3_bind_int64(insert, place, (sqlite3_int64)value.number);
}

static bool insert_row(const struct relation_table *table)
{
    int status = sqlite3_step(table->insert);

    sqlite3_reset(table->insert);
    return status == SQLITE_DONE || refuse_sql(table->tables);
}

static void take_row(struct relation_sink *self, const struct relation_row *row)
{
    struct relation_table *table = OUTER(self, struct relation_table, sink);
    struct tables *tables = table->tables;
    const struct relation *relation = self->relation;

    if (!table->is_made && !tables->has_failed) {
        tables->has_failed = !(tables->is_csv ? make_file : make_table)(table);
        table->is_made = !tables->has_failed;
    }
    if (tables->has_failed)
        return;
    for (unsigned c = 0; c < relation->column_count && relation->columns[c].parameter == 0; c++) {
        struct value value =
            value_plain(&tables->database.source.trace->schema, relation_value(row, &relation->columns[c]));

        if (!tables->is_csv)
            bind_value(table->insert, (int)c + 1, value);
        else
            put_value(&table->out, c > 0 ? ',' : '\n', value);
    }
    tables->has_failed = tables->is_csv ? table->out.failed && !refuse(tables, table->path, strerror(errno))
                                        : !insert_row(table);
}

static bool end_table(struct relation_table *table)
{
    sqlite3_finalize(table->insert);
    return !table->is_made || !table->tables->is_csv || close_file(table->tables, &table->out, table->path);
}

/* ---- all ---- */

/* Makes the table of the symbols of addresses in events, and a view of all events. */
static bool add_places(struct tables *tables, const struct relation_table *made)
{
    const struct catalog *catalog = &tables->database.catalog;
    sqlite3_str *places = sqlite3_str_new(NULL), *view = sqlite3_str_new(NULL);

    for (unsigned i = catalog->own; i < catalog->count; i++) {
        const struct relation *relation = &catalog->relations[i];

        if (!made[i].is_made)
            continue;
        if (relation->ip != NULL)
            sqlite3_str_appendf(places,
                                "%s SELECT vpid AS pid, ip AS address FROM %s.\"%w\" WHERE vpid NOTNULL",
                                sqlite3_str_length(places) > 0 ? " UNION" : "",
                                tables->is_csv ? "main" : "out", relation->name);
        sqlite3_str_appendf(view, "%s SELECT ts, cpu_id, vpid, vtid, procname, %Q AS name FROM \"%w\"",
                            sqlite3_str_length(view) > 0 ? " UNION ALL" : "CREATE VIEW out.event AS",
                            relation->name, relation->name);
    }
    char *addresses = sqlite3_str_finish(places), *all = sqlite3_str_finish(view);
    char *select = sqlite3_mprintf("SELECT pid, address, symbol(pid, address) AS function, "
                                   "symbol(pid, address, 'executable') AS executable FROM (%s)",
                                   addresses);
    bool ok = addresses == NULL || (tables->is_csv ? write_places(tables, select)
                                                   : run(tables, sqlite3_mprintf("CREATE TABLE out.place AS "
                                                                                 "%s",
                                                                                 select)));

    sqlite3_free(addresses);
    sqlite3_free(select);
    if (ok && !tables->is_csv && all != NULL)
        return run(tables, all);
    sqlite3_free(all);
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

/* No journal is needed: the file is created as a whole, and has no other users meanwhile. CSV needs a file
 * for each relation at once. */
static bool open_output(struct tables *tables)
{
    struct rlimit files;

    if (!tables->is_csv)
        return run(tables, sqlite3_mprintf("ATTACH %Q AS out; PRAGMA out.journal_mode = OFF; "
                                           "PRAGMA out.synchronous = OFF; BEGIN",
                                           tables->output));
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    return mkdir(tables->output, 0777) == 0 || refuse(tables, tables->output, strerror(errno));
}

static bool close_output(struct tables *tables)
{
    int was_moved = 0;

    if (tables->is_csv)
        return true;
    return make_indexes(tables) && run(tables, sqlite3_mprintf("COMMIT")) &&
           (sqlite3_file_control(tables->database.sqlite, "out", SQLITE_FCNTL_HAS_MOVED, &was_moved) !=
                SQLITE_OK ||
            !was_moved || refuse(tables, tables->output, "it was removed or replaced meanwhile"));
}

static void give_final_rows(struct tables *tables, struct relation_table *table)
{
    struct relation_row row = {.item = NULL};
    bool is_one;

    for (uint64_t n = 0;
         relations_final(&tables->database.relations, table->sink.relation->source, n, &row, &is_one); n++)
        if (is_one)
            take_row(&table->sink, &row);
}

static bool write_all(struct tables *tables, struct model *model, struct relation_table *made)
{
    const struct catalog *catalog = &tables->database.catalog;
    struct relations *relations = &tables->database.relations;
    bool ok = true;

    for (unsigned i = 0; i < catalog->count; i++) {
        made[i] = (struct relation_table){.sink = {.relation = &catalog->relations[i], .take = take_row},
                                          .tables = tables};
        if (catalog->relations[i].source < SOURCE_STREAMS &&
            (catalog->relations[i].source != SOURCE_EVENT || catalog->relations[i].type != NULL))
            relations_add(relations, &made[i].sink);
    }
    relations_observe(relations);
    model_walk_trace(model, tables->database.source.reporter, NULL);
    relations_finish(relations);
    tables->database.source.reporter = NULL; /* other scans need not report losses again */
    for (unsigned i = 0; i < catalog->own; i++)
        if (catalog->relations[i].source >= SOURCE_STREAMS)
            give_final_rows(tables, &made[i]);
    for (unsigned i = 0; i < catalog->count; i++)
        ok = end_table(&made[i]) && ok;
    return ok && !tables->has_failed && add_places(tables, made);
}

static bool export_tables(const struct scan_source *source, bool is_csv, const char *output,
                          const char **nothing, struct fail *fail)
{
    struct tables tables = {.output = output, .is_csv = is_csv, .fail = fail};
    struct database *database = &tables.database;
    struct model model;
    struct analysis *analysis = analysis_plain(source->trace, source->filter, source->symbols, &model);
    bool ok = database_open(database, source, fail) && open_output(&tables);
    struct relation_table *made = alloc_zero(database->catalog.count, sizeof(*made));

    database_own(database, analysis);
    database->relations.losses = source->losses;
    ok = ok && write_all(&tables, &model, made) && close_output(&tables);
    database_close(database);
    analyses_finish(&analysis, 1);
    *nothing = analysis_has_nothing(analysis);
    analysis_free(analysis);
    model_close(&model);
    free(made);
    return ok;
}

bool export_csv(const struct scan_source *source, const char *output, const char **nothing, struct fail *fail)
{
    return export_tables(source, true, output, nothing, fail);
}

bool export_sqlite(const struct scan_source *source, const char *output, const char **nothing,
                   struct fail *fail)
{
    return export_tables(source, false, output, nothing, fail);
}
