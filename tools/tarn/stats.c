/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/stats.c - `tarn stats`: counts, rates and bytes by event, class, process and processor.
 *
 * One pass counts into four tables of rows (the key is the event's index, the class, the pid, the cpu); then
 * each is sorted and printed in the asked format. Rates are over the time that was looked at.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/filter.h>
#include <tools/tarn/losses.h>
#include <tools/tarn/order.h>

#define PID_UNKNOWN UINT64_MAX

static const char help[] =
    "usage: tarn stats [OPTION]... DIRECTORY\n\n"
    "Counts events, their rates and bytes, by event, class, process and processor.\n\n" FILTER_HELP
    "  --by LIST           only these tables: event,class,process,cpu\n"
    "  --sort KEY          count (default), bytes or name\n"
    "  --limit N           at most N rows of each table\n"
    "  --json              one JSON object\n"
    "  --csv               comma-separated values, with a heading\n"
    "  --help              this text\n\n"
    "What was lost is told first: counts are of what is in the trace.\n";

enum table { BY_EVENT, BY_CLASS, BY_PROCESS, BY_CPU, TABLES };
static const char *const table_names[TABLES] = {"event", "class", "process", "cpu"};
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };
enum sort_key { SORT_COUNT, SORT_BYTES, SORT_NAME };

struct row {
    uint64_t key, count, bytes;
    char name[64];
};

struct rows {
    struct row *rows;
    uint32_t count, size;
};

struct stats {
    struct filter filter;
    bool wanted[TABLES];
    enum format format;
    enum sort_key sort;
    uint64_t limit;
    const char *directory;
    struct trace trace;
    struct names names;
    struct rows tables[TABLES];
    uint32_t *pid_rows; /* open addressing: row + 1 of each pid */
    uint32_t pid_size;
    uint64_t count, bytes;
    double seconds;
};

enum { OPTION_BY = OPTION_OWN, OPTION_SORT, OPTION_LIMIT, OPTION_JSON, OPTION_CSV, OPTION_HELP };

static uint32_t add_row(struct rows *rows, uint64_t key)
{
    if (rows->count == rows->size) {
        rows->size = rows->size ? 2 * rows->size : 64;
        rows->rows = alloc_more(rows->rows, rows->size, sizeof(rows->rows[0]));
    }
    memset(&rows->rows[rows->count], 0, sizeof(rows->rows[0]));
    rows->rows[rows->count].key = key;
    return rows->count++;
}

static void add_named_row(struct rows *rows, uint64_t key, const char *name)
{
    uint32_t number = add_row(rows, key);

    snprintf(rows->rows[number].name, sizeof(rows->rows[number].name), "%s", name);
}

static uint32_t *find_pid(struct stats *stats, uint64_t pid)
{
    for (uint32_t at = (uint32_t)pid * 2654435761u;; at++) {
        uint32_t *place = &stats->pid_rows[at & (stats->pid_size - 1)];

        if (*place == 0 || stats->tables[BY_PROCESS].rows[*place - 1].key == pid)
            return place;
    }
}

/* The row of a process; NAMES_MAX of them are kept apart, further ones share a row. */
static uint32_t pid_row(struct stats *stats, uint64_t pid)
{
    struct rows *rows = &stats->tables[BY_PROCESS];
    uint32_t *place = find_pid(stats, pid);

    if (*place == 0 && rows->count >= NAMES_MAX)
        place = find_pid(stats, PID_UNKNOWN);
    if (*place == 0)
        *place = add_row(rows, pid) + 1;
    return *place - 1;
}

static void count_event(struct stats *stats, const struct cursor *cursor, uint32_t process)
{
    uint64_t bytes = cursor->event.words * 8ul;
    struct row *rows[TABLES] = {&stats->tables[BY_EVENT].rows[cursor->event.type->index],
                                &stats->tables[BY_CLASS].rows[TRACE_ID_CLASS(cursor->event.type->id)],
                                &stats->tables[BY_PROCESS].rows[process],
                                &stats->tables[BY_CPU].rows[cursor->stream->rank]};

    for (int i = 0; i < TABLES; i++) {
        rows[i]->count++;
        rows[i]->bytes += bytes;
    }
    stats->count++;
    stats->bytes += bytes;
}

static void count_events(struct stats *stats, struct losses *losses)
{
    struct merge merge;
    struct cursor *cursor;
    uint64_t pid = PID_UNKNOWN;
    uint32_t process = pid_row(stats, PID_UNKNOWN);

    merge_open(&merge, &stats->trace, stats->filter.streams, stats->filter.from_ticks, &losses->reporter);
    while ((cursor = merge_next(&merge)) != NULL) {
        uint64_t now = cursor->running.is_known ? cursor->running.pid : PID_UNKNOWN;

        names_learn(&stats->names, &cursor->event);
        if (cursor->ticks > stats->filter.to_ticks)
            break;
        if (!filter_wants(&stats->filter, cursor, &stats->names))
            continue;
        if (now != pid) {
            pid = now;
            process = pid_row(stats, pid);
            if (pid != PID_UNKNOWN && names_find(&stats->names, (uint32_t)pid) == NULL)
                names_set(&stats->names, (uint32_t)pid, cursor->running.comm, cursor->running.comm_length);
        }
        count_event(stats, cursor, process);
    }
    merge_close(&merge);
}

