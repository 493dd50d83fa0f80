/* SPDX-License-Identifier: BSD-2-Clause */
/* analysis_command.c - `tarn NAME ...` for every analysis: options, walk, output; see analysis.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/analysis/columns.h>
#include <tools/tarn/options.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/symbols/symbols.h>

#define TEXT_TOP    15u
#define OPTIONS_MAX 48u

struct request {
    struct analysis *analysis;
    struct filter filter;
    const char *by, *sort, *symbols;
    bool reverse;
    enum analysis_format format;
    uint64_t top; /* 0: all */
    bool has_top;
    const char *directory;
};

enum {
    OPTION_BY = OPTION_OWN,
    OPTION_SORT,
    OPTION_REVERSE,
    OPTION_TOP,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_SYMBOLS,
    OPTION_KIND /* the first option of the analysis's own */
};

static const struct option shared_options[] = {FILTER_OPTIONS,
                                               {"by", required_argument, NULL, OPTION_BY},
                                               {"sort", required_argument, NULL, OPTION_SORT},
                                               {"reverse", no_argument, NULL, OPTION_REVERSE},
                                               {"top", required_argument, NULL, OPTION_TOP},
                                               {"json", no_argument, NULL, OPTION_JSON},
                                               {"csv", no_argument, NULL, OPTION_CSV},
                                               {"symbols", required_argument, NULL, OPTION_SYMBOLS},
                                               {"help", no_argument, NULL, 'h'}};
#define SHARED_OPTIONS (sizeof(shared_options) / sizeof(shared_options[0]))

static void print_tables_help(FILE *to, const struct analysis_kind *kind)
{
    unsigned used = 0;
    bool has_needs = false;

    fprintf(to, "  --by LIST           print only these tables, or all:");
    for (unsigned i = 0; i < kind->table_count; i++) {
        const struct table *table = &kind->tables[i];
        const char *key = table->key, *mark = table->needs != NULL ? "+" : table->is_extra ? "*" : "";

        has_needs |= table->needs != NULL;
        if (used == 0 || used + strlen(key) > 60)
            used = (unsigned)fprintf(to, "\n                     ") - 22;
        used += (unsigned)fprintf(to, " %s%s", key, mark);
    }
    fprintf(to, "\n                      (* only if requested%s)\n",
            has_needs ? "; + only with its option" : "");
}

static void print_help(FILE *to, const void *context)
{
    const struct analysis_kind *kind = ((const struct request *)context)->analysis->kind;

    fprintf(to, "%s\n", kind->help);
    for (const struct analysis_option *option = kind->options; option != NULL && option->name != NULL;
         option++)
        fprintf(to, "  --%s%s\n", option->name, option->help);
    if (kind->uses_symbols)
        fputs("  --symbols DIR[:DIR] search for the trace's executables here, by build-id\n", to);
    fputs(kind->chooses_events ? FILTER_HELP : FILTER_RUNNING_HELP, to);
    print_tables_help(to, kind);
    fputs(
        "  --sort COLUMN       sort every table that has COLUMN: its heading, or its name in JSON (times "
        "end\n"
        "                      in _ns, percentages in _percent), or `name` for the first column.\n"
        "                      Amounts sort largest first, names and IDs in ascending order\n"
        "  --reverse           reverse the order\n"
        "  --top N             print at most N rows of each table; 0: all. Text defaults to 15 and sums up\n"
        "                      the rest\n"
        "  --json              print one JSON object\n"
        "  --csv               print comma-separated values, each table under its own heading\n"
        "  --help              print this help\n\n"
        "Losses are printed first. Results cover only what the trace contains.\n\n",
        to);
    columns_print_help(to, kind);
}

static bool is_offered(const struct analysis_kind *kind, int option)
{
    if (option == OPTION_CLASS || option == OPTION_EVENT)
        return kind->chooses_events;
    return option != OPTION_SYMBOLS || kind->uses_symbols;
}

static void collect_options(const struct analysis_kind *kind, struct option known[OPTIONS_MAX])
{
    unsigned count = 0;

    for (unsigned i = 0; i < SHARED_OPTIONS; i++)
        if (is_offered(kind, shared_options[i].val))
            known[count++] = shared_options[i];
    for (unsigned i = 0; kind->options != NULL && kind->options[i].name != NULL; i++) {
        const struct analysis_option *option = &kind->options[i];

        known[count++] = (struct option){option->name, option->has_argument ? required_argument : no_argument,
                                         NULL, OPTION_KIND + (int)i};
    }
    memset(&known[count], 0, sizeof(known[count]));
}

static bool take_option(void *context, int option, const char *value, struct fail *fail)
{
    struct request *request = context;
    const struct analysis_kind *kind = request->analysis->kind;

    switch (option) {
    case OPTION_BY:
        request->by = value;
        return true;
    case OPTION_SORT:
        request->sort = value;
        return true;
    case OPTION_REVERSE:
        return request->reverse = true;
    case OPTION_TOP:
        request->has_top = true;
        return option_count(value, &request->top, fail);
    case OPTION_SYMBOLS:
        request->symbols = value;
        return true;
    case OPTION_JSON:
    case OPTION_CSV:
        return option_form(&request->format, option == OPTION_JSON ? ANALYSIS_JSON : ANALYSIS_CSV,
                           "--json and --csv", fail);
    default:
        return option >= OPTION_KIND
                   ? analysis_set(request->analysis, kind->options[option - OPTION_KIND].name, value, fail)
                   : filter_option(&request->filter, option, value);
    }
}

