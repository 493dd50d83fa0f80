/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/story_test.c - what tarn's analyses say of traces whose results are known: the files of
 * tests/unit/tarn/stories, in both byte orders and with two clocks. Prints TAP.
 *
 *     == a title                     a trace begins; =+ has the events of the one before, too
 *     1000 0 user_text text=end      its events (trace_text.h)
 *     metadata TEXT                  a line at the end of its metadata
 *     repeat 20                      what follows up to a line `again`, 20 times
 *     -- sched --tid 12              a question: the command, with all tables; in its options @20 is a time,
 *                                    20 ticks behind the begin of the trace
 *     thread: calc waits=2 tid=11, other waits=0     rows of its table `thread`
 *     refused: TEXT                  or why it is refused
 *     note: TEXT                     its note has TEXT in it, or `none`
 *     about: waited=200              what was left out of it, or subtracted
 *
 * Lines with # are comments, blanks in names and values are written ~, and times are in ticks. Of rows with
 * the same name, calc/11 is that with 11 in its first column, and `calc ?did=runs` one that has this value;
 * #0 is the first row of its table and * any. `none` is a cell without a value, and a value may be a sum:
 * 20+30-5. `rows=2` counts such rows; `indent` and `name` are the row's own.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/trace_text.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/options.h>

#define WORDS_MAX 40u

static const char *order;
static char directory[64];
static struct trace trace;
static uint64_t tick_ns;        /* of its clock */
static char *events, *metadata; /* of the trace that is not yet written */
static size_t events_size, metadata_size;
static FILE *events_file, *metadata_file;
static struct analysis *analysis; /* the answer to `question`, or NULL: `refusal` says why */
static char question[300];
static struct fail refusal;
static bool is_open;

/* ---- expectations ----------------------------------------------------------------------------------- */

static const char *with_blanks(char *text)
{
    for (char *at = text; (at = strchr(at, '~')) != NULL;)
        *at = ' ';
    return text;
}

static bool is_number(const char *expected, double found, double unit)
{
    double sum = 0;

    for (char *end; *expected != '\0'; expected = end) {
        sum += strtod(expected, &end);
        if (end == expected)
            return false;
    }
    return found > sum * unit - 0.006 && found < sum * unit + 0.006;
}

static bool cell_is(const struct table *table, const struct table_row *row, const char *key, char *expected)
{
    int place = table_find_column(table, key);
    const struct table_column *column;
    union table_cell cell;

    if (strcmp(key, "indent") == 0)
        return is_number(expected, row->indent, 1);
    if (place == TABLE_BY_NAME)
        return strcmp(with_blanks(expected), row->name) == 0;
    if (place < 0)
        return false;
    column = &table->columns[place];
    cell = row->cells[place];
    if (!table_cell_is_known(column, cell) || strcmp(expected, "none") == 0)
        return !table_cell_is_known(column, cell) && strcmp(expected, "none") == 0;
    if (column->kind == COLUMN_TEXT)
        return strcmp(with_blanks(expected), cell.text) == 0;
    if (column->kind == COLUMN_REAL || column->kind == COLUMN_SIGNED)
        return is_number(expected, column->kind == COLUMN_REAL ? cell.real : (double)cell.number, 1);
    return is_number(expected, (double)cell.count,
                     column->kind == COLUMN_TIME || column->kind == COLUMN_WHEN ? (double)tick_ns : 1);
}

/* WORD: KEY=VALUE, which it leaves as it is. */
static bool word_is(const struct table *table, const struct table_row *row, const char *word)
{
    char text[300], *value;

    snprintf(text, sizeof(text), "%s", word);
    value = strchr(text, '=');
    if (value == NULL)
        return false;
    *value++ = '\0';
    return cell_is(table, row, text, value);
}

static bool is_called(const struct table_row *row, size_t place, const char *called)
{
    char name[200], *slash;

    if (*called == '#')
        return place == strtoul(called + 1, NULL, 10);
    snprintf(name, sizeof(name), "%s", called);
    with_blanks(name);
    slash = strrchr(name, '/');
    if (slash != NULL && row->cells[0].count != strtoull(slash + 1, NULL, 0))
        return false;
    if (slash != NULL)
        *slash = '\0';
    return strcmp(called, "*") == 0 || strcmp(row->name, name) == 0;
}

