/*
 * functions.c - functions of SQL that relations need (database.h); docs/man/sql.md lists them.
 *
 * A distribution is a number, or the one that a fold counted (fold.c): a blob that names a holder. That of
 * numbers is exact to 1/64. Table-valued functions fill all rows when they are called.
 */
#include <math.h>
#include <stdio.h>
#include <tarn/error.h>
#include <tools/tarn/print/print.h>
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
        distribution_add_many(&gathered->holder.distribution, &gathered->arena,
                              value > 0 ? (uint64_t)value : 0, 1);
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

/* With the model at the end; NULL: stopped. */
static const struct analysis *analysis_in(sqlite3_context *context)
{
    struct relations *relations = database_final(sqlite3_user_data(context));
    return relations != NULL ? relations->analysis : NULL;
}

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
    const struct analysis *analysis = analysis_in(context);
    double seconds = analysis != NULL ? analysis_seconds(analysis) : 0;
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
    const struct analysis *analysis = analysis_in(context);
    const char *what = argc > 2 ? (const char *)sqlite3_value_text(argv[2]) : "";
    uint64_t address = (uint64_t)sqlite3_value_int64(argv[1]);
    struct symbols *symbols = database->source.symbols;
    const struct executable *executable;
    const struct symbol *symbol = NULL;
    char text[SYMBOL_NAME_BYTES];
    if (analysis == NULL || what == NULL)
        return;
    executable =
        executables_find(&analysis->model->executables, (uint32_t)sqlite3_value_int64(argv[0]), address);
    if (strcmp(what, "base") == 0) {
        sqlite3_result_int64(context, executable != NULL ? (sqlite3_int64)executable->base : 0);
    } else if (strcmp(what, "file") == 0) {
        result_text(context, executable != NULL ? executable->path : NULL);
    } else if (strcmp(what, "executable") == 0) {
        result_text(context, executable_name(executable));
    } else if (strcmp(what, "program") == 0) {
        result_text(context,
                    symbols != NULL && executable != NULL ? symbols_file(symbols, executable) : NULL);
    } else {
        symbol = symbols != NULL ? symbols_find(symbols, executable, address) : NULL;
        snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
        if (*what == '\0')
            result_text(context, symbol != NULL ? symbol_name(symbol, address, text) : text);
        else if (symbol != NULL && strcmp(what, "source") != 0)
            result_text(context, symbol->function);
        else if (symbol != NULL && symbol->function != NULL && symbol->file != NULL)
            sqlite3_result_text(context, sqlite3_mprintf("%s:%u", symbol->file, symbol->line), -1,
                                sqlite3_free);
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
    const struct model_thread *thread;
    const struct model *model;
    if (relations == NULL || sqlite3_value_type(argv[0]) != SQLITE_INTEGER)
        return;
    model = relations->analysis->model;
    thread = number >= 0 && number < model->thread_count ? model->threads[number] : NULL;
    switch (self->what) {
    case 'p':
        result_text(context, analysis_process_name(relations->analysis, (uint32_t)number));
        break;
    case 'l':
        snprintf(text, sizeof(text), "class %lld", (long long)number);
        if (number < 0 || number >= MODEL_LOCK_CLASSES)
            result_text(context, "(others)");
        else
            result_text(context, *model->lock_classes[number].name ? model->lock_classes[number].name : text);
        break;
    case 'i':
        result_text(context, names_of(&model->names, NAMES_OF_IRQS, (uint64_t)number));
        break;
    case 's':
        result_text(context, functions_server(&relations->functions, (uint64_t)number, text));
        break;
    case 'f':
        result_text(context, functions_name(&relations->functions, (uint64_t)number,
                                            (uint64_t)sqlite3_value_int64(argv[1]), text));
        break;
    case 'S':
        number = functions_pid(&relations->functions, (uint64_t)number);
        if (number != MODEL_NOBODY)
            sqlite3_result_int64(context, number);
        break;
    case 't':
        result_text(context, thread != NULL ? analysis_thread_name(relations->analysis, thread) : NULL);
        break;
    default:
        if (thread != NULL)
            sqlite3_result_int64(context, self->what == 'T' ? thread->tid : thread->pid);
    }
}

/* ---- names of locks and call chains ---- */

#define CHAIN_TEXT_BYTES 400u

/* Returns the symbol at an address of a process, or of the kernel; NULL: unknown. */
static const struct symbol *find_symbol(const struct analysis *analysis, uint32_t pid, uint64_t address)
{
    const struct executable *executable = executables_find(&analysis->model->executables, pid, address);
    const struct symbol *symbol = analysis->symbols != NULL && executable != NULL
                                      ? symbols_find(analysis->symbols, executable, address)
                                      : NULL;
    return symbol != NULL && symbol->function != NULL ? symbol : NULL;
}

