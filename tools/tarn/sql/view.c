/* view.c - analyses that are written in SQL; see analysis.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <tools/tarn/options.h>
#include <tools/tarn/out.h>
#include <tools/tarn/sql/database.h>

#define DECLARATIONS_MAX 256u /* of one kind */
#define WORDS_MAX        8u
#define DIRECTIVE        "--: "

/* A part of the file. */
struct statement {
    enum { BEFORE_WALK, AFTER_WALK, OF_HEADINGS, OF_NOTE, OF_ANSWER, OF_TABLE, OF_TEXT } kind;
    struct table *table;    /* OF_TABLE */
    unsigned option;        /* OF_TEXT: its number */
    uint64_t parts, shares; /* of a table: bit N: column N is one, see column_kinds */
    const char *tables;     /* run only for one of these tables; NULL: always */
    struct buffer sql;
};

struct sql_kind {
    struct analysis_kind kind; /* first */
    struct command_option options[ANALYSIS_OPTIONS + 1];
    unsigned option_count, define_count, directives;
    struct table tables[DECLARATIONS_MAX], totals;
    struct statement statements[DECLARATIONS_MAX + 1];
    struct define {
        const char *name;
        struct buffer text;
    } defines[DECLARATIONS_MAX];
    struct column_text texts[DECLARATIONS_MAX];
    struct arena arena; /* of all texts */
};

/* ---- the declaration ---- */

/* Returns a copy of the text before MARK, without spaces around it, and moves behind MARK. */
static char *cut(struct sql_kind *kind, const char **at, const char *mark)
{
    const char *begin = *at + strspn(*at, " \n");
    size_t length = strcspn(begin, mark);
    *at = begin + length + (begin[length] != '\0');
    while (length > 0 && isspace((unsigned char)begin[length - 1]))
        length--;
    return arena_string(&kind->arena, begin, length);
}

/* Adds TEXT, with $NAME replaced by its definition. */
static bool add_expanded(const struct sql_kind *kind, struct buffer *to, const char *text, struct fail *fail)
{
    for (; *text != '\0'; text++) {
        size_t length = 0;
        unsigned i = 0;
        while (*text == '$' && (isalnum((unsigned char)text[1 + length]) || text[1 + length] == '_'))
            length++;
        if (length == 0) {
            buffer_add(to, text, 1);
            continue;
        }
        while (i < kind->define_count && (strlen(kind->defines[i].name) != length ||
                                          memcmp(kind->defines[i].name, text + 1, length) != 0))
            i++;
        if (i == kind->define_count)
            return fail_set(fail, "$%.*s is not defined", (int)length, text + 1);
        buffer_add(to, kind->defines[i].text.bytes, kind->defines[i].text.used);
        text += length;
    }
    return true;
}

/* Parts and shares are in ticks. Consecutive parts of a row are rounded so that they add up to the sum of
 * them, and so are the shares of all rows. */
static const struct {
    const char *word;
    struct table_column column;
} column_kinds[] = {
    {"part", TIME_COLUMN(NULL)},  {"share", TIME_COLUMN(NULL)}, {"count", COUNT_COLUMN(NULL)},
    {"time", TIME_COLUMN(NULL)},  {"id", NUMBER_COLUMN(NULL)},  {"signed", SIGNED_COLUMN(NULL)},
    {"hex", HEX_COLUMN(NULL)},    {"when", WHEN_COLUMN(NULL)},  {"text", TEXT_COLUMN(NULL)},
    {"key", TEXT_KEY(NULL)},      {"one", TIME_OF_ONE(NULL)},   {"max", TIME_LARGEST(NULL)},
    {"min", TIME_SMALLEST(NULL)}, {"real", REAL_COLUMN(NULL)},  {"mean", MEAN_COLUMN(NULL)},
};

