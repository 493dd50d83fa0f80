/*
 * functions.c - functions of SQL that relations need (database.h); docs/man/sql.md lists them.
 *
 * A distribution is a number, or the one that a fold counted (fold.c): a blob that names a holder. That of
 * numbers is exact to 1/64. Table-valued functions fill all rows when they are called.
 */
#include <math.h>
#include <stdio.h>
#include <tarn/error.h>
#include <tools/tarn/print/print_value.h>
#include <tools/tarn/sql/database.h>
#include <tools/tarn/symbols/symbols.h>

/* ---- distributions ---- */

#define HOLDER_MAGIC "tarn:holder"
struct holder_blob {
    char magic[12];
    uint32_t number;
};

void result_holder(struct database *database, sqlite3_context *context, struct holder *holder)
{
    struct holder_blob blob = {.magic = HOLDER_MAGIC};
    if (holder->number == 0) {
        database->holders = array_grow(database->holders, database->holder_count, &database->holder_size,
                                       sizeof(database->holders[0]));
        database->holders[database->holder_count++] = holder;
        holder->number = (uint32_t)database->holder_count;
    }
    blob.number = holder->number;
    sqlite3_result_blob(context, &blob, sizeof(blob), SQLITE_TRANSIENT);
}

static struct holder *holder_of(const struct database *database, sqlite3_value *value)
{
    struct holder_blob blob = {.number = 0};
    if (sqlite3_value_type(value) == SQLITE_BLOB && sqlite3_value_bytes(value) == sizeof(blob))
        memcpy(&blob, sqlite3_value_blob(value), sizeof(blob));
    return memcmp(blob.magic, HOLDER_MAGIC, sizeof(blob.magic)) == 0 && blob.number > 0 &&
                   blob.number <= database->holder_count
               ? database->holders[blob.number - 1]
               : NULL;
}

/* The values of an aggregate so far: only ONE, or all in `holder`. */
struct gathered {
    const struct holder *one;
    struct holder holder;
    struct arena arena;
    double part; /* below 0: of mean() */
};

static void merge(struct gathered *gathered, const struct holder *holder)
{
    gathered->holder.is_ticks |= holder->is_ticks;
    distribution_merge(&gathered->holder.distribution, &gathered->arena, &holder->distribution);
}

static void gather(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct database *database = sqlite3_user_data(context);
    struct gathered *gathered = sqlite3_aggregate_context(context, sizeof(*gathered));
    const struct holder *holder = holder_of(database, argv[0]);
    if (gathered == NULL)
        return;
    gathered->part = argc > 1 ? fmax(0, sqlite3_value_double(argv[1]) / 100) : -1;
    if (holder != NULL && gathered->one == NULL && gathered->holder.distribution.count == 0) {
        gathered->one = holder;
        return;
    }
    if (gathered->one != NULL)
        merge(gathered, gathered->one);
    gathered->one = NULL;
    if (holder != NULL) {
        merge(gathered, holder);
    } else if (sqlite3_value_numeric_type(argv[0]) == SQLITE_INTEGER ||
               sqlite3_value_numeric_type(argv[0]) == SQLITE_FLOAT) {
        sqlite3_int64 value = sqlite3_value_int64(argv[0]);
        distribution_add(&gathered->holder.distribution, &gathered->arena, value > 0 ? (uint64_t)value : 0);
    }
}

/* Returns the values; the caller frees the arena of *GATHERED. */
static const struct holder *all_gathered(sqlite3_context *context, struct gathered **gathered)
{
    static struct gathered none;
    *gathered = sqlite3_aggregate_context(context, 0);
    if (*gathered == NULL)
        *gathered = &none;
    return (*gathered)->one != NULL ? (*gathered)->one : &(*gathered)->holder;
}

/* Of mean(), too. */
static void end_percentile(sqlite3_context *context)
{
    const struct database *database = sqlite3_user_data(context);
    struct gathered *gathered;
    const struct holder *holder = all_gathered(context, &gathered);
    const struct distribution *distribution = &holder->distribution;
    double part = gathered->part;
    uint64_t amount = distribution->count == 0 ? 0
                      : part < 0               ? distribution->total / distribution->count
                      : part == 0              ? distribution->min
                      : part >= 1              ? distribution->max
                                               : distribution_percentile(distribution, part);

    amount = holder->is_ticks ? ticks_to_ns(&database->source.trace->schema, amount) : amount;
    if (distribution->count != 0)
        sqlite3_result_int64(context, (sqlite3_int64)amount);
    arena_free(&gathered->arena);
}

