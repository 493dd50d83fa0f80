/* info.c - `tarn info`: shows what a trace contains. It reads the header and the context event of each
 * packet, and all events of every Nth packet, to estimate the number of events. */
#include <fcntl.h>
#include <inttypes.h>
#include <time.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/goto/recipe.h>
#include <tools/tarn/out.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/read/losses.h>

#define SAMPLES     32u        /* packets per stream whose events are counted */
#define SAVED_BYTES (1u << 20) /* read of TRACE_SAVED_NAME, which has a hundred lines */

/* One stream, according to its packet headers. */
struct survey {
    uint64_t packets, content_bytes, sampled_packets, sampled_events;
    uint64_t begin, end;
    struct losses losses;
};

struct info {
    bool json;
    struct trace trace;
    struct survey *surveys;
    struct losses losses; /* of all streams */
};

static double estimate_events(const struct survey *survey)
{
    return survey->sampled_packets
               ? (double)survey->sampled_events / (double)survey->sampled_packets * (double)survey->packets
               : 0;
}

/* Counts a packet's events. */
static void sample_packet(struct info *info, const struct stream *stream, struct survey *survey,
                          uint64_t offset, uint64_t packet_bytes)
{
    struct cursor cursor;
    cursor_open(&cursor, &info->trace, stream, 0, NULL);
    cursor.next_packet = offset;
    while (cursor_next(&cursor) && cursor.packet.offset == offset) {
        survey->sampled_events++;
        if (cursor.at == cursor.end)
            break;
    }
    survey->sampled_packets++;
    cursor_close(&cursor);
}

static void survey_stream(struct info *info, const struct stream *stream, struct survey *survey)
{
    uint64_t every = stream->first_packet_bytes ? stream->size / stream->first_packet_bytes / SAMPLES + 1 : 1;
    uint64_t offset = 0;
    struct cursor losses;
    losses_open(&survey->losses, &info->trace);
    survey->losses.quiet = true;
    cursor_open(&losses, &info->trace, stream, 0, &survey->losses.reporter);
    while (offset < stream->size) {
        struct trace_packet header;
        enum anomaly anomaly = stream_header(&info->trace, stream, offset, &header);
        if (anomaly != ANOMALY_NONE)
            survey->losses.damaged++;
        if (anomaly_is_fatal(anomaly)) {
            offset = stream_resync(&info->trace, stream, offset + 8);
            continue;
        }
        report_losses(&losses, &header, offset);
        if (survey->packets == 0)
            survey->begin = header.timestamp_begin;
        survey->end = header.timestamp_end;
        if (survey->packets++ % every == 0)
            sample_packet(info, stream, survey, offset, header.packet_size / 8);
        survey->content_bytes += header.content_size / 8;
        offset += header.packet_size / 8;
    }
    cursor_close(&losses);
    losses_add(&info->losses, &survey->losses);
}

static double seconds_between(const struct trace *trace, uint64_t begin, uint64_t end)
{
    return (double)schema_elapsed_ns(&trace->schema, begin, end) / 1e9;
}

/* Prints the triggers for which this part of a trace was saved. Time and trigger are empty in a line that
 * only counts further ones. */
static void print_saved(const struct trace *trace, bool is_json)
{
    static const char *const keys[] = {"{\"at\":", ",\"trigger\":", ",\"event\":"};
    char path[4096], trigger[200], event[200], *text, *rest, *line;
    unsigned number = 0;
    size_t size;
    snprintf(path, sizeof(path), "%s/" TRACE_SAVED_NAME, trace->directory);
    rest = text = file_read(AT_FDCWD, path, SAVED_BYTES, &size); /* NULL: nothing to show */
    while ((line = strsep(&rest, "\n")) != NULL) {
        const char *parts[3];
        for (unsigned i = 0; i < 3; i++)
            parts[i] = strsep(&line, "\t");
        if (parts[2] == NULL)
            continue;
        plain_text(parts[1], trigger, sizeof(trigger));
        plain_text(parts[2], event, sizeof(event));
        fputs(is_json && number > 0 ? "," : "", stdout);
        for (unsigned i = 0; is_json && i < 3; i++) {
            fputs(keys[i], stdout);
            print_json_string(stdout, parts[i]);
        }
        if (is_json)
            fputs("}", stdout);
        else if (*parts[0] == '\0')
            printf("%-12s%s\n", "", event);
        else
            printf("%-12sfor %s at @%s: %s\n", number == 0 ? "saved" : "", trigger, parts[0], event);
        number++;
    }
    free(text);
}

