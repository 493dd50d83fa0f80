/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/command/diff.c - `tarn diff A B`: what changed between two traces, by the tables of the answers.
 *
 * Both traces are asked the same, each in one walk; answer/compare.h joins the tables. What adds up is
 * counted by second, or by event of a kind.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/answer/compare.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/symbols/symbols.h>

#define TEXT_TOP    8u
#define ANSWERS_MAX 24u
#define OPTIONS_MAX 96u
#define USUAL       "breakdown,processes,syscalls,faults,irq,locks,sched,ipc"

struct side {
    const char *directory;
    struct trace trace;
    bool is_open, is_missing;
    struct filter filter;
    struct losses losses;
    struct symbols *symbols;                 /* NULL: no answer asks for them */
    struct answer *answers[ANSWERS_MAX + 1]; /* and stats, which counts events */
    double unit;
};

struct diff {
    struct side sides[2];
    unsigned count; /* of answers */
    const char *by, *columns, *unit_event;
    bool is_absolute;
    double threshold, least;
    enum answer_format format;
    uint64_t top; /* 0: all */
    bool has_top;
    struct option known[OPTIONS_MAX];
    unsigned known_count;
    struct table *results;
    size_t result_count;
    struct table largest;
};

enum {
    OPTION_ANSWER = OPTION_OWN,
    OPTION_BY,
    OPTION_COLUMN,
    OPTION_PER,
    OPTION_THRESHOLD,
    OPTION_LEAST,
    OPTION_TOP,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_HELP,
    OPTION_KIND /* and the following: those of the answers, by their place in `known` */
};

static const struct option own_options[] = {FILTER_OPTIONS,
                                            {"answer", required_argument, NULL, OPTION_ANSWER},
                                            {"by", required_argument, NULL, OPTION_BY},
                                            {"column", required_argument, NULL, OPTION_COLUMN},
                                            {"per", required_argument, NULL, OPTION_PER},
                                            {"threshold", required_argument, NULL, OPTION_THRESHOLD},
                                            {"least", required_argument, NULL, OPTION_LEAST},
                                            {"top", required_argument, NULL, OPTION_TOP},
                                            {"json", no_argument, NULL, OPTION_JSON},
                                            {"csv", no_argument, NULL, OPTION_CSV},
                                            {"help", no_argument, NULL, OPTION_HELP}};
#define OWN_OPTIONS (sizeof(own_options) / sizeof(own_options[0]))

static void print_help(FILE *to)
{
    fputs("usage: tarn diff [OPTION]... A B\n\n"
          "What changed from trace A to trace B, by the tables of the answers, largest change first. Rows\n"
          "are compared by name: processes and threads by that of their program. What adds up is counted\n"
          "by second, so traces of different length compare, and traces of different machines.\n\n"
          "  --answer LIST       these answers, instead of " USUAL ";\n"
          "                      their options are understood, too\n"
          "  --by LIST           only these tables: call, or syscalls.call; all: also those that an answer\n"
          "                      does not show unless asked for\n"
          "  --column LIST       compare these columns, as JSON calls them, instead of the one by which a\n"
          "                      table is sorted\n"
          "  --per UNIT          second (the default); the name of an event: what adds up is divided by how\n"
          "                      often it happened; or nothing\n"
          "  --threshold PERCENT leave out what changed by less\n"
          "  --least PERCENT     leave out what changed by less than that part of the table's sum in A\n"
          "  --top N             at most N rows of each table; 0: all (text: 8, the rest summed up)\n"
          "  --json              one JSON object\n"
          "  --csv               comma-separated values, each table under its own heading\n"
          "  --help              this text\n" FILTER_HELP "\n"
          "What each trace lost is told first.\n",
          to);
}

/* ---- options ---- */

static bool add_answer(struct diff *diff, const char *name, size_t length, bool is_asked, struct fail *fail)
{
    char text[64];
    const struct answer_kind *kind;

    snprintf(text, sizeof(text), "%.*s", (int)(length < 60 ? length : 60), name);
    kind = answer_find(text);
    if (kind == NULL)
        return is_asked ? fail_set(fail, "no answer '%s'; see tarn --help", text) : true;
    if (diff->count == ANSWERS_MAX)
        return fail_set(fail, "too many answers");
    for (int i = 0; i < 2; i++)
        diff->sides[i].answers[diff->count] = answer_new(kind);
    diff->count++;
    return true;
}

