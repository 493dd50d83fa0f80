/*
 * duck.c - the relations in DuckDB, by its C interface ("C API" in its documentation); see database.h.
 *
 * Its library is no part of Tarn: `make duckdb` fetches it, and it is loaded when it is asked for, from
 * $TARN_DUCKDB or from duckdb/ beside the program's directory. Each relation is a table function of DuckDB,
 * and its name alone calls it. Only the columns that a query uses are computed. Named parameters: `model :=
 * true` adds the columns that need the model, `SELECT *` has none of them otherwise; columns that tell a
 * relation what to do are parameters, too. One thread executes everything, because the readers of a trace are
 * for one.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/sql/database.h>

/* ---- its library ---- */

enum { TYPE_BOOLEAN = 1, TYPE_BIGINT = 5, TYPE_UBIGINT = 9, TYPE_VARCHAR = 17 };
static const int types[RELATION_UNITS] = {TYPE_BIGINT, TYPE_VARCHAR, TYPE_BIGINT, TYPE_BIGINT, TYPE_UBIGINT};

struct result {
    void *words[6];
};

#define LIBRARY(F)                                                                                           \
    F(int, open, const char *path, void **database)                                                          \
    F(void, close, void **database)                                                                          \
    F(int, connect, void *database, void **connection)                                                       \
    F(void, disconnect, void **connection)                                                                   \
    F(void, interrupt, void *connection)                                                                     \
    F(void, free, void *memory)                                                                              \
    F(int, query, void *connection, const char *sql, struct result *result)                                  \
    F(const char *, result_error, struct result *result)                                                     \
    F(void, destroy_result, struct result *result)                                                           \
    F(uint64_t, row_count, struct result *result)                                                            \
    F(uint64_t, column_count, struct result *result)                                                         \
    F(const char *, column_name, struct result *result, uint64_t column)                                     \
    F(int, column_type, struct result *result, uint64_t column)                                              \
    F(char *, value_varchar, struct result *result, uint64_t column, uint64_t row)                           \
    F(void *, create_logical_type, int type)                                                                 \
    F(void, destroy_logical_type, void **type)                                                               \
    F(void *, create_table_function, void)                                                                   \
    F(void, destroy_table_function, void **function)                                                         \
    F(int, register_table_function, void *connection, void *function)                                        \
    F(void, table_function_set_name, void *function, const char *name)                                       \
    F(void, table_function_add_named_parameter, void *function, const char *name, void *type)                \
    F(void, table_function_set_extra_info, void *function, void *info, void (*destroy)(void *))              \
    F(void, table_function_set_bind, void *function, void (*bind)(void *info))                               \
    F(void, table_function_set_init, void *function, void (*init)(void *info))                               \
    F(void, table_function_set_function, void *function, void (*fill)(void *info, void *chunk))              \
    F(void, table_function_supports_projection_pushdown, void *function, bool supports)                      \
    F(void *, bind_get_extra_info, void *info)                                                               \
    F(void *, bind_get_named_parameter, void *info, const char *name)                                        \
    F(void, bind_add_result_column, void *info, const char *name, void *type)                                \
    F(void, bind_set_bind_data, void *info, void *data, void (*destroy)(void *))                             \
    F(bool, get_bool, void *value)                                                                           \
    F(char *, get_varchar, void *value)                                                                      \
    F(void, destroy_value, void **value)                                                                     \
    F(void *, init_get_extra_info, void *info)                                                               \
    F(void *, init_get_bind_data, void *info)                                                                \
    F(uint64_t, init_get_column_count, void *info)                                                           \
    F(uint64_t, init_get_column_index, void *info, uint64_t number)                                          \
    F(void, init_set_init_data, void *info, void *data, void (*destroy)(void *))                             \
    F(void, init_set_error, void *info, const char *text)                                                    \
    F(void *, function_get_init_data, void *info)                                                            \
    F(void, add_replacement_scan, void *database, void (*replace)(void *info, const char *name, void *data), \
      void *data, void (*destroy)(void *))                                                                   \
    F(void, replacement_scan_set_function_name, void *info, const char *name)                                \
    F(uint64_t, vector_size, void)                                                                           \
    F(void *, data_chunk_get_vector, void *chunk, uint64_t column)                                           \
    F(void, data_chunk_set_size, void *chunk, uint64_t rows)                                                 \
    F(void *, vector_get_data, void *vector)                                                                 \
    F(void, vector_ensure_validity_writable, void *vector)                                                   \
    F(uint64_t *, vector_get_validity, void *vector)                                                         \
    F(void, vector_assign_string_element_len, void *vector, uint64_t row, const char *text, uint64_t length)

static struct {
#define MEMBER(type, name, ...) type (*name)(__VA_ARGS__);
    LIBRARY(MEMBER)
} library;