/* Rows for every event, class and stream exist from the start; those of processes as they turn up. */
static void open_tables(struct stats *stats)
{
    const struct schema *schema = &stats->trace.schema;

    for (unsigned i = 0; i < schema->event_count; i++)
        add_named_row(&stats->tables[BY_EVENT], i, schema->events[i]->name);
    for (unsigned i = 0; i < TRACE_CLASS_COUNT; i++)
        add_named_row(&stats->tables[BY_CLASS], i, schema->classes[i].name ? schema->classes[i].name : "");
    for (unsigned i = 0; i < stats->trace.stream_count; i++) {
        char name[24];

        snprintf(name, sizeof(name), "cpu %u", stats->trace.streams[i].cpu);
        add_named_row(&stats->tables[BY_CPU], stats->trace.streams[i].cpu, name);
    }
    stats->pid_size = 4 * NAMES_MAX;
    stats->pid_rows = alloc_zero(stats->pid_size, sizeof(stats->pid_rows[0]));
    names_open(&stats->names, schema);
}

static void name_processes(struct stats *stats)
{
    struct rows *rows = &stats->tables[BY_PROCESS];

    for (uint32_t i = 0; i < rows->count; i++) {
        const char *name =
            rows->rows[i].key == PID_UNKNOWN ? NULL : names_find(&stats->names, (uint32_t)rows->rows[i].key);

        snprintf(rows->rows[i].name, 64, "%s", name ? name : "(unknown)");
        for (char *at = rows->rows[i].name; *at != '\0'; at++)
            if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f || *at == '"' || *at == '\\' ||
                *at == ',')
                *at = '.';
    }
}

static int compare_names(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order ? order : a->key < b->key ? -1 : a->key > b->key;
}

static int compare_counts(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    return a->count != b->count ? (a->count < b->count ? 1 : -1) : compare_names(left, right);
}

static int compare_bytes(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    return a->bytes != b->bytes ? (a->bytes < b->bytes ? 1 : -1) : compare_names(left, right);
}

/* Sorts a table and leaves only the rows to print. */
static void finish_table(const struct stats *stats, struct rows *rows)
{
    static int (*const compare[])(const void *, const void *) = {compare_counts, compare_bytes,
                                                                 compare_names};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->rows[i].count != 0)
            rows->rows[kept++] = rows->rows[i];
    if (kept > 0)
        qsort(rows->rows, kept, sizeof(rows->rows[0]), compare[stats->sort]);
    rows->count = kept < stats->limit ? kept : (uint32_t)stats->limit;
}

static double rate(const struct stats *stats, uint64_t count)
{
    return stats->seconds > 0 ? (double)count / stats->seconds : 0;
}

static void print_table_text(const struct stats *stats, enum table table)
{
    const struct rows *rows = &stats->tables[table];

    printf("\n%-32s %14s %7s %14s %16s\n", table_names[table], "events", "%", "events/s", "bytes");
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->rows[i];
        char name[96];

        snprintf(name, sizeof(name), "%s", row->name);
        if (table == BY_PROCESS && row->key != PID_UNKNOWN)
            snprintf(name, sizeof(name), "%s (%" PRIu64 ")", row->name, row->key);
        printf("%-32s %14" PRIu64 " %7.2f %14.0f %16" PRIu64 "\n", name, row->count,
               100.0 * (double)row->count / (double)stats->count, rate(stats, row->count), row->bytes);
    }
}

static void print_text(const struct stats *stats)
{
    printf("%" PRIu64 " events, %" PRIu64 " bytes in %.9f s: %.0f events/s\n", stats->count, stats->bytes,
           stats->seconds, rate(stats, stats->count));
    for (int table = 0; table < TABLES; table++)
        if (stats->wanted[table])
            print_table_text(stats, table);
}

static void print_json(const struct stats *stats, const struct losses *losses)
{
    printf("{\"events\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"seconds\":%.9f,\"lost_events\":%" PRIu64
           ",\"lost_packets\":%" PRIu64,
           stats->count, stats->bytes, stats->seconds, losses->lost_events, losses->lost_packets);
    for (int table = 0; table < TABLES; table++) {
        const struct rows *rows = &stats->tables[table];

        if (!stats->wanted[table])
            continue;
        printf(",\"by_%s\":[", table_names[table]);
        for (uint32_t i = 0; i < rows->count; i++) {
            const struct row *row = &rows->rows[i];

            printf("%s{\"name\":\"%s\",", i ? "," : "", row->name);
            if (table != BY_EVENT && row->key != PID_UNKNOWN)
                printf("\"number\":%" PRIu64 ",", row->key);
            printf("\"events\":%" PRIu64 ",\"rate\":%.3f,\"bytes\":%" PRIu64 "}", row->count,
                   rate(stats, row->count), row->bytes);
        }
        printf("]");
    }
    printf("}\n");
}

