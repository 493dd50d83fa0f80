/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/command/export.c - `tarn export`: a trace in the formats of other tools. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/export/export.h>
#include <unistd.h>

static const char help[] =
    "usage: tarn export --format FORMAT [OPTION]... DIRECTORY\n\n"
    "Writes a trace in the format of another tool. Readers of the Common Trace Format (babeltrace2,\n"
    "Trace Compass) need no export: a trace's directory is what they open. The formats:\n\n";
static const char options_help[] =
    "\n  --format FORMAT     one of these\n"
    "  --output PATH       what to write; it must not exist (default: DIRECTORY.SUFFIX)\n" FILTER_HELP
    "  --help              this text\n\n"
    "What was lost is told first: an export holds what is in the trace.\n";

enum { OPTION_FORMAT = OPTION_OWN, OPTION_OUTPUT, OPTION_HELP };

struct options {
    struct filter filter;
    const struct export_format *format;
    const char *directory;
    char output[4096];
};

static void print_help(FILE *to)
{
    fputs(help, to);
    for (const struct export_format *format = export_formats; format->name != NULL; format++)
        fprintf(to, "  %-10s %s (.%s)\n", format->name, format->what, format->suffix);
    fputs(options_help, to);
}

static const struct export_format *find_format(const char *name)
{
    for (const struct export_format *format = export_formats; format->name != NULL; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    complain("no format '%s'; there are perfetto, chrome, csv, sqlite", name);
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

/* Returns an exit status to leave with, or -1 to go on. */
static int parse_options(struct options *options, int argc, char **argv)
{
    static const struct option known[] = {FILTER_OPTIONS,
                                          {"format", required_argument, NULL, OPTION_FORMAT},
                                          {"output", required_argument, NULL, OPTION_OUTPUT},
                                          {"help", no_argument, NULL, OPTION_HELP},
                                          {NULL, 0, NULL, 0}};
    int option;

    optind = 0;
    while ((option = getopt_long(argc, argv, "o:", known, NULL)) != -1) {
        if (option == OPTION_HELP) {
            print_help(stdout);
            return EXIT_FINE;
        }
        if (option == OPTION_FORMAT) {
            options->format = find_format(optarg);
            if (options->format == NULL)
                return EXIT_USAGE;
        } else if (option == OPTION_OUTPUT || option == 'o') {
            snprintf(options->output, sizeof(options->output), "%s", optarg);
        } else if (!filter_option(&options->filter, option, optarg)) {
            return EXIT_USAGE;
        }
    }
    if (optind != argc - 1 || options->format == NULL) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    options->directory = argv[optind];
    if (options->output[0] == '\0')
        choose_output(options);
    return -1;
}

static int export_trace(struct options *options, const struct trace *trace)
{
    struct answer *answer = answer_new(options->format->kind);
    const struct export *export = EXPORT_OF(answer, struct export);
    struct losses losses;
    struct fail fail;
    bool fine;

    losses_open(&losses, trace);
    losses.quiet = true;
    answer_set(answer, "output", options->output, &fail);
    fine = answers_ask(&answer, 1, trace, &options->filter, NULL, &losses.reporter, &fail);
    if (fine && export->has_failed) {
        fail = export->fail;
        fine = false;
    }
    answer_free(answer);
    if (!fine) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    losses_summary(&losses);
    printf("%s\n", options->output);
    return losses.damaged ? EXIT_DAMAGE : EXIT_FINE;
}

int run_export(int argc, char **argv)
{
    struct options options = {.format = NULL};
    struct trace trace;
    struct fail fail;
    int status = parse_options(&options, argc, argv);

    if (status >= 0)
        return status;
    if (!trace_open(&trace, options.directory, &fail)) {
        complain("%s", fail.text);
        return EXIT_DAMAGE;
    }
    if (filter_resolve(&options.filter, &trace, &fail)) {
        status = export_trace(&options, &trace);
    } else {
        complain("%s", fail.text);
        status = EXIT_USAGE;
    }
    filter_free(&options.filter);
    trace_close(&trace);
    return status;
}