static bool open_library(struct fail *fail)
{
    static const char *const names[] = {
#define NAMED(type, name, ...) "duckdb_" #name,
        LIBRARY(NAMED)};
    char beside[PATH_MAX + 32] = "";
    const char *path = getenv("TARN_DUCKDB");
    void *file;

    program_path(beside, PATH_MAX, 1);
    strcat(beside, "/../duckdb/libduckdb.so");
    if ((file = dlopen(path != NULL ? path : beside, RTLD_NOW | RTLD_LOCAL)) == NULL)
        return fail_set(fail,
                        "DuckDB is not here: %s; `make duckdb` fetches it, or name its library: "
                        "TARN_DUCKDB=.../libduckdb.so",
                        dlerror());
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if ((((void **)(void *)&library)[i] = dlsym(file, names[i])) == NULL)
            return fail_set(fail, "this library of DuckDB has no %s; `make duckdb` fetches another",
                            names[i]);
    return true;
}

/* ---- a database ---- */

struct duck {
    void *database, *connection;
    struct database *relations;
};

struct duck *duck_open(struct fail *fail)
{
    struct duck *duck;
    if (!open_library(fail))
        return NULL;
    duck = alloc_zero(1, sizeof(*duck));
    if (library.open(NULL, &duck->database) != 0 || library.connect(duck->database, &duck->connection) != 0)
        fail_set(fail, "DuckDB does not start");
    else if (duck_run(duck, "SET threads = 1", NULL, NULL, fail))
        return duck;
    duck_close(duck);
    return NULL;
}

void duck_close(struct duck *duck)
{
    if (duck == NULL)
        return;
    library.disconnect(&duck->connection);
    library.close(&duck->database);
    free(duck);
}

void duck_stop(struct duck *duck)
{
    library.interrupt(duck->connection);
}

/* ---- statements ---- */

struct reading {
    struct result result;
    uint64_t row, rows;
    char *text; /* of the last value */
};

static bool next_row(struct answer *answer)
{
    struct reading *reading = answer->of;
    return ++reading->row <= reading->rows;
}

static const char *column_name(struct answer *answer, unsigned column)
{
    struct reading *reading = answer->of;
    return library.column_name(&reading->result, column);
}

static const char *column_text(struct answer *answer, unsigned column, bool *is_number)
{
    struct reading *reading = answer->of;
    bool is_text = library.column_type(&reading->result, column) == TYPE_VARCHAR;
    char *text = library.value_varchar(&reading->result, column, reading->row - 1), *end = text;
    library.free(reading->text);
    reading->text = text;
    if (text != NULL && !is_text && strcspn(text, "0123456789") <= 1) /* neither inf nor nan */
        strtod(text, &end);
    *is_number = end != text && *end == '\0'; /* no date */
    return text;
}

bool duck_run(struct duck *duck, const char *sql, void (*print)(void *context, struct answer *answer),
              void *context, struct fail *fail)
{
    struct reading reading = {.text = NULL};
    struct answer answer = {0, &reading, next_row, column_name, column_text};
    bool ok = library.query(duck->connection, sql, &reading.result) == 0;
    if (!ok)
        fail_set(fail, "SQL: %s", library.result_error(&reading.result));
    answer.columns = (unsigned)library.column_count(&reading.result);
    reading.rows = library.row_count(&reading.result);
    if (ok && print != NULL && answer.columns > 0)
        print(context, &answer);
    library.free(reading.text);
    library.destroy_result(&reading.result);
    return ok;
}

/* ---- relations as table functions ---- */

struct function {
    struct duck *duck;
    const struct relation *relation;
};

/* One call of a function in a query. */
struct binding {
    unsigned *columns, column_count; /* of the relation */
    struct scan_limits limits;
};

static void free_binding(void *data)
{
    struct binding *binding = data;
    for (unsigned i = 0; i < binding->limits.condition_count; i++)
        library.free((void *)binding->limits.conditions[i].value.text);
    free(binding->columns);
    free(binding);
}

static void take_parameter(struct binding *binding, void *info, unsigned c, const char *name)
{
    void *given = library.bind_get_named_parameter(info, name);
    if (given == NULL)
        return;
    binding->limits.conditions[binding->limits.condition_count++] =
        (struct scan_condition){c, value_text(library.get_varchar(given))};
    library.destroy_value(&given);
}

static void bind_function(void *info)
{
    const struct relation *relation = ((struct function *)library.bind_get_extra_info(info))->relation;
    struct binding *binding = alloc_zero(1, sizeof(*binding));
    void *given = library.bind_get_named_parameter(info, "model");
    bool with_model = given != NULL && library.get_bool(given);
    if (given != NULL)
        library.destroy_value(&given);
    binding->columns = alloc_zero(relation->column_count, sizeof(unsigned));
    binding->limits = (struct scan_limits){.from_ns = INT64_MIN, .to_ns = INT64_MAX};
    for (unsigned c = 0; c < relation->column_count; c++) {
        const struct relation_column *column = &relation->columns[c];
        void *type = library.create_logical_type(types[column->unit]);
        if (column->parameter != 0) {
            take_parameter(binding, info, c, column->name);
        } else if (with_model || !column->needs_model) {
            library.bind_add_result_column(info, column->name, type);
            binding->columns[binding->column_count++] = c;
        }
        library.destroy_logical_type(&type);
    }
    library.bind_set_bind_data(info, binding, free_binding);
}