/* The metadata's environment contains a summary of the recipe, too. */
static void print_recipe(const struct trace *trace)
{
    static const char *const texts[] = {[RECIPE_NONE] =
                                            "named in the metadata, but there is no " TRACE_RECIPE_NAME,
                                        [RECIPE_AGREES] = TRACE_RECIPE_NAME " agrees with the trace",
                                        [RECIPE_DIFFERS] = TRACE_RECIPE_NAME " DIFFERS: "};
    struct fail why = {""};
    enum recipe_state state = recipe_judge(trace->directory, &trace->schema, &why);
    if (state != RECIPE_NONE || schema_env(&trace->schema, "recipe", true) != NULL)
        printf("recipe      %s%s\n", texts[state], why.text);
}

static void print_text(const struct info *info)
{
    const struct trace *trace = &info->trace;
    const struct schema *schema = &trace->schema;
    int64_t start = schema_ns(schema, trace->begin);
    time_t seconds = (time_t)(start / 1000000000);
    char uuid[37], date[64];
    uint64_t packets = 0, bytes = 0, before = 0;
    double events = 0;
    struct clock_trust trust;
    struct tm tm;
    for (unsigned i = 0; i < trace->stream_count; i++) {
        packets += info->surveys[i].packets;
        bytes += trace->streams[i].size;
        before += trace->streams[i].discarded_before;
        events += estimate_events(&info->surveys[i]);
    }
    format_uuid(schema->uuid, uuid);
    gmtime_r(&seconds, &tm);
    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
    printf("trace       %s\n", trace->directory);
    printf("schema      %s, %u events declared\n", uuid, schema->event_count);
    printf("byte order  %s\n", schema->big_endian ? "big-endian" : "little-endian");
    printf("clock       %s, %" PRIu64 " Hz", schema->clock_name, schema->clock_freq);
    if (schema_clock_trust(schema, &trust))
        printf(", %s %" PRIu64 " ppm (%s)", trust.is_certain ? "within" : "UNCERTAIN by", trust.error_ppm,
               trust.sources);
    printf("%s\n", trace_shares_clock(trace) ? "; counts the instructions of all CPUs together" : "");
    printf("start       %s.%09" PRId64 " UTC\n", date, start % 1000000000);
    printf("duration    %.9f s\n", seconds_between(trace, trace->begin, trace->end));
    printf("CPUs        %u\n", trace->stream_count);
    printf("packets     %" PRIu64 ", %" PRIu64 " bytes\n", packets, bytes);
    printf("events      about %.0f\n", events);
    printf("lost        %" PRIu64 " events%s%s, %" PRIu64 " packets with %s%" PRIu64 " events, %" PRIu64
           " packets cut\n",
           info->losses.lost_events,
           info->losses.lost_unknown ? " (and some before the start of the trace)" : "",
           info->losses.is_unfinished ? " (and an unknown number after its end)" : "",
           info->losses.lost_packets, info->losses.missing.is_least ? "at least " : "",
           info->losses.missing.events, info->losses.cut_packets);
    if (before != 0)
        printf("before      %" PRIu64 " events were discarded before this trace, since boot\n", before);
    if (info->losses.damaged != 0)
        printf("DAMAGED     %" PRIu64 " anomal%s; see tarn check\n", info->losses.damaged,
               info->losses.damaged == 1 ? "y" : "ies");
    else
        printf("checked     headers of packets only; tarn check verifies the events\n");
    print_recipe(trace);
    print_saved(trace, false);
    for (const struct env_entry *env = schema->env; env != NULL; env = env->next)
        printf("env         %s = %s\n", env->name, env->text);
    printf("\n%-10s %4s %10s %14s %12s %12s %14s %14s\n", "file", "cpu", "packets", "bytes", "~events",
           "lost events", "begin, s", "end, s");
    for (unsigned i = 0; i < trace->stream_count; i++) {
        const struct survey *survey = &info->surveys[i];
        printf("%-10s %4u %10" PRIu64 " %14" PRIu64 " %12.0f %12" PRIu64 " %14.6f %14.6f\n",
               trace->streams[i].name, trace->streams[i].cpu, survey->packets, trace->streams[i].size,
               estimate_events(survey), survey->losses.lost_events,
               survey->packets ? seconds_between(trace, trace->begin, survey->begin) : 0,
               survey->packets ? seconds_between(trace, trace->begin, survey->end) : 0);
    }
}