static bool parse_columns(struct sql_kind *kind, const char *text, struct fail *fail)
{
    struct statement *statement = &kind->statements[kind->kind.statement_count - 1];
    struct table *table = statement->table;
    struct table_column *columns = arena_alloc(&kind->arena, TABLE_COLUMNS_MAX * sizeof(*columns));
    struct buffer list = {0};
    bool ok =
        table != NULL ? add_expanded(kind, &list, text, fail) : fail_set(fail, "columns without a table");
    buffer_add(&list, "", 1);
    for (const char *at = (const char *)list.bytes; ok && *at != '\0';) {
        const char *column = cut(kind, &at, ","), *key = cut(kind, &column, ":");
        const char *word = cut(kind, &column, ""), *end = strrchr(key, '_');
        size_t i = 0;
        if (*word == '\0')
            word = end != NULL && strcmp(end, "_ns") == 0 ? "time" : "count";
        while (i < sizeof(column_kinds) / sizeof(column_kinds[0]) && strcmp(column_kinds[i].word, word) != 0)
            i++;
        ok = (i < sizeof(column_kinds) / sizeof(column_kinds[0]) ||
              fail_set(fail, "column '%.40s': there is no kind '%.20s'", key, word)) &&
             (table->column_count < TABLE_COLUMNS_MAX ||
              fail_set(fail, "table '%.40s' has too many columns", table->key));
        if (!ok)
            break;
        columns[table->column_count] = column_kinds[i].column;
        columns[table->column_count].key = key;
        statement->parts |= (uint64_t)(strcmp(word, "part") == 0) << table->column_count;
        statement->shares |= (uint64_t)(strcmp(word, "share") == 0) << table->column_count++;
    }
    free(list.bytes);
    if (ok)
        table->columns = columns;
    return ok;
}

/* Returns the option that makes the analysis print something else; `tarn diff` lacks it. */
static unsigned mark_option(struct sql_kind *kind, const char *name)
{
    unsigned number = 0;
    while (number < kind->option_count && strcmp(kind->options[number].name, name) != 0)
        number++;
    if (number < kind->option_count)
        kind->options[number].is_extra = true;
    return number;
}

static void set_histogram(struct table *table, struct buffer *sql, const char *expression)
{
    char text[300];
    int length = snprintf(text, sizeof(text), "SELECT * FROM histogram((SELECT %.200s))", expression);
    buffer_add(sql, text, (size_t)length);
    table->columns = histogram_columns;
    table->column_count = 6;
    table->is_whole = true;
}

/* KEY, HEADING, OTHERS [, by COLUMN] [, extra] [, whole] [, needs OPTION] [, histogram EXPRESSION]: TEXT */
static bool parse_table(struct sql_kind *kind, const char *at, struct fail *fail)
{
    const char *head = cut(kind, &at, ":"), *word;
    struct table table = {.text = cut(kind, &at, ""), .key = cut(kind, &head, ",")}, *to = &kind->totals;
    struct statement *statement = &kind->statements[kind->kind.statement_count++];
    table.heading = cut(kind, &head, ",");
    table.others = cut(kind, &head, ",");
    while (*head != '\0') {
        word = cut(kind, &head, ",");
        if (strncmp(word, "by ", 3) == 0)
            table.order = word + 3;
        else if (strncmp(word, "needs ", 6) == 0)
            mark_option(kind, table.needs = word + 6);
        else if (strncmp(word, "histogram ", 10) == 0)
            set_histogram(&table, &statement->sql, word + 10);
        else if (!list_names("whole, extra", word))
            return fail_set(fail, "table '%.40s': '%.40s' is no property", table.key, word);
        table.is_whole |= strcmp(word, "whole") == 0;
        table.is_extra |= strcmp(word, "extra") == 0;
    }
    table.is_wanted = !table.is_extra && table.needs == NULL;
    if (strcmp(table.key, "total") != 0)
        to = &kind->tables[kind->kind.table_count++];
    *to = table;
    statement->kind = OF_TABLE;
    statement->table = to;
    return true;
}

/* They remain texts, for folds and queries. */
static bool set_option(void *context, const struct command_option *option, const char *value,
                       struct fail *fail)
{
    uint64_t number;
    char *end;
    double percent;
    *(const char **)(void *)((char *)context + option->place) = option->argument != NULL ? value : "1";
    if (option->argument == NULL)
        return true;
    if (strcmp(option->argument, "N") == 0)
        return option_count(value, &number, fail) && (number > 0 || fail_set(fail, "expected at least 1"));
    percent = strtod(value, &end);
    return (end != value && *end == '\0' && percent >= 0 && percent <= 100) ||
           fail_set(fail, "expected a percentage");
}

/* NAME [ARGUMENT[=WORD|WORD...]]: TEXT. The first word is the default. */
static bool parse_option(struct sql_kind *kind, const char *at, struct fail *fail)
{
    const char *head = cut(kind, &at, ":"), **words;
    char *text = cut(kind, &at, "");
    struct command_option *option = &kind->options[kind->option_count];
    if (kind->option_count == ANALYSIS_OPTIONS)
        return fail_set(fail, "more than %u options", ANALYSIS_OPTIONS);
    *option = (struct command_option){.name = cut(kind, &head, " "), .text = text, .take = set_option};
    option->place = offsetof(struct analysis, options) + kind->option_count++ * sizeof(const char *);
    if (*head != '\0')
        option->argument = cut(kind, &head, "=");
    option->kind =
        option->argument == NULL || list_names("N, PERCENT", option->argument) ? OPTION_CALL : OPTION_TEXT;
    if (*head != '\0') {
        option->kind = OPTION_WORD;
        option->words = words = arena_alloc(&kind->arena, (WORDS_MAX + 1) * sizeof(words[0]));
        for (unsigned i = 0; *head != '\0' && i < WORDS_MAX; i++)
            words[i] = cut(kind, &head, "|");
    }
    while ((text = strstr(text, "\\n")) != NULL)
        memcpy(text, "\n ", 2);
    return true;
}

