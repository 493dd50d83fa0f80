/* analysis_command.c - `tarn NAME ...` for every analysis: options, walk, output; see analysis.h. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/help.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/symbols/symbols.h>

#define TEXT_TOP 15u

struct request {
    struct analysis *analysis;
    struct filter filter;
    struct table_options output;
    const char *by, *symbols;
    const char *directory;
};

static const struct command_option shared_options[] = {
    {TEXT("symbols", "DIR[:DIR]", struct request, symbols,
          "search for the trace's executables here, by build-id (see Symbols). For analyses that name "
          "functions")},
    {TEXT("by", "LIST", struct request, by, "print only these tables; all for all (see Tables)")},
    {FLAG(
        "subtract-cost", struct request, filter.subtract_cost,
        "subtract from times what logging cost, as `trace bench` measured it in the guest\nOf each event, "
        "the "
        "median of its type is subtracted from the time of the thread that logged it: from its run time, and "
        "from activities and intervals that contain the event. The output says how much that was")},
    {.name = NULL}};

const struct column_text *column_text_of(const struct analysis_kind *kind, const struct table *table,
                                         const char *key)
{
    const struct column_text *last = NULL;
    for (unsigned i = 0; i < kind->text_count; i++)
        if (strcmp(kind->texts[i].key, key) == 0 &&
            (kind->texts[i].tables == NULL || list_names(kind->texts[i].tables, table->key)))
            last = &kind->texts[i];
    return last;
}

/* Describes the columns of TABLE whose descriptions were not SHOWN yet. Tables are printed in parentheses, if
 * only these have such a column. */
static void put_columns(struct page *page, const struct analysis_kind *kind, const struct table *table,
                        bool *shown)
{
    for (unsigned c = 0; c < table->column_count; c++) {
        struct table_column column = table->columns[c];
        const struct column_text *text = column_text_of(kind, table, column.key);
        char heading[HEADING_BYTES], whole[500];
        if (column.kind == COLUMN_BAR || text == NULL || shown[text - kind->texts])
            continue;
        shown[text - kind->texts] = true;
        column.heading = NULL; /* a total's heading is worded for its sentence */
        snprintf(whole, sizeof(whole), text->tables != NULL ? "(%s) %s" : "%s%s",
                 text->tables != NULL ? text->tables : "", text->text);
        page_entry(page, column_heading(&column, heading), NULL, whole);
    }
}

void columns_describe(struct page *page, const struct analysis_kind *kind)
{
    bool *shown = alloc_zero(kind->text_count + 1, sizeof(bool));
    if (kind->totals != NULL)
        put_columns(page, kind, kind->totals, shown);
    for (unsigned i = 0; i < kind->table_count; i++)
        put_columns(page, kind, &kind->tables[i], shown);
    free(shown);
}

void columns_print_all(FILE *to)
{
    struct page page = {.to = to};
    char heading[100];
    fputs("The columns of all analyses. Names in parentheses limit a description to those tables.\n", to);
    for (const struct analysis_kind *const *kind = analysis_list(); *kind != NULL; kind++) {
        snprintf(heading, sizeof(heading), "tarn %s", (*kind)->name);
        page_heading(&page, heading);
        columns_describe(&page, *kind);
    }
}

static void describe_tables(struct page *page, const struct command *self)
{
    const struct analysis_kind *kind = self->data;
    page_heading(page, "Tables");
    for (unsigned i = 0; i < kind->table_count; i++) {
        const struct table *table = &kind->tables[i];
        char text[400];
        if (table->is_extra || table->needs != NULL)
            snprintf(text, sizeof(text), "%s (only with --%s)", table->text,
                     table->needs != NULL ? table->needs : "by");
        else
            snprintf(text, sizeof(text), "%s", table->text);
        page_entry(page, table->key, NULL, text);
    }
    page_heading(page, "Columns");
    columns_describe(page, kind);
}

static int run_analysis(int argc, char **argv);

struct command analysis_command(const struct analysis_kind *kind)
{
    static const struct command_option none = {.name = NULL};
    struct command command = {.name = "analyses",
                              .summary = "analyses of a trace",
                              .forms = "[OPTION]... DIRECTORY",
                              .groups = {{NULL, &none},
                                         {"Tables", shared_options},
                                         {"Output", table_options},
                                         {"What counts", filter_options}},
                              .least = 1,
                              .most = 1,
                              .run = run_analysis,
                              .data = kind};
    if (kind == NULL)
        return command;
    command.name = kind->name;
    command.summary = kind->summary;
    command.describe = describe_tables;
    command.groups[0].options = kind->options != NULL ? kind->options : &none;
    command.groups[1].options += kind->uses_symbols ? 0 : 1;
    command.groups[3].options += kind->chooses_events ? 0 : 2;
    return command;
}

static void print_left_out(FILE *to, const struct analysis *analysis)
{
    const struct model_left_out *left_out = &analysis->left_out;
    fprintf(to,
            ",\"drain\":{\"events\":%" PRIu64 ",\"activities\":%" PRIu64 ",\"calls\":%" PRIu64
            ",\"waited_ns\":%" PRIu64 ",\"cpus\":[",
            left_out->events, left_out->activities, left_out->calls, analysis_ns(analysis, left_out->waited));
    for (unsigned i = 0; i < analysis->trace->stream_count; i++)
        fprintf(to, "%s{\"cpu\":%u,\"ran_ns\":%" PRIu64 "}", i > 0 ? "," : "",
                analysis->trace->streams[i].cpu, analysis_ns(analysis, analysis->drained[i]));
    fputs("]}", to);
}