static bool add_answers(struct diff *diff, const char *list, bool is_asked, struct fail *fail)
{
    do {
        size_t length = strcspn(list, ",");

        if (!add_answer(diff, list, length, is_asked, fail))
            return false;
        list += length;
    } while (*list++ == ',');
    return true;
}

static void know_option(struct diff *diff, const char *name, bool has_argument)
{
    for (unsigned i = 0; i < diff->known_count; i++)
        if (strcmp(diff->known[i].name, name) == 0)
            return;
    if (diff->known_count + 1 < OPTIONS_MAX) {
        diff->known[diff->known_count] = (struct option){name, has_argument ? required_argument : no_argument,
                                                         NULL, OPTION_KIND + (int)diff->known_count};
        diff->known_count++;
    }
}

/* The answers are asked for by an option, and have options: they are looked for first. */
static bool find_answers(struct diff *diff, int argc, char **argv, struct fail *fail)
{
    const char *list = NULL;

    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--answer=", 9) == 0)
            list = argv[i] + 9;
        else if (strcmp(argv[i], "--answer") == 0 && i + 1 < argc)
            list = argv[i + 1];
    if (!add_answers(diff, list != NULL ? list : USUAL, list != NULL, fail))
        return false;
    memcpy(diff->known, own_options, sizeof(own_options));
    diff->known_count = OWN_OPTIONS;
    for (unsigned i = 0; i < diff->count; i++)
        for (const struct answer_option *option = diff->sides[0].answers[i]->kind->options;
             option != NULL && option->name != NULL; option++)
            know_option(diff, option->name, option->has_argument);
    for (int i = 0; i < 2; i++)
        diff->sides[i].answers[diff->count] = answer_new(answer_find("stats"));
    return true;
}

/* Every answer that has the option gets it. */
static bool pass_on(struct diff *diff, const char *name, const char *value, struct fail *fail)
{
    for (unsigned i = 0; i < diff->count; i++)
        for (const struct answer_option *option = diff->sides[0].answers[i]->kind->options;
             option != NULL && option->name != NULL; option++)
            if (strcmp(option->name, name) == 0 &&
                (!answer_set(diff->sides[0].answers[i], name, value, fail) ||
                 !answer_set(diff->sides[1].answers[i], name, value, fail)))
                return false;
    return true;
}

static bool take_number(const char *value, double *number, struct fail *fail)
{
    char *end;

    *number = strtod(value, &end);
    return (*value != '\0' && *end == '\0' && *number >= 0) || fail_set(fail, "'%.40s' is no number", value);
}

static bool take_option(struct diff *diff, int option, const char *value, struct fail *fail)
{
    double number;

    switch (option) {
    case OPTION_ANSWER:
        return true;
    case OPTION_BY:
        diff->by = value;
        return true;
    case OPTION_COLUMN:
        diff->columns = value;
        return true;
    case OPTION_PER:
        diff->is_absolute = strcmp(value, "nothing") == 0;
        diff->unit_event = diff->is_absolute || strcmp(value, "second") == 0 ? NULL : value;
        return true;
    case OPTION_THRESHOLD:
        return take_number(value, &diff->threshold, fail);
    case OPTION_LEAST:
        return take_number(value, &diff->least, fail);
    case OPTION_TOP:
        diff->has_top = true;
        if (!take_number(value, &number, fail))
            return false;
        diff->top = (uint64_t)number;
        return true;
    case OPTION_JSON:
    case OPTION_CSV:
        diff->format = option == OPTION_JSON ? ANSWER_JSON : ANSWER_CSV;
        return true;
    default:
        if (option >= OPTION_KIND)
            return pass_on(diff, diff->known[option - OPTION_KIND].name, value, fail);
        return filter_option(&diff->sides[0].filter, option, value) &&
               filter_option(&diff->sides[1].filter, option, value);
    }
}