static bool parse_directive(struct sql_kind *kind, const char *at, struct fail *fail)
{
    static const char *const words[OF_TABLE] = {[BEFORE_WALK] = "for",
                                                [AFTER_WALK] = "after",
                                                [OF_HEADINGS] = "headings",
                                                [OF_NOTE] = "note",
                                                [OF_ANSWER] = "answer"};
    const char *word = cut(kind, &at, " "), *head;
    char *in;
    if (kind->directives++ == DECLARATIONS_MAX)
        return fail_set(fail, "more than %u declarations", DECLARATIONS_MAX);
    at += strspn(at, " ");
    if (strcmp(word, "option") == 0)
        return parse_option(kind, at, fail);
    if (strcmp(word, "table") == 0)
        return parse_table(kind, at, fail);
    if (strcmp(word, "columns") == 0)
        return parse_columns(kind, at, fail);
    if (strcmp(word, "define") == 0) {
        struct define *define = &kind->defines[kind->define_count];
        define->name = cut(kind, &at, " ");
        kind->define_count++;
        return add_expanded(kind, &define->text, at, fail);
    }
    if (strcmp(word, "analysis") == 0) {
        kind->kind.name = cut(kind, &at, ":");
        kind->kind.summary = cut(kind, &at, "");
    } else if (strcmp(word, "column") == 0) { /* KEY [in TABLE, TABLE]: TEXT */
        head = cut(kind, &at, ":");
        if ((in = strstr(head, " in ")) != NULL)
            *in = '\0';
        kind->texts[kind->kind.text_count++] =
            (struct column_text){head, in != NULL ? in + 4 : NULL, cut(kind, &at, "")};
    } else if (strcmp(word, "print") == 0) {
        kind->statements[kind->kind.statement_count++] =
            (struct statement){.kind = OF_TEXT, .option = mark_option(kind, at)};
    } else if (strcmp(word, "symbols") == 0) {
        kind->kind.uses_symbols = true;
    } else if (strcmp(word, "events") == 0) {
        kind->kind.chooses_events = true;
    } else {
        unsigned number = 0;
        while (number < OF_TABLE && strcmp(words[number], word) != 0)
            number++;
        if (number == OF_TABLE)
            return fail_set(fail, "'%.40s' is no declaration", word);
        kind->statements[kind->kind.statement_count++] =
            (struct statement){.kind = number, .tables = *at != '\0' ? cut(kind, &at, "") : NULL};
    }
    return true;
}

/* Lines that begin with `--: ` and a space continue a declaration. */
static bool parse_file(struct sql_kind *kind, const char *at, struct fail *fail)
{
    bool ok = true, goes_on;
    while (ok && *at != '\0') {
        bool is_directive = strncmp(at, DIRECTIVE, strlen(DIRECTIVE)) == 0;
        struct buffer line = {0};
        at += is_directive ? strlen(DIRECTIVE) : 0;
        do {
            size_t length = strcspn(at, "\n");
            buffer_add(&line, at, length);
            at += length + (at[length] != '\0');
            goes_on = is_directive && strncmp(at, DIRECTIVE " ", strlen(DIRECTIVE) + 1) == 0;
            at += goes_on ? strlen(DIRECTIVE) : 0;
        } while (goes_on);
        buffer_add(&line, "", 1);
        const char *text = (const char *)line.bytes;
        if (is_directive) {
            ok = parse_directive(kind, text, fail);
        } else if (strncmp(text, "--", 2) != 0 && *text != '\0') {
            struct statement *statement = &kind->statements[kind->kind.statement_count - 1];
            ok = add_expanded(kind, &statement->sql, text, fail);
            buffer_add(&statement->sql, "\n", 1);
        }
        free(line.bytes);
    }
    return ok;
}

/* ---- the analysis ---- */

static const char *option_of(void *owner, const char *name)
{
    const struct analysis *analysis = owner;
    const struct command_option *option = option_find(analysis->kind->options, name);
    const void *place = option != NULL ? (const char *)analysis + option->place : NULL;
    return option == NULL                ? NULL
           : option->kind == OPTION_WORD ? option->words[*(const unsigned *)place]
                                         : *(const char *const *)place;
}