static void to_lock_name(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct analysis *analysis = analysis_in(context);
    uint32_t pid = (uint32_t)sqlite3_value_int64(argv[0]);
    uint64_t address = (uint64_t)sqlite3_value_int64(argv[1]);
    const char *name = analysis != NULL ? names_of(&analysis->model->names, pid, address) : NULL;
    const struct symbol *symbol =
        analysis != NULL && name == NULL ? find_symbol(analysis, pid, address) : NULL;
    char text[SYMBOL_NAME_BYTES];
    if (sqlite3_value_type(argv[1]) == SQLITE_NULL)
        return;
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
    if (symbol != NULL && symbol->offset != 0)
        snprintf(text, sizeof(text), "%s+0x%llx", symbol->function, (unsigned long long)symbol->offset);
    else if (symbol != NULL)
        name = symbol->function;
    result_text(context, name != NULL ? name : text);
}

/* Functions that implement locks or waits for events; their callers are of interest. */
static bool is_part_of_locking(const char *function)
{
    static const char *const parts[] = {
        /* the kernel's */
        "spin_lock", "spin_try_lock", "spin_lock_contended", "spin_note_taken", "spin_note_tried",
        "spin_note_taken_after_wait", "note_with_care", "log_contended", "make_note", "log_acquired",
        /* libc-glue's: shared ones, then locks, then events */
        "end_lock_wait", "note_acquisition", "note_sample", "acquire_contended", "lock_acquire", "note_taken",
        "lock_word_acquire", "lock_word_try_acquire", "lock_until", "pthread_mutex_lock",
        "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_spin_lock", "pthread_spin_trylock",
        "__retarget_lock_acquire", "__retarget_lock_acquire_recursive", "__retarget_lock_try_acquire",
        "__retarget_lock_try_acquire_recursive", "rwlock_wait", "rwlock_wait_to_write", "rwlock_read_until",
        "rwlock_write_until", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_tryrdlock",
        "pthread_rwlock_trywrlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock", "once_wait",
        "pthread_once", "semaphore_wait", "semaphore_wait_until", "semaphore_note_taken", "sem_wait",
        "sem_trywait", "sem_timedwait", "condition_sleep_until", "condition_wait_until", "pthread_cond_wait",
        "pthread_cond_timedwait", "pthread_cond_clockwait", "pthread_barrier_wait", "join_wait",
        "join_pthread", "pthread_join", "wait_for_buffer", "borrow_buffer",
        /* from older versions */
        "note_acquired", "note_tried", "note_word_tried"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(function, parts[i]) == 0)
            return true;
    return false;
}

struct chain_text {
    char text[CHAIN_TEXT_BYTES];
    size_t used;
    sqlite3_int64 functions, most;
};

static void add_function(struct chain_text *chain, const char *name)
{
    if (chain->functions == chain->most || (chain->functions == 0 && is_part_of_locking(name)))
        return;
    chain->used += (size_t)snprintf(chain->text + chain->used, CHAIN_TEXT_BYTES - chain->used, "%s%.80s",
                                    chain->functions ? " < " : "", name);
    chain->used = chain->used < CHAIN_TEXT_BYTES ? chain->used : CHAIN_TEXT_BYTES - 1;
    chain->functions++;
}

/* The addresses are return addresses: the call is before them. */
static void to_call_chain(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct analysis *analysis = analysis_in(context);
    const char *at = (const char *)sqlite3_value_text(argv[1]);
    struct chain_text chain = {.text = "(unknown)", .most = sqlite3_value_int64(argv[2])};
    if (analysis == NULL || at == NULL)
        return;
    while (*at != '\0') {
        const char *begin = at + strspn(at, " ");
        char *end, number[24];
        uint64_t address = strtoull(begin, &end, 16);
        const struct symbol *symbol =
            find_symbol(analysis, (uint32_t)sqlite3_value_int64(argv[0]), address - 1);
        if (end == begin)
            break;
        snprintf(number, sizeof(number), "0x%llx", (unsigned long long)address);
        if (symbol == NULL)
            add_function(&chain, number);
        for (; symbol != NULL; symbol = symbol->outer)
            add_function(&chain, symbol->function != NULL ? symbol->function : number);
        at = end;
    }
    result_text(context, chain.text);
}

/* ---- table-valued functions ---- */

/* What it has before its hidden arguments. */
struct tvf {
    const char *declaration;
    int columns, arguments;
};

static void *connect_tvf(struct database *database, void *data, int argc, const char *const *argv,
                         sqlite3_str *sql, char **error)
{
    sqlite3_str_appendall(sql, ((const struct tvf *)data)->declaration);
    return data;
}

static int plan_tvf(void *table, sqlite3_index_info *info)
{
    const struct tvf *tvf = table;
    int given = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        if (constraint->iColumn < tvf->columns || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ ||
            !constraint->usable)
            continue;
        info->aConstraintUsage[i].argvIndex = constraint->iColumn - tvf->columns + 1;
        info->aConstraintUsage[i].omit = 1;
        given++;
    }
    return given == tvf->arguments ? SQLITE_OK : SQLITE_CONSTRAINT;
}

static void end_state(struct rows_cursor *cursor)
{
    free(cursor->state);
}

