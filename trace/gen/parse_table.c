/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/gen/parse_table.c - reads the tables of counters of trace/schema (trace/format/table.h) into the
 * model, and rejects errors; see parse.c.
 */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u
#define LINE_WORDS 8u /* tables begin on cache lines */

static const char *const row_names[] = {"begun", "tag", "ended"}; /* of every row */
static const char *const units[] = {"ticks", "bytes", "instructions", "none"};

static void check_rows(struct reader *r, const struct table *table, uint64_t rows)
{
    const uint64_t most = TRACE_TABLES_BYTES_MAX / 8;
    if (rows == 0 || rows > most)
        REFUSE(r, "table %s: %llu rows: give it 1 to %llu", table->name, (unsigned long long)rows,
               (unsigned long long)most);
    if (table->is_hashed && (rows < TRACE_TABLE_PROBES || (rows & (rows - 1))))
        REFUSE(r, "table %s: %llu rows: a hashed table has a power of two of them, at least %u", table->name,
               (unsigned long long)rows, TRACE_TABLE_PROBES);
}

static void expect_word(struct reader *r, const char *expected)
{
    char *word = take_word(r, expected);
    if (strcmp(word, expected))
        REFUSE(r, "'%s': a table is declared `table NAME NUMBER rows ROWS direct|hashed \"...\"`", word);
}

/* hashed, direct, or direct+OTHER. */
static void read_form(struct reader *r, struct table *table)
{
    char *form = take_word(r, "'direct' or 'hashed'");
    const bool adds = *r->at == '+';
    if (strcmp(form, "direct") && (adds || strcmp(form, "hashed")))
        REFUSE(r, "'%s': a table is 'direct' (its key is the row's index), 'direct+OTHER' or 'hashed'", form);
    table->is_hashed = form[0] == 'h';
    r->at += adds;
    table->adds_name = adds ? take_name(r, "the table to add") : NULL;
}

void read_table(struct reader *r)
{
    struct schema *schema = r->schema;
    struct table table = {.file = r->file, .line = r->line, .row_words = TRACE_ROW_KEYS};
    if (r->app)
        REFUSE(r, "tables are the system's: remove it from the application's class");
    table.name = take_name(r, "the table's name");
    check_name(r, table.name);
    table.number = (unsigned)take_number(r, "the table's number");
    expect_word(r, "rows");
    const uint64_t rows = take_number(r, "the number of rows");
    read_form(r, &table);
    check_rows(r, &table, rows);
    table.rows = (unsigned)rows;
    table.description = take_quoted(r, "the table's description");
    expect_end(r);
    schema->tables = realloc(schema->tables, (schema->table_count + 1) * sizeof(table));
    schema->tables[schema->table_count] = table;
    r->table = &schema->tables[schema->table_count++];
}

/* ---- columns ---------------------------------------------------------------------------------------- */

static void read_key_type(struct reader *r, struct column *column)
{
    char *type = take_word(r, "the key's type");
    if (strcmp(type, "u32") && strcmp(type, "u64") && strcmp(type, "x64"))
        REFUSE(r, "'%s': the type of a key is u32, u64 or x64", type);
    column->key_bytes = strcmp(type, "u32") ? 8 : 4;
    column->is_hex = type[0] == 'x';
}

/* Reads what a key's row belongs to, if there is a word for it before the description. */
static enum trace_key_owner read_owner(struct reader *r)
{
    static const char *const owners[] = {"", "process", "thread", "lock", "place"};
    r->at += strspn(r->at, " \t");
    if (*r->at == '"')
        return TRACE_OWNER_NONE;
    char *word = take_word(r, "the key's description");
    for (unsigned i = 1; i < sizeof(owners) / sizeof(*owners); i++)
        if (!strcmp(word, owners[i]))
            return (enum trace_key_owner)i;
    REFUSE(r, "'%s': a row belongs to a process, thread, lock or place: write this, or nothing", word);
}

static char *read_unit(struct reader *r)
{
    char *unit = take_word(r, "the unit");
    for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (!strcmp(unit, units[i]))
            return strcmp(unit, "none") ? unit : "";
    REFUSE(r, "'%s': the unit is ticks, bytes, instructions or none", unit);
}

static void check_column_name(struct reader *r, const struct table *table, const char *name)
{
    check_name(r, name);
    for (unsigned i = 0; i < sizeof(row_names) / sizeof(*row_names); i++)
        if (!strcmp(name, row_names[i]))
            REFUSE(r, "'%s' is a word of every row: choose another name", name);
    for (unsigned i = 0; i < table->column_count; i++)
        if (!strcmp(name, table->columns[i].name))
            REFUSE(r, "table %s has '%s' twice: rename one", table->name, name);
}

static void check_key(struct reader *r, const struct table *table)
{
    if (table->key_count < table->column_count)
        REFUSE(r, "keys come before the other columns: move it up");
    if (table->key_count == (table->is_hashed ? TRACE_TABLE_KEYS_MAX : 1))
        REFUSE(r, "table %s: a hashed table has at most %u keys, a direct one has one, the row's index",
               table->name, TRACE_TABLE_KEYS_MAX);
}

