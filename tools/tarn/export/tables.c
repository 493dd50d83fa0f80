/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.c - CSV and SQLite, by one statement of SQL for each relation (sql/database.h); see tables.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <tools/tarn/export/tables.h>
#include <tools/tarn/out.h>
#include <tools/tarn/output.h>
#include <tools/tarn/sql/database.h>

struct tables {
    struct database database;
    const char *output;
    bool is_csv;
    struct fail *fail;
};

static bool refuse(const struct tables *tables, const char *path, const char *why)
{
    return fail_set(tables->fail, "cannot write '%s': %s", path, why);
}

static bool refuse_sql(const struct tables *tables)
{
    return refuse(tables, tables->output, sqlite3_errmsg(tables->database.sqlite));
}

/* The statements are freed, here and below. */
static bool run(struct tables *tables, char *sql)
{
    bool ok = sqlite3_exec(tables->database.sqlite, sql, NULL, NULL, NULL) == SQLITE_OK || refuse_sql(tables);

    sqlite3_free(sql);
    return ok;
}

static bool has_rows(struct tables *tables, char *select)
{
    sqlite3_stmt *statement = NULL;
    bool has = sqlite3_prepare_v2(tables->database.sqlite, select, -1, &statement, NULL) == SQLITE_OK &&
               sqlite3_step(statement) == SQLITE_ROW;

    sqlite3_finalize(statement);
    sqlite3_free(select);
    return has;
}

/* ---- CSV ---- */

static char *put_csv_text(char *at, const char *text, size_t length)
{
    bool is_plain = true;

    for (size_t i = 0; i < length; i++)
        is_plain &= text[i] != ',' && text[i] != '"' && text[i] != '\n' && text[i] != '\r';
    if (is_plain)
        return put_bytes(at, text, length);
    *at++ = '"';
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            *at++ = '"';
        *at++ = text[i];
    }
    *at++ = '"';
    return at;
}

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
    bool is_written = out_close(out);
    int error = errno;
    bool is_there = output_close(out->fd, path);
    return (is_written && is_there) || refuse(tables, path, strerror(is_written ? errno : error));
}