static void print_csv(const struct stats *stats)
{
    printf("table,name,number,events,rate,bytes\n");
    for (int table = 0; table < TABLES; table++)
        for (uint32_t i = 0; stats->wanted[table] && i < stats->tables[table].count; i++) {
            const struct row *row = &stats->tables[table].rows[i];

            printf("%s,%s,", table_names[table], row->name);
            if (table != BY_EVENT && row->key != PID_UNKNOWN)
                printf("%" PRIu64, row->key);
            printf(",%" PRIu64 ",%.3f,%" PRIu64 "\n", row->count, rate(stats, row->count), row->bytes);
        }
}

static bool parse_tables(struct stats *stats, const char *list)
{
    memset(stats->wanted, 0, sizeof(stats->wanted));
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        int table = 0;

        while (table < TABLES &&
               (strlen(table_names[table]) != length || memcmp(table_names[table], list, length) != 0))
            table++;
        if (table == TABLES)
            return false;
        stats->wanted[table] = true;
        list += length + (list[length] == ',');
    }
    return true;
}

static bool set_option(struct stats *stats, int option, const char *value)
{
    char *end;

    switch (option) {
    case OPTION_BY:
        return parse_tables(stats, value);
    case OPTION_SORT:
        stats->sort = strcmp(value, "bytes") == 0  ? SORT_BYTES
                      : strcmp(value, "name") == 0 ? SORT_NAME
                                                   : SORT_COUNT;
        return stats->sort != SORT_COUNT || strcmp(value, "count") == 0;
    case OPTION_LIMIT:
        stats->limit = strtoull(value, &end, 0);
        return *value >= '0' && *value <= '9' && *end == '\0';
    case OPTION_JSON:
        stats->format = FORMAT_JSON;
        return true;
    case OPTION_CSV:
        stats->format = FORMAT_CSV;
        return true;
    default:
        return filter_option(&stats->filter, option, value);
    }
}

/* Returns an exit status to leave with, or -1 to go on. */
static int parse_options(struct stats *stats, int argc, char **argv)
{
    static const struct option options[] = {FILTER_OPTIONS,
                                            {"by", required_argument, NULL, OPTION_BY},
                                            {"sort", required_argument, NULL, OPTION_SORT},
                                            {"limit", required_argument, NULL, OPTION_LIMIT},
                                            {"json", no_argument, NULL, OPTION_JSON},
                                            {"csv", no_argument, NULL, OPTION_CSV},
                                            {"help", no_argument, NULL, OPTION_HELP},
                                            {NULL, 0, NULL, 0}};
    int option;

    optind = 0;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == OPTION_HELP) {
            fputs(help, stdout);
            return EXIT_FINE;
        }
        if (!set_option(stats, option, optarg)) {
            if (option != '?')
                complain("'%s' is not understood", optarg);
            return EXIT_USAGE;
        }
    }
    if (optind != argc - 1) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    stats->directory = argv[optind];
    return -1;
}

static void set_seconds(struct stats *stats)
{
    const struct schema *schema = &stats->trace.schema;
    uint64_t from = stats->filter.from_ticks, to = stats->filter.to_ticks;

    from = from > stats->trace.begin ? from : stats->trace.begin;
    to = to < stats->trace.end ? to : stats->trace.end;
    stats->seconds = to > from ? (double)schema_elapsed_ns(schema, from, to) / 1e9 : 0;
}

static int show_stats(struct stats *stats)
{
    struct losses losses;
    struct fail fail;

    if (!filter_resolve(&stats->filter, &stats->trace, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    open_tables(stats);
    losses_open(&losses, &stats->trace);
    losses.quiet = true;
    count_events(stats, &losses);
    set_seconds(stats);
    name_processes(stats);
    for (int table = 0; table < TABLES; table++)
        finish_table(stats, &stats->tables[table]);
    losses_summary(&losses);
    if (stats->format == FORMAT_TEXT)
        print_text(stats);
    else if (stats->format == FORMAT_JSON)
        print_json(stats, &losses);
    else
        print_csv(stats);
    for (int table = 0; table < TABLES; table++)
        free(stats->tables[table].rows);
    free(stats->pid_rows);
    names_close(&stats->names);
    return losses.damaged ? EXIT_DAMAGE : EXIT_FINE;
}

int run_stats(int argc, char **argv)
{
    struct stats stats = {.limit = UINT32_MAX, .wanted = {true, true, true, true}};
    struct fail fail;
    int status = parse_options(&stats, argc, argv);

    if (status >= 0)
        return status;
    if (!trace_open(&stats.trace, stats.directory, &fail)) {
        complain("%s", fail.text);
        return EXIT_DAMAGE;
    }
    status = show_stats(&stats);
    filter_free(&stats.filter);
    trace_close(&stats.trace);
    return status;
}
