/* database.c - relations as tables of SQLite; see database.h. */
#include <stdio.h>
#include <tools/tarn/sql/database.h>

/* SQLite, which has no unsigned integers, takes a type for an integer that has the letters INT; UINT is for
 * `tarn export`. */
static const char *type_of(const struct relation_column *column)
{
    static const char *const types[RELATION_UNITS] = {"INTEGER", "TEXT", "INTEGER", "INTEGER", "HEXINT"};
    return column->unit == UNIT_NUMBER && column->field != NULL && !column->field->is_signed
               ? "UINT"
               : types[column->unit];
}

static void *connect_table(struct database *database, void *data, int argc, const char *const *argv,
                           sqlite3_str *sql, char **error)
{
    const struct relation *relation = data;
    for (unsigned c = 0; c < relation->column_count; c++)
        sqlite3_str_appendf(
            sql, "%s\"%w\" %s%s", c > 0 ? ", " : "", relation->columns[c].name,
            type_of(&relation->columns[c]),
            relation->columns[c].needs_model || relation->columns[c].parameter != 0 ? " HIDDEN" : "");
    return data;
}

/* The plan is a text of pairs, one for each argument: an operator (= < >) and the column. All are only hints:
 * SQLite checks them again. */
#define PLAN_COLUMN_FIRST '0'

static char sign_of(const struct relation *relation, const struct sqlite3_index_constraint *constraint)
{
    if (!constraint->usable || constraint->iColumn < 0 || constraint->iColumn > 70)
        return '\0';
    const struct relation_column *column = &relation->columns[constraint->iColumn];
    if (constraint->op == SQLITE_INDEX_CONSTRAINT_EQ)
        return column->unit != UNIT_SPAN && column->unit != UNIT_WHEN ? '=' : '\0';
    if (column->unit != UNIT_WHEN || strcmp(column->name, "ts") != 0)
        return '\0';
    return constraint->op == SQLITE_INDEX_CONSTRAINT_GT || constraint->op == SQLITE_INDEX_CONSTRAINT_GE ? '>'
           : constraint->op == SQLITE_INDEX_CONSTRAINT_LT || constraint->op == SQLITE_INDEX_CONSTRAINT_LE
               ? '<'
               : '\0';
}

