/* SPDX-License-Identifier: BSD-2-Clause */
/* declared.c - parses the list of tables of counters in the metadata; see declared.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/tables/declared.h>
#include <trace/format/layout.h>
#include <trace/format/metadata.h>

#define LINE_BYTES 400u
#define NAME_MAX_  63u
#define WORDS_MAX  8u

/* A line's words, of which the last has the rest of the line. */
struct words {
    unsigned count;
    char *word[WORDS_MAX];
};

static const char *const kinds[] = {
    [TRACE_COLUMN_KEY] = "key", [TRACE_COLUMN_COUNT] = "count",         [TRACE_COLUMN_SUM] = "sum",
    [TRACE_COLUMN_MAX] = "max", [TRACE_COLUMN_HISTOGRAM] = "histogram",
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct words split(char *line, unsigned most)
{
    struct words words = {0};

    line += strspn(line, " ");
    while (*line != '\0' && words.count < most) {
        words.word[words.count++] = line;
        if (words.count == most)
            break;
        line += strcspn(line, " ");
        if (*line != '\0')
            *line++ = '\0';
        line += strspn(line, " ");
    }
    return words;
}

static bool read_number(const char *word, uint64_t most, uint32_t *number)
{
    char *end;

    if (!isdigit((unsigned char)*word))
        return false;
    errno = 0;
    const unsigned long long value = strtoull(word, &end, 10);
    *number = (uint32_t)value;
    return *end == '\0' && errno == 0 && value <= most;
}

static bool is_name(const char *word)
{
    const size_t length = strlen(word);

    return length > 0 && length <= NAME_MAX_ &&
           strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == length;
}

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

/* WORDS: "*" "table" NAME NUMBER OFFSET ROWS ROW_WORDS, and FORM with the description. */
static bool read_table(struct declared *declared, struct words *words, struct fail *fail)
{
    struct trace_table_info *table = &declared->tables[declared->count];
    struct words rest = split(words->count == WORDS_MAX ? words->word[7] : "", 2);
    const char *form = rest.count > 0 ? rest.word[0] : "";
    char *other = rest.count > 0 ? strchr(rest.word[0], '+') : NULL;

    if (other != NULL)
        *other++ = '\0';
    if (declared->count == DECLARED_MAX)
        return fail_set(fail, "there are more than %u", DECLARED_MAX);
    *table = (struct trace_table_info){.is_hashed = strcmp(form, "hashed") == 0};
    if ((!table->is_hashed && strcmp(form, "direct") != 0) || !is_name(words->word[2]) ||
        (other != NULL && (table->is_hashed || !is_name(other))) ||
        !read_number(words->word[3], UINT32_MAX, &table->number) ||
        !read_number(words->word[4], TRACE_TABLES_BYTES_MAX, &table->offset) ||
        !read_number(words->word[5], TRACE_TABLES_BYTES_MAX / 8, &table->rows) ||
        !read_number(words->word[6], TRACE_TABLES_BYTES_MAX / 8, &table->row_words))
        return fail_set(fail, "its line is not NAME NUMBER OFFSET ROWS ROW_WORDS direct|hashed");
    declared->adds[declared->count] = other != NULL ? copy(declared, other) : NULL;
    table->name = copy(declared, words->word[2]);
    table->description = copy(declared, rest.count == 2 ? rest.word[1] : "");
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

/* WORDS: "*" KIND NAME UNIT WORD, and WORDS with the description. */
static bool read_column(struct declared *declared, unsigned kind, struct words *words, struct fail *fail)
{
    struct trace_table_info *table = declared->count > 0 ? &declared->tables[declared->count - 1] : NULL;
    struct words rest = split(words->count == 6 ? words->word[5] : "", 2);
    const bool is_key = kind == TRACE_COLUMN_KEY;
    uint32_t word, count;

    if (table == NULL || table->column_count == TRACE_TABLE_COLUMNS_MAX)
        return fail_set(fail, table != NULL ? "it has more columns than a table may have"
                                            : "a column stands before the first table");
    if (rest.count == 0 || !is_name(words->word[2]) ||
        (strcmp(words->word[3], "-") != 0 && !is_name(words->word[3])) ||
        !read_number(words->word[4], TRACE_TABLE_ROW_WORDS_MAX, &word) ||
        !read_number(rest.word[0], TRACE_TABLE_ROW_WORDS_MAX, &count))
        return fail_set(fail, "the line of a %s is not NAME UNIT WORD WORDS", kinds[kind]);
    struct trace_column_info *column = (struct trace_column_info *)&table->columns[table->column_count];
    *column = (struct trace_column_info){
        .name = copy(declared, words->word[2]),
        .description = copy(declared, rest.count == 2 ? rest.word[1] : ""),
        .unit = copy(declared, is_key || strcmp(words->word[3], "-") == 0 ? "" : words->word[3]),
        .kind = (uint8_t)kind,
        .is_hex = is_key && strcmp(words->word[3], "hex") == 0,
        .word = (uint16_t)word,
        .words = (uint16_t)count};
    if (!check_column(table, column, fail))
        return false;
    table->key_count += is_key;
    table->column_count++;
    return true;
}

/* ---- the list -------------------------------------------------------------------------------------- */

/* The last line; WORDS: "*" "moves" BEGUN ENDED, the offsets of the counts. Lists of systems that do not move
 * rows have none. */
static bool read_moves(struct declared *declared, const struct words *words, struct fail *fail)
{
    uint32_t begun, ended;

    if (words->count != 4 || !read_number(words->word[2], TRACE_TABLES_BYTES_MAX, &begun) ||
        !read_number(words->word[3], TRACE_TABLES_BYTES_MAX - 8, &ended))
        return fail_set(fail, "the line of moves is not BEGUN ENDED");
    if (declared->count == 0 || declared->tables[0].offset != 0 || begun != TRACE_TABLE_MOVES_BEGUN * 8 ||
        ended % 8 != 0 || ended < declared->bytes)
        return fail_set(fail, "the counts of moves are not at the begin and behind the tables");
    for (unsigned i = 0; i < declared->count; i++)
        declared->tables[i].moves_ended = ended;
    declared->bytes = ended + 8;
    return false;
}

/* The first one counts: only the system's own text stands before what programs may have added. */
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
static bool read_line(struct declared *declared, const char *line, size_t size, struct fail *why)
{
    char text[2][LINE_BYTES];

    why->text[0] = '\0';
    if (size >= LINE_BYTES)
        return fail_set(why, "a line is longer than %u letters", LINE_BYTES);
    for (unsigned i = 0; i < 2; i++) {
        memcpy(text[i], line, size);
        text[i][size] = '\0';
    }
    struct words words = split(text[0], WORDS_MAX), column = split(text[1], 6);
    if (words.count < 3 || strcmp(words.word[0], "*") != 0)
        return false;
    if (strcmp(words.word[1], "table") == 0)
        return words.count == WORDS_MAX ? read_table(declared, &words, why)
                                        : fail_set(why, "the line of a table lacks words");
    if (strcmp(words.word[1], "moves") == 0)
        return read_moves(declared, &words, why);
    const unsigned kind = kind_of(column.word[1]);
    if (kind == KINDS)
        return false;
    return column.count == 6 ? read_column(declared, kind, &column, why)
                             : fail_set(why, "the line of a %s lacks words", kinds[kind]);
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