static void print_json(FILE *to, const struct analysis *analysis, uint64_t top, const struct losses *losses)
{
    const struct model_subtracted *subtracted = &analysis->subtracted;
    const char *comma = "";
    fprintf(to, "{\"analysis\":\"%s\",\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64 ",\"seconds\":%.9f",
            analysis->kind->name, analysis_when(analysis, analysis->from),
            analysis_when(analysis, analysis->to), analysis_seconds(analysis));
    if (losses != NULL) {
        fputc(',', to);
        losses_print_json(to, losses);
    }
    fprintf(to, ",\"clock_is_shared\":%s", trace_shares_clock(analysis->trace) ? "true" : "false");
    if (analysis->drained != NULL)
        print_left_out(to, analysis);
    if (analysis->subtracts)
        fprintf(to,
                ",\"subtracted\":{\"ns\":%" PRIu64 ",\"events\":%" PRIu64 ",\"events_without_cost\":%" PRIu64
                ",\"short_activities\":%" PRIu64 "}",
                analysis_ns(analysis, subtracted->ticks), subtracted->events, subtracted->without,
                subtracted->short_spans);
    if (analysis->answer != NULL) {
        fputs(",\"answer\":", to);
        print_json_string(to, analysis->answer);
    }
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

/* CSV has no place for it. */
static void print_remark(FILE *to, unsigned format, const char *text)
{
    if (format == TABLES_TEXT && *text != '\0')
        fprintf(to, "%s\n", text);
    else if (*text != '\0')
        complain("%s", text);
}

void analysis_print(FILE *to, const struct analysis *analysis, const struct table_options *output,
                    const struct losses *losses)
{
    const struct model_subtracted *subtracted = &analysis->subtracted;
    bool is_first = true;
    char text[400];
    if (output->format == TABLES_JSON) {
        print_json(to, analysis, table_top(output, TEXT_TOP), losses);
        return;
    }
    analysis_describe_left_out(analysis, text, sizeof(text));
    print_remark(to, output->format, text);
    snprintf(text, sizeof(text),
             "logging: %.3f ms subtracted for %" PRIu64 " events, as `trace bench` measured them; %" PRIu64
             " events were not measured; %" PRIu64
             " activities took less than the events in them cost, and count as 0",
             (double)analysis_ns(analysis, subtracted->ticks) / 1e6, subtracted->events, subtracted->without,
             subtracted->short_spans);
    print_remark(to, output->format, analysis->subtracts ? text : "");
    if (output->format == TABLES_TEXT && analysis->answer != NULL)
        print_paragraph(to, analysis->answer, table_width(output));
    for (unsigned i = 0; i < analysis->kind->table_count; i++) {
        if (!analysis->tables[i].is_wanted)
            continue;
        fputs(is_first || output->format == TABLES_TEXT ? "" : "\n", to);
        table_print(to, output, &analysis->tables[i], TEXT_TOP);
        is_first = false;
    }
    if (output->format == TABLES_CSV && losses != NULL)
        losses_print_csv(to, losses, "losses");
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
    if (!filter_resolve(&request->filter, trace, &fail))
        return fail_report(&fail, EXIT_USAGE);
    losses_begin(&losses, trace, &request->filter);
    if (!analyses_ask(&analysis, 1, trace, &request->filter, symbols, &losses.reporter, &fail))
        return fail_report(&fail, EXIT_USAGE);
    model_lacks(&trace->schema, analysis->only_scheduling, losses.lacks, sizeof(losses.lacks));
    losses_summary(&losses);
    losses_durations(&losses);
    complain_of_analysis(analysis, request->directory);
    if (!sql_print(analysis, stdout, &is_all, &fail))
        return fail_report(&fail, EXIT_USAGE);
    if (request->output.sort != NULL || request->output.reverse)
        analysis_sort(analysis, &request->output, &fail);
    if (!is_all)
        analysis_print(stdout, analysis, &request->output, &losses);
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
        !analysis_sort(analysis, &request->output, &fail))
        return fail_report(&fail, EXIT_USAGE);
    if (!trace_open(&trace, request->directory, &fail))
        return fail_report(&fail, EXIT_DAMAGE);
    struct symbols *symbols =
        analysis->kind->uses_symbols ? symbols_open(request->directory, request->symbols) : NULL;
    status = show_analysis(request, &trace, symbols);
    symbols_close(symbols);
    filter_free(&request->filter);
    trace_close(&trace);
    return status;
}

static int run_analysis(int argc, char **argv)
{
    struct request request = {.analysis = analysis_new(analysis_find(argv[0])),
                              .output = {.top = TABLE_TOP_DEFAULT}};
    struct command command = analysis_command(request.analysis->kind);
    int status = command_parse(
        &command, (void *[]){request.analysis, &request, &request.output, &request.filter}, argc, argv);
    request.directory = argv[optind];
    if (status < 0)
        status = ask(&request);
    analysis_free(request.analysis);
    return status;
}
