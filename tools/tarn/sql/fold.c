/*
 * fold.c - the virtual table `fold`: groups of rows of a relation, counted while the trace is read.
 *
 *   CREATE VIRTUAL TABLE use USING fold(activity, where kind = syscall, by detail, by utid, keep name, count,
 *       sum self_dur, sum is_error as errors, spread dur as whole unless is_cut)
 *
 * docs/man/sql.md has the terms. Analyses have two more: in `where`, WORD is :OPTION for the value of an
 * option, and the term holds if that is not given; `where COLUMN word WORD` is a pattern for all of the value
 * or its last word. Memory is limited (map.h): the rest is one group whose `by` columns are NULL.
 */
#include <stdio.h>
#include <tools/tarn/sql/database.h>

#define TOP_MAX    100000u
#define TEXT_BYTES 256u /* of a kept text: struct relations */

#define FOLD_TERMS  24u
#define FOLD_WORDS  8u
#define FOLD_RECENT 256u

enum fold_term_kind {
    TERM_WHERE,
    TERM_TIMES,
    TERM_BY,
    TERM_KEEP,
    TERM_COUNT,
    TERM_SUM,
    TERM_MAX,
    TERM_AT,
    TERM_SPREAD,
    TERM_TOP
};

enum fold_sign { WHERE_EQUAL, WHERE_IN, WHERE_GLOB, WHERE_WORD, WHERE_ABOVE };

struct fold_term {
    enum fold_term_kind kind;
    const struct relation_column *column; /* NULL: TERM_COUNT */
    const struct relation_column *unless; /* or NULL */
    const char *name;
    const char *words[FOLD_WORDS]; /* of TERM_WHERE */
    int64_t numbers[FOLD_WORDS];   /* the same as numbers */
    unsigned word_count;
    enum fold_sign sign;
    unsigned cell; /* place in a row; TERM_WHERE, TERM_TIMES and TERM_TOP have none */
};

union fold_cell {
    struct value value; /* its text is in the fold's arena */
    struct holder *holder;
};

struct fold_row {
    bool is_used;
    uint64_t rank, begin; /* of TERM_TOP */
    union fold_cell cells[];
};

struct fold {
    struct relation_sink sink;
    struct database *database;
    struct fold *next;
    struct fold_term terms[FOLD_TERMS];
    unsigned term_count, cell_count;
    const struct fold_term *first[TERM_TOP + 2]; /* by kind: terms are sorted by it */
    struct map groups;
    struct fold_recent {
        uint64_t key[MAP_KEYS];
        struct fold_row *row;
    } recent[FOLD_RECENT];                   /* groups, by hash of the key */
    struct fold_row **top;                   /* of TERM_TOP */
    uint64_t top_size, top_count, threshold; /* threshold: smaller ranks are not kept any more */
    struct arena arena;
    bool is_filled;
};

/* ---- terms ---- */

static const char *next_word(struct arena *arena, const char **at)
{
    const char *begin = *at + strspn(*at, " \t\n");
    bool is_quoted = *begin == '\'';
    size_t length = is_quoted ? strcspn(++begin, "'") : strcspn(begin, " \t\n");
    *at = begin + length + (is_quoted && begin[length] != '\0');
    return length > 0 || is_quoted ? arena_string(arena, begin, length) : NULL;
}

/* COUNT: none, or WORD is NULL. */
static unsigned place_of(const char *const *words, unsigned count, const char *word)
{
    unsigned place = word != NULL ? 0 : count;
    while (place < count && strcmp(words[place], word) != 0)
        place++;
    return place;
}

static const struct relation_column *find_column(const struct fold *fold, const char *name)
{
    int column = name != NULL ? relation_find_column(fold->sink.relation, name) : -1;
    return column >= 0 ? &fold->sink.relation->columns[column] : NULL;
}

