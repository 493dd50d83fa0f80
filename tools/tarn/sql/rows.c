/* rows.c - virtual tables of SQLite; see database.h. */
#include <tools/tarn/sql/database.h>

struct rows_module {
    struct database *database;
    const struct rows_kind *kind;
    void *data;
};

struct rows_table {
    sqlite3_vtab base; /* first: SQLite's */
    const struct rows_module *module;
    void *table;
};

/* What begins with SQLite's BASE. */
#define TABLE_OF(base)  ((struct rows_table *)(void *)(base))
#define CURSOR_OF(base) ((struct rows_cursor *)(void *)(base))

static const struct rows_kind *kind_of(const struct rows_cursor *cursor)
{
    return TABLE_OF(cursor->base.pVtab)->module->kind;
}

static int disconnect(sqlite3_vtab *base)
{
    struct rows_table *table = TABLE_OF(base);
    if (table->module->kind->drop != NULL && table->table != NULL)
        table->module->kind->drop(table->table);
    sqlite3_free(table);
    return SQLITE_OK;
}

static int connect(sqlite3 *sqlite, void *data, int argc, const char *const *argv, sqlite3_vtab **made,
                   char **error)
{
    const struct rows_module *module = data;
    struct rows_table *table = sqlite3_malloc(sizeof(*table));
    sqlite3_str *sql = sqlite3_str_new(sqlite);
    int status = SQLITE_ERROR;
    char *text;
    if (table == NULL)
        return SQLITE_NOMEM;
    sqlite3_str_appendall(sql, "CREATE TABLE x(");
    *table = (struct rows_table){
        .module = module,
        .table = module->kind->connect(module->database, module->data, argc, argv, sql, error)};
    sqlite3_str_appendall(sql, ")");
    text = sqlite3_str_finish(sql);
    if (table->table != NULL)
        status = text != NULL ? sqlite3_declare_vtab(sqlite, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    *made = &table->base;
    if (status != SQLITE_OK)
        disconnect(&table->base);
    return status;
}

static int choose_plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct rows_kind *kind = TABLE_OF(base)->module->kind;
    info->estimatedCost = info->estimatedRows = 1000;
    return kind->plan != NULL ? kind->plan(TABLE_OF(base)->table, info) : SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    struct rows_cursor *cursor = sqlite3_malloc(sizeof(*cursor));
    if (cursor == NULL)
        return SQLITE_NOMEM;
    *cursor =
        (struct rows_cursor){.database = TABLE_OF(base)->module->database, .table = TABLE_OF(base)->table};
    *made = &cursor->base;
    return SQLITE_OK;
}

static void end(struct rows_cursor *cursor)
{
    if (cursor->state != NULL && kind_of(cursor)->end != NULL)
        kind_of(cursor)->end(cursor);
    cursor->state = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    end(CURSOR_OF(base));
    sqlite3_free(base);
    return SQLITE_OK;
}

static int move(struct rows_cursor *cursor)
{
    char **error = &cursor->base.pVtab->zErrMsg;
    cursor->is_row = kind_of(cursor)->move(cursor, error);
    return cursor->is_row           ? SQLITE_OK
           : *error != NULL         ? SQLITE_ERROR
           : cursor->database->stop ? SQLITE_INTERRUPT
                                    : SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
    CURSOR_OF(base)->number++;
    return move(CURSOR_OF(base));
}

static int begin(sqlite3_vtab_cursor *base, int number, const char *plan, int argc, sqlite3_value **argv)
{
    struct rows_cursor *cursor = CURSOR_OF(base);
    int status;
    end(cursor);
    cursor->number = 0;
    status = kind_of(cursor)->begin(cursor, plan, argc, argv, &base->pVtab->zErrMsg);
    return status == SQLITE_OK ? move(cursor) : status;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    return !CURSOR_OF(base)->is_row;
}

static int column_value(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    kind_of(CURSOR_OF(base))->value(CURSOR_OF(base), context, (unsigned)column);
    return SQLITE_OK;
}

static int row_number(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
    *number = (sqlite3_int64)CURSOR_OF(base)->number;
    return SQLITE_OK;
}

int rows_register(struct database *database, const char *name, const struct rows_kind *kind, void *data)
{
    static const sqlite3_module methods = {.xCreate = connect,
                                           .xConnect = connect,
                                           .xBestIndex = choose_plan,
                                           .xDisconnect = disconnect,
                                           .xDestroy = disconnect,
                                           .xOpen = open_cursor,
                                           .xClose = close_cursor,
                                           .xFilter = begin,
                                           .xNext = next_row,
                                           .xEof = is_at_end,
                                           .xColumn = column_value,
                                           .xRowid = row_number};
    struct rows_module *module = arena_alloc(&database->arena, sizeof(*module));
    *module = (struct rows_module){database, kind, data};
    return sqlite3_create_module(database->sqlite, name, &methods, module);
}
