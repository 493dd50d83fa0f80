/* SPDX-License-Identifier: BSD-2-Clause */
/* export.c - `tarn export`: writes a trace in the formats of other tools. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/export/export.h>
#include <tools/tarn/options.h>
#include <tools/tarn/symbols/symbols.h>
#include <unistd.h>

static const char help[] =
    "Writes a trace in the format of another tool. Readers of the Common Trace Format (babeltrace2,\n"
    "Trace Compass) need no export: they open the trace's directory. Formats:\n\n";
static const char options_help[] =
    "\n  --format FORMAT     the format to write\n"
    "  --output PATH       where to write; must not exist (default: DIRECTORY.SUFFIX)\n" FILTER_HELP
    "  --help              print this help\n\n"
    "Losses are printed first; an export contains only what is in the trace.\n";

#define FORMATS "perfetto, chrome, csv or sqlite"

enum { OPTION_FORMAT = OPTION_OWN, OPTION_OUTPUT };

struct options {
    struct filter filter;
    const struct export_format *format;
    const char *directory;
    char output[PATH_MAX];
};

static void print_help(FILE *to, const void *context)
{
    fputs(help, to);
    for (const struct export_format *format = export_formats; format->name != NULL; format++)
        fprintf(to, "  %-10s %s (.%s)\n", format->name, format->what, format->suffix);
    fputs(options_help, to);
}

static const struct export_format *find_format(const char *name, struct fail *fail)
{
    for (const struct export_format *format = export_formats; format->name != NULL; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    fail_set(fail, FORMATS " is wanted");
    return NULL;
}

static void choose_output(struct options *options)
{
    size_t length = strlen(options->directory);

    while (length > 1 && options->directory[length - 1] == '/')
        length--;
    snprintf(options->output, sizeof(options->output), "%.*s.%s", (int)length, options->directory,
             options->format->suffix);
}

static bool take_option(void *context, int option, const char *value, struct fail *fail)
{
    struct options *options = context;

    switch (option) {
    case OPTION_FORMAT:
        return (options->format = find_format(value, fail)) != NULL;
    case OPTION_OUTPUT:
    case 'o':
        return (size_t)snprintf(options->output, sizeof(options->output), "%s", value) <
                   sizeof(options->output) ||
               fail_set(fail, "too long a path");
    default:
        return filter_option(&options->filter, option, value);
    }
}

static const struct option known[] = {FILTER_OPTIONS,
                                      {"format", required_argument, NULL, OPTION_FORMAT},
                                      {"output", required_argument, NULL, OPTION_OUTPUT},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};
static const struct command_line line = {.words = "--format FORMAT [OPTION]... DIRECTORY",
                                         .print_help = print_help,
                                         .known = known,
                                         .letters = "o:",
                                         .least = 1,
                                         .most = 1,
                                         .take = take_option};

static int export_trace(struct options *options, const struct trace *trace)
{
    struct analysis *analysis = analysis_new(options->format->kind);
    const struct export *export = EXPORT_OF(analysis, struct export);
    struct symbols *symbols;
    const char *nothing;
    struct losses losses;
    struct fail fail;
    bool fine;

    losses_open(&losses, trace);
    losses.quiet = true;
    losses_judge(&losses);
    analysis_set(analysis, "output", options->output, &fail);
    symbols = analysis->kind->uses_symbols ? symbols_open(options->directory, NULL) : NULL;
    fine = analyses_ask(&analysis, 1, trace, &options->filter, symbols, &losses.reporter, &fail);
    if (fine && export->has_failed) {
        fail = export->fail;
        fine = false;
    }
    nothing = fine ? analysis_has_nothing(analysis) : NULL;
    analysis_free(analysis);
    symbols_close(symbols);
    if (!fine) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    model_lacks(&trace->schema, false, losses.lacks, sizeof(losses.lacks));
    if (nothing != NULL)
        complain("%s: %s", options->directory, nothing);
    losses_summary(&losses);
    printf("%s\n", options->output);
    return losses_status(&losses);
}

int run_export(int argc, char **argv)
{
    struct options options = {.format = NULL};
    struct trace trace;
    struct fail fail;
    int status = take_command_line(&line, &options, argc, argv);

    if (status >= 0)
        return status;
    if (options.format == NULL)
        return complain_of_words(&line, argv[0], "--format is missing: " FORMATS);
    options.directory = argv[optind];
    if (options.output[0] == '\0')
        choose_output(&options);
    if (!trace_open(&trace, options.directory, &fail)) {
        complain("%s", fail.text);
        return EXIT_DAMAGE;
    }
    if (access(options.output, F_OK) == 0) {
        complain("'%s' exists; choose another path with --output", options.output);
        status = EXIT_USAGE;
    } else if (filter_resolve(&options.filter, &trace, &fail)) {
        status = export_trace(&options, &trace);
    } else {
        complain("%s", fail.text);
        status = EXIT_USAGE;
    }
    filter_free(&options.filter);
    trace_close(&trace);
    return status;
}
