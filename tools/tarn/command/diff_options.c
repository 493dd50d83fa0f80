/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_options.c - the options of `tarn diff`, its own and those of its analyses; see diff.h. */
#include <string.h>
#include <tools/tarn/command/diff.h>
#include <tools/tarn/options.h>

#define PERCENT_MAX 1e6

enum {
    OPTION_ANALYSIS = OPTION_OWN,
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
    OPTION_KIND /* and the following: options of the analyses, by their place in `known` */
};

static const struct option own_options[] = {FILTER_OPTIONS,
                                            {"analysis", required_argument, NULL, OPTION_ANALYSIS},
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

/* Prints which analyses take option NAME. */
static void print_passed_on(FILE *to, const struct diff *diff, const char *name)
{
    const char *comma = "";

    fprintf(to, "  --%-17s of ", name);
    for (unsigned i = 0; i < diff->count; i++)
        for (const struct analysis_option *option = diff->analyses[i]->kind->options;
             option != NULL && option->name != NULL; option++)
            if (strcmp(option->name, name) == 0) {
                fprintf(to, "%s%s", comma, diff->analyses[i]->kind->name);
                comma = ", ";
            }
    fputc('\n', to);
}

static void print_help(FILE *to, const void *context)
{
    const struct diff *diff = context;

    fputs(
        "Compares the tables of analyses of two traces, A and B, and prints the largest changes first.\n"
        "A and B can be several traces each, of equal runs; then random variation is told from changes.\n"
        "\n"
        "Rows are compared by name; processes and threads by the name of their program. Times are divided\n"
        "by the row's own count of work (calls, processes, faults, ...). Times of rows without one, and\n"
        "counts, are divided by CPU time. The length of a trace does not matter.\n"
        "\n"
        "  --analysis LIST     run these analyses; diff also accepts those of their options that select\n"
        "                      what is counted. Default:\n"
        "                      " DIFF_DEFAULT "\n"
        "  --by LIST           compare only these tables: call, or syscalls.call; all: also tables that an\n"
        "                      analysis prints only if requested\n"
        "  --column LIST       compare these columns (named as for --sort) instead of the column by which\n"
        "                      the table is sorted\n"
        "  --per UNIT          what to divide sums by: work (default, see above); busy: seconds of CPU\n"
        "                      time; second: seconds of the trace; the name of an event: its count; nothing\n"
        "  --threshold PERCENT omit smaller changes\n"
        "  --least PERCENT     omit rows below this share of their table in both A and B\n"
        "  --top N             print at most N rows of each table; 0: all. Text defaults to 8 and sums up\n"
        "                      the rest\n"
        "  --symbols DIR[:DIR] search for the executables of both traces here, by build-id\n"
        "  --first             print the first event in which two traces of the same run differ, and the\n"
        "                      events before it on each CPU. Only --context, --json, --from, --to, --cpu,\n"
        "                      --class and --event can be combined with it\n"
        "  --context N         with --first: events to print before it on each CPU (5)\n"
        "  --json              print one JSON object\n"
        "  --csv               print comma-separated values, each table under its own heading\n"
        "  --help              print this help\n" FILTER_HELP "\n"
        "The losses of each trace are printed first.\n",
        to);
    fputs("\nOptions of these analyses:\n\n", to);
    for (unsigned i = OWN_OPTIONS; i < diff->known_count; i++)
        print_passed_on(to, diff, diff->known[i].name);
}

static bool add_analysis(struct diff *diff, const char *name, size_t length, bool is_asked, struct fail *fail)
{
    char text[64];
    const struct analysis_kind *kind;

    snprintf(text, sizeof(text), "%.*s", (int)(length < 60 ? length : 60), name);
    kind = analysis_find(text);
    if (kind == NULL)
        return is_asked ? fail_set(fail, "no analysis '%s'; see tarn --help", text) : true;
    if (diff->count == DIFF_ANALYSES_MAX)
        return fail_set(fail, "too many analyses");
    diff->analyses[diff->count++] = analysis_new(kind);
    return true;
}

static bool add_analyses(struct diff *diff, const char *list, bool is_asked, struct fail *fail)
{
    do {
        size_t length = strcspn(list, ",");

        if (!add_analysis(diff, list, length, is_asked, fail))
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

static void know_options(struct diff *diff, const struct analysis_kind *kind)
{
    for (const struct analysis_option *option = kind->options; option != NULL && option->name != NULL;
         option++)
        if (kind->not_compared == NULL || !diff_list_names(kind->not_compared, option->name))
            know_option(diff, option->name, option->has_argument);
}

/* --analysis decides which options are known, so it is found before the options are parsed. */
static bool find_analyses(struct diff *diff, int argc, char **argv, struct fail *fail)
{
    const char *list = NULL;

    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--analysis=", 11) == 0)
            list = argv[i] + 11;
        else if (strcmp(argv[i], "--analysis") == 0 && i + 1 < argc)
            list = argv[i + 1];
    if (!add_analyses(diff, list != NULL ? list : DIFF_DEFAULT, list != NULL, fail))
        return false;
    memcpy(diff->known, own_options, sizeof(own_options));
    diff->known_count = OWN_OPTIONS;
    for (unsigned i = 0; i < diff->count; i++)
        know_options(diff, diff->analyses[i]->kind);
    diff->analyses[diff->count] = analysis_new(analysis_find("stats"));
    return true;
}

static bool add_setting(struct diff *diff, const char *name, int option, const char *value, struct fail *fail)
{
    if (diff->setting_count == DIFF_SETTINGS_MAX)
        return fail_set(fail, "too many options");
    diff->settings[diff->setting_count++] = (struct setting){name, option, value};
    return true;
}

/* Passes the option to every analysis that has it. */
static bool pass_on(struct diff *diff, const char *name, const char *value, struct fail *fail)
{
    for (unsigned i = 0; i < diff->count; i++)
        if (analysis_has_option(diff->analyses[i]->kind, name) &&
            !analysis_set(diff->analyses[i], name, value, fail))
            return false;
    return add_setting(diff, name, 0, value, fail);
}

/* Validates the option with a temporary filter. */
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

/* Records options that are valid only with, or only without, --first. */
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
    case OPTION_ANALYSIS:
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
        return option_real(value, 0, PERCENT_MAX, &diff->threshold, fail);
    case OPTION_LEAST:
        return option_real(value, 0, PERCENT_MAX, &diff->least, fail);
    case OPTION_TOP:
        diff->has_top = true;
        return option_count(value, &diff->top, fail);
    case OPTION_SYMBOLS:
        diff->symbols = value;
        return true;
    case OPTION_JSON:
    case OPTION_CSV:
        return option_form(&diff->format, option == OPTION_JSON ? ANALYSIS_JSON : ANALYSIS_CSV,
                           "--json and --csv", fail);
    default:
        if (option >= OPTION_KIND)
            return pass_on(diff, diff->known[option - OPTION_KIND].name, value, fail);
        return set_filter(diff, option, value, fail);
    }
}

/* Returns the number of words after "--", which are the traces of B. 0: there is no "--". */
static unsigned count_after_dashes(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return (unsigned)(argc - i - 1);
    return 0;
}

/* WORDS are traces, the last AFTER of which follow "--". */
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

/* Reports options that exclude each other. Returns an exit status, or -1 to go on. */
static int check_choice(const struct diff *diff, const struct command_line *line, const char *name)
{
    char what[120];

    if (!diff->is_first && diff->option_of_first == NULL)
        return -1;
    if (!diff->is_first)
        snprintf(what, sizeof(what), "--%s requires --first", diff->option_of_first);
    else if (diff->option_of_tables != NULL)
        snprintf(what, sizeof(what), "--%s cannot be used with --first", diff->option_of_tables);
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
    unsigned after = count_after_dashes(argc, argv); /* before getopt reorders the words */
    struct fail fail;
    int status;

    diff->context = DIFF_CONTEXT;
    if (!find_analyses(diff, argc, argv, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    status = take_command_line(&line, diff, argc, argv);
    if (status >= 0)
        return status;
    if (!make_runs(diff, argv + optind, (unsigned)(argc - optind), after))
        return complain_of_words(
            &line, argv[0],
            "expected two traces, or the traces of A, `--`, and the traces of B, at most 32 each");
    status = check_choice(diff, &line, argv[0]);
    if (status >= 0)
        return status;
    if (!diff->has_top && diff->format == ANALYSIS_TEXT)
        diff->top = DIFF_TEXT_TOP;
    if (diff->top == 0)
        diff->top = UINT64_MAX;
    return -1;
}
