/*
 * api_analysis.c - /api/analysis?name=&from=&to=&top=N: runs an analysis on a range.
 *
 * {analysis: what `tarn NAME --json` prints}, with at most top rows of each table (100; 0: all), and the
 * subcommand's options as parameters (build/man/tarn-analyses.1). name=profile&flame: the picture (SVG) of
 * `tarn profile --flame`. /api/analyses: the names, with the texts of --help.
 *
 * The walk begins at the checkpoint before the range. It may take long, so it has its own trace and model,
 * does without the lock, and stops when the connection is closed.
 */
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/symbols/symbols.h>
#include <tools/tarn/view/api.h>

#define ROWS_DEFAULT 100u

struct asker {
    struct view *view;
    struct request *request;
    struct trace trace; /* opened again, because the view's grows */
    struct filter filter;
    struct losses losses; /* in the range */
    struct symbols *symbols;
    struct analysis *analysis;
    struct model model;
    struct merge merge;
    bool is_picture; /* is asked for */
};

static bool set_options(struct asker *asker, struct fail *fail)
{
    const struct request *request = asker->request;
    struct filter *filter = &asker->filter;
    for (const struct command_option *option = filter_options; option->name != NULL; option++)
        if (request_text(request, option->name) != NULL)
            option_set(option, filter, request_text(request, option->name), fail);
    filter->from = filter->to = NULL; /* the request's are nanoseconds */
    filter->subtract_cost = request_text(request, "subtract-cost") != NULL;
    for (const struct command_option *option = asker->analysis->kind->options;
         option != NULL && option->name != NULL; option++) {
        const char *value = request_text(request, option->name);
        bool is_flame = strcmp(option->name, "flame") == 0;
        if (value != NULL && !analysis_set(asker->analysis, option->name, is_flame ? "-" : value, fail))
            return false;
        asker->is_picture |= value != NULL && is_flame;
    }
    return analysis_choose_tables(asker->analysis, request_text(request, "by"), fail);
}

static bool go_on(void *self)
{
    const struct asker *asker = self;
    return !asker->view->is_stopping && asker->request->is_waiting(asker->request);
}

/* Opens the trace, chooses the range, and begins the walk. */
static bool open_walk(struct asker *asker, struct fail *fail)
{
    struct view *view = asker->view;
    struct losses *losses = &asker->losses;
    struct range range = request_range(view, asker->request);
    if (fail->text[0] != '\0' || !trace_open(&asker->trace, view->options.directory, fail))
        return false;
    losses_open(losses, &asker->trace);
    losses->quiet = true;
    losses->damaged = view->damaged;
    losses->is_unfinished =
        trace_is_unfinished(&asker->trace) && range.to_ticks > trace_known_end(&asker->trace);
    losses->from = range.from_ticks;
    losses->to = range.to_ticks;
    if (view->trace.stream_count != asker->trace.stream_count || view->trace.begin != asker->trace.begin)
        return fail_set(fail, "the trace is being replaced");
    if (!filter_resolve(&asker->filter, &asker->trace, fail))
        return false;
    asker->filter.from_ticks = range.from_ticks;
    asker->filter.to_ticks = range.to_ticks;
    if (asker->analysis->kind->uses_symbols)
        asker->symbols = symbols_open(asker->trace.directory, view->options.symbols);
    model_open(&asker->model, &asker->trace, range.from_ticks, range.to_ticks);
    walk_open_range(&asker->model, &asker->merge, &view->index, asker->model.from, WALK_KNOWS_ALL,
                    &losses->reporter);
    return true;
}