static void end_together(sqlite3_context *context)
{
    struct database *database = sqlite3_user_data(context);
    struct gathered *gathered;
    const struct holder *all = all_gathered(context, &gathered);
    struct holder *holder = arena_alloc(&database->arena, sizeof(*holder));
    holder->is_ticks = all->is_ticks;
    distribution_merge(&holder->distribution, &database->arena, &all->distribution);
    arena_free(&gathered->arena);
    result_holder(database, context, holder);
}

/* ---- functions of one row ---- */

static void to_ns(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct database *database = sqlite3_user_data(context);
    sqlite3_int64 ticks = sqlite3_value_int64(argv[0]);
    if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
        sqlite3_result_int64(context, (sqlite3_int64)ticks_to_ns(&database->source.trace->schema,
                                                                 ticks > 0 ? (uint64_t)ticks : 0));
}

static void since_start(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct trace *trace = ((const struct database *)sqlite3_user_data(context))->source.trace;
    sqlite3_int64 ns = sqlite3_value_int64(argv[0]) - schema_ns(&trace->schema, trace->begin);
    if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
        sqlite3_result_int64(context, ns > 0 ? ns : 0);
}

/* Of a time as --from takes it. */
static void to_time(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct trace *trace = ((const struct database *)sqlite3_user_data(context))->source.trace;
    const char *text = (const char *)sqlite3_value_text(argv[0]);
    struct fail fail;
    uint64_t ticks;
    if (text != NULL && filter_time(trace, text, &ticks, &fail))
        sqlite3_result_int64(context, schema_ns(&trace->schema, ticks));
    else if (text != NULL)
        sqlite3_result_error(context, fail.text, -1);
}

/* At least a nanosecond, so that one can divide by it. */
static void to_seconds(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct relations *relations = database_final(sqlite3_user_data(context));
    double seconds = relations != NULL ? analysis_seconds(relations->analysis) : 0;
    sqlite3_result_double(context, seconds > 1e-9 ? seconds : 1e-9);
}