static bool wants_any(const struct analysis *analysis, const char *tables)
{
    for (unsigned i = 0; tables != NULL && i < analysis->kind->table_count; i++)
        if (analysis->tables[i].is_wanted && list_names(tables, analysis->tables[i].key))
            return true;
    return tables == NULL;
}

bool sql_open(struct analysis *analysis, struct fail *fail)
{
    const struct analysis_kind *kind = analysis->kind;
    const struct scan_source source = {
        .trace = analysis->trace, .filter = analysis->filter, .symbols = analysis->symbols};
    struct database *database;
    if (kind->statement_count == 0)
        return true;
    analysis->database = database = arena_alloc(&analysis->arena, sizeof(*database));
    if (!database_open(database, &source, fail))
        return false;
    database->option = option_of;
    database->owner = analysis;
    database_own(database, analysis);
    for (unsigned i = 0; i < kind->statement_count; i++) {
        const struct statement *statement = &kind->statements[i];
        if (statement->kind == BEFORE_WALK && statement->sql.used > 0 &&
            wants_any(analysis, statement->tables) &&
            !database_run(database, (const char *)statement->sql.bytes, fail))
            return false;
    }
    folds_add(database, &database->relations);
    return relations_observe(&database->relations) || fail_set(fail, "%s", database->relations.fail.text);
}

union table_cell sql_cell(struct table *table, const struct table_column *column, sqlite3_stmt *statement,
                          int at)
{
    const char *text = (const char *)sqlite3_column_text(statement, at);
    if (text == NULL)
        return table_unknown(column);
    if (column->kind == COLUMN_TEXT)
        return (union table_cell){.text = table_text(table, text)};
    if (column->kind == COLUMN_REAL)
        return (union table_cell){.real = sqlite3_column_double(statement, at)};
    return (union table_cell){.number = sqlite3_column_int64(statement, at)};
}

/* Gives the columns KEY of all tables a heading, or drops them and those behind. */
static void set_heading(struct analysis *analysis, const char *key, const char *heading)
{
    for (unsigned i = 0; i < analysis->kind->table_count; i++) {
        struct table *table = &analysis->tables[i];
        for (unsigned c = 0; c < table->column_count; c++) {
            struct table_column *columns;
            if (strcmp(table->columns[c].key, key) != 0)
                continue;
            if (heading == NULL) {
                table->column_count = c;
                break;
            }
            columns = arena_alloc(&analysis->arena, table->column_count * sizeof(*columns));
            memcpy(columns, table->columns, table->column_count * sizeof(*columns));
            columns[c].heading = arena_string(&analysis->arena, heading, strlen(heading));
            table->columns = columns;
        }
    }
}

/* The first column is the name; one behind those declared is how far to indent it. */
static bool fill_row(const struct analysis *analysis, const struct statement *part, struct table *table,
                     struct table_row *row, struct analysis_accumulator *shares, sqlite3_stmt *statement)
{
    int columns = sqlite3_column_count(statement), declared = (int)part->table->column_count;
    struct analysis_accumulator accumulator = {.analysis = analysis};
    if (columns < declared + 1)
        return false;
    for (unsigned c = 0; c < table->column_count; c++) {
        row->cells[c] = sql_cell(table, &table->columns[c], statement, (int)c + 1);
        if ((part->parts >> c & 1) == 0)
            accumulator.ticks = 0;
        if (((part->parts | part->shares) >> c & 1) != 0 && row->cells[c].count != TABLE_NONE)
            row->cells[c].count =
                analysis_add((part->parts >> c & 1) != 0 ? &accumulator : &shares[c], row->cells[c].count);
    }
    row->indent = columns > declared + 1 ? (uint32_t)sqlite3_column_int(statement, declared + 1) : 0;
    return true;
}

static void bind_options(struct analysis *analysis, sqlite3_stmt *statement)
{
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i);
        const char *value = name != NULL ? option_of(analysis, name + 1) : NULL;
        if (value != NULL)
            sqlite3_bind_text(statement, i, value, -1, SQLITE_STATIC);
    }
}