void read_column(struct reader *r, const char *word)
{
    static const char *const kinds[] = {"key", "count", "sum", "max", "histogram"};
    struct table *table = r->table;
    struct column column = {.unit = "", .word = table->row_words, .words = 1};
    while (column.kind <= TRACE_COLUMN_HISTOGRAM && strcmp(word, kinds[column.kind]))
        column.kind++;
    if (column.kind > TRACE_COLUMN_HISTOGRAM)
        REFUSE(r, "'%s': a column of a table is key, count, sum, max or histogram", word);
    if (table->column_count == TRACE_TABLE_COLUMNS_MAX)
        REFUSE(r, "more than %u columns: split the table", TRACE_TABLE_COLUMNS_MAX);
    if (column.kind == TRACE_COLUMN_KEY) {
        check_key(r, table);
        read_key_type(r, &column);
    }
    column.name = take_name(r, "the column's name");
    check_column_name(r, table, column.name);
    if (column.kind == TRACE_COLUMN_KEY)
        column.owner = read_owner(r);
    if (column.kind > TRACE_COLUMN_COUNT)
        column.unit = read_unit(r);
    if (column.kind == TRACE_COLUMN_HISTOGRAM)
        column.words = TRACE_TABLE_BUCKETS;
    column.description = take_quoted(r, "the column's description");
    expect_end(r);
    table->key_count += column.kind == TRACE_COLUMN_KEY;
    table->row_words += column.words;
    table->columns[table->column_count++] = column;
    if (table->row_words >= TRACE_TABLE_ROW_WORDS_MAX)
        REFUSE(r, "a row of table %s has more than %u words: split the table", table->name,
               TRACE_TABLE_ROW_WORDS_MAX);
}

void finish_table(struct reader *r)
{
    struct table *table = r->table;
    if (!table)
        return;
    if (table->key_count == 0 || table->key_count == table->column_count)
        refuse(r->file, table->line, "table %s needs a key, and a column that counts: add one", table->name);
    for (unsigned k = 0; k < table->key_count; k++)
        if (table->columns[k].owner != TRACE_OWNER_NONE && !table->is_hashed)
            refuse(r->file, table->line,
                   "table %s is direct, so its rows are not moved: remove '%s' of key %s", table->name,
                   "process, thread, lock or place", table->columns[k].name);
    table->row_words++; /* ended */
    r->table = NULL;
}

/* ---- all tables ------------------------------------------------------------------------------------- */

static int compare_tables(const void *a, const void *b)
{
    const struct table *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static unsigned table_bytes(const struct table *table)
{
    const unsigned words = TRACE_TABLE_HEAD_WORDS + table->rows * table->row_words;
    return (words + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS * 8;
}

uint64_t end_of_tables(const struct schema *schema)
{
    const struct table *last = &schema->tables[schema->table_count - 1];
    return schema->table_count ? last->offset + table_bytes(last) : 0;
}

static bool same_columns(const struct table *a, const struct table *b)
{
    const unsigned count = a->column_count - a->key_count;
    bool same = count == b->column_count - b->key_count;
    for (unsigned i = 0; same && i < count; i++) {
        const struct column *x = &a->columns[a->key_count + i], *y = &b->columns[b->key_count + i];
        same = x->kind == y->kind && !strcmp(x->name, y->name) && !strcmp(x->unit, y->unit);
    }
    return same;
}

/* Finds the table that readers add to this one. */
static void find_added(const struct schema *schema, struct table *table)
{
    const struct table *other = schema->tables, *end = other + schema->table_count;
    if (!table->adds_name)
        return;
    while (other < end && strcmp(other->name, table->adds_name))
        other++;
    if (other == end || other == table || other->adds_name)
        refuse(table->file, table->line, "table %s adds %s: name another table, which adds none itself",
               table->name, table->adds_name);
    table->adds = (unsigned)(other - schema->tables);
    while (table->adds_key < other->key_count &&
           strcmp(other->columns[table->adds_key].name, table->columns[0].name))
        table->adds_key++;
    if (table->adds_key == other->key_count || !same_columns(table, other))
        refuse(table->file, table->line,
               "table %s adds %s: it needs the key %s among its keys, and the same columns in the same order",
               table->name, other->name, table->columns[0].name);
}

void finish_tables(struct schema *schema)
{
    uint64_t end = 0;
    if (schema->table_count)
        qsort(schema->tables, schema->table_count, sizeof(*schema->tables), compare_tables);
    for (unsigned i = 0; i < schema->table_count; i++) {
        struct table *table = &schema->tables[i];
        const struct table *before = i ? table - 1 : NULL;
        if (before && before->number == table->number)
            refuse(table->file, table->line, "table number %u belongs to %s (%s:%u): take a free one",
                   table->number, before->name, before->file, before->line);
        if (table->number != i)
            refuse(table->file, table->line, "table number %u: tables are numbered from 0 on, next is %u",
                   table->number, i);
        for (unsigned k = 0; k < i; k++)
            if (!strcmp(schema->tables[k].name, table->name))
                refuse(table->file, table->line, "table %s is also declared in %s:%u: rename one",
                       table->name, schema->tables[k].file, schema->tables[k].line);
        table->offset = (unsigned)end;
        end += (uint64_t)table_bytes(table);
        if (end + TRACE_TABLES_TAIL_WORDS * 8 > TRACE_TABLES_BYTES_MAX / PAGE_BYTES * PAGE_BYTES)
            refuse(table->file, table->line,
                   "table %s ends at byte %llu of each CPU's tables; %llu are there: "
                   "give it fewer rows",
                   table->name, (unsigned long long)end, (unsigned long long)TRACE_TABLES_BYTES_MAX);
    }
    for (unsigned i = 0; i < schema->table_count; i++)
        find_added(schema, &schema->tables[i]);
}