/* Prints the result: as JSON, or as a picture, which replaces the open object. */
static bool print(const struct asker *asker, uint64_t top, struct json *json, struct fail *fail)
{
    struct table_options options = {.format = TABLES_JSON, .top = top != 0 ? top : UINT64_MAX};
    char *text = NULL;
    size_t size = 0;
    bool is_all, ok = true;
    FILE *stream;
    if (asker->is_picture && asker->analysis->note[0] != '\0')
        return fail_set(fail, "%s", asker->analysis->note);
    stream = open_memstream(&text, &size);
    if (asker->is_picture) {
        ok = sql_print(asker->analysis, stream, &is_all, fail);
        json->text.used = 0;
    } else {
        analysis_print(stream, asker->analysis, &options, &asker->losses);
        json_key(json, "analysis", strlen("analysis"));
    }
    fclose(stream);
    buffer_add(&json->text, text, size);
    free(text);
    return ok;
}

/* Runs the analysis; the lock is released meanwhile. */
static bool run(struct asker *asker, struct json *json)
{
    struct fail *fail = &asker->request->fail;
    uint64_t top = request_number(asker->request, "top", ROWS_DEFAULT, UINT32_MAX);
    bool ok;
    if (!set_options(asker, fail) || !open_walk(asker, fail))
        return false;
    view_unlock(asker->view);
    ok = analyses_walk(&asker->analysis, 1, &asker->model, &asker->merge, &asker->filter, asker->symbols,
                       go_on, asker, fail) &&
         (go_on(asker) || fail_set(fail, "the analysis was cancelled")) && print(asker, top, json, fail);
    view_read_lock(asker->view);
    return ok;
}

bool api_analysis_range(struct view *view, struct request *request, struct json *json)
{
    const char *name = request_text(request, "name");
    const struct analysis_kind *kind = name != NULL ? analysis_find(name) : NULL;
    struct asker asker = {.view = view, .request = request};
    bool ok;
    if (kind == NULL)
        return fail_set(&request->fail, "unknown name; /api/analyses lists them");
    asker.analysis = analysis_new(kind);
    ok = run(&asker, json);
    filter_free(&asker.filter);
    symbols_close(asker.symbols);
    trace_close(&asker.trace);
    analysis_free(asker.analysis);
    return ok;
}

static void add_columns(const struct analysis_kind *kind, const struct table *table, struct json *json)
{
    static const char *const kinds[] = {
        [COLUMN_COUNT] = "count",   [COLUMN_REAL] = "real",     [COLUMN_TIME] = "time" /* a duration */,
        [COLUMN_NUMBER] = "number", [COLUMN_SIGNED] = "signed", [COLUMN_CHANGE] = "change",
        [COLUMN_HEX] = "hex",       [COLUMN_WHEN] = "when",     [COLUMN_TEXT] = "text"};
    for (unsigned i = 0; i < table->column_count; i++) {
        struct table_column column = table->columns[i];
        const struct column_text *text = column_text_of(kind, table, column.key);
        char heading[HEADING_BYTES];
        if (column.kind == COLUMN_BAR)
            continue;
        json_add(json, "{key:%s kind:%s help:%s", column.key, kinds[column.kind],
                 text != NULL ? text->text : "");
        column.heading = NULL; /* text leaves out some headings, */
        if (column.kind == COLUMN_WHEN)
            column.kind = COLUMN_TIME; /* and has one unit per column */
        json_add(json, "heading:%s}", column_heading(&column, heading));
    }
}

static void add_kind(const struct analysis_kind *kind, struct json *json)
{
    json_add(json, "{name:%s summary:%s tables:[", kind->name, kind->summary);
    for (unsigned i = 0; i < kind->table_count; i++) {
        json_add(json, "{key:%s heading:%s help:%s columns:[", kind->tables[i].key, kind->tables[i].heading,
                 kind->tables[i].text);
        add_columns(kind, &kind->tables[i], json);
        json_add(json, "]}");
    }
    json_add(json, "]}");
}

bool api_analyses(struct view *view, struct request *request, struct json *json)
{
    json_add(json, "analyses:[");
    for (size_t i = 0; analysis_list()[i] != NULL; i++)
        add_kind(analysis_list()[i], json);
    json_add(json, "]");
    return true;
}
