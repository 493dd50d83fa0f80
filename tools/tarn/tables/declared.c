/* SPDX-License-Identifier: BSD-2-Clause */
/* declared.c - parses the list of tables of counters in the metadata; see declared.h. */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/tables/declared.h>
#include <trace/format/layout.h>
#include <trace/format/metadata.h>

#define LINE_BYTES 400u
#define NAME_BYTES 64u
#define NAME       "%63[A-Za-z0-9_]" /* of sscanf */

static const char *const kinds[] = {
    [TRACE_COLUMN_KEY] = "key", [TRACE_COLUMN_COUNT] = "count",         [TRACE_COLUMN_SUM] = "sum",
    [TRACE_COLUMN_MAX] = "max", [TRACE_COLUMN_HISTOGRAM] = "histogram",
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *copy(struct declared *declared, const char *text)
{
    return arena_string(&declared->arena, text, strlen(text));
}

/* ---- tables ---------------------------------------------------------------------------------------- */

static uint64_t table_end(const struct trace_table_info *table)
{
    return table->offset + 8 * (TRACE_TABLE_HEAD_WORDS + (uint64_t)table->rows * table->row_words);
}

/* Checks all that later code computes places with. */
static bool check_table(const struct declared *declared, const struct trace_table_info *table,
                        struct fail *fail)
{
    const uint32_t rows = table->rows;

    if (table->offset % 8 != 0 || table->offset < declared->bytes)
        return fail_set(fail, "its offset %u lies inside of another table", table->offset);
    if (rows == 0 || (table->is_hashed && (rows < TRACE_TABLE_PROBES || (rows & (rows - 1)) != 0)))
        return fail_set(fail, "it cannot have %u rows", rows);
    if (table->row_words <= TRACE_ROW_KEYS || table->row_words > TRACE_TABLE_ROW_WORDS_MAX)
        return fail_set(fail, "a row cannot have %u words", table->row_words);
    if (table_end(table) > TRACE_TABLES_BYTES_MAX)
        return fail_set(fail, "it ends behind the %llu bytes that a CPU's tables may have",
                        (unsigned long long)TRACE_TABLES_BYTES_MAX);
    return declared_find(declared, table->name) == NULL || fail_set(fail, "there are two of this name");
}

/* Reads "NAME NUMBER OFFSET ROWS ROW_WORDS FORM[+OTHER] DESCRIPTION". Returns the place of the description,
 * or 0. */
static size_t scan_table(const char *line, struct trace_table_info *table, char name[NAME_BYTES],
                         char other[NAME_BYTES])
{
    unsigned long number, offset, rows, row_words;
    char form[10];
    int at = 0, more = 0;

    if (sscanf(line, " * table " NAME " %lu %lu %lu %lu %9[a-z]%n", name, &number, &offset, &rows, &row_words,
               form, &at) != 6 ||
        number > UINT32_MAX || offset > TRACE_TABLES_BYTES_MAX || rows > TRACE_TABLES_BYTES_MAX / 8 ||
        row_words > TRACE_TABLES_BYTES_MAX / 8)
        return 0;
    *table = (struct trace_table_info){.number = (uint32_t)number,
                                       .offset = (uint32_t)offset,
                                       .rows = (uint32_t)rows,
                                       .row_words = (uint32_t)row_words,
                                       .is_hashed = strcmp(form, "hashed") == 0};
    *other = '\0';
    if (line[at] == '+' && (table->is_hashed || sscanf(line + at, "+" NAME "%n", other, &more) != 1))
        return 0;
    at += more;
    return (table->is_hashed || strcmp(form, "direct") == 0) && strchr(" ", line[at]) != NULL ? (size_t)at
                                                                                              : 0;
}

static bool read_table(struct declared *declared, const char *line, struct fail *fail)
{
    struct trace_table_info *table = &declared->tables[declared->count];
    char name[NAME_BYTES], other[NAME_BYTES];

    if (declared->count == DECLARED_MAX)
        return fail_set(fail, "there are more than %u", DECLARED_MAX);
    const size_t at = scan_table(line, table, name, other);
    if (at == 0)
        return fail_set(fail, "its line is not NAME NUMBER OFFSET ROWS ROW_WORDS direct|hashed");
    declared->adds[declared->count] = *other != '\0' ? copy(declared, other) : NULL;
    table->name = copy(declared, name);
    table->description = copy(declared, line + at + strspn(line + at, " "));
    table->columns = arena_alloc(&declared->arena, TRACE_TABLE_COLUMNS_MAX * sizeof(table->columns[0]));
    if (!check_table(declared, table, fail))
        return false;
    declared->count++;
    declared->bytes = table_end(table);
    return true;
}

/* ---- columns --------------------------------------------------------------------------------------- */

static bool check_column(const struct trace_table_info *table, const struct trace_column_info *column,
                         struct fail *fail)
{
    const struct trace_column_info *before = table->column_count > 0 ? column - 1 : NULL;
    const uint32_t from = before != NULL ? (uint32_t)before->word + before->words : TRACE_ROW_KEYS;
    const bool is_histogram = column->kind == TRACE_COLUMN_HISTOGRAM;

    if (column->words != (is_histogram ? TRACE_TABLE_BUCKETS : 1))
        return fail_set(fail, "column %s cannot have %u words", column->name, column->words);
    if (column->word < from || column->word + column->words >= table->row_words)
        return fail_set(fail, "column %s does not lie in the row, behind the column before it", column->name);
    if (column->kind == TRACE_COLUMN_KEY &&
        (table->key_count < table->column_count || column->word != TRACE_ROW_KEYS + table->key_count ||
         table->key_count == (table->is_hashed ? TRACE_TABLE_KEYS_MAX : 1)))
        return fail_set(fail, "the key %s is out of place, or one too many", column->name);
    for (unsigned i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, column->name) == 0)
            return fail_set(fail, "two columns are called %s", column->name);
    return true;
}

