/* export.c - `tarn export`: writes a trace in the formats of other tools. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/export/export.h>
#include <tools/tarn/help.h>
#include <tools/tarn/symbols/symbols.h>
#include <unistd.h>

#define FORMATS "perfetto, chrome, csv, sqlite or parquet"

struct format {
    const char *name, *what;
    const char *suffix; /* of the default output name */
    export_function *export;
};
static const struct format formats[] = {
    {"perfetto", "a protobuf trace for ui.perfetto.dev and trace_processor", "perfetto-trace",
     export_perfetto},
    {"chrome", "JSON trace events, for chrome://tracing, Perfetto, speedscope", "json", export_chrome},
    {"csv", "a directory of tables: one per event type, and tables of the model's results", "csv",
     export_csv},
    {"sqlite", "a database with the same tables", "sqlite", export_sqlite},
    {"parquet", "a directory of the relations as Parquet files; needs DuckDB (make duckdb)", "parquet",
     export_parquet},
    {NULL, NULL, NULL, NULL},
};

struct options {
    struct filter filter;
    const struct format *format;
    const char *directory, *output;
    char default_output[PATH_MAX];
};

static bool choose_format(void *context, const struct command_option *option, const char *name,
                          struct fail *fail)
{
    struct options *options = context;
    for (options->format = formats; options->format->name != NULL; options->format++)
        if (strcmp(options->format->name, name) == 0)
            return true;
    return fail_set(fail, "expected " FORMATS);
}

static const struct command_option known[] = {
    {CALL("format", "FORMAT", choose_format, "the format to write")},
    {TEXT("output", "PATH", struct options, output,
          "where to write; must not exist (default: DIRECTORY.SUFFIX)"),
     .letter = 'o'},
    {.name = NULL}};

static void describe_formats(struct page *page, const struct command *self)
{
    page_heading(page, "Formats");
    for (const struct format *format = formats; format->name != NULL; format++) {
        char text[200];
        snprintf(text, sizeof(text), "%s (.%s)", format->what, format->suffix);
        page_entry(page, format->name, NULL, text);
    }
}

static void choose_output(struct options *options)
{
    size_t length = strlen(options->directory);
    while (length > 1 && options->directory[length - 1] == '/')
        length--;
    snprintf(options->default_output, sizeof(options->default_output), "%.*s.%s", (int)length,
             options->directory, options->format->suffix);
    options->output = options->default_output;
}

static int export_trace(struct options *options, const struct trace *trace)
{
    const char *nothing = NULL;
    struct losses losses;
    struct scan_source source = {.trace = trace,
                                 .filter = &options->filter,
                                 .symbols = symbols_open(options->directory, NULL),
                                 .reporter = &losses.reporter,
                                 .losses = &losses};
    struct fail fail = {.text = ""};
    bool ok;
    losses_open(&losses, trace);
    losses.quiet = true;
    losses_judge(&losses);
    ok = options->format->export(&source, options->output, &nothing, &fail);
    symbols_close(source.symbols);
    if (!ok)
        return fail_report(&fail, EXIT_USAGE);
    model_lacks(&trace->schema, false, losses.lacks, sizeof(losses.lacks));
    if (nothing != NULL)
        complain("%s: %s", options->directory, nothing);
    losses_summary(&losses);
    losses_durations(&losses);
    printf("%s\n", options->output);
    return losses_status(&losses);
}

static int run_export(int argc, char **argv)
{
    struct options options = {.format = NULL};
    struct trace trace;
    struct fail fail;
    int status = command_parse(&export_command, (void *[]){&options, &options.filter}, argc, argv);
    if (status >= 0)
        return status;
    if (options.format == NULL)
        return complain_of_words(&export_command, "--format is missing: " FORMATS);
    options.directory = argv[optind];
    if (options.output == NULL)
        choose_output(&options);
    if (!trace_open(&trace, options.directory, &fail))
        return fail_report(&fail, EXIT_DAMAGE);
    if (access(options.output, F_OK) == 0) {
        complain("'%s' exists; choose another path with --output", options.output);
        status = EXIT_USAGE;
    } else if (filter_resolve(&options.filter, &trace, &fail)) {
        status = export_trace(&options, &trace);
    } else {
        status = fail_report(&fail, EXIT_USAGE);
    }
    filter_free(&options.filter);
    trace_close(&trace);
    return status;
}

const struct command export_command =
    COMMAND("export", "write a trace in the format of another tool", "--format FORMAT [OPTION]... DIRECTORY",
            1, 1, run_export, describe_formats, {NULL, known}, {"Events to export", filter_options});