static void take_row(struct analysis *analysis, const struct statement *part, struct table *table,
                     struct analysis_accumulator *shares, sqlite3_stmt *statement)
{
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    struct table_row *row;
    if (part->kind == OF_TEXT && text != NULL) {
        buffer_add(&analysis->printed[part->option], text, strlen(text));
        buffer_add(&analysis->printed[part->option], "\n", 1);
    }
    if (part->kind == OF_NOTE)
        snprintf(analysis->note, sizeof(analysis->note), "%s", text != NULL ? text : "");
    if (part->kind == OF_ANSWER && text != NULL)
        analysis->answer = arena_string(&analysis->arena, text, strlen(text));
    if (part->kind == OF_HEADINGS)
        set_heading(analysis, text, (const char *)sqlite3_column_text(statement, 1));
    if (part->kind != OF_TABLE)
        return;
    row = table == &analysis->totals ? analysis->total : table_add(table, text != NULL ? text : "");
    if (!fill_row(analysis, part, table, row, shares, statement))
        snprintf(analysis->note, sizeof(analysis->note), "%s: table '%s' has more columns than its SELECT",
                 analysis->kind->name, table->key);
}

static void run_part(struct analysis *analysis, const struct statement *part, struct table *table)
{
    struct analysis_accumulator shares[TABLE_COLUMNS_MAX];
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(analysis->database->sqlite, (const char *)part->sql.bytes,
                                    (int)part->sql.used, &statement, NULL);
    for (unsigned c = 0; c < TABLE_COLUMNS_MAX; c++)
        shares[c] = (struct analysis_accumulator){.analysis = analysis};
    if (status == SQLITE_OK) {
        bind_options(analysis, statement);
        while ((status = sqlite3_step(statement)) == SQLITE_ROW)
            take_row(analysis, part, table, shares, statement);
    }
    if (status != SQLITE_DONE)
        snprintf(analysis->note, sizeof(analysis->note), "%s: table '%s': %.150s", analysis->kind->name,
                 table != NULL ? table->key : "text", sqlite3_errmsg(analysis->database->sqlite));
    sqlite3_finalize(statement);
}

void sql_finish(struct analysis *analysis)
{
    const struct analysis_kind *kind = analysis->kind;
    if (analysis->database == NULL)
        return;
    relations_finish(&analysis->database->relations);
    folds_filled(analysis->database);
    for (unsigned i = 0; i < kind->statement_count; i++) {
        const struct statement *part = &kind->statements[i];
        struct table *table = part->table == NULL           ? NULL
                              : part->table == kind->totals ? &analysis->totals
                                                            : &analysis->tables[part->table - kind->tables];
        if ((part->kind == OF_TEXT && analysis->options[part->option] == NULL) ||
            !wants_any(analysis, part->tables))
            continue;
        if (part->kind != BEFORE_WALK && (table == NULL || table == &analysis->totals || table->is_wanted))
            run_part(analysis, part, table);
    }
}

/* An option with an argument names a file; `-`: standard output. */
bool sql_print(struct analysis *analysis, FILE *to, bool *is_all, struct fail *fail)
{
    const struct analysis_kind *kind = analysis->kind;
    for (unsigned i = 0; i < kind->statement_count; i++) {
        unsigned option = kind->statements[i].option;
        const struct buffer *text = &analysis->printed[option];
        const char *path = kind->options[option].argument != NULL ? analysis->options[option] : "-";
        if (kind->statements[i].kind != OF_TEXT || analysis->options[option] == NULL)
            continue;
        *is_all = true;
        if (strcmp(path, "-") != 0) {
            int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
            if (fd < 0 || !output_write(fd, text->bytes, text->used) || !output_close(fd, path))
                return fail_set(fail, "%s: %s", path, strerror(errno));
        } else if (text->used > 0) {
            fwrite(text->bytes, 1, text->used, to);
        }
    }
    return true;
}

void sql_close(struct analysis *analysis)
{
    if (analysis->database != NULL)
        database_close(analysis->database);
    for (unsigned i = 0; i < ANALYSIS_OPTIONS; i++)
        free(analysis->printed[i].bytes);
}

const struct analysis_kind *sql_analysis(const char *text, const char *shared, struct fail *fail)
{
    struct sql_kind *kind = alloc_zero(1, sizeof(*kind));
    kind->kind.statement_count = 1;
    if (!parse_file(kind, shared, fail) || !parse_file(kind, text, fail))
        return NULL;
    if (kind->kind.name == NULL) {
        fail_set(fail, "it does not begin with `" DIRECTIVE "analysis NAME: SUMMARY`");
        return NULL;
    }
    for (unsigned i = 0; i < kind->kind.statement_count; i++)
        if (kind->statements[i].sql.used > 0)
            buffer_add(&kind->statements[i].sql, "", 1);
    kind->kind.options = kind->options;
    kind->kind.texts = kind->texts;
    kind->kind.tables = kind->tables;
    kind->kind.statements = kind->statements;
    kind->kind.totals = kind->totals.key != NULL ? &kind->totals : NULL;
    return &kind->kind;
}