static bool parse_where(struct fold *fold, struct fold_term *term, const char *at, struct fail *fail)
{
    static const char *const signs[] = {[WHERE_EQUAL] = "=",
                                        [WHERE_IN] = "in",
                                        [WHERE_GLOB] = "glob",
                                        [WHERE_WORD] = "word",
                                        [WHERE_ABOVE] = ">"};
    const char *sign = next_word(&fold->arena, &at), *word;
    for (; (word = next_word(&fold->arena, &at)) != NULL && term->word_count < FOLD_WORDS;
         term->word_count++) {
        if (*word == ':')
            word = fold->database->option != NULL ? fold->database->option(fold->database->owner, word + 1)
                                                  : NULL;
        term->words[term->word_count] = word;
        term->numbers[term->word_count] = word != NULL ? strtoll(word, NULL, 0) : 0;
    }
    term->sign = place_of(signs, WHERE_ABOVE + 1, sign);
    if (word != NULL || term->word_count == 0 || term->sign > WHERE_ABOVE)
        return fail_set(fail,
                        "expected: where COLUMN = WORD, > WORD, glob WORD, word WORD, or in WORD WORD...");
    if (term->column->parameter != 0)
        fold->sink.parameters[term->column->parameter - 1] = term->words[0];
    if (term->words[0] == NULL || term->column->parameter != 0)
        fold->term_count--; /* it holds */
    else
        fold->sink.is_without_idle |=
            term->sign == WHERE_EQUAL && term->numbers[0] == 0 && strcmp(term->column->name, "is_idle") == 0;
    return true;
}

static bool parse_rest(struct fold *fold, struct fold_term *term, const char *at, struct fail *fail)
{
    const char *word;
    term->name = term->column != NULL ? term->column->name : "count";
    while ((word = next_word(&fold->arena, &at)) != NULL) {
        const char *next = next_word(&fold->arena, &at);
        if (strcmp(word, "as") == 0 && next != NULL)
            term->name = next;
        else if (strcmp(word, "unless") != 0 || (term->unless = find_column(fold, next)) == NULL)
            return fail_set(fail, "'%.40s %.40s': expected `as NAME` or `unless COLUMN`", word,
                            next != NULL ? next : "");
    }
    return true;
}

static bool parse_term(struct fold *fold, const char *at, struct fail *fail)
{
    static const char *const kinds[] = {
        [TERM_WHERE] = "where",   [TERM_TIMES] = "times", [TERM_BY] = "by",   [TERM_KEEP] = "keep",
        [TERM_COUNT] = "count",   [TERM_SUM] = "sum",     [TERM_MAX] = "max", [TERM_AT] = "at",
        [TERM_SPREAD] = "spread", [TERM_TOP] = "top"};
    struct fold_term *term = &fold->terms[fold->term_count];
    const char *word = next_word(&fold->arena, &at), *name = NULL;
    unsigned kind = place_of(kinds, TERM_TOP + 1, word);
    if (kind > TERM_TOP)
        return fail_set(
            fail, "'%.40s' is no term of a fold: where, times, by, keep, count, sum, max, at, spread or top",
            word != NULL ? word : "");
    if (fold->term_count++ == FOLD_TERMS)
        return fail_set(fail, "a fold has at most %u terms", FOLD_TERMS);
    *term = (struct fold_term){.kind = kind};
    if (kind == TERM_TOP && (!option_count(word = next_word(&fold->arena, &at), &fold->top_size, fail) ||
                             fold->top_size == 0 || fold->top_size > TOP_MAX))
        return fail_set(fail, "top needs a number from 1 to %u", TOP_MAX);
    if (kind != TERM_COUNT && (term->column = find_column(fold, name = next_word(&fold->arena, &at))) == NULL)
        return fail_set(fail, "%s has no column '%.40s'", fold->sink.relation->name,
                        name != NULL ? name : "");
    if (kind > TERM_TIMES && kind != TERM_TOP)
        term->cell = fold->cell_count++;
    return kind == TERM_WHERE ? parse_where(fold, term, at, fail) : parse_rest(fold, term, at, fail);
}

/* Sorts them by kind, too. */
static bool check_terms(struct fold *fold, struct fail *fail)
{
    unsigned counts[TERM_TOP + 1] = {0};
    for (unsigned i = 0; i < fold->term_count; i++) {
        const struct fold_term term = fold->terms[i];
        unsigned place = i;
        counts[term.kind]++;
        for (; place > 0 && fold->terms[place - 1].kind > term.kind; place--)
            fold->terms[place] = fold->terms[place - 1];
        fold->terms[place] = term;
    }
    fold->first[0] = fold->terms;
    for (unsigned kind = 0; kind <= TERM_TOP; kind++)
        fold->first[kind + 1] = fold->first[kind] + counts[kind];
    if (counts[TERM_TOP] > 1 ||
        (counts[TERM_TOP] == 1 && fold->cell_count != counts[TERM_KEEP] + counts[TERM_SUM]))
        return fail_set(fail, "a fold with `top` has only `keep` and `sum`");
    return fold->cell_count > 0 || fail_set(fail, "the fold has no columns");
}