static int choose_plan(void *table, sqlite3_index_info *info)
{
    const struct relation *relation = table;
    bool is_final = relation->source >= SOURCE_STREAMS;
    sqlite3_str *plan = sqlite3_str_new(NULL);
    int used = 0;
    info->estimatedCost = is_final ? 1e3 : 1e9;
    for (int i = 0; i < info->nConstraint; i++) {
        char sign = sign_of(relation, &info->aConstraint[i]);
        if (sign == '\0' || strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            continue;
        info->aConstraintUsage[i].argvIndex = ++used;
        sqlite3_str_appendf(plan, "%c%c", sign, PLAN_COLUMN_FIRST + info->aConstraint[i].iColumn);
        info->estimatedCost /= 10;
    }
    sqlite3_str_appendf(plan, "!%llx", (unsigned long long)info->colUsed);
    info->estimatedRows = (sqlite3_int64)info->estimatedCost;
    info->orderByConsumed = relation->source == SOURCE_EVENT && info->nOrderBy == 1 &&
                            info->aOrderBy[0].iColumn == 0 && !info->aOrderBy[0].desc;
    info->idxStr = sqlite3_str_finish(plan);
    info->needToFreeIdxStr = 1;
    return info->idxStr != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

/* Returns whether rows can have such a value: numbers are compared with numbers only. */
static bool condition_of(const struct relation *relation, unsigned column, sqlite3_value *wanted,
                         struct scan_condition *condition)
{
    bool is_parameter = relation->columns[column].parameter != 0; /* which is always a text */
    bool is_text = is_parameter || relation->columns[column].unit == UNIT_TEXT;
    int type = sqlite3_value_type(wanted);
    condition->column = column;
    if (type == SQLITE_INTEGER && !is_text)
        condition->value = VALUE_OF(VALUE_SIGNED, sqlite3_value_int64(wanted));
    else if (is_text && (type == SQLITE_TEXT || (type == SQLITE_INTEGER && is_parameter)))
        condition->value =
            VALUE_BYTES((const char *)sqlite3_value_text(wanted), (size_t)sqlite3_value_bytes(wanted));
    else
        return false;
    return true;
}

static void limit_time(struct scan_limits *limits, char sign, sqlite3_value *value)
{
    sqlite3_int64 ns = sqlite3_value_int64(value);
    if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER)
        return;
    if (sign == '>' && ns > limits->from_ns)
        limits->from_ns = ns;
    if (sign == '<' && ns < limits->to_ns && ns != INT64_MAX)
        limits->to_ns = ns;
}

static bool move(struct rows_cursor *cursor, char **error)
{
    return scan_next(cursor->state);
}

static int begin_scan(struct rows_cursor *cursor, const char *plan, int argc, sqlite3_value **argv,
                      char **error)
{
    const struct relation *relation = cursor->table;
    struct scan_limits limits = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};
    struct fail fail;
    for (int i = 0; i < argc; i++, plan += 2)
        if (*plan != '=')
            limit_time(&limits, *plan, argv[i]);
        else if (limits.condition_count < SCAN_CONDITIONS &&
                 condition_of(relation, (unsigned)(plan[1] - PLAN_COLUMN_FIRST), argv[i],
                              &limits.conditions[limits.condition_count]))
            limits.condition_count++;
    limits.columns = strtoull(plan + 1, NULL, 16);
    cursor->state = database_scan(cursor->database, relation, &limits, &fail);
    if (cursor->state != NULL)
        return SQLITE_OK;
    *error = sqlite3_mprintf("%s", fail.text);
    return cursor->database->stop ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

void result_value(sqlite3_context *context, struct value value)
{
    if (value.kind == VALUE_TEXT)
        sqlite3_result_text(context, value.text, (int)value.length, SQLITE_TRANSIENT);
    else if (value.kind != VALUE_NULL)
        sqlite3_result_int64(context, (sqlite3_int64)value.number);
}

static void column_value(struct rows_cursor *cursor, sqlite3_context *context, unsigned column)
{
    result_value(context, scan_value(cursor->state, column));
}

static void end_scan(struct rows_cursor *cursor)
{
    scan_close(cursor->state);
}

static const struct rows_kind relation_tables = {connect_table, NULL,         choose_plan, begin_scan,
                                                 move,          column_value, end_scan};

bool database_open(struct database *database, const struct scan_source *source, struct fail *fail)
{
    int status;
    *database = (struct database){.source = *source};
    database->source.stop = &database->stop;
    database->source.final = NULL;
    catalog_open(&database->catalog, &source->trace->schema);
    /* of one thread; CREATE is also for what is attached to it */
    status = sqlite3_open_v2(":memory:", &database->sqlite,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    for (unsigned i = 0; status == SQLITE_OK && i < database->catalog.count; i++)
        status = rows_register(database, database->catalog.relations[i].name, &relation_tables,
                               &database->catalog.relations[i]);
    if (status == SQLITE_OK)
        status = functions_register(database);
    if (status == SQLITE_OK)
        status = folds_register(database);
    return status == SQLITE_OK || fail_set(fail, "SQLite: %s", sqlite3_errmsg(database->sqlite));
}

static void forget_walk(struct database *database)
{
    if (database->analysis == NULL)
        return;
    model_close(&database->model);
    analysis_free(database->analysis);
    database->analysis = NULL;
    database->has_walked = false;
}

void database_close(struct database *database)
{
    sqlite3_close_v2(database->sqlite);
    forget_walk(database);
    arena_free(&database->catalog.arena);
    free(database->holders);
    arena_free(&database->arena);
}

void database_own(struct database *database, struct analysis *analysis)
{
    database->has_owner = true;
    relations_open(&database->relations, analysis);
}

bool database_run(struct database *database, const char *sql, struct fail *fail)
{
    char *error = NULL;
    if (sqlite3_exec(database->sqlite, sql, NULL, NULL, &error) == SQLITE_OK)
        return true;
    fail_set(fail, "SQL: %s", error != NULL ? error : sqlite3_errmsg(database->sqlite));
    sqlite3_free(error);
    return false;
}

static bool goes_on(void *database)
{
    return !((struct database *)database)->stop;
}

struct relations *database_final(struct database *database)
{
    const struct scan_source *source = &database->source;
    struct merge merge;
    bool ok;
    if (database->has_owner || (database->has_walked && !folds_wait(database)))
        return &database->relations;
    forget_walk(database);
    database->analysis = scan_walk_open(source, source->filter->from_ticks, &database->model, &merge);
    relations_open(&database->relations, database->analysis);
    database->relations.losses = source->losses;
    folds_add(database, &database->relations);
    ok = relations_observe(&database->relations) &&
         model_walk_range(&database->model, &merge, goes_on, database);
    merge_close(&merge);
    if (!ok) {
        forget_walk(database);
        return NULL;
    }
    relations_finish(&database->relations);
    folds_filled(database);
    database->has_walked = true;
    return &database->relations;
}

struct scan *database_scan(struct database *database, const struct relation *relation,
                           const struct scan_limits *limits, struct fail *fail)
{
    struct scan_source source = database->source;
    if (relation->source >= SOURCE_STREAMS && (source.final = database_final(database)) == NULL) {
        fail_set(fail, "%s", database->stop ? "the query was interrupted" : database->relations.fail.text);
        return NULL;
    }
    return scan_open(&source, relation, limits, fail);
}
