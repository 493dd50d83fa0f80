/* diff_options.c - the options of `tarn diff`, its own and those of its analyses, and what they select; see
 * diff.h. */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/command/diff.h>
#include <tools/tarn/print/print_table.h>

#define PERCENT_MAX 1e6

const char *const diff_units[] = {
    [PER_WORK] = "work", [PER_BUSY] = "busy", [PER_SECOND] = "second", [PER_NOTHING] = "nothing"};

static bool set_per(void *context, const struct command_option *option, const char *value, struct fail *fail)
{
    struct diff *diff = context;
    diff->unit_event = value;
    diff->per = PER_EVENT;
    for (unsigned i = 0; i <= PER_NOTHING; i++)
        if (diff_units[i] != NULL && strcmp(diff_units[i], value) == 0)
            diff->per = i;
    return true;
}

static const struct command_option own_options[] = {
    {TEXT("analysis", "LIST", struct diff, list,
          "run these analyses (" DIFF_DEFAULT
          ")\n`tarn diff` also accepts those of their options that select what is counted, and passes each "
          "to all analyses that have it. --help lists these options")},
    {TEXT(
        "by", "LIST", struct diff, by,
        "compare only these tables: call, or syscalls.call; all: also tables that an analysis prints only if "
        "requested")},
    {TEXT("column", "LIST", struct diff, columns,
          "compare these columns, named as for --sort in tarn-analyses(1), or all\nThe default is CPU time "
          "or its parts, else the column by which the table is sorted. Where rows are the same work done in "
          "different ways, as in `noise.quantum`, it is the mean")},
    {CALL("per", "UNIT", set_per,
          "the divisor of sums: work (the default, see above); busy: seconds of CPU time in which "
          "something runs; second: seconds of the trace; the name of an event: its count; nothing")},
    {REAL("threshold", "PERCENT", struct diff, threshold, 0, PERCENT_MAX, "omit smaller changes")},
    {REAL("least", "PERCENT", struct diff, least, 0, PERCENT_MAX,
          "omit rows below this share of their table in both A and B")},
    {TEXT("symbols", "DIR[:DIR]", struct diff, symbols,
          "search for the executables of both traces here, by build-id (tarn-analyses(1))")},
    {FLAG("first", struct diff, is_first, "print the first event in which two traces of the same run differ"),
     .with = "order-only,from,to,cpu,class,event"},
    {FLAG("order-only", struct diff, only_order,
          "with --first: compare which events come on each CPU, their texts and enumerations; not times, "
          "numbers and addresses"),
     .need = "first"},
    {.name = NULL}};

const struct command diff_command =
    COMMAND("diff", "compare two traces by the tables of analyses",
            "[OPTION]... A B\n[OPTION]... A1 A2 ... -- B1 B2 ...\n"
            "--first [OPTION]... A B",
            2, 2 * DIFF_RUNS_MAX, run_diff, NULL, {NULL, own_options}, {"Events that count", filter_options},
            {"Output", table_options + TABLE_OPTION_WIDE});

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

/* Passes the option on to every analysis of the run that has it. */
static bool pass_on(void *context, const struct command_option *option, const char *value, struct fail *fail)
{
    struct run *run = context;
    for (unsigned i = 0; i < run->diff->count; i++)
        if (option_find(run->analyses[i]->kind->options, option->name) != NULL &&
            !analysis_set(run->analyses[i], option->name, value, fail))
            return false;
    return true;
}

/* Returns the description of an option, and the analyses that have it. */
static const char *describe_option(struct diff *diff, const struct command_option *option)
{
    char text[400];
    const char *between = " (";
    size_t used =
        (size_t)snprintf(text, sizeof(text), "%.*s", (int)strcspn(option->text, "\n"), option->text);
    for (unsigned i = 0; i < diff->count && used < sizeof(text); i++)
        if (option_find(diff->analyses[i]->kind->options, option->name) != NULL) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", between,
                                     diff->analyses[i]->kind->name);
            between = ", ";
        }
    snprintf(text + strlen(text), sizeof(text) - strlen(text), ")");
    return arena_string(&diff->texts, text, strlen(text));
}

static void add_option(struct diff *diff, const struct command_option *option)
{
    struct command_option *passed = &diff->passed_on[diff->passed_count];
    if (option_find(own_options, option->name) == NULL &&
        option_find(diff->passed_on, option->name) == NULL && diff->passed_count + 1 < DIFF_OPTIONS_MAX) {
        *passed = (struct command_option){
            CALL(option->name, option->argument, pass_on, describe_option(diff, option))};
        diff->passed_count++;
    }
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
    for (unsigned i = 0; i < diff->count; i++)
        for (const struct command_option *option = diff->analyses[i]->kind->options;
             option != NULL && option->name != NULL; option++)
            if (!option->is_extra)
                add_option(diff, option);
    diff->analyses[diff->count] = analysis_new(analysis_find("stats"));
    return true;
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
    if (diff->run_count[0] > DIFF_RUNS_MAX || after > DIFF_RUNS_MAX)
        return false;
    for (unsigned side = 0; side < 2; side++) {
        diff->runs[side] = alloc_zero(diff->run_count[side], sizeof(diff->runs[side][0]));
        for (unsigned run = 0; run < diff->run_count[side]; run++)
            diff->runs[side][run].directory = words[side * diff->run_count[0] + run];
    }
    return true;
}