/* ---- rows ---- */

static bool is_word(const struct fold_term *term, unsigned number, const struct value *value)
{
    const char *word = term->words[number];
    char text[TEXT_BYTES];
    if (term->sign == WHERE_ABOVE)
        return value->kind != VALUE_NULL && (int64_t)value->number > term->numbers[number];
    if (value->kind != VALUE_TEXT)
        return value->kind != VALUE_NULL && (uint64_t)term->numbers[number] == value->number;
    if (term->sign != WHERE_GLOB && term->sign != WHERE_WORD)
        return strlen(word) == value->length && memcmp(word, value->text, value->length) == 0;
    snprintf(text, sizeof(text), "%.*s", (int)value->length, value->text);
    return term->sign == WHERE_GLOB ? match_glob(word, text) : match_words(word, text);
}

/* The terms of the kinds from LOW to HIGH. */
#define EACH_TERM(fold, term, low, high)                                                                    \
    for (const struct fold_term *term = (fold)->first[low], *end_ = (fold)->first[(high) + 1]; term < end_; \
         term++)

/* Not inlined: the text would cost all rows of all folds. */
static __attribute__((noinline)) bool holds(const struct fold_term *term, const struct relation_row *row)
{
    struct value value = relation_value(row, term->column);
    unsigned word = 0;
    while (word < term->word_count && !is_word(term, word, &value))
        word++;
    return word < term->word_count;
}

/* A text of the largest, which change, has a place of its own. */
static void keep(struct fold *fold, struct value *kept, struct value value)
{
    if (value.kind == VALUE_SPAN)
        value.begin = 0; /* rounded as sums are */
    if (value.kind == VALUE_TEXT && fold->top_size == 0)
        value.text = arena_string(&fold->arena, value.text, value.length);
    if (value.kind == VALUE_TEXT && fold->top_size != 0) {
        char *place = kept->kind == VALUE_TEXT ? (char *)kept->text : arena_alloc(&fold->arena, TEXT_BYTES);
        value.length = sooner(value.length, TEXT_BYTES);
        value.text = memcpy(place, value.text, value.length);
    }
    *kept = value;
}

static __attribute__((noinline)) struct fold_row *find_group(struct fold *fold, struct fold_recent *recent,
                                                             const uint64_t key[MAP_KEYS],
                                                             const struct relation_row *row)
{
    struct fold_row *group = map_at(&fold->groups, key[0], key[1], key[2]);
    *recent = (struct fold_recent){.key = {key[0], key[1], key[2]}, .row = group};
    if (group->is_used)
        return group;
    group->is_used = true;
    EACH_TERM(fold, term, TERM_COUNT, TERM_MAX)
    group->cells[term->cell].value = VALUE_NUMBER(0);
    EACH_TERM(fold, term, TERM_SPREAD, TERM_SPREAD)
    group->cells[term->cell].holder = arena_alloc(&fold->arena, sizeof(struct holder));
    if (fold->groups.others == NULL || (void *)fold->groups.others->value != group)
        EACH_TERM(fold, term, TERM_BY, TERM_KEEP)
    keep(fold, &group->cells[term->cell].value, relation_value(row, term->column));
    return group;
}

/* A text is a key as its hash, and so are the last columns if there are more than a map's keys. */
static struct fold_row *group_of(struct fold *fold, const struct relation_row *row)
{
    uint64_t key[MAP_KEYS] = {0};
    unsigned count = 0;
    struct fold_recent *recent;
    EACH_TERM(fold, term, TERM_BY, TERM_BY)
    {
        struct value value = relation_value(row, term->column);
        uint64_t part = value.kind == VALUE_TEXT   ? hash_bytes(HASH_SEED, value.text, value.length)
                        : value.kind == VALUE_NULL ? (uint64_t)1 << 63
                                                   : value.number;
        if (count < MAP_KEYS)
            key[count++] = part;
        else
            key[MAP_KEYS - 1] = hash_number(hash_number(HASH_SEED, key[MAP_KEYS - 1]), part);
    }
    recent = &fold->recent[hash_number(hash_number(key[0], key[1]), key[2]) % FOLD_RECENT];
    if (recent->row != NULL &&
        ((recent->key[0] ^ key[0]) | (recent->key[1] ^ key[1]) | (recent->key[2] ^ key[2])) == 0)
        return recent->row;
    return find_group(fold, recent, key, row);
}