static void result_text(sqlite3_context *context, const char *text)
{
    if (text != NULL)
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void to_digits(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    char text[NUMBER_BYTES];
    format_digits(sqlite3_value_double(argv[0]), text);
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void to_amount(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    int64_t ns = sqlite3_value_int64(argv[0]);
    struct unit unit = unit_of_time((uint64_t)ns * 10); /* at most three digits before the point */
    char text[NUMBER_BYTES];
    format_digits((double)ns / unit.of_one, text);
    sqlite3_result_text(context, sqlite3_mprintf("%s%s", text, unit.suffix), -1, sqlite3_free);
}

/* For XML: without bytes that are invalid there. */
static void to_xml(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    static const char *const escapes[128] = {
        ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"};
    const unsigned char *at = sqlite3_value_text(argv[0]);
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (; at != NULL && *at != '\0'; at++)
        if (*at < 128 && escapes[*at] != NULL)
            sqlite3_str_appendall(text, escapes[*at]);
        else
            sqlite3_str_appendchar(text, 1, *at < 0x20 || *at >= 0x7f ? '?' : (char)*at);
    sqlite3_result_text(context, sqlite3_str_finish(text), -1, sqlite3_free);
}

static void at_symbol(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct database *database = sqlite3_user_data(context);
    struct relations *relations = database_final(database);
    const char *what = argc > 2 ? (const char *)sqlite3_value_text(argv[2]) : "";
    uint64_t address = (uint64_t)sqlite3_value_int64(argv[1]);
    const struct executable *executable;
    const struct symbol *symbol = NULL;
    char text[SYMBOL_NAME_BYTES];
    if (relations == NULL || what == NULL)
        return;
    executable = executables_find(&relations->analysis->model->executables,
                                  (uint32_t)sqlite3_value_int64(argv[0]), address);
    if (strcmp(what, "file") == 0) {
        result_text(context, executable != NULL ? executable->path : NULL);
        return;
    }
    if (strcmp(what, "executable") == 0) {
        result_text(context, executable_name(executable));
        return;
    }
    if (strcmp(what, "program") == 0) {
        if (database->source.symbols != NULL && executable != NULL)
            result_text(context, symbols_file(database->source.symbols, executable));
        return;
    }
    if (strcmp(what, "base") == 0) {
        sqlite3_result_int64(context, executable != NULL ? (sqlite3_int64)executable->base : 0);
        return;
    }
    if (database->source.symbols != NULL)
        symbol = symbols_find(database->source.symbols, executable, address);
    if (*what == '\0') {
        snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
        result_text(context, symbol != NULL ? symbol_name(symbol, address, text) : text);
    } else if (symbol != NULL && symbol->function != NULL) {
        snprintf(text, sizeof(text), "%s:%u", symbol->file != NULL ? symbol->file : "", symbol->line);
        result_text(context, strcmp(what, "source") != 0 ? symbol->function
                             : symbol->file != NULL      ? text
                                                         : NULL);
    }
}

static void to_error(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct database *database = sqlite3_user_data(context);
    if (sqlite3_value_type(argv[0]) == SQLITE_INTEGER &&
        schema_other_system(&database->source.trace->schema) == NULL)
        result_text(context, tarn_error_text(sqlite3_value_int64(argv[0])));
}

/* One of several functions of a thread, process, interrupt, server or lock class. */
struct to_name {
    struct database *database;
    char what;
};

static void to_name(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct to_name *self = sqlite3_user_data(context);
    struct relations *relations = database_final(self->database);
    sqlite3_int64 number = sqlite3_value_int64(argv[0]);
    char text[FUNCTION_NAME_BYTES];
    const struct model *model;
    bool is_kept;
    uint32_t pid;
    if (relations == NULL || sqlite3_value_type(argv[0]) != SQLITE_INTEGER)
        return;
    model = relations->analysis->model;
    switch (self->what) {
    case 'p':
        result_text(context, analysis_process_name(relations->analysis, (uint32_t)number));
        return;
    case 'l':
        is_kept = number >= 0 && number < MODEL_LOCK_CLASSES;
        snprintf(text, sizeof(text), is_kept ? "class %lld" : "(others)", (long long)number);
        result_text(context, is_kept && model->lock_classes[number].name[0] != '\0'
                                 ? model->lock_classes[number].name
                                 : text);
        return;
    case 'i':
        result_text(context, names_of(&model->names, NAMES_OF_IRQS, (uint64_t)number));
        return;
    case 's':
        result_text(context, functions_server(&relations->functions, (uint64_t)number, text));
        return;
    case 'f':
        result_text(context, functions_name(&relations->functions, (uint64_t)number,
                                            (uint64_t)sqlite3_value_int64(argv[1]), text));
        return;
    case 'S':
        pid = functions_pid(&relations->functions, (uint64_t)number);
        if (pid != MODEL_NOBODY)
            sqlite3_result_int64(context, pid);
        return;
    }
    if (number < 0 || number >= model->thread_count || model->threads[number] == NULL)
        return;
    if (self->what == 't')
        result_text(context, analysis_thread_name(relations->analysis, model->threads[number]));
    else
        sqlite3_result_int64(context,
                             self->what == 'T' ? model->threads[number]->tid : model->threads[number]->pid);
}

/* ---- table-valued functions ---- */

#define TVF_COLUMNS 8u

struct tvf_row {
    const char *text; /* of the first column, if it has one */
    sqlite3_int64 numbers[TVF_COLUMNS];
    double reals[TVF_COLUMNS];
};

struct tvf_rows {
    struct tvf_row *rows;
    size_t count, size;
    struct arena arena;
};

struct tvf {
    const char *declaration;
    unsigned columns, arguments; /* `columns` before the hidden arguments */
    const char *kinds;           /* of the columns: t, i, r */
    int (*fill)(struct database *database, struct tvf_rows *into, sqlite3_value **argv, char **error);
    struct database *database;
};

static struct tvf_row *add_row(struct tvf_rows *into)
{
    if (into->count == into->size)
        into->rows = array_grow(into->rows, into->count, &into->size, sizeof(into->rows[0]));
    into->rows[into->count] = (struct tvf_row){.text = NULL};
    return &into->rows[into->count++];
}

static int fill_histogram(struct database *database, struct tvf_rows *into, sqlite3_value **argv,
                          char **error)
{
    static const struct schema in_ns = {.clock_freq = 1000000000};
    const struct holder *holder = holder_of(database, argv[0]);
    const struct schema *schema = &in_ns;
    struct histogram_row found;
    if (holder == NULL) {
        *error = sqlite3_mprintf("histogram() needs a distribution: together(X)");
        return SQLITE_ERROR;
    }
    if (holder->is_ticks)
        schema = &database->source.trace->schema;
    for (unsigned i = 0; histogram_row(&holder->distribution, schema, i, &found); i++) {
        struct tvf_row *row = add_row(into);
        const double all = (double)holder->distribution.count;
        row->text = arena_string(&into->arena, found.name, strlen(found.name));
        row->numbers[1] = (sqlite3_int64)found.from;
        row->numbers[2] = (sqlite3_int64)(found.to < TABLE_NONE ? found.to : TABLE_NONE);
        row->numbers[3] = row->numbers[6] = (sqlite3_int64)found.count;
        row->reals[4] = 100.0 * (double)found.count / all;
        row->reals[5] = 100.0 * (double)found.up_to / all;
    }
    return SQLITE_OK;
}

/* A list of intervals, by key and begin; the current one. */
struct intervals {
    sqlite3_stmt *query;
    bool has_key, is_one; /* is_one: there is a current one */
    sqlite3_int64 begin, end, key;
};

/* False: *ERROR. */
static bool next_interval(struct database *database, struct intervals *list, char **error)
{
    const struct intervals last = *list;
    int status = sqlite3_step(list->query);
    list->is_one = status == SQLITE_ROW;
    list->begin = sqlite3_column_int64(list->query, 0);
    list->end = list->begin + sqlite3_column_int64(list->query, 1);
    list->key = list->has_key ? sqlite3_column_int64(list->query, 2) : 0;
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        *error = sqlite3_mprintf("%s", sqlite3_errmsg(database->sqlite));
    else if (list->is_one && last.is_one && last.key == list->key && last.end > list->begin)
        *error = sqlite3_mprintf("interval_intersect(): two intervals of one query and key overlap at %lld",
                                 (long long)list->begin);
    return *error == NULL;
}

static bool open_intervals(struct database *database, sqlite3_value *query, struct intervals *list,
                           char **error)
{
    const char *sql = (const char *)sqlite3_value_text(query), *end = sql;
    char *sorted;
    int columns = 0;
    *list = (struct intervals){.query = NULL};
    if (sql != NULL && sqlite3_prepare_v2(database->sqlite, sql, -1, &list->query, &end) == SQLITE_OK)
        columns = sqlite3_column_count(list->query);
    while (end > sql && strchr("; \n", end[-1]) != NULL)
        end--;
    list->has_key = columns > 2;
    sorted = sqlite3_mprintf("SELECT * FROM (%.*s) ORDER BY %s1", (int)(end - sql), sql,
                             list->has_key ? "3, " : "");
    sqlite3_finalize(list->query);
    list->query = NULL;
    if (columns < 2 || sqlite3_prepare_v2(database->sqlite, sorted, -1, &list->query, NULL) != SQLITE_OK)
        *error = sqlite3_mprintf(
            "interval_intersect() needs two queries that return ts, dur and perhaps a key: %s",
            sqlite3_errmsg(database->sqlite));
    sqlite3_free(sorted);
    return *error == NULL && next_interval(database, list, error);
}

static int fill_intersections(struct database *database, struct tvf_rows *into, sqlite3_value **argv,
                              char **error)
{
    struct intervals left, right = {.query = NULL};
    bool ok =
        open_intervals(database, argv[0], &left, error) && open_intervals(database, argv[1], &right, error);
    while (ok && left.is_one && right.is_one) {
        sqlite3_int64 begin = left.begin > right.begin ? left.begin : right.begin;
        sqlite3_int64 end = left.end < right.end ? left.end : right.end;
        bool is_left = left.key != right.key ? left.key < right.key : left.end < right.end;
        if (left.key == right.key && begin < end) {
            struct tvf_row *row = add_row(into);
            row->numbers[0] = begin;
            row->numbers[1] = end - begin;
            row->numbers[2] = left.key;
            row->numbers[3] = left.begin;
            row->numbers[4] = right.begin;
        }
        ok = next_interval(database, is_left ? &left : &right, error);
    }
    sqlite3_finalize(left.query);
    sqlite3_finalize(right.query);
    return ok ? SQLITE_OK : SQLITE_ERROR;
}

static void *connect_tvf(struct database *database, void *data, int argc, const char *const *argv,
                         sqlite3_str *sql, char **error)
{
    sqlite3_str_appendall(sql, ((const struct tvf *)data)->declaration);
    return data;
}

static int plan_tvf(void *table, sqlite3_index_info *info)
{
    const struct tvf *tvf = table;
    unsigned given = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        if (constraint->iColumn < (int)tvf->columns || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ ||
            !constraint->usable)
            continue;
        info->aConstraintUsage[i].argvIndex = constraint->iColumn - (int)tvf->columns + 1;
        info->aConstraintUsage[i].omit = 1;
        given++;
    }
    info->estimatedCost = info->estimatedRows = 1000;
    return given == tvf->arguments ? SQLITE_OK : SQLITE_CONSTRAINT;
}

static void end_tvf(struct rows_cursor *cursor)
{
    struct tvf_rows *rows = cursor->state;
    free(rows->rows);
    arena_free(&rows->arena);
    free(rows);
}

static int begin_tvf(struct rows_cursor *cursor, const char *plan, int argc, sqlite3_value **argv,
                     char **error)
{
    const struct tvf *tvf = cursor->table;
    cursor->state = alloc_zero(1, sizeof(struct tvf_rows));
    return tvf->fill(tvf->database, cursor->state, argv, error);
}

static bool move(struct rows_cursor *cursor)
{
    return cursor->number < ((const struct tvf_rows *)cursor->state)->count;
}

static void column_of_tvf(struct rows_cursor *cursor, sqlite3_context *context, unsigned column)
{
    const struct tvf_row *row = &((const struct tvf_rows *)cursor->state)->rows[cursor->number];
    const struct tvf *tvf = cursor->table;
    if (column >= tvf->columns)
        return;
    if (tvf->kinds[column] == 't')
        result_text(context, row->text);
    else if (tvf->kinds[column] == 'r')
        sqlite3_result_double(context, row->reals[column]);
    else
        sqlite3_result_int64(context, row->numbers[column]);
}

static int register_tvf(struct database *database, const char *name, struct tvf tvf)
{
    static const struct rows_kind kind = {.connect = connect_tvf,
                                          .plan = plan_tvf,
                                          .begin = begin_tvf,
                                          .move = move,
                                          .value = column_of_tvf,
                                          .end = end_tvf};
    struct tvf *kept = arena_alloc(&database->arena, sizeof(*kept));
    *kept = tvf;
    kept->database = database;
    return rows_register(database, name, &kind, kept);
}

int functions_register(struct database *database)
{
    static const struct {
        const char *name;
        int arguments;
        void (*call)(sqlite3_context *context, int argc, sqlite3_value **argv);
        void (*end)(sqlite3_context *context);
        char what; /* of to_name */
    } functions[] = {
        {"percentile", 2, gather, end_percentile, 0},
        {"mean", 1, gather, end_percentile, 0},
        {"together", 1, gather, end_together, 0},
        {"ns", 1, to_ns, NULL, 0},
        {"amount", 1, to_amount, NULL, 0},
        {"digits", 1, to_digits, NULL, 0},
        {"xml", 1, to_xml, NULL, 0},
        {"seconds", 0, to_seconds, NULL, 0},
        {"since_start", 1, since_start, NULL, 0},
        {"time_of", 1, to_time, NULL, 0},
        {"symbol", 2, at_symbol, NULL, 0},
        {"symbol", 3, at_symbol, NULL, 0},
        {"error_text", 1, to_error, NULL, 0},
        {"irq_name", 1, to_name, NULL, 'i'},
        {"process_name", 1, to_name, NULL, 'p'},
        {"thread_name", 1, to_name, NULL, 't'},
        {"thread_tid", 1, to_name, NULL, 'T'},
        {"thread_pid", 1, to_name, NULL, 'P'},
        {"ipc_server", 1, to_name, NULL, 's'},
        {"ipc_function", 2, to_name, NULL, 'f'},
        {"ipc_pid", 1, to_name, NULL, 'S'},
        {"lock_class_name", 1, to_name, NULL, 'l'},
        {"lock_name", 2, sql_lock_name, NULL, 0},
        {"call_chain", 3, sql_call_chain, NULL, 0},
    };
    int status = SQLITE_OK;

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && status == SQLITE_OK; i++) {
        bool adds = functions[i].end != NULL;
        struct to_name *name = arena_alloc(&database->arena, sizeof(*name));
        *name = (struct to_name){database, functions[i].what};
        status = sqlite3_create_function(database->sqlite, functions[i].name, functions[i].arguments,
                                         SQLITE_UTF8, name->what != 0 ? (void *)name : database,
                                         adds ? NULL : functions[i].call, adds ? functions[i].call : NULL,
                                         functions[i].end);
    }
    if (status == SQLITE_OK)
        status = register_tvf(
            database, "histogram",
            (struct tvf){"name, from_ns, to_ns, count, percent, percent_up_to, bar, spread HIDDEN", 7, 1,
                         "tiiirri", fill_histogram, NULL});
    if (status == SQLITE_OK)
        status = register_tvf(
            database, "interval_intersect",
            (struct tvf){"ts, dur, key, left_ts, right_ts, left_query HIDDEN, right_query HIDDEN", 5, 2,
                         "iiiii", fill_intersections, NULL});
    return status;
}