struct histogram {
    const struct holder *holder;
    const struct schema *schema;
    struct histogram_row row;
};

static int begin_histogram(struct rows_cursor *cursor, const char *plan, int argc, sqlite3_value **argv,
                           char **error)
{
    static const struct schema in_ns = {.clock_freq = 1000000000};
    struct histogram *histogram = cursor->state = alloc_zero(1, sizeof(*histogram));
    histogram->holder = holder_of(cursor->database, argv[0]);
    if (histogram->holder == NULL) {
        *error = sqlite3_mprintf("histogram() needs a distribution: together(X)");
        return SQLITE_ERROR;
    }
    histogram->schema = histogram->holder->is_ticks ? &cursor->database->source.trace->schema : &in_ns;
    return SQLITE_OK;
}

static bool move_histogram(struct rows_cursor *cursor, char **error)
{
    struct histogram *histogram = cursor->state;
    return histogram_row(&histogram->holder->distribution, histogram->schema, (unsigned)cursor->number,
                         &histogram->row);
}

static void histogram_value(struct rows_cursor *cursor, sqlite3_context *context, unsigned column)
{
    const struct histogram *histogram = cursor->state;
    const struct histogram_row *row = &histogram->row;
    const uint64_t numbers[] = {0,          row->from, sooner(row->to, TABLE_NONE), row->count, row->count,
                                row->up_to, row->count};
    if (column == 0)
        result_text(context, row->name);
    else if (column == 4 || column == 5)
        sqlite3_result_double(context, 100.0 * (double)numbers[column] /
                                           (double)histogram->holder->distribution.count);
    else if (column < 7)
        sqlite3_result_int64(context, (sqlite3_int64)numbers[column]);
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
    if (__builtin_add_overflow(list->begin, sqlite3_column_int64(list->query, 1), &list->end))
        list->end = INT64_MAX;
    list->key = list->has_key ? sqlite3_column_int64(list->query, 2) : 0;
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        *error = sqlite3_mprintf("%s", sqlite3_errmsg(database->sqlite));
    else if (list->is_one && list->has_key && sqlite3_column_type(list->query, 2) != SQLITE_INTEGER)
        *error = sqlite3_mprintf("interval_intersect(): a key is no integer at %lld", (long long)list->begin);
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

struct intersection {
    struct intervals left, right;
    sqlite3_int64 row[5];
};

static int begin_intersection(struct rows_cursor *cursor, const char *plan, int argc, sqlite3_value **argv,
                              char **error)
{
    struct intersection *both = cursor->state = alloc_zero(1, sizeof(*both));
    return open_intervals(cursor->database, argv[0], &both->left, error) &&
                   open_intervals(cursor->database, argv[1], &both->right, error)
               ? SQLITE_OK
               : SQLITE_ERROR;
}

static bool move_intersection(struct rows_cursor *cursor, char **error)
{
    struct intersection *both = cursor->state;
    struct intervals *left = &both->left, *right = &both->right;
    bool is_found = false;
    while (!is_found && left->is_one && right->is_one) {
        sqlite3_int64 begin = left->begin > right->begin ? left->begin : right->begin;
        sqlite3_int64 end = left->end < right->end ? left->end : right->end;
        const sqlite3_int64 row[5] = {begin, end - begin, left->key, left->begin, right->begin};
        bool is_left = left->key != right->key ? left->key < right->key : left->end < right->end;
        is_found = left->key == right->key && begin < end;
        memcpy(both->row, row, sizeof(row));
        if (!next_interval(cursor->database, is_left ? left : right, error))
            return false;
    }
    return is_found;
}

static void intersection_value(struct rows_cursor *cursor, sqlite3_context *context, unsigned column)
{
    if (column < 5)
        sqlite3_result_int64(context, ((const struct intersection *)cursor->state)->row[column]);
}

static void end_intersection(struct rows_cursor *cursor)
{
    struct intersection *both = cursor->state;
    sqlite3_finalize(both->left.query);
    sqlite3_finalize(both->right.query);
    free(both);
}

int functions_register(struct database *database)
{
    static const struct rows_kind histograms = {connect_tvf,     NULL,           plan_tvf,
                                                begin_histogram, move_histogram, histogram_value,
                                                end_state},
                                  intersections = {connect_tvf,       NULL,
                                                   plan_tvf,          begin_intersection,
                                                   move_intersection, intersection_value,
                                                   end_intersection};
    static struct tvf histogram = {"name, from_ns, to_ns, count, percent, percent_up_to, bar, spread HIDDEN",
                                   7, 1},
                      intersect = {"ts, dur, key, left_ts, right_ts, left_query HIDDEN, right_query HIDDEN",
                                   5, 2};
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
        {"lock_name", 2, to_lock_name, NULL, 0},
        {"call_chain", 3, to_call_chain, NULL, 0},
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
        status = rows_register(database, "histogram", &histograms, &histogram);
    return status == SQLITE_OK ? rows_register(database, "interval_intersect", &intersections, &intersect)
                               : status;
}