static void count_row(struct fold *fold, struct fold_row *group, const struct relation_row *row)
{
    bool is_largest = false;
    uint64_t times = 1;
    EACH_TERM(fold, term, TERM_TIMES, TERM_TIMES)
    times = relation_value(row, term->column).number;
    EACH_TERM(fold, term, TERM_COUNT, TERM_COUNT)
    group->cells[term->cell].value.number += times;
    EACH_TERM(fold, term, TERM_SUM, TERM_SPREAD)
    {
        union fold_cell *cell = &group->cells[term->cell];
        struct value value;
        if (term->kind == TERM_AT && is_largest)
            keep(fold, &cell->value, relation_value(row, term->column));
        if (term->kind == TERM_AT || (term->unless != NULL && relation_value(row, term->unless).number != 0))
            continue;
        value = relation_value(row, term->column);
        if (value.kind == VALUE_NULL || value.kind == VALUE_TEXT)
            continue;
        if (term->kind == TERM_SUM) {
            cell->value.number += value.number * times;
        } else if (term->kind == TERM_MAX) {
            is_largest = value.number > cell->value.number;
            cell->value.number = is_largest ? value.number : cell->value.number;
        } else if (times > 0) {
            cell->holder->is_ticks = value.kind == VALUE_SPAN;
            distribution_add_many(&cell->holder->distribution, &fold->arena, value.number, times);
        }
    }
}

/* ---- the largest ---- */

static int compare_top(const void *left, const void *right)
{
    const struct fold_row *a = *(struct fold_row *const *)left, *b = *(struct fold_row *const *)right;
    return a->rank != b->rank ? (a->rank < b->rank ? 1 : -1) : (a->begin > b->begin) - (a->begin < b->begin);
}

/* Sorts the rows, and forgets those behind the first `top_size`. */
static void cut_top(struct fold *fold)
{
    qsort(fold->top, fold->top_count, sizeof(fold->top[0]), compare_top);
    fold->top_count = sooner(fold->top_count, fold->top_size);
}

/* Up to twice as many rows are gathered before they are cut; then the last one kept is the threshold. */
static __attribute__((noinline)) void take_top(struct fold *fold, const struct relation_row *row)
{
    const struct fold_term *term = fold->first[TERM_TOP];
    struct value rank = relation_value(row, term->column);
    struct fold_row **kept = &fold->top[fold->top_count];
    if (rank.kind == VALUE_NULL || rank.kind == VALUE_TEXT || rank.number < fold->threshold ||
        (term->unless != NULL && relation_value(row, term->unless).number != 0))
        return;
    if (*kept == NULL)
        *kept = arena_alloc(&fold->arena, fold->groups.value_size);
    (*kept)->rank = rank.number;
    (*kept)->begin = row->begin;
    EACH_TERM(fold, keeps, TERM_KEEP, TERM_KEEP)
    keep(fold, &(*kept)->cells[keeps->cell].value, relation_value(row, keeps->column));
    EACH_TERM(fold, adds, TERM_SUM, TERM_SUM)
    (*kept)->cells[adds->cell].value = VALUE_NUMBER(relation_value(row, adds->column).number);
    if (++fold->top_count == 2 * fold->top_size) {
        cut_top(fold);
        fold->threshold = fold->top[fold->top_size - 1]->rank + 1;
    }
}

static void take_row(struct relation_sink *self, const struct relation_row *row)
{
    struct fold *fold = OUTER(self, struct fold, sink);
    EACH_TERM(fold, term, TERM_WHERE, TERM_WHERE)
    if (!holds(term, row))
        return;
    if (fold->top_size != 0)
        take_top(fold, row);
    else
        count_row(fold, group_of(fold, row), row);
}

/* ---- SQLite ---- */

static void free_fold(struct fold *fold)
{
    map_close(&fold->groups);
    arena_free(&fold->arena);
    free(fold->top);
    free(fold);
}