struct scanning {
    struct scan *scan;
    const struct relation *relation;
    unsigned *columns, column_count;
    struct buffer text;
};

static void free_scanning(void *data)
{
    struct scanning *scanning = data;
    if (scanning->scan != NULL)
        scan_close(scanning->scan);
    free(scanning->columns);
    free(scanning->text.bytes);
    free(scanning);
}

static void init_function(void *info)
{
    const struct function *function = library.init_get_extra_info(info);
    const struct binding *binding = library.init_get_bind_data(info);
    struct scan_limits limits = binding->limits;
    struct scanning *scanning = alloc_zero(1, sizeof(*scanning));
    struct fail fail;
    scanning->relation = function->relation;
    scanning->column_count = (unsigned)library.init_get_column_count(info);
    scanning->columns = alloc_zero(scanning->column_count + 1, sizeof(unsigned));
    for (unsigned i = 0; i < scanning->column_count; i++) {
        uint64_t number = library.init_get_column_index(info, i);
        /* none of them: a query that only counts rows asks for a number of the row */
        scanning->columns[i] = number < binding->column_count ? binding->columns[number] : UINT_MAX;
        if (scanning->columns[i] != UINT_MAX)
            limits.columns |= 1ull << (scanning->columns[i] < 63 ? scanning->columns[i] : 63);
    }
    scanning->scan = database_scan(function->duck->relations, function->relation, &limits, &fail);
    if (scanning->scan == NULL)
        library.init_set_error(info, fail.text);
    library.init_set_init_data(info, scanning, free_scanning);
}

static void put_value(struct scanning *scanning, void *vector, uint64_t row, bool is_text, struct value value)
{
    char number[24]; /* an enumeration's without a label */
    if (is_text && value.kind != VALUE_NULL && value.kind != VALUE_TEXT) {
        snprintf(number, sizeof(number), "%" PRId64, (int64_t)value.number);
        value = value_text(number);
    }
    if (value.kind == VALUE_NULL) {
        library.vector_ensure_validity_writable(vector);
        library.vector_get_validity(vector)[row / 64] &= ~(1ull << row % 64);
    } else if (is_text) {
        scanning->text.used = 0;
        buffer_utf8(&scanning->text, value.text, value.length);
        library.vector_assign_string_element_len(vector, row, (const char *)scanning->text.bytes,
                                                 scanning->text.used);
    } else {
        ((uint64_t *)library.vector_get_data(vector))[row] = value.number;
    }
}

static void fill_chunk(void *info, void *chunk)
{
    struct scanning *scanning = library.function_get_init_data(info);
    uint64_t rows = 0, most = library.vector_size();
    for (; rows < most && scan_next(scanning->scan); rows++)
        for (unsigned i = 0; i < scanning->column_count; i++) {
            unsigned c = scanning->columns[i];
            put_value(scanning, library.data_chunk_get_vector(chunk, i), rows,
                      c != UINT_MAX && scanning->relation->columns[c].unit == UNIT_TEXT,
                      c != UINT_MAX ? scan_value(scanning->scan, c) : VALUE_NUMBER(rows));
        }
    library.data_chunk_set_size(chunk, rows);
}

/* A relation's name alone calls its function. */
static void replace_name(void *info, const char *name, void *data)
{
    const struct duck *duck = data;
    const struct relation *relation = catalog_find(&duck->relations->catalog, name);
    if (relation != NULL)
        library.replacement_scan_set_function_name(info, relation->name);
}

static bool register_relation(struct duck *duck, const struct relation *relation, struct fail *fail)
{
    void *function = library.create_table_function();
    void *text = library.create_logical_type(TYPE_VARCHAR), *flag = library.create_logical_type(TYPE_BOOLEAN);
    struct function *about = alloc_zero(1, sizeof(*about));
    bool ok;
    *about = (struct function){duck, relation};
    library.table_function_set_name(function, relation->name);
    library.table_function_set_extra_info(function, about, free);
    library.table_function_add_named_parameter(function, "model", flag);
    for (unsigned c = 0; c < relation->column_count; c++)
        if (relation->columns[c].parameter != 0)
            library.table_function_add_named_parameter(function, relation->columns[c].name, text);
    library.table_function_set_bind(function, bind_function);
    library.table_function_set_init(function, init_function);
    library.table_function_set_function(function, fill_chunk);
    library.table_function_supports_projection_pushdown(function, true);
    ok = library.register_table_function(duck->connection, function) == 0 ||
         fail_set(fail, "DuckDB: the relation %s cannot be registered", relation->name);
    library.destroy_logical_type(&text);
    library.destroy_logical_type(&flag);
    library.destroy_table_function(&function);
    return ok;
}

bool duck_relations(struct duck *duck, struct database *database, struct fail *fail)
{
    duck->relations = database;
    for (unsigned i = 0; i < database->catalog.count; i++)
        if (!register_relation(duck, &database->catalog.relations[i], fail))
            return false;
    library.add_replacement_scan(duck->database, replace_name, duck, NULL);
    return true;
}