/* Returns an exit status to leave with, or -1 to go on. */
static int parse_options(struct diff *diff, int argc, char **argv)
{
    struct fail fail;
    int option;

    if (!find_answers(diff, argc, argv, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    optind = 0;
    while ((option = getopt_long(argc, argv, "", diff->known, NULL)) != -1) {
        if (option == OPTION_HELP) {
            print_help(stdout);
            return EXIT_FINE;
        }
        if (option == '?')
            return EXIT_USAGE;
        if (!take_option(diff, option, optarg, &fail)) {
            complain("%s", fail.text);
            return EXIT_USAGE;
        }
    }
    if (optind != argc - 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    diff->sides[0].directory = argv[optind];
    diff->sides[1].directory = argv[optind + 1];
    if (!diff->has_top && diff->format == ANSWER_TEXT)
        diff->top = TEXT_TOP;
    if (diff->top == 0)
        diff->top = UINT64_MAX;
    return -1;
}

/* ---- which tables and columns ---- */

static bool list_names(const char *list, const char *name)
{
    size_t length = strlen(name);

    while (*list != '\0') {
        size_t word = strcspn(list, ",");

        if (word == length && memcmp(list, name, length) == 0)
            return true;
        list += word + (list[word] == ',');
    }
    return false;
}

/* --by: the answers' tables, by "table", "answer.table" or "all". */
static bool wants_table(const struct diff *diff, const struct answer_kind *kind, const struct table *table)
{
    char name[128];

    if (diff->by == NULL)
        return !table->is_extra;
    snprintf(name, sizeof(name), "%s.%s", kind->name, table->key);
    return list_names(diff->by, "all") || list_names(diff->by, table->key) || list_names(diff->by, name);
}

static bool choose_tables(struct diff *diff, struct fail *fail)
{
    bool any = false;

    for (unsigned i = 0; i < diff->count; i++)
        for (int side = 0; side < 2; side++) {
            struct answer *answer = diff->sides[side].answers[i];

            for (unsigned t = 0; t < answer->kind->table_count; t++) {
                answer->tables[t].is_wanted = wants_table(diff, answer->kind, &answer->tables[t]);
                any |= answer->tables[t].is_wanted;
            }
        }
    return any || fail_set(fail, "no answer has a table of '%.200s'", diff->by);
}

/* ---- asking ---- */

static bool open_side(struct side *side, unsigned answers, struct fail *fail)
{
    side->is_open = trace_open(&side->trace, side->directory, fail);
    side->is_missing = !side->is_open;
    if (!side->is_open || !filter_resolve(&side->filter, &side->trace, fail))
        return false;
    losses_open(&side->losses, &side->trace);
    side->losses.from = side->filter.from_ticks;
    side->losses.to = side->filter.to_ticks;
    side->losses.quiet = true;
    for (unsigned i = 0; i < answers && side->symbols == NULL; i++)
        if (side->answers[i]->kind->uses_symbols)
            side->symbols = symbols_open(side->directory, NULL);
    return answers_ask(side->answers, answers, &side->trace, &side->filter, side->symbols,
                       &side->losses.reporter, fail);
}

/* Programs of which no file was found: their functions are addresses, which do not compare. */
static void tell_symbols(const struct side *side)
{
    const char *text;

    for (unsigned i = 0; side->symbols != NULL && (text = symbols_complaint(side->symbols, i)) != NULL; i++)
        complain("%s", text);
}

/* What is divided by: seconds, or how often an event happened. */
static bool find_unit(const struct diff *diff, struct side *side, struct fail *fail)
{
    const struct answer *stats = side->answers[diff->count];

    side->unit = diff->is_absolute ? 1 : answer_seconds(stats);
    for (unsigned t = 0; t < stats->kind->table_count && diff->unit_event != NULL; t++)
        if (strcmp(stats->tables[t].key, "event") == 0) {
            const struct table *table = &stats->tables[t];
            int column = table_find_column(table, "events");

            side->unit = 0;
            for (size_t i = 0; i < table->count; i++)
                if (strcmp(table->rows[i]->name, diff->unit_event) == 0)
                    side->unit = (double)table->rows[i]->cells[column].count;
        }
    if (side->unit > 0)
        return true;
    return diff->unit_event != NULL
               ? fail_set(fail, "%s: no event '%.60s' to count by", side->directory, diff->unit_event)
               : fail_set(fail, "%s: nothing in that time", side->directory);
}

static void tell_losses(const struct side *side, const char *name)
{
    const struct losses *losses = &side->losses;

    if (losses->lost_events || losses->lost_packets || losses->lost_unknown)
        complain("%s lost %" PRIu64 " events%s, %" PRIu64 " packets: what it has less of may be missing",
                 name, losses->lost_events, losses->lost_unknown ? " and some before it begins" : "",
                 losses->lost_packets);
    if (losses->damaged)
        complain("%s is damaged: %" PRIu64 " anomalies; see tarn check", name, losses->damaged);
}

/* ---- comparing ---- */

/* Rows as another table of the same answer has them: processes as their programs, say. */
static bool is_repeated(const struct diff *diff, size_t first, const struct table *table)
{
    for (size_t i = first; i + 1 < diff->result_count; i++) {
        const struct table *other = &diff->results[i];
        size_t same = 0;

        while (same < table->count && same < other->count &&
               strcmp(table->rows[same]->name, other->rows[same]->name) == 0 &&
               memcmp(table->rows[same]->cells, other->rows[same]->cells,
                      COMPARE_COLUMNS * sizeof(table->rows[0]->cells[0])) == 0)
            same++;
        if (table->count != 0 && same == table->count && same == other->count)
            return true;
    }
    return false;
}

static void compare_columns(struct diff *diff, const struct answer_kind *kind, size_t first,
                            const struct table *tables[2])
{
    struct comparison comparison = {.tables = {tables[0], tables[1]},
                                    .units = {diff->sides[0].unit, diff->sides[1].unit},
                                    .threshold = diff->threshold,
                                    .least = diff->least};
    char key[128];

    snprintf(key, sizeof(key), "%s.%s", kind->name, tables[0]->key);
    for (unsigned i = 0; i < tables[0]->column_count; i++) {
        const struct table_column *column = &tables[0]->columns[i];
        bool is_chosen = diff->columns == NULL
                             ? (int)i == compare_column(tables[0])
                             : list_names(diff->columns, column->key) || list_names(diff->columns, "all");

        if (!is_chosen || !compare_wants(column))
            continue;
        comparison.column = i;
        diff->results = alloc_more(diff->results, diff->result_count + 1, sizeof(diff->results[0]));
        compare_tables(&comparison, key, &diff->results[diff->result_count++]);
        if (diff->by == NULL && diff->columns == NULL &&
            is_repeated(diff, first, &diff->results[diff->result_count - 1]))
            table_free(&diff->results[--diff->result_count]);
    }
}

static void compare_all(struct diff *diff)
{
    char left_out[400] = "";
    size_t used = 0;

    for (unsigned i = 0; i < diff->count; i++) {
        const struct answer *a = diff->sides[0].answers[i], *b = diff->sides[1].answers[i];
        size_t first = diff->result_count;

        for (unsigned t = 0; t < a->kind->table_count; t++) {
            const char *reason = compare_refuses(&a->tables[t]);

            if (!a->tables[t].is_wanted)
                continue;
            if (reason == NULL)
                compare_columns(diff, a->kind, first,
                                (const struct table *[2]){&a->tables[t], &b->tables[t]});
            else if (diff->by != NULL && used < sizeof(left_out))
                used += (size_t)snprintf(left_out + used, sizeof(left_out) - used, "%s%s.%s (%s)",
                                         used ? ", " : "", a->kind->name, a->tables[t].key, reason);
        }
    }
    if (used != 0)
        complain("not compared: %s", left_out);
}

/* ---- output ---- */

static const struct table_column largest_columns[] = {
    TEXT_COLUMN("in", "in"), TIME_OF_ONE("A", "a_ns"), TIME_OF_ONE("B", "b_ns"),
    COLUMN_AS("change", "change_ns", COLUMN_CHANGE, SUM_NOTHING, 0), MEAN_COLUMN("ratio", "ratio", 2)};

static int64_t change_in(const struct table *largest, size_t row)
{
    int64_t change = largest->rows[row]->cells[1 + COMPARE_CHANGE].number;

    return change < 0 ? -change : change;
}

/* Of all times that add up, the few that changed most. */
static void find_largest(struct diff *diff)
{
    struct table *largest = &diff->largest;

    *largest = (struct table)TABLE("largest", "largest changes", "changes", largest_columns, TABLE_AS_FILLED);
    for (size_t i = 0; i < diff->result_count; i++) {
        const struct table *table = &diff->results[i];

        for (size_t r = 0;
             r < table->count && r < TEXT_TOP && table->columns[COMPARE_A].kind == COLUMN_TIME &&
             table->columns[COMPARE_A].sum == SUM_ADDED;
             r++) {
            struct table_row *row = table_add(largest, table->rows[r]->name);
            size_t place = largest->count - 1;

            row->cells[0].text = table_text(largest, table->key);
            memcpy(&row->cells[1], table->rows[r]->cells, COMPARE_COLUMNS * sizeof(row->cells[0]));
            for (; place > 0 && change_in(largest, place) > change_in(largest, place - 1); place--) {
                struct table_row *other = largest->rows[place - 1];

                largest->rows[place - 1] = largest->rows[place];
                largest->rows[place] = other;
            }
        }
    }
}

static void print_side(const struct side *side, const char *name)
{
    printf("\"%s\":{\"trace\":", name);
    print_json_string(stdout, side->directory);
    printf(",\"unit\":%.9f,\"lost_events\":%" PRIu64 ",\"lost_packets\":%" PRIu64 "},", side->unit,
           side->losses.lost_events, side->losses.lost_packets);
}

static const char *unit_name(const struct diff *diff)
{
    return diff->is_absolute ? "nothing" : diff->unit_event != NULL ? diff->unit_event : "second";
}

static void print_json(const struct diff *diff)
{
    fputc('{', stdout);
    print_side(&diff->sides[0], "a");
    print_side(&diff->sides[1], "b");
    fputs("\"per\":", stdout);
    print_json_string(stdout, unit_name(diff));
    fputs(",\"tables\":{", stdout);
    table_print_json(stdout, &diff->largest, diff->top);
    for (size_t i = 0; i < diff->result_count; i++) {
        fputc(',', stdout);
        table_print_json(stdout, &diff->results[i], diff->top);
    }
    fputs("}}\n", stdout);
}

static void print_text(const struct diff *diff)
{
    size_t same = 0;

    for (int i = 0; i < 2; i++)
        printf("%c: %s, counted by %s: %.6g\n", 'A' + i, diff->sides[i].directory, unit_name(diff),
               diff->sides[i].unit);
    if (diff->largest.count != 0)
        table_print_text(stdout, &diff->largest, diff->top);
    for (size_t i = 0; i < diff->result_count; i++) {
        same += diff->results[i].count == 0;
        if (diff->results[i].count != 0)
            table_print_text(stdout, &diff->results[i], diff->top);
    }
    if (same != 0)
        printf("\n%zu of %zu tables have not changed\n", same, diff->result_count);
}

static void print_all(const struct diff *diff)
{
    if (diff->format == ANSWER_JSON) {
        print_json(diff);
        return;
    }
    if (diff->format == ANSWER_TEXT) {
        print_text(diff);
        return;
    }
    table_print_csv(stdout, &diff->largest, diff->top);
    for (size_t i = 0; i < diff->result_count; i++) {
        fputc('\n', stdout);
        table_print_csv(stdout, &diff->results[i], diff->top);
    }
}

static int show(struct diff *diff)
{
    struct side *a = &diff->sides[0], *b = &diff->sides[1];
    unsigned answers = diff->count + 1;
    struct fail fail;

    if (!choose_tables(diff, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    if (!open_side(a, answers, &fail) || !open_side(b, answers, &fail)) {
        complain("%s", fail.text);
        return a->is_missing || b->is_missing ? EXIT_DAMAGE : EXIT_USAGE;
    }
    tell_losses(a, "A");
    tell_losses(b, "B");
    tell_symbols(a);
    tell_symbols(b);
    if (!find_unit(diff, a, &fail) || !find_unit(diff, b, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    compare_all(diff);
    find_largest(diff);
    print_all(diff);
    return a->losses.damaged || b->losses.damaged ? EXIT_DAMAGE : EXIT_FINE;
}

static void close_diff(struct diff *diff)
{
    for (size_t i = 0; i < diff->result_count; i++)
        table_free(&diff->results[i]);
    table_free(&diff->largest);
    free(diff->results);
    for (int i = 0; i < 2; i++) {
        struct side *side = &diff->sides[i];

        for (unsigned n = 0; n <= diff->count; n++)
            if (side->answers[n] != NULL)
                answer_free(side->answers[n]);
        filter_free(&side->filter);
        symbols_close(side->symbols);
        if (side->is_open)
            trace_close(&side->trace);
    }
}

int run_diff(int argc, char **argv)
{
    struct diff diff = {.top = 0};
    int status = parse_options(&diff, argc, argv);

    if (status < 0)
        status = show(&diff);
    close_diff(&diff);
    return status;
}