/* Reads "KIND NAME UNIT WORD WORDS DESCRIPTION". */
static bool read_column(struct declared *declared, unsigned kind, const char *line, struct fail *fail)
{
    struct trace_table_info *table = declared->count > 0 ? &declared->tables[declared->count - 1] : NULL;
    const bool is_key = kind == TRACE_COLUMN_KEY;
    char name[NAME_BYTES], unit[NAME_BYTES];
    unsigned long word, count;
    int at = 0;

    if (table == NULL || table->column_count == TRACE_TABLE_COLUMNS_MAX)
        return fail_set(fail, table != NULL ? "it has more columns than a table may have"
                                            : "a column stands before the first table");
    if (sscanf(line, " * %*s " NAME " %63[A-Za-z0-9_-] %lu %lu%n", name, unit, &word, &count, &at) != 4 ||
        word > TRACE_TABLE_ROW_WORDS_MAX || count > TRACE_TABLE_ROW_WORDS_MAX ||
        strchr(" ", line[at]) == NULL)
        return fail_set(fail, "the line of a %s is not NAME UNIT WORD WORDS", kinds[kind]);
    struct trace_column_info *column = (struct trace_column_info *)&table->columns[table->column_count];
    *column = (struct trace_column_info){.name = copy(declared, name),
                                         .description = copy(declared, line + at + strspn(line + at, " ")),
                                         .unit = copy(declared, is_key || strcmp(unit, "-") == 0 ? "" : unit),
                                         .kind = (uint8_t)kind,
                                         .is_hex = is_key && strcmp(unit, "hex") == 0,
                                         .word = (uint16_t)word,
                                         .words = (uint16_t)count};
    if (!check_column(table, column, fail))
        return false;
    table->key_count += is_key;
    table->column_count++;
    return true;
}

/* ---- the list -------------------------------------------------------------------------------------- */

/* The last line: "moves BEGUN ENDED", the offsets of the counts. Lists of systems that do not move rows have
 * none. */
static bool read_moves(struct declared *declared, const char *line, struct fail *fail)
{
    unsigned long begun, ended;
    char more;

    if (sscanf(line, " * moves %lu %lu %c", &begun, &ended, &more) != 2 || begun > TRACE_TABLES_BYTES_MAX ||
        ended > TRACE_TABLES_BYTES_MAX - 8)
        return fail_set(fail, "the line of moves is not BEGUN ENDED");
    if (declared->count == 0 || declared->tables[0].offset != 0 || begun != TRACE_TABLE_MOVES_BEGUN * 8 ||
        ended % 8 != 0 || ended < declared->bytes)
        return fail_set(fail, "the counts of moves are not at the begin and behind the tables");
    for (unsigned i = 0; i < declared->count; i++)
        declared->tables[i].moves_ended = (uint32_t)ended;
    declared->bytes = ended + 8;
    return false;
}

/* Finds the first list, the system's: later ones may have been added by programs. */
static const char *find_list(const char *text, size_t length)
{
    static const char begin[] = "\n" TRACE_TABLES_BEGIN;
    const char *at = memmem(text, length, begin, sizeof(begin) - 1);

    return at != NULL ? memchr(at + 1, '\n', (size_t)(text + length - at - 1)) : NULL;
}

