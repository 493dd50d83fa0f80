/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/command/diff_options.c - what `tarn diff` is asked for: its options, and those of its answers.
 */
#include <string.h>
#include <tools/tarn/command/diff.h>
#include <tools/tarn/options.h>

#define PERCENT_MOST 1e6

enum {
    OPTION_ANSWER = OPTION_OWN,
    OPTION_BY,
    OPTION_COLUMN,
    OPTION_PER,
    OPTION_THRESHOLD,
    OPTION_LEAST,
    OPTION_TOP,
    OPTION_SYMBOLS,
    OPTION_FIRST,
    OPTION_CONTEXT,
    OPTION_JSON,
    OPTION_CSV,
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
                                            {"symbols", required_argument, NULL, OPTION_SYMBOLS},
                                            {"first", no_argument, NULL, OPTION_FIRST},
                                            {"context", required_argument, NULL, OPTION_CONTEXT},
                                            {"json", no_argument, NULL, OPTION_JSON},
                                            {"csv", no_argument, NULL, OPTION_CSV},
                                            {"help", no_argument, NULL, 'h'}};
#define OWN_OPTIONS (sizeof(own_options) / sizeof(own_options[0]))

/* Every answer that has it is named. */
static void print_passed_on(FILE *to, const struct diff *diff, const char *name)
{
    const char *comma = "";

    fprintf(to, "  --%-17s of ", name);
    for (unsigned i = 0; i < diff->count; i++)
        for (const struct answer_option *option = diff->answers[i]->kind->options;
             option != NULL && option->name != NULL; option++)
            if (strcmp(option->name, name) == 0) {
                fprintf(to, "%s%s", comma, diff->answers[i]->kind->name);
                comma = ", ";
            }
    fputc('\n', to);
}

static void print_help(FILE *to, const void *context)
{
    const struct diff *diff = context;

    fputs(
        "What changed from A to B, by the tables of the answers, largest change first. A and B are traces,\n"
        "or several traces each, of equal runs: then each change is told from noise.\n\n"
        "Rows are compared by name: processes and threads by that of their program. Times are divided by\n"
        "the row's own count of work (calls, processes, faults, ...); where it has none, and of counts,\n"
        "by the processor time in which something runs. How long a trace is does not matter.\n\n"
        "  --answer LIST       these answers; their options that choose what is counted are understood, "
        "too;\n"
        "                      by default " DIFF_USUAL "\n"
        "  --by LIST           only these tables: call, or syscalls.call; all: also those that an answer\n"
        "                      does not show unless asked for\n"
        "  --column LIST       compare these columns, named as for --sort of an answer, instead of the\n"
        "                      one by which a table is sorted\n"
        "  --per UNIT          divide what adds up by: work (the default, see above); busy: seconds of\n"
        "                      processor time; second: seconds of the trace; the name of an event: how\n"
        "                      often it was logged; or nothing\n"
        "  --threshold PERCENT leave out what changed by less\n"
        "  --least PERCENT     leave out rows that are less than that part of their table in A and in B\n"
        "  --top N             at most N rows of each table; 0: all (text: 8, the rest summed up)\n"
        "  --symbols DIR[:DIR] look there for the programs of both traces, by build-id\n"
        "  --first             instead of tables the first event in which two traces of the same run "
        "differ,\n"
        "                      and what came before it on each processor. Only --context, --json, --from,\n"
        "                      --to, --cpu, --class and --event go with it\n"
        "  --context N         with --first: so many events before it on each processor (5)\n"
        "  --json              one JSON object\n"
        "  --csv               comma-separated values, each table under its own heading\n"
        "  --help              this text\n" FILTER_HELP "\n"
        "What each trace lost is told first.\n",
        to);
    fputs("\nOptions of these answers:\n\n", to);
    for (unsigned i = OWN_OPTIONS; i < diff->known_count; i++)
        print_passed_on(to, diff, diff->known[i].name);
}