/* Each run has analyses and a filter of its own, so the options are parsed for each. */
static int parse_for(struct diff *diff, struct run *run, const struct command *command, int argc, char **argv)
{
    run->diff = diff;
    for (unsigned i = 0; i <= diff->count; i++)
        run->analyses[i] = analysis_new(diff->analyses[i]->kind);
    return command_parse(command, (void *[]){diff, &run->filter, &diff->output, run}, argc, argv);
}

int diff_parse_options(struct diff *diff, int argc, char **argv)
{
    struct command command = diff_command;
    struct run first = {NULL};
    unsigned after = count_after_dashes(argc, argv); /* before getopt reorders the words */
    struct fail fail;
    int status;
    diff->output.top = TABLE_TOP_DEFAULT;
    if (!find_analyses(diff, argc, argv, &fail))
        return fail_report(&fail, EXIT_USAGE);
    command.groups[3].options = diff->passed_on;
    command.groups[3].heading = "Options of these analyses";
    status = parse_for(diff, &first, &command, argc, argv);
    diff_close_run(&first);
    if (status >= 0)
        return status;
    if (!make_runs(diff, argv + optind, (unsigned)(argc - optind), after))
        return complain_of_words(
            &command, "expected two traces, or the traces of A, `--`, and the traces of B, at most 32 each");
    if (diff->is_first && diff_has_several(diff))
        return complain_of_words(&command, "--first compares two traces");
    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < diff->run_count[side]; run++)
            parse_for(diff, &diff->runs[side][run], &command, argc, argv);
    return -1;
}

/* ---- tables and columns ---- */

static bool wants_table(const struct diff *diff, const struct analysis_kind *kind, const struct table *table)
{
    char name[128];
    if (diff->by == NULL)
        return !table->is_extra && table->needs == NULL;
    snprintf(name, sizeof(name), "%s.%s", kind->name, table->key);
    return list_names(diff->by, "all") || list_names(diff->by, table->key) || list_names(diff->by, name);
}

/* Copies the first word of LIST to WORD, truncated beyond the length of any column's name, and moves LIST
 * past it. Returns false at the end of the list. */
static bool next_word(const char **list, char word[HEADING_BYTES])
{
    size_t length = strcspn(*list, ",");
    bool any = **list != '\0';
    snprintf(word, HEADING_BYTES, "%.*s", (int)(length < HEADING_BYTES ? length : HEADING_BYTES), *list);
    *list += length + ((*list)[length] == ',');
    return any;
}

static bool has_column(const struct diff *diff, const char *name)
{
    for (unsigned i = 0; i < diff->count; i++)
        for (unsigned t = 0; t < diff->analyses[i]->kind->table_count; t++) {
            const struct table *table = &diff->analyses[i]->tables[t];
            if (table->is_wanted && table_find_column(table, name) >= 0)
                return true;
        }
    return strcmp(name, "all") == 0;
}

/* Rejects columns that no table has. */
static bool check_columns(const struct diff *diff, struct fail *fail)
{
    char word[HEADING_BYTES];
    for (const char *list = diff->columns; next_word(&list, word);)
        if (!has_column(diff, word))
            return fail_set(fail, "no table has a column '%s'; `tarn help columns` lists all", word);
    return true;
}

bool diff_names_column(const struct diff *diff, const struct table *table, int column)
{
    char word[HEADING_BYTES];
    for (const char *list = diff->columns; list != NULL && next_word(&list, word);)
        if (strcmp(word, "all") == 0 || table_find_column(table, word) == column)
            return true;
    return false;
}

bool diff_choose_tables(struct diff *diff, struct fail *fail)
{
    bool any = false;
    for (unsigned i = 0; i < diff->count; i++)
        for (unsigned t = 0; t < diff->analyses[i]->kind->table_count; t++) {
            struct table *table = &diff->analyses[i]->tables[t];
            table->is_wanted = wants_table(diff, diff->analyses[i]->kind, table);
            any |= table->is_wanted;
        }
    if (!any)
        return fail_set(fail, "no analysis has a table '%.200s'; `tarn ANALYSIS --help` lists its tables",
                        diff->by);
    return diff->columns == NULL || check_columns(diff, fail);
}