static bool write_relation(struct tables *tables, const struct relation *relation)
{
    const struct scan_limits limits = {.from_ns = INT64_MIN, .to_ns = INT64_MAX, .columns = UINT64_MAX};
    struct scan *scan = scan_open(&tables->database.source, relation, &limits, tables->fail);
    bool is_open = false, goes_on = scan != NULL && scan_next(scan), ok = scan != NULL;
    char path[PATH_MAX];
    struct out out;

    if (goes_on)
        is_open = ok = goes_on = open_file(tables, relation->name, &out, path);
    for (unsigned c = 0; is_open && c < relation->column_count; c++)
        if (relation->columns[c].parameter == 0)
            put_value(&out, c > 0 ? ',' : '\0', value_text(relation->columns[c].name));
    for (; goes_on; goes_on = scan_next(scan) && !out.failed) {
        char before = '\n';

        for (unsigned c = 0; c < relation->column_count; c++)
            if (relation->columns[c].parameter == 0) {
                put_value(&out, before, scan_value(scan, c));
                before = ',';
            }
    }
    if (scan != NULL)
        scan_close(scan);
    return is_open ? close_file(tables, &out, path) : ok;
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

/* ---- both ---- */

/* Copies what SELECT gives as table NAME. */
static bool make_table(struct tables *tables, const char *name, const char *select)
{
    return run(tables, sqlite3_mprintf("CREATE TABLE out.\"%w\" AS %s", name, select));
}

/* Copies RELATION unless it has no rows. SQLite's integers are signed: an address from 2^63 on is the
 * negative number with the same bits. */
static bool copy_relation(struct tables *tables, const struct relation *relation)
{
    char *select = sqlite3_mprintf("SELECT * FROM main.\"%w\"", relation->name);
    bool ok = tables->is_csv ? write_relation(tables, relation) : make_table(tables, relation->name, select);

    sqlite3_free(select);
    return ok &&
           (tables->is_csv || has_rows(tables, sqlite3_mprintf("SELECT 1 FROM out.\"%w\"", relation->name)) ||
            run(tables, sqlite3_mprintf("DROP TABLE out.\"%w\"", relation->name)));
}

static bool copy_places(struct tables *tables, const char *addresses)
{
    char *select = sqlite3_mprintf("SELECT pid, address, symbol(pid, address) AS function, "
                                   "symbol(pid, address, 'executable') AS executable FROM (%s)",
                                   addresses);
    bool ok = tables->is_csv ? write_places(tables, select) : make_table(tables, "place", select);

    sqlite3_free(select);
    return ok;
}

/* PREFIX: of the first of several parts of a SELECT. */
static const char *link_of(sqlite3_str *sql, const char *prefix, const char *link)
{
    return sqlite3_str_length(sql) == 0 ? prefix : link;
}

/* Copies events by type and the symbols of their addresses, and makes a view of all events. */
static bool copy_events(struct tables *tables)
{
    const struct catalog *catalog = &tables->database.catalog;
    sqlite3_str *places = sqlite3_str_new(NULL), *view = sqlite3_str_new(NULL);
    bool ok = true;

    for (unsigned i = catalog->own; ok && i < catalog->count; i++) {
        const struct relation *relation = &catalog->relations[i];

        if (!has_rows(tables, sqlite3_mprintf("SELECT 1 FROM occurring WHERE name = %Q", relation->name)))
            continue;
        ok = copy_relation(tables, relation);
        if (relation->ip != NULL)
            sqlite3_str_appendf(
                places, "%s SELECT vpid AS pid, ip AS address FROM %s.\"%w\" WHERE vpid NOTNULL",
                link_of(places, "", " UNION"), tables->is_csv ? "main" : "out", relation->name);
        sqlite3_str_appendf(view, "%s SELECT ts, cpu_id, vpid, vtid, procname, %Q AS name FROM \"%w\"",
                            link_of(view, "CREATE VIEW out.event AS", " UNION ALL"), relation->name,
                            relation->name);
    }
    char *addresses = sqlite3_str_finish(places), *all = sqlite3_str_finish(view);
    if (ok && addresses != NULL)
        ok = copy_places(tables, addresses);
    sqlite3_free(addresses);
    if (tables->is_csv || all == NULL || !ok) {
        sqlite3_free(all);
        return ok;
    }
    return run(tables, all);
}

/* For queries by time. */
static bool make_indexes(struct tables *tables)
{
    static const char *const indexes[][2] = {
        {"thread_state", "tid, ts"}, {"activity", "name, ts"}, {"place", "pid, address"}};

    for (unsigned i = 0; i < sizeof(indexes) / sizeof(indexes[0]); i++) {
        const char *table = indexes[i][0];

        if (has_rows(tables, sqlite3_mprintf("SELECT 1 FROM out.sqlite_master WHERE name = %Q", table)) &&
            !run(tables,
                 sqlite3_mprintf("CREATE INDEX out.%s_index ON %s (%s)", table, table, indexes[i][1])))
            return false;
    }
    return true;
}

/* No journal is needed: the file is created as a whole, and has no other users meanwhile. */
static bool open_output(struct tables *tables)
{
    if (tables->is_csv)
        return mkdir(tables->output, 0777) == 0 || refuse(tables, tables->output, strerror(errno));
    return run(tables, sqlite3_mprintf("ATTACH %Q AS out; PRAGMA out.journal_mode = OFF; "
                                       "PRAGMA out.synchronous = OFF; BEGIN",
                                       tables->output));
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

/* The first statement walks the whole trace, which reports what is lost; the others need not report it
 * again. */
static bool copy_all(struct tables *tables)
{
    const struct catalog *catalog = &tables->database.catalog;
    bool ok =
        database_run(&tables->database, "CREATE VIRTUAL TABLE occurring USING fold(event, by name, count)",
                     tables->fail) &&
        database_final(&tables->database) != NULL;

    tables->database.source.reporter = NULL;
    tables->database.source.final = &tables->database.relations;
    ok = ok && open_output(tables);
    for (unsigned i = 0; ok && i < catalog->own; i++)
        if (catalog->relations[i].source != SOURCE_EVENT)
            ok = copy_relation(tables, &catalog->relations[i]);
    return ok && copy_events(tables) && close_output(tables);
}

bool tables_export(const struct scan_source *source, bool is_csv, const char *output, const char **nothing,
                   struct fail *fail)
{
    struct tables tables = {.output = output, .is_csv = is_csv, .fail = fail};
    bool ok = database_open(&tables.database, source, fail) && copy_all(&tables);

    if (ok)
        *nothing = analysis_has_nothing(tables.database.analysis);
    database_close(&tables.database);
    return ok;
}