/* The row that WORDS name, and what else it has: ?KEY=VALUE. COUNT gets how many there are. */
static const struct table_row *find_row(const struct table *table, char *const *words, unsigned *count)
{
    const struct table_row *found = NULL;

    *count = 0;
    for (size_t i = 0; i < table->count; i++) {
        bool is_it = is_called(table->rows[i], i, words[0]);

        for (char *const *word = words + 1; is_it && *word != NULL && **word == '?'; word++)
            is_it = word_is(table, table->rows[i], *word + 1);
        if (is_it && (*count)++ == 0)
            found = table->rows[i];
    }
    return found;
}

/* At blanks; a comma before one does not count. */
static void split(char *line, char *words[WORDS_MAX])
{
    unsigned count = 0;
    char *rest = NULL;

    for (char *word = strtok_r(line, " ", &rest); word != NULL && count < WORDS_MAX - 1;
         word = strtok_r(NULL, " ", &rest)) {
        words[count++] = word;
        if (word[strlen(word) - 1] == ',')
            word[strlen(word) - 1] = '\0';
    }
    words[count] = NULL;
}

static bool is_about(char *const *words)
{
    const struct {
        const char *key;
        uint64_t value;
    } about[] = {{"drained", analysis->drained != NULL ? analysis->drained[0] : 0},
                 {"waited", analysis->left_out.waited},
                 {"events", analysis->left_out.events},
                 {"activities", analysis->left_out.activities},
                 {"calls", analysis->left_out.calls},
                 {"subtracted", analysis->subtracted.ticks},
                 {"subtracted_events", analysis->subtracted.events},
                 {"short", analysis->subtracted.short_spans},
                 {"costs", trace.schema.cost_count}};
    bool ok = true;

    for (; *words != NULL; words++) {
        const size_t length = strcspn(*words, "=");
        bool is_right = false;

        for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++)
            is_right |= strlen(about[i].key) == length && strncmp(about[i].key, *words, length) == 0 &&
                        is_number(*words + length + 1, (double)about[i].value, 1);
        ok &= is_right;
    }
    return ok;
}

static const struct table *find_table(const char *key)
{
    for (unsigned i = 0; i < analysis->kind->table_count; i++)
        if (strcmp(analysis->tables[i].key, key) == 0)
            return &analysis->tables[i];
    return NULL;
}

/* WORDS: rows, each with what it must have. */
static bool is_in_table(const struct table *table, char *const *words)
{
    const struct table_row *row = NULL;
    unsigned count = 0;
    bool ok = table != NULL;

    for (; ok && *words != NULL; words++) {
        if (strchr(*words, '=') == NULL)
            row = find_row(table, words, &count);
        else if (**words != '?')
            ok = strncmp(*words, "rows=", 5) == 0 ? is_number(*words + 5, count, 1)
                                                  : row != NULL && word_is(table, row, *words);
        if (!ok)
            printf("# %u rows; not %s\n", count, *words);
    }
    return ok;
}

static bool is_right(char *line)
{
    char *text = strstr(line, ": "), *words[WORDS_MAX];

    if (text == NULL)
        return false;
    *text = '\0';
    text += 2;
    if (strcmp(line, "refused") == 0)
        return analysis == NULL && strcmp(refusal.text, text) == 0;
    if (analysis == NULL)
        return false;
    if (strcmp(line, "note") == 0)
        return strcmp(text, "none") == 0 ? *analysis->note == '\0' : strstr(analysis->note, text) != NULL;
    split(text, words);
    return strcmp(line, "about") == 0 ? is_about(words) : is_in_table(find_table(line), words);
}

static void expect(const char *line)
{
    char text[1000];
    bool ok;

    snprintf(text, sizeof(text), "%s", line);
    ok = is_right(text);
    check(ok, "%s: %s: %s", order, question, line);
    if (!ok)
        printf("# note \"%s\", refusal \"%s\"\n", analysis != NULL ? analysis->note : "", refusal.text);
}

/* ---- stories ---------------------------------------------------------------------------------------- */

static void end_question(void)
{
    if (analysis != NULL)
        analysis_free(analysis);
    analysis = NULL;
}

/* It begins with the events OLD. */
static void begin_trace(const char *old)
{
    end_question();
    if (is_open)
        trace_close(&trace);
    is_open = false;
    events_file = open_memstream(&events, &events_size);
    metadata_file = open_memstream(&metadata, &metadata_size);
    fputs(old, events_file);
}

static void append_metadata(void)
{
    char path[100];
    FILE *file;

    snprintf(path, sizeof(path), "%s/metadata", directory);
    file = fopen(path, "a");
    if (file == NULL || fputs(metadata, file) < 0 || fclose(file) != 0)
        bail_out("the metadata cannot be written");
}