static bool add_answer(struct diff *diff, const char *name, size_t length, bool is_asked, struct fail *fail)
{
    char text[64];
    const struct answer_kind *kind;

    snprintf(text, sizeof(text), "%.*s", (int)(length < 60 ? length : 60), name);
    kind = answer_find(text);
    if (kind == NULL)
        return is_asked ? fail_set(fail, "no answer '%s'; see tarn --help", text) : true;
    if (diff->count == DIFF_ANSWERS_MAX)
        return fail_set(fail, "too many answers");
    diff->answers[diff->count++] = answer_new(kind);
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
    if (diff->known_count + 1 < DIFF_OPTIONS_MAX) {
        diff->known[diff->known_count] = (struct option){name, has_argument ? required_argument : no_argument,
                                                         NULL, OPTION_KIND + (int)diff->known_count};
        diff->known_count++;
    }
}

static void know_options(struct diff *diff, const struct answer_kind *kind)
{
    for (const struct answer_option *option = kind->options; option != NULL && option->name != NULL; option++)
        if (kind->not_compared == NULL || !diff_list_names(kind->not_compared, option->name))
            know_option(diff, option->name, option->has_argument);
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
    if (!add_answers(diff, list != NULL ? list : DIFF_USUAL, list != NULL, fail))
        return false;
    memcpy(diff->known, own_options, sizeof(own_options));
    diff->known_count = OWN_OPTIONS;
    for (unsigned i = 0; i < diff->count; i++)
        know_options(diff, diff->answers[i]->kind);
    diff->answers[diff->count] = answer_new(answer_find("stats"));
    return true;
}

static bool add_setting(struct diff *diff, const char *name, int option, const char *value, struct fail *fail)
{
    if (diff->setting_count == DIFF_SETTINGS_MAX)
        return fail_set(fail, "too many options");
    diff->settings[diff->setting_count++] = (struct setting){name, option, value};
    return true;
}

/* Every answer that has the option gets it. */
static bool pass_on(struct diff *diff, const char *name, const char *value, struct fail *fail)
{
    for (unsigned i = 0; i < diff->count; i++)
        if (answer_has_option(diff->answers[i]->kind, name) &&
            !answer_set(diff->answers[i], name, value, fail))
            return false;
    return add_setting(diff, name, 0, value, fail);
}

/* Tried on a filter that nobody uses. */
static bool set_filter(struct diff *diff, int option, const char *value, struct fail *fail)
{
    struct filter filter = {0};
    bool fine = filter_option(&filter, option, value);

    filter_free(&filter);
    return fine && add_setting(diff, NULL, option, value, fail);
}

static void set_per(struct diff *diff, const char *value)
{
    static const char *const names[] = {
        [PER_WORK] = "work", [PER_BUSY] = "busy", [PER_SECOND] = "second", [PER_NOTHING] = "nothing"};

    diff->unit_event = value;
    diff->per = PER_EVENT;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i] != NULL && strcmp(names[i], value) == 0)
            diff->per = i;
}

/* Notes which options were given that go only with --first, or only without. */
static void note_option(struct diff *diff, int option)
{
    const struct option *known = diff->known;

    while (known->val != option)
        known++;
    switch (option) {
    case OPTION_FIRST:
        diff->is_first = true;
        break;
    case OPTION_CONTEXT:
        diff->option_of_first = known->name;
        break;
    case OPTION_JSON:
    case OPTION_FROM:
    case OPTION_TO:
    case OPTION_CPU:
    case OPTION_CLASS:
    case OPTION_EVENT:
        break;
    default:
        diff->option_of_tables = known->name;
    }
}

