/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sqlite.c - a database with the relations of a trace (tables.h), and a view `event` of all events.
 *
 * SQLite's integers are signed, with 64 bits: an address from 2^63 on is stored as the negative number with
 * the same bits, and printf('0x%x', address) shows it correctly.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/export/tables.h>
#include <unistd.h>

struct sqlite {
    struct tables tables;
    sqlite3 *database;
    sqlite3_stmt **inserts; /* by table; NULL: no row yet */
};

static bool run(struct sqlite *sqlite, const char *sql)
{
    if (sqlite3_exec(sqlite->database, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    export_fail(&sqlite->tables.export, "cannot write '%s': %s", sqlite->tables.export.output,
                sqlite3_errmsg(sqlite->database));
    return false;
}

/* No journal is needed: the file is created as a whole, and has no other users meanwhile. */
static bool open_database(struct tables *tables, struct fail *fail)
{
    struct sqlite *sqlite = EXPORT_OF(tables, struct sqlite);
    const char *path = tables->export.output;

    if (access(path, F_OK) == 0)
        return fail_set(fail, "'%s' exists", path);
    if (sqlite3_open_v2(path, &sqlite->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
        SQLITE_OK)
        return fail_set(fail, "cannot write '%s': %s", path, sqlite3_errmsg(sqlite->database));
    sqlite->inserts =
        arena_alloc(&tables->export.analysis.arena, tables->catalog.count * sizeof(sqlite->inserts[0]));
    if (!run(sqlite, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")) {
        *fail = tables->export.fail;
        return false;
    }
    return true;
}

/* Adds a name or text in quotes. Event names come from the trace and may contain anything. */
static void add_quoted(struct buffer *sql, const char *text, char mark)
{
    buffer_add(sql, &mark, 1);
    for (; *text != '\0'; text++) {
        if (*text == mark)
            buffer_add(sql, &mark, 1);
        buffer_add(sql, text, 1);
    }
    buffer_add(sql, &mark, 1);
}

static void add_name(struct buffer *sql, const char *name)
{
    add_quoted(sql, name, '"');
}

static bool run_buffer(struct sqlite *sqlite, struct buffer *sql)
{
    bool ok;

    buffer_add(sql, "", 1);
    ok = run(sqlite, (const char *)sql->bytes);
    free(sql->bytes);
    return ok;
}

static sqlite3_stmt *make_table(struct sqlite *sqlite, const struct relation *table)
{
    struct buffer sql = {0};
    sqlite3_stmt *insert = NULL;

    buffer_text(&sql, "CREATE TABLE ");
    add_name(&sql, table->name);
    for (unsigned c = 0; c < table->column_count; c++) {
        buffer_text(&sql, c == 0 ? "(" : ", ");
        add_name(&sql, table->columns[c].name);
        buffer_text(&sql, table->columns[c].unit == UNIT_TEXT ? " TEXT" : " INTEGER");
    }
    buffer_text(&sql, ")");
    if (!run_buffer(sqlite, &sql))
        return NULL;
    sql = (struct buffer){0};
    buffer_text(&sql, "INSERT INTO ");
    add_name(&sql, table->name);
    for (unsigned c = 0; c < table->column_count; c++)
        buffer_text(&sql, c == 0 ? " VALUES (?" : ", ?");
    buffer_text(&sql, ")");
    if (sqlite3_prepare_v2(sqlite->database, (const char *)sql.bytes, (int)sql.used, &insert, NULL) !=
        SQLITE_OK)
        export_fail(&sqlite->tables.export, "cannot write '%s': %s", sqlite->tables.export.output,
                    sqlite3_errmsg(sqlite->database));
    free(sql.bytes);
    return insert;
}

static void write_database_row(struct tables *tables, unsigned number, const struct value *values)
{
    struct sqlite *sqlite = EXPORT_OF(tables, struct sqlite);
    const struct relation *table = &tables->catalog.relations[number];
    sqlite3_stmt *insert = sqlite->inserts[number];

    if (insert == NULL)
        insert = sqlite->inserts[number] = make_table(sqlite, table);
    if (insert == NULL)
        return;
    for (unsigned c = 0; c < table->column_count; c++) {
        const struct value *value = &values[c];

        if (value->kind == VALUE_TEXT)
            sqlite3_bind_text(insert, (int)c + 1, value->text, (int)value->length, SQLITE_STATIC);
        else if (value->kind == VALUE_NULL)
            sqlite3_bind_null(insert, (int)c + 1);
        else
            sqlite3_bind_int64(insert, (int)c + 1, (int64_t)value->number);
    }
    if (sqlite3_step(insert) != SQLITE_DONE)
        export_fail(&tables->export, "cannot write '%s': %s", tables->export.output,
                    sqlite3_errmsg(sqlite->database));
    sqlite3_reset(insert);
}

static bool has_rows(const struct sqlite *sqlite, enum relation_source source)
{
    const struct catalog *catalog = &sqlite->tables.catalog;

    return sqlite->inserts[catalog_source(catalog, source) - catalog->relations] != NULL;
}

/* Makes a view of all events with their common columns, and indexes for queries by time. */
static void make_view(struct sqlite *sqlite)
{
    const struct catalog *catalog = &sqlite->tables.catalog;
    struct buffer sql = {0};
    bool is_first = true;

    for (unsigned i = catalog->own; i < catalog->count; i++) {
        if (sqlite->inserts[i] == NULL)
            continue;
        buffer_text(&sql, is_first ? "CREATE VIEW event AS " : " UNION ALL ");
        buffer_text(&sql, "SELECT ts, cpu_id, vpid, vtid, procname, ");
        add_quoted(&sql, catalog->relations[i].name, '\'');
        buffer_text(&sql, " AS name FROM ");
        add_name(&sql, catalog->relations[i].name);
        is_first = false;
    }
    if (is_first)
        return;
    run_buffer(sqlite, &sql);
    if (has_rows(sqlite, SOURCE_STATE))
        run(sqlite, "CREATE INDEX thread_state_by_thread ON thread_state (tid, ts)");
    if (has_rows(sqlite, SOURCE_ACTIVITY))
        run(sqlite, "CREATE INDEX activity_by_name ON activity (name, ts)");
    if (has_rows(sqlite, SOURCE_PLACE))
        run(sqlite, "CREATE INDEX place_by_address ON place (pid, address)");
}

static void finish_database(struct tables *tables)
{
    struct sqlite *sqlite = EXPORT_OF(tables, struct sqlite);

    int was_moved = 0;

    make_view(sqlite);
    if (run(sqlite, "COMMIT") &&
        sqlite3_file_control(sqlite->database, NULL, SQLITE_FCNTL_HAS_MOVED, &was_moved) == SQLITE_OK &&
        was_moved)
        export_fail(&tables->export, "cannot write '%s': it was removed or replaced meanwhile",
                    tables->export.output);
}

static void close_database(struct tables *tables)
{
    struct sqlite *sqlite = EXPORT_OF(tables, struct sqlite);

    for (unsigned i = 0; sqlite->inserts != NULL && i < tables->catalog.count; i++)
        sqlite3_finalize(sqlite->inserts[i]);
    sqlite3_close(sqlite->database);
}

static const struct table_writer writer = {open_database, write_database_row, finish_database,
                                           close_database};

static bool open_sqlite(struct analysis *analysis, struct fail *fail)
{
    return tables_open(EXPORT_OF(analysis, struct tables), &writer, fail);
}

const struct analysis_kind sqlite_export = {.name = "sqlite",
                                            .chooses_events = true,
                                            .size = sizeof(struct sqlite),
                                            .uses_symbols = true,
                                            .open = open_sqlite,
                                            .finish = tables_finish,
                                            .close = tables_close};