static void open_trace(void)
{
    const struct synthetic_options options = {
        .order = order, .directory = directory, .freq = strcmp(order, "le") == 0 ? 1000000000 : 500000000};
    struct fail fail = {""};

    fclose(events_file);
    fclose(metadata_file);
    tick_ns = 1000000000 / options.freq;
    if (!trace_text_write(&options, events, &fail))
        bail_out(fail.text);
    append_metadata();
    if (!trace_open(&trace, directory, &fail))
        bail_out(fail.text);
    free(metadata);
    is_open = true;
}

/* An option's value with @TICKS in it. */
static void put_time(char *value, size_t size, const char *option)
{
    char *at = strchr(value, '@');
    double unit = strcmp(option, "quantum") == 0 ? 1e3 : 1e9;

    if (at != NULL)
        snprintf(at, size - (size_t)(at - value), "%.9g", strtod(at + 1, NULL) * (double)tick_ns / unit);
}

static bool set_option(struct filter *filter, const char *name, char *value)
{
    const struct command_option *option = option_find(filter_options, name);

    if (strcmp(name, "subtract-cost") == 0)
        return filter->subtract_cost = true;
    return option != NULL ? option_set(option, filter, value, &refusal)
                          : analysis_set(analysis, name, value, &refusal);
}

/* LINE: the command and its options. */
static void put_question(const char *line)
{
    char text[sizeof(question)], values[WORDS_MAX][100] = {""}, *words[WORDS_MAX];
    struct filter filter = {0};
    bool ok = true;

    end_question();
    if (!is_open)
        open_trace();
    snprintf(question, sizeof(question), "%s", line);
    snprintf(text, sizeof(text), "%s", line);
    split(text, words);
    refusal = (struct fail){""};
    analysis = analysis_new(analysis_find(words[0]));
    for (unsigned i = 1; ok && words[i] != NULL; i++) {
        const char *option = words[i] + 2;
        char *value = values[i]; /* outlives the filter */

        if (words[i + 1] != NULL && strncmp(words[i + 1], "--", 2) != 0)
            snprintf(value, sizeof(values[i]), "%s", words[++i]);
        put_time(value, sizeof(values[0]), option);
        with_blanks(value);
        ok = set_option(&filter, option, value);
    }
    ok = ok && analysis_choose_tables(analysis, "all", &refusal) &&
         filter_resolve(&filter, &trace, &refusal) &&
         analyses_ask(&analysis, 1, &trace, &filter, NULL, NULL, &refusal);
    if (!ok)
        end_question();
    filter_free(&filter);
}

/* Writes the lines between `repeat TIMES` and `again`; returns what follows. */
static char *repeat(unsigned long times, char *lines)
{
    char *again = strstr(lines, "again\n");

    if (again == NULL)
        bail_out("repeat without again");
    for (unsigned long i = 0; i < times; i++)
        fwrite(lines, (size_t)(again - lines), 1, events_file);
    return again + 6;
}

static void tell(char *text)
{
    for (char *next; *text != '\0'; text = next) {
        next = text + strcspn(text, "\n");
        if (*next != '\0')
            *next++ = '\0';
        if (*text == '\0' || *text == '#')
            continue;
        if (strncmp(text, "=", 1) == 0) {
            char *old = events;

            begin_trace(text[1] == '+' ? old : "");
            free(old);
        } else if (strncmp(text, "-- ", 3) == 0)
            put_question(text + 3);
        else if (strncmp(text, "metadata ", 9) == 0)
            fprintf(metadata_file, "%s\n", text + 9);
        else if (strncmp(text, "repeat ", 7) == 0)
            next = repeat(strtoul(text + 7, NULL, 10), next);
        else if ((*text >= '0' && *text <= '9') || *text == '+')
            fprintf(events_file, "%s\n", text);
        else
            expect(text);
    }
    end_question();
    trace_close(&trace);
    is_open = false;
    free(events);
    events = NULL;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    if (file == NULL || getdelim(&text, &size, '\0', file) < 0)
        bail_out(path);
    fclose(file);
    return text;
}

static void tell_all(const char *byte_order)
{
    glob_t files;

    order = byte_order;
    snprintf(directory, sizeof(directory), "%s/%s", scratch, order);
    if (glob("tests/unit/tarn/stories/*", 0, NULL, &files) != 0)
        bail_out("tests/unit/tarn/stories has no stories");
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char *text = read_file(files.gl_pathv[i]);

        tell(text);
        free(text);
    }
    globfree(&files);
}

int main(void)
{
    make_scratch();
    tell_all("le");
    tell_all("be");
    return finish_tests();
}