/* Returns the exit status to leave with, or -1 to continue. */
static int parse_options(struct request *request, int argc, char **argv)
{
    struct option known[OPTIONS_MAX];
    const struct command_line line = {.words = "[OPTION]... DIRECTORY",
                                      .print_help = print_help,
                                      .known = known,
                                      .letters = "",
                                      .least = 1,
                                      .most = 1,
                                      .take = take_option};
    int status;

    collect_options(request->analysis->kind, known);
    status = take_command_line(&line, request, argc, argv);
    if (status >= 0)
        return status;
    request->directory = argv[optind];
    if (!request->has_top && request->format == ANALYSIS_TEXT)
        request->top = TEXT_TOP;
    if (request->top == 0)
        request->top = UINT64_MAX;
    return -1;
}

static void print_json(FILE *to, const struct analysis *analysis, uint64_t top, const struct losses *losses)
{
    const char *comma = "";

    fprintf(to, "{\"answer\":\"%s\",\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64 ",\"seconds\":%.9f",
            analysis->kind->name, analysis_when(analysis, analysis->from),
            analysis_when(analysis, analysis->to), analysis_seconds(analysis));
    if (losses != NULL)
        fprintf(to, ",\"lost_events\":%" PRIu64 ",\"lost_packets\":%" PRIu64, losses->lost_events,
                losses->lost_packets);
    if (analysis->total != NULL) {
        fputc(',', to);
        table_print_members(to, &analysis->totals, analysis->total);
    }
    fputs(",\"tables\":{", to);
    for (unsigned i = 0; i < analysis->kind->table_count; i++)
        if (analysis->tables[i].is_wanted) {
            fputs(comma, to);
            table_print_json(to, &analysis->tables[i], top);
            comma = ",";
        }
    fputs("}}\n", to);
}

void analysis_print(FILE *to, const struct analysis *analysis, enum analysis_format format, uint64_t top,
                    const struct losses *losses)
{
    bool is_first = true;

    if (format == ANALYSIS_JSON) {
        print_json(to, analysis, top, losses);
        return;
    }
    if (format == ANALYSIS_TEXT && analysis->total != NULL)
        table_print_sentence(to, &analysis->totals, analysis->total);
    for (unsigned i = 0; i < analysis->kind->table_count; i++) {
        if (!analysis->tables[i].is_wanted)
            continue;
        if (format == ANALYSIS_TEXT) {
            table_print_text(to, &analysis->tables[i], analysis->tables[i].is_whole ? UINT64_MAX : top);
        } else {
            fputs(is_first ? "" : "\n", to);
            table_print_csv(to, &analysis->tables[i], top);
        }
        is_first = false;
    }
}

static void complain_of_analysis(const struct analysis *analysis, const char *directory)
{
    const char *text = analysis_has_nothing(analysis);

    if (text != NULL)
        complain("%s: %s", directory, text);
    else if (analysis->note[0] != '\0')
        complain("%s", analysis->note);
    for (unsigned i = 0;
         analysis->symbols != NULL && (text = symbols_complaint(analysis->symbols, i)) != NULL; i++)
        complain("%s", text);
}

static int show_analysis(struct request *request, const struct trace *trace, struct symbols *symbols)
{
    struct analysis *analysis = request->analysis;
    struct losses losses;
    bool is_all = false;
    struct fail fail;

    if (!filter_resolve(&request->filter, trace, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    losses_open(&losses, trace);
    losses.from = request->filter.from_ticks;
    losses.to = request->filter.to_ticks;
    losses.quiet = true;
    losses_judge(&losses);
    if (!analyses_ask(&analysis, 1, trace, &request->filter, symbols, &losses.reporter, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    model_lacks(&trace->schema, analysis->observer.only_scheduling, losses.lacks, sizeof(losses.lacks));
    losses_summary(&losses);
    complain_of_analysis(analysis, request->directory);
    if (analysis->kind->print != NULL && !analysis->kind->print(analysis, stdout, &is_all, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    analysis_sort(analysis, request->sort, request->reverse, &fail);
    if (!is_all)
        analysis_print(stdout, analysis, request->format, request->top, &losses);
    return losses_status(&losses);
}

static int ask(struct request *request)
{
    struct analysis *analysis = request->analysis;
    struct trace trace;
    struct fail fail;
    int status;

    /* checks the options before the walk; tables are sorted again later */
    if (!analysis_choose_tables(analysis, request->by, &fail) ||
        !analysis_sort(analysis, request->sort, request->reverse, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    if (!trace_open(&trace, request->directory, &fail)) {
        complain("%s", fail.text);
        return EXIT_DAMAGE;
    }
    struct symbols *symbols =
        analysis->kind->uses_symbols ? symbols_open(request->directory, request->symbols) : NULL;
    status = show_analysis(request, &trace, symbols);
    symbols_close(symbols);
    filter_free(&request->filter);
    trace_close(&trace);
    return status;
}

int run_analysis(int argc, char **argv)
{
    struct request request = {.analysis = analysis_new(analysis_find(argv[0]))};
    int status = parse_options(&request, argc, argv);

    if (status < 0)
        status = ask(&request);
    analysis_free(request.analysis);
    return status;
}