static bool take_option(void *context, int option, const char *value, struct fail *fail)
{
    struct diff *diff = context;

    note_option(diff, option);
    switch (option) {
    case OPTION_FIRST:
        return true;
    case OPTION_CONTEXT:
        return option_count(value, &diff->context, fail);
    case OPTION_ANSWER:
        return true;
    case OPTION_BY:
        diff->by = value;
        return true;
    case OPTION_COLUMN:
        diff->columns = value;
        return true;
    case OPTION_PER:
        set_per(diff, value);
        return true;
    case OPTION_THRESHOLD:
        return option_real(value, 0, PERCENT_MOST, &diff->threshold, fail);
    case OPTION_LEAST:
        return option_real(value, 0, PERCENT_MOST, &diff->least, fail);
    case OPTION_TOP:
        diff->has_top = true;
        return option_count(value, &diff->top, fail);
    case OPTION_SYMBOLS:
        diff->symbols = value;
        return true;
    case OPTION_JSON:
    case OPTION_CSV:
        return option_form(&diff->format, option == OPTION_JSON ? ANSWER_JSON : ANSWER_CSV,
                           "--json and --csv", fail);
    default:
        if (option >= OPTION_KIND)
            return pass_on(diff, diff->known[option - OPTION_KIND].name, value, fail);
        return set_filter(diff, option, value, fail);
    }
}

/* Of how many words after "--" the last ones are: what follows it belongs to B. 0: there is no "--". */
static unsigned count_after_dashes(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return (unsigned)(argc - i - 1);
    return 0;
}

/* WORDS are traces, the last AFTER of them behind "--". */
static bool make_runs(struct diff *diff, char **words, unsigned count, unsigned after)
{
    if (after == 0 || after == count) {
        if (count != 2)
            return false;
        after = 1;
    }
    diff->run_count[0] = count - after;
    diff->run_count[1] = after;
    if (diff->run_count[0] > COMPARE_RUNS_MAX || after > COMPARE_RUNS_MAX)
        return false;
    for (unsigned side = 0; side < 2; side++) {
        diff->runs[side] = alloc_zero(diff->run_count[side], sizeof(diff->runs[side][0]));
        for (unsigned run = 0; run < diff->run_count[side]; run++)
            diff->runs[side][run].directory = words[side * diff->run_count[0] + run];
    }
    return true;
}

/* Says what does not go together; returns an exit status, or -1. */
static int check_choice(const struct diff *diff, const struct command_line *line, const char *name)
{
    char what[120];

    if (!diff->is_first && diff->option_of_first == NULL)
        return -1;
    if (!diff->is_first)
        snprintf(what, sizeof(what), "--%s goes only with --first", diff->option_of_first);
    else if (diff->option_of_tables != NULL)
        snprintf(what, sizeof(what), "--%s does not go with --first", diff->option_of_tables);
    else if (diff_has_several(diff))
        snprintf(what, sizeof(what), "--first compares two traces");
    else
        return -1;
    return complain_of_words(line, name, what);
}

int diff_parse_options(struct diff *diff, int argc, char **argv)
{
    const struct command_line line = {
        .words = "[OPTION]... A B\n[OPTION]... A1 A2 ... -- B1 B2 ...\n--first [OPTION]... A B",
        .print_help = print_help,
        .known = diff->known,
        .letters = "",
        .least = 2,
        .most = 2 * COMPARE_RUNS_MAX,
        .take = take_option};
    unsigned after = count_after_dashes(argc, argv); /* getopt sorts the words */
    struct fail fail;
    int status;

    diff->context = DIFF_CONTEXT;
    if (!find_answers(diff, argc, argv, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    status = take_command_line(&line, diff, argc, argv);
    if (status >= 0)
        return status;
    if (!make_runs(diff, argv + optind, (unsigned)(argc - optind), after))
        return complain_of_words(
            &line, argv[0], "two traces are wanted, or those of A, `--`, and those of B, at most 32 each");
    status = check_choice(diff, &line, argv[0]);
    if (status >= 0)
        return status;
    if (!diff->has_top && diff->format == ANSWER_TEXT)
        diff->top = DIFF_TEXT_TOP;
    if (diff->top == 0)
        diff->top = UINT64_MAX;
    return -1;
}