static bool parse(struct fold *fold, int argc, const char *const *argv, struct fail *fail)
{
    const char *at = argc > 3 ? argv[3] : "", *name = next_word(&fold->arena, &at);
    fold->sink.relation = name != NULL ? catalog_find(&fold->database->catalog, name) : NULL;
    if (fold->sink.relation == NULL || fold->sink.relation->source >= SOURCE_STREAMS)
        return fail_set(fail, "a fold needs a relation with rows in time; '%.40s' is none", name ? name : "");
    for (int i = 4; i < argc; i++)
        if (!parse_term(fold, argv[i], fail))
            return false;
    return check_terms(fold, fail);
}

static const struct fold_term *term_of(const struct fold *fold, unsigned cell)
{
    const struct fold_term *term = fold->first[TERM_BY];
    while (term->cell != cell)
        term++;
    return term;
}

static void *connect_fold(struct database *database, void *data, int argc, const char *const *argv,
                          sqlite3_str *sql, char **error)
{
    struct fold *fold = alloc_zero(1, sizeof(*fold));
    struct fail fail;
    fold->database = database;
    fold->sink.take = take_row;
    map_open(&fold->groups, 0);
    if (!parse(fold, argc, argv, &fail)) {
        *error = sqlite3_mprintf("%s", fail.text);
        free_fold(fold);
        return NULL;
    }
    for (unsigned cell = 0; cell < fold->cell_count; cell++)
        sqlite3_str_appendf(sql, "%s\"%w\"", cell == 0 ? "" : ",", term_of(fold, cell)->name);
    fold->groups.value_size = sizeof(struct fold_row) + fold->cell_count * sizeof(union fold_cell);
    fold->groups.limit =
        fold->first[TERM_SPREAD] < fold->first[TERM_SPREAD + 1] ? MAP_DISTRIBUTIONS_MAX : MAP_ENTRIES_MAX;
    fold->top = fold->top_size > 0 ? alloc_zero(2 * fold->top_size, sizeof(fold->top[0])) : NULL;
    fold->next = database->folds;
    database->folds = fold;
    return fold;
}

static void drop_fold(void *table)
{
    struct fold *fold = table, **link = &fold->database->folds;
    while (*link != fold)
        link = &(*link)->next;
    *link = fold->next;
    free_fold(fold);
}

static int begin_rows(struct rows_cursor *cursor, const char *plan, int argc, sqlite3_value **argv,
                      char **error)
{
    struct fold *fold = cursor->table;
    if (database_final(fold->database) == NULL) {
        *error = sqlite3_mprintf("%s", fold->database->relations.fail.text);
        return fold->database->stop ? SQLITE_INTERRUPT : SQLITE_ERROR;
    }
    if (fold->top_count > 1)
        cut_top(fold);
    return SQLITE_OK;
}

static bool move(struct rows_cursor *cursor, char **error)
{
    const struct fold *fold = cursor->table;
    return cursor->number < (fold->top != NULL ? fold->top_count : map_total(&fold->groups));
}

/* Times become nanoseconds, sums and distributions stay in ticks. */
static void column_value(struct rows_cursor *cursor, sqlite3_context *context, unsigned column)
{
    struct fold *fold = cursor->table;
    const struct fold_row *row = fold->top != NULL
                                     ? fold->top[cursor->number]
                                     : (const void *)map_entry(&fold->groups, cursor->number)->value;
    if (term_of(fold, column)->kind == TERM_SPREAD)
        result_holder(fold->database, context, row->cells[column].holder);
    else
        result_value(context, value_plain(&fold->database->source.trace->schema, row->cells[column].value));
}

int folds_register(struct database *database)
{
    static const struct rows_kind kind = {
        .connect = connect_fold, .drop = drop_fold, .begin = begin_rows, .move = move, .value = column_value};
    return rows_register(database, "fold", &kind, NULL);
}

void folds_add(struct database *database, struct relations *relations)
{
    for (struct fold *fold = database->folds; fold != NULL; fold = fold->next)
        if (!fold->is_filled)
            relations_add(relations, &fold->sink);
}

void folds_filled(struct database *database)
{
    for (struct fold *fold = database->folds; fold != NULL; fold = fold->next)
        fold->is_filled = true;
}

bool folds_wait(const struct database *database)
{
    const struct fold *fold = database->folds;
    while (fold != NULL && fold->is_filled)
        fold = fold->next;
    return fold != NULL;
}