static unsigned kind_of(const char *word)
{
    unsigned kind = 0;

    while (kind < KINDS && strcmp(word, kinds[kind]) != 0)
        kind++;
    return kind;
}

/* Returns whether the list goes on. If not, WHY says what is wrong, or is empty. */
static bool read_line(struct declared *declared, const char *begin, size_t size, struct fail *why)
{
    char line[LINE_BYTES], word[16];

    why->text[0] = '\0';
    if (size >= LINE_BYTES)
        return fail_set(why, "a line is longer than %u letters", LINE_BYTES);
    memcpy(line, begin, size);
    line[size] = '\0';
    if (sscanf(line, " * %15s", word) != 1)
        return false;
    if (strcmp(word, "table") == 0)
        return read_table(declared, line, why);
    if (strcmp(word, "moves") == 0)
        return read_moves(declared, line, why);
    return kind_of(word) < KINDS && read_column(declared, kind_of(word), line, why);
}

static bool same_columns(const struct trace_table_info *a, const struct trace_table_info *b)
{
    const unsigned count = a->column_count - a->key_count;
    const struct trace_column_info *x = &a->columns[a->key_count], *y = &b->columns[b->key_count];

    if (count != (unsigned)(b->column_count - b->key_count) || a->row_words > b->row_words ||
        a->row_words - x->word != b->row_words - y->word)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (strcmp(x[i].name, y[i].name) != 0 || strcmp(x[i].unit, y[i].unit) != 0 ||
            x[i].kind != y[i].kind || x[i].word - x->word != y[i].word - y->word)
            return false;
    return true;
}

/* Finds the table that a table adds, if it names one. */
static bool find_added(struct declared *declared, unsigned number, struct fail *fail)
{
    struct trace_table_info *table = &declared->tables[number];
    const char *name = declared->adds[number];
    const struct trace_table_info *other = name != NULL ? declared_find(declared, name) : NULL;

    if (name == NULL)
        return true;
    for (unsigned k = 0; other != NULL && k < other->key_count; k++)
        if (strcmp(other->columns[k].name, table->columns[0].name) == 0 &&
            declared->adds[other - declared->tables] == NULL && same_columns(table, other)) {
            table->adds = other;
            table->adds_key = (uint8_t)k;
            return true;
        }
    return fail_set(fail, "the metadata's list of tables is damaged: %s cannot add %s", table->name, name);
}

static bool check_whole(struct declared *declared, struct fail *fail)
{
    if (declared->count == 0)
        return fail_set(fail, "the metadata list no table of counters");
    for (unsigned i = 0; i < declared->count; i++) {
        const struct trace_table_info *table = &declared->tables[i];
        if (table->key_count == 0 || table->key_count == table->column_count)
            return fail_set(fail, "the metadata's list of tables is damaged: %s has no %s", table->name,
                            table->key_count == 0 ? "key" : "column that counts");
    }
    for (unsigned i = 0; i < declared->count; i++)
        if (!find_added(declared, i, fail))
            return false;
    return true;
}

bool declared_read(struct declared *declared, const char *text, size_t length, struct fail *fail)
{
    const char *at = find_list(text, length), *end = text + length;
    struct fail why = {""};
    bool goes_on = at != NULL;

    *declared = (struct declared){0};
    if (at == NULL)
        return fail_set(fail, "this system has no tables of counters: its version of Tarn is older");
    while (goes_on) {
        const char *line = at + 1;
        at = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
        goes_on = at != NULL && read_line(declared, line, (size_t)(at - line), &why);
    }
    if (why.text[0] != '\0') {
        const unsigned last = declared->count;
        fail_set(fail, "the metadata's list of tables is damaged, at or behind %s: %s",
                 last > 0 ? declared->tables[last - 1].name : "its first line", why.text);
    } else if (at == NULL && declared->count > 0) {
        fail_set(fail, "the metadata's list of tables is cut short, at or behind %s",
                 declared->tables[declared->count - 1].name);
    } else if (check_whole(declared, fail)) {
        return true;
    }
    declared_free(declared);
    return false;
}

void declared_free(struct declared *declared)
{
    arena_free(&declared->arena);
    *declared = (struct declared){0};
}

const struct trace_table_info *declared_find(const struct declared *declared, const char *name)
{
    for (unsigned i = 0; i < declared->count; i++)
        if (strcmp(declared->tables[i].name, name) == 0)
            return &declared->tables[i];
    return NULL;
}
