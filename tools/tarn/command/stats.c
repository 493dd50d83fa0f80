/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/command/stats.c - `tarn stats`: the tables of usage.h, as text, JSON or CSV.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/answer/usage.h>
#include <tools/tarn/read/losses.h>

#define TEXT_TOP 15u

static const char help[] =
    "usage: tarn stats [OPTION]... DIRECTORY\n\n"
    "Counts events, their rates and bytes, and the time on processors, by processor, class,\n"
    "event, program, process and thread.\n\n" FILTER_HELP
    "  --by LIST           only these tables: cpu,class,event,program,process,thread\n"
    "  --sort KEY          count, bytes, time or name, where a table has it\n"
    "  --top N             at most N rows of each table; 0: all (text: 15, the rest summed up)\n"
    "  --json              one JSON object\n"
    "  --csv               comma-separated values, each table under its own heading\n"
    "  --help              this text\n\n"
    "What was lost is told first: counts are of what is in the trace.\n";

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

struct options {
    struct filter filter;
    bool wanted[USAGE_TABLES];
    enum format format;
    const char *sort; /* NULL: as fits each table */
    uint64_t top;     /* 0: all */
    bool has_top;
    const char *directory;
};

enum { OPTION_BY = OPTION_OWN, OPTION_SORT, OPTION_TOP, OPTION_JSON, OPTION_CSV, OPTION_HELP };

static const char *const table_keys[USAGE_TABLES] = {"cpu", "class", "event", "program", "process", "thread"};

static bool parse_tables(struct options *options, const char *list)
{
    memset(options->wanted, 0, sizeof(options->wanted));
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        int table = 0;

        while (table < USAGE_TABLES &&
               (strlen(table_keys[table]) != length || memcmp(table_keys[table], list, length) != 0))
            table++;
        if (table == USAGE_TABLES)
            return false;
        options->wanted[table] = true;
        list += length + (list[length] == ',');
    }
    return true;
}

static bool set_option(struct options *options, int option, const char *value)
{
    char *end;

    switch (option) {
    case OPTION_BY:
        return parse_tables(options, value);
    case OPTION_SORT:
        options->sort = value;
        return strcmp(value, "count") == 0 || strcmp(value, "bytes") == 0 || strcmp(value, "time") == 0 ||
               strcmp(value, "name") == 0;
    case OPTION_TOP:
        options->top = strtoull(value, &end, 0);
        options->has_top = true;
        return *value >= '0' && *value <= '9' && *end == '\0';
    case OPTION_JSON:
        options->format = FORMAT_JSON;
        return true;
    case OPTION_CSV:
        options->format = FORMAT_CSV;
        return true;
    default:
        return filter_option(&options->filter, option, value);
    }
}

/* Returns an exit status to leave with, or -1 to go on. */
static int parse_options(struct options *options, int argc, char **argv)
{
    static const struct option known[] = {FILTER_OPTIONS,
                                          {"by", required_argument, NULL, OPTION_BY},
                                          {"sort", required_argument, NULL, OPTION_SORT},
                                          {"top", required_argument, NULL, OPTION_TOP},
                                          {"json", no_argument, NULL, OPTION_JSON},
                                          {"csv", no_argument, NULL, OPTION_CSV},
                                          {"help", no_argument, NULL, OPTION_HELP},
                                          {NULL, 0, NULL, 0}};
    int option;

    optind = 0;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == OPTION_HELP) {
            fputs(help, stdout);
            return EXIT_FINE;
        }
        if (!set_option(options, option, optarg)) {
            if (option != '?')
                complain("'%s' is not understood", optarg);
            return EXIT_USAGE;
        }
    }
    if (optind != argc - 1) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    options->directory = argv[optind];
    if (!options->has_top && options->format == FORMAT_TEXT)
        options->top = TEXT_TOP;
    if (options->top == 0)
        options->top = UINT64_MAX;
    return -1;
}

static void sort_tables(struct usage *usage, const char *key)
{
    const char *column = strcmp(key, "count") == 0 ? "events" : strcmp(key, "time") == 0 ? "ms" : key;

    for (int i = 0; i < USAGE_TABLES; i++) {
        int place = table_find_column(&usage->tables[i], column);

        if (place >= 0 || strcmp(key, "name") == 0)
            table_sort(&usage->tables[i], place);
    }
}

static void print_usage(const struct usage *usage, const struct options *options, const struct losses *losses)
{
    double rate = usage->seconds > 0 ? (double)usage->total.events / usage->seconds : 0;
    bool is_first = true;

    if (options->format == FORMAT_TEXT)
        printf("%" PRIu64 " events, %" PRIu64 " bytes in %.9f s: %.0f events/s\n", usage->total.events,
               usage->total.bytes, usage->seconds, rate);
    if (options->format == FORMAT_JSON)
        printf("{\"events\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"seconds\":%.9f,\"lost_events\":%" PRIu64
               ",\"lost_packets\":%" PRIu64,
               usage->total.events, usage->total.bytes, usage->seconds, losses->lost_events,
               losses->lost_packets);
    for (int i = 0; i < USAGE_TABLES; i++) {
        if (!options->wanted[i])
            continue;
        switch (options->format) {
        case FORMAT_TEXT:
            table_print_text(&usage->tables[i], options->top);
            break;
        case FORMAT_JSON:
            printf(",");
            table_print_json(&usage->tables[i], options->top);
            break;
        case FORMAT_CSV:
            printf("%s", is_first ? "" : "\n");
            table_print_csv(&usage->tables[i], options->top);
            break;
        }
        is_first = false;
    }
    if (options->format == FORMAT_JSON)
        printf("}\n");
}

static int show_stats(struct options *options, const struct trace *trace)
{
    struct usage usage;
    struct losses losses;
    struct fail fail;

    if (!filter_resolve(&options->filter, trace, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    losses_open(&losses, trace);
    losses.quiet = true;
    usage_open(&usage, trace, &options->filter);
    usage_count(&usage, &losses.reporter);
    usage_tables(&usage);
    if (options->sort != NULL)
        sort_tables(&usage, options->sort);
    losses_summary(&losses);
    print_usage(&usage, options, &losses);
    usage_close(&usage);
    return losses.damaged ? EXIT_DAMAGE : EXIT_FINE;
}

int run_stats(int argc, char **argv)
{
    struct options options = {.wanted = {true, true, true, true, true, true}};
    struct trace trace;
    struct fail fail;
    int status = parse_options(&options, argc, argv);

    if (status >= 0)
        return status;
    if (!trace_open(&trace, options.directory, &fail)) {
        complain("%s", fail.text);
        return EXIT_DAMAGE;
    }
    status = show_stats(&options, &trace);
    filter_free(&options.filter);
    trace_close(&trace);
    return status;
}