static const char *const recipe_states[] = {
    [RECIPE_NONE] = "none", [RECIPE_AGREES] = "agrees", [RECIPE_DIFFERS] = "differs"};

static void print_boot_json(const struct trace *trace)
{
    static const char *const names[] = {"boot_options", "memory_bytes", "ring_refused", "recipe"};
    struct fail why;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const bool is_number = i == 1;
        const char *text = schema_env(&trace->schema, names[i], !is_number);
        if (text == NULL)
            continue;
        printf(",\"%s\":", names[i]);
        if (is_number)
            fputs(text, stdout);
        else
            print_json_string(stdout, text);
    }
    printf(",\"recipe_file\":\"%s\"", recipe_states[recipe_judge(trace->directory, &trace->schema, &why)]);
}

static void print_json(const struct info *info)
{
    const struct trace *trace = &info->trace;
    const struct schema *schema = &trace->schema;
    struct clock_trust trust;
    char uuid[37];
    format_uuid(schema->uuid, uuid);
    printf("{\"trace\":");
    print_json_string(stdout, trace->directory);
    printf(",\"uuid\":\"%s\",\"byte_order\":\"%s\",\"clock_hz\":%" PRIu64 ",\"begin_ns\":%" PRId64
           ",\"end_ns\":%" PRId64,
           uuid, schema->big_endian ? "be" : "le", schema->clock_freq, schema_ns(schema, trace->begin),
           schema_ns(schema, trace->end));
    if (schema_clock_trust(schema, &trust)) {
        printf(",\"clock_error_ppm\":%" PRIu64 ",\"clock_is_certain\":%s,\"clock_sources\":", trust.error_ppm,
               trust.is_certain ? "true" : "false");
        print_json_string(stdout, trust.sources);
    }
    print_boot_json(trace);
    printf(",\"saved\":[");
    print_saved(trace, true);
    printf("],");
    losses_print_json(stdout, &info->losses);
    printf(",\"clock_is_shared\":%s", trace_shares_clock(trace) ? "true" : "false");
    printf(",\"streams\":[");
    for (unsigned i = 0; i < trace->stream_count; i++) {
        const struct survey *survey = &info->surveys[i];
        printf("%s{\"file\":", i ? "," : "");
        print_json_string(stdout, trace->streams[i].name);
        printf(",\"cpu\":%" PRIu32 ",\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"events_estimate\":%.0f"
               ",\"discarded_before\":%" PRIu64 ",\"lost_events\":%" PRIu64 ",\"lost_packets\":%" PRIu64
               ",\"missing_events\":%" PRIu64 ",\"missing_is_least\":%s}",
               trace->streams[i].cpu, survey->packets, trace->streams[i].size, estimate_events(survey),
               trace->streams[i].discarded_before, survey->losses.lost_events, survey->losses.lost_packets,
               survey->losses.missing.events, survey->losses.missing.is_least ? "true" : "false");
    }
    printf("]}\n");
}

static int run_info(int argc, char **argv)
{
    struct info info = {.json = false};
    struct fail fail;
    int status = command_parse(&info_command, (void *[]){&info}, argc, argv);
    if (status >= 0)
        return status;
    if (!trace_open(&info.trace, argv[optind], &fail))
        return fail_report(&fail, EXIT_DAMAGE);
    losses_open(&info.losses, &info.trace);
    losses_judge(&info.losses);
    info.surveys = alloc_zero(info.trace.stream_count, sizeof(info.surveys[0]));
    for (unsigned i = 0; i < info.trace.stream_count; i++)
        survey_stream(&info, &info.trace.streams[i], &info.surveys[i]);
    (info.json ? print_json : print_text)(&info);
    status = losses_status(&info.losses);
    free(info.surveys);
    trace_close(&info.trace);
    return status;
}

static const struct command_option options[] = {{FLAG("json", struct info, json, "print one JSON object")},
                                                {.name = NULL}};

const struct command info_command = COMMAND("info", "show what a trace contains: CPUs, time, packets, losses",
                                            "[OPTION]... DIRECTORY", 1, 1, run_info, NULL, {NULL, options});
