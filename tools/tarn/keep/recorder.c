/*
 * recorder.c - a pull that keeps the last minutes or bytes, and saves what surrounds triggers; see
 * recorder.h.
 *
 * Time: a trace of KEEP_TIMES the wanted length is cut to that length, and a little more, because a cut is
 * where a statedump begins. Bytes: a cut begins when the streams have five sixths of the limit, leaves at
 * most half, and is over before they have all. The new file of one stream then exists
 * beside the old one, so the disk never has more than one and a half times the allowed bytes: a cut that
 * keeps K and copies KEEP_PACE bytes for each that arrives ends after K / (KEEP_PACE - 1) have arrived.
 * With K = 1/2 and a pace of 8, the streams reach 0.905, and the copy 0.571.
 *
 * Packets that arrive are in the page cache, so the recorder reads their events like any other reader
 * (read/order.h), each once and in order of time, from where it stopped. The trace may lose its oldest
 * packets meanwhile: places are counted in packets since the start of the pull.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tools/tarn/keep/recorder.h>
#include <tools/tarn/keep/saved.h>
#include <tools/tarn/keep/trigger.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/read/order.h>
#include <tools/tarn/source/head_cut.h>

#define KEEP_PACE      8u /* bytes copied for each byte that arrives */
#define KEEP_TIMES     2u
#define KEEP_DUMP_PART 8u /* a statedump for this part of the bytes */
#define KEEP_DUMP_TIME 4u /* and for this part of the time */
/* For each CPU. With fewer, half of them would not contain the packets that are being written at a cut. */
#define PACKETS_LEAST  4u
#define STATEDUMPS_MAX 64u
#define TEXT_BYTES     (1u << 20) /* for the text of one event */
#define READ_SECONDS   0.1        /* events are read this often */
#define READ_PACKETS   256u       /* or after so many packets */
/* Without a packet for so long, waiting parts are saved as they are: nothing is logged any more. Over a link
 * only; from memory, packets come when they are full. */
#define QUIET_SECONDS  5.0
#define IDLE_BYTES     (16u << 20) /* copied by a step when no packet arrived */
#define RETRY_SECONDS  5.0         /* after a cut failed */
/* Over a link a guest sends partly filled packets after a second. So all that is older than this has arrived,
 * in the guest's time. From memory, packets come when they are full, however old they are by then. */
#define LAG_SECONDS    1.3

struct place {
    uint64_t packet; /* bytes of the stream before it, since the start of the pull */
    uint64_t event;  /* offset in it, or 0 */
};

struct recorder {
    /* options; 0: no bound */
    double seconds; /* at least this is kept */
    uint64_t bytes; /* at most this; stronger */
    struct triggers triggers;
    double before, after; /* seconds */
    uint64_t most;
    const char *place;
    /* while a pull runs */
    bool quiet;
    struct trace_writer *writer;
    char *own_place;
    uint64_t ticks; /* `seconds` in them */
    /*
     * The statedumps that were requested, as ticks before them, oldest first. A trace without its oldest
     * packets needs one for the names in it. So a pull requests them now and then, one at a time, and the
     * head of the trace is cut where one begins.
     */
    uint64_t dumps[STATEDUMPS_MAX];
    unsigned dump_count;
    bool is_asked;                  /* the last one is not yet confirmed */
    bool takes_dumps;               /* the source takes requests, and has refused none */
    uint64_t dump_time, dump_bytes; /* when the latest one was requested */
    struct head_cut cut;
    struct saved saved;
    double read_at, packet_at; /* when the events were read, when the last packet arrived */
    uint64_t read_packets;     /* packets that had arrived then */
    uint64_t arrived;          /* bytes of packets, at the last step of a cut */
    double retry_at;           /* no cut before */
    bool has_failed;           /* the last cut has failed, and this was reported */
    bool has_requests;         /* the source is a link */
    bool is_broken;            /* the trace cannot be read: triggers do not work */
    /* reading events */
    uint64_t until; /* ticks: events before have been read, unless they arrived later */
    /* the last complete statedump, in ticks; end 0: none yet */
    uint64_t dump_begin, dump_end;
    uint64_t begun; /* when the statedump in progress began; 0: none */
    struct reporter reporter;
    bool is_open;
    struct trace trace;
    struct names names; /* of all schemas so far */
    bool has_complained;
    struct printer printer;
    struct out out;
    struct place places[WIRE_CPUS_MAX];
    const struct event_type *begin_type, *end_type; /* of a statedump */
};

/* ---- options ---- */

/* A duration, a size, or both, separated by a comma. */
static bool choose_keep(void *context, const struct command_option *option, const char *value,
                        struct fail *fail)
{
    struct recorder *recorder = context;
    char copy[64], *rest = copy, *part;
    bool ok = strlen(value) < sizeof(copy);
    double bytes = 0;
    recorder->seconds = 0;
    snprintf(copy, sizeof(copy), "%s", value);
    while (ok && (part = strsep(&rest, ",")) != NULL)
        ok = (recorder->seconds == 0 && parse_amount(part, false, &recorder->seconds)) ||
             (bytes == 0 && parse_amount(part, true, &bytes));
    recorder->bytes = (uint64_t)bytes;
    return ok ||
           fail_set(fail,
                    "'%.60s' is not an amount to keep; use a time (90s, 10m, 2h), a size (500M, 2G), or "
                    "both: 10m,2G",
                    value);
}

static bool add_trigger(void *context, const struct command_option *option, const char *value,
                        struct fail *fail)
{
    return triggers_add(&((struct recorder *)context)->triggers, value, fail);
}

const struct command_option recorder_options[RECORDER_OPTIONS + 1] = {
    {CALL("keep", "AMOUNT", choose_keep,
          "keep only the last part of the trace: at least a time (90s, 10m, 2h), at most a size (500M, 2G), "
          "or both: "
          "10m,2G")},
    {CALL("save-on", "TRIGGER", add_trigger,
          "save the part of the trace around each TRIGGER: events (user_mark) or a latency beyond a bound "
          "(syscall > "
          "5ms); may be repeated")},
    {CALL("save-before", "TIME", take_duration, "save this much before what triggers (1s)"),
     .place = offsetof(struct recorder, before), .need = "save-on"},
    {CALL("save-after", "TIME", take_duration, "and this much after it (1s)"),
     .place = offsetof(struct recorder, after), .need = "save-on"},
    {COUNT("save-most", "N", struct recorder, most, 1, COUNT_MAX,
           "save at most N parts (100); later triggers are only counted"),
     .need = "save-on"},
    {TEXT("save-to", "PLACE", struct recorder, place, "the directory for saved parts (DIR.saved)"),
     .need = "save-on"},
    {.name = NULL}};

struct recorder *recorder_new(void)
{
    struct recorder *recorder = alloc_zero(1, sizeof(*recorder));
    recorder->before = recorder->after = 1;
    recorder->most = 100;
    return recorder;
}

static bool keeps_part(const struct recorder *recorder)
{
    return recorder->seconds > 0 || recorder->bytes > 0;
}

bool recorder_is_on(const struct recorder *recorder)
{
    return keeps_part(recorder) || recorder->triggers.count > 0;
}

bool recorder_check(const struct recorder *recorder, struct fail *fail)
{
    if (recorder->triggers.count > 0 && recorder->seconds > 0 && recorder->before > recorder->seconds)
        return fail_set(fail, "--save-before %g s is more than --keep holds", recorder->before);
    return true;
}

/* ---- time ---- */

static uint64_t ticks_of(const struct recorder *recorder, double seconds)
{
    const double ticks = seconds * (double)recorder->writer->hello.clock_hz;
    return ticks < 0x1p61 ? (uint64_t)ticks : 1ull << 61;
}

/* Returns the end of the last packet. */
static uint64_t find_now(const struct recorder *recorder)
{
    uint64_t now = 0;
    for (uint32_t cpu = 0; cpu < recorder->writer->hello.cpu_count; cpu++)
        if (recorder->writer->cpu[cpu].started && recorder->writer->cpu[cpu].end > now)
            now = recorder->writer->cpu[cpu].end;
    return now;
}

/* Returns the time before which the packets of all CPUs have arrived. */
static uint64_t find_known(const struct recorder *recorder, uint64_t now)
{
    const uint64_t lag = ticks_of(recorder, LAG_SECONDS),
                   late = recorder->has_requests && now > lag ? now - lag : 0;
    uint64_t known = now;
    for (uint32_t cpu = 0; cpu < recorder->writer->hello.cpu_count; cpu++) {
        const bool started = recorder->writer->cpu[cpu].started;
        /* every CPU logs, so that from memory the first packet of one that has sent none is still to come */
        if (started ? recorder->writer->cpu[cpu].end < known : !recorder->has_requests)
            known = started ? recorder->writer->cpu[cpu].end : 0;
    }
    return known > late ? known : late;
}

/* ---- reading events ---- */

static void on_report(struct reporter *reporter, const struct report *report)
{
    struct recorder *recorder = OUTER(reporter, struct recorder, reporter);
    if (report->anomaly != ANOMALY_END_TIME)
        triggers_forget(&recorder->triggers);
}

/* Closes the files, which were replaced: as long as they are open, they take space on the disk. */
static void release(struct recorder *recorder)
{
    if (!recorder->is_open)
        return;
    printer_close(&recorder->printer);
    trace_close(&recorder->trace);
    recorder->is_open = false;
}

static bool open_trace(struct recorder *recorder, struct fail *fail)
{
    struct names old = recorder->names;
    unsigned missing;
    struct fail why;
    release(recorder);
    if (recorder->out.bytes == NULL)
        out_open(&recorder->out, -1, TEXT_BYTES);
    if (!trace_open(&recorder->trace, recorder->writer->directory, fail))
        return false;
    recorder->is_open = true;
    if (!printer_open(&recorder->printer, &recorder->trace, &recorder->out, PRINT_TEXT, PRINT_TIME_CLOCK,
                      fail)) {
        release(recorder);
        return false;
    }
    names_open(&recorder->names, &recorder->trace.schema);
    if (old.told_by != NULL) { /* those that an earlier schema's events contained */
        names_copy(&recorder->names, &old);
        names_close(&old);
    }
    recorder->begin_type = schema_find_event(&recorder->trace.schema, "lttng_statedump_start");
    recorder->end_type = schema_find_event(&recorder->trace.schema, "lttng_statedump_end");
    triggers_resolve(&recorder->triggers, &recorder->trace.schema, &missing, &why);
    if (missing > 0 && !recorder->has_complained)
        complain("%s; the trigger waits until a program registers it", why.text);
    recorder->has_complained = true;
    recorder->reporter.report = on_report;
    return true;
}

static void place_streams(struct recorder *recorder, struct position *positions)
{
    for (unsigned i = 0; i < recorder->trace.stream_count; i++) {
        const uint32_t cpu = recorder->trace.streams[i].cpu;
        positions[i] = (struct position){recorder->trace.streams[i].size, 0};
        if (cpu >= WIRE_CPUS_MAX)
            continue; /* not a file of this pull */
        const uint64_t removed = recorder->writer->cpu[cpu].removed_bytes;
        const struct place place = recorder->places[cpu];
        positions[i] = place.packet >= removed ? (struct position){place.packet - removed, place.event}
                                               : (struct position){0, 0}; /* removed before it was read */
    }
}

static void keep_places(struct recorder *recorder, const struct position *positions)
{
    for (unsigned i = 0; i < recorder->trace.stream_count; i++) {
        const uint32_t cpu = recorder->trace.streams[i].cpu;
        if (cpu >= WIRE_CPUS_MAX)
            continue;
        recorder->places[cpu] = (struct place){positions[i].packet + recorder->writer->cpu[cpu].removed_bytes,
                                               positions[i].event};
    }
}

/* Returns the event as `tarn list` prints it, without its time; valid until the next call. */
static const char *text_of(struct recorder *recorder, const struct cursor *cursor)
{
    char *text, *end;
    recorder->out.used = 0;
    print_event(&recorder->printer, cursor);
    end = out_reserve(&recorder->out, 1);
    *end = '\0';
    if (end > recorder->out.bytes && end[-1] == '\n')
        end[-1] = '\0';
    text = strstr(recorder->out.bytes, cursor->event.type->name);
    return text != NULL ? text : recorder->out.bytes;
}

static void fire(struct recorder *recorder, const struct cursor *cursor, uint32_t wanted)
{
    for (; wanted != 0; wanted &= wanted - 1) {
        struct trigger *trigger = &recorder->triggers.items[__builtin_ctz(wanted)];
        struct saved_trigger fired = {.text = trigger->text,
                                      .event = cursor->event.type->name,
                                      .ticks = cursor->ticks,
                                      .ns = cursor_ns(cursor)};
        struct part *part;
        if (!trigger_fires(trigger, cursor, &recorder->names, &fired.begin))
            continue;
        part = saved_add(&recorder->saved, &fired, recorder->dump_begin);
        if (part != NULL)
            saved_describe(part, &fired, text_of(recorder, cursor));
    }
}

static void walk(struct recorder *recorder, struct merge *merge, uint64_t time)
{
    const struct event_type *const begin = recorder->begin_type, *const end = recorder->end_type;
    struct cursor *cursor = merge_next(merge);
    for (; cursor != NULL && cursor->ticks < time; cursor = merge_next(merge)) {
        const struct event_type *type = cursor->event.type;
        uint32_t wanted = recorder->triggers.wanted[type->index];
        names_learn(&recorder->names, &cursor->event);
        if (__builtin_expect(type == begin, 0)) {
            recorder->begun = cursor->ticks;
        } else if (__builtin_expect(type == end, 0) && recorder->begun != 0) {
            recorder->dump_begin = recorder->begun;
            recorder->dump_end = cursor->ticks;
            recorder->begun = 0;
        }
        if (__builtin_expect(wanted != 0, 0))
            fire(recorder, cursor, wanted);
    }
}

/* Opens the trace, again if files were replaced or added, and reads the events before TIME (ticks). */
static bool follow(struct recorder *recorder, uint64_t time, struct fail *fail)
{
    struct position *positions;
    struct merge merge;
    uint64_t from;
    if ((!recorder->is_open || trace_refresh(&recorder->trace, &from) == TRACE_CHANGED) &&
        !open_trace(recorder, fail))
        return false;
    positions = alloc_zero(recorder->trace.stream_count + 1, sizeof(positions[0]));
    place_streams(recorder, positions);
    merge_open_at(&merge, &recorder->trace, positions, &recorder->reporter);
    walk(recorder, &merge, time);
    merge_save(&merge, positions);
    keep_places(recorder, positions);
    merge_close(&merge);
    free(positions);
    recorder->until = later(time, recorder->until);
    return true;
}

static void read_events(struct recorder *recorder, uint64_t time)
{
    struct fail fail;
    if (recorder->triggers.count == 0 || recorder->is_broken || recorder->writer->packets == 0)
        return;
    recorder->is_broken = !follow(recorder, time, &fail);
    if (recorder->is_broken)
        complain("%s; triggers are not looked for any more", fail.text);
    recorder->read_at = now_seconds();
    recorder->read_packets = recorder->writer->packets;
}

static void save_parts(struct recorder *recorder, bool all)
{
    recorder->saved.has_dumps = recorder->takes_dumps;
    if (recorder->saved.part_count > 0)
        saved_write(&recorder->saved, recorder->until, recorder->dump_begin, recorder->dump_end,
                    all ? UINT64_MAX : 0, recorder->quiet);
}

/* ---- statedumps ---- */

/* Bytes of packets since the start. */
static uint64_t bytes_arrived(const struct recorder *recorder)
{
    return bytes_kept(recorder->writer, 0) + recorder->cut.removed_bytes;
}

/* The pull itself begins with a statedump. */
bool recorder_wants_dump(const struct recorder *recorder)
{
    if (!recorder->takes_dumps || recorder->is_asked || recorder->writer->packets == 0)
        return false;
    return saved_needs_dump(&recorder->saved) ||
           (recorder->ticks != 0 &&
            find_now(recorder) - recorder->dump_time >= recorder->ticks / KEEP_DUMP_TIME) ||
           (recorder->bytes != 0 &&
            bytes_arrived(recorder) - recorder->dump_bytes >= recorder->bytes / KEEP_DUMP_PART);
}

void recorder_asked(struct recorder *recorder)
{
    if (recorder->dump_count == STATEDUMPS_MAX)
        memmove(recorder->dumps, recorder->dumps + 1, sizeof(recorder->dumps[0]) * --recorder->dump_count);
    recorder->dump_time = recorder->dumps[recorder->dump_count++] = find_now(recorder);
    recorder->dump_bytes = bytes_arrived(recorder);
    recorder->is_asked = true;
}

/* No reply will come. */
void recorder_on_break(struct recorder *recorder)
{
    recorder->dump_count -= recorder->is_asked;
    recorder->is_asked = false;
}

void recorder_on_reply(struct recorder *recorder, int32_t status)
{
    if (status < 0) {
        recorder_on_break(recorder);
        recorder->takes_dumps = false;
        complain("the guest refuses statedumps (%s): names may be missing in what is kept",
                 tarn_error_text(status));
    }
    recorder->is_asked = false;
}

/* The confirmed ones are dumps[0] to dumps[n - 1]. */
static unsigned known_dumps(const struct recorder *recorder)
{
    return recorder->dump_count - recorder->is_asked;
}

/* ---- cuts ---- */

/* Returns the earliest begin of packet NUMBER of a stream; UINT64_MAX: there is none. Of packet 1 it is when
 * a cut begins to remove packets: the last one of a CPU, however old, always stays. */
static uint64_t find_first(const struct trace_writer *writer, uint64_t number)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t cpu = 0; cpu < writer->hello.cpu_count; cpu++)
        first = sooner(first, stream_begin(&writer->cpu[cpu], number));
    return first;
}

/* Returns the place of a statedump to cut at: the first one that leaves at most half of the limit, but at
 * least a quarter; or else the earliest time in [FIRST, NOW] that leaves at most half. */
static uint64_t cut_by_bytes(const struct recorder *recorder, uint64_t first, uint64_t now)
{
    const struct trace_writer *writer = recorder->writer;
    const uint64_t half = recorder->bytes / 2;
    for (unsigned i = 0; i < known_dumps(recorder); i++)
        if (recorder->dumps[i] >= first && bytes_kept(writer, recorder->dumps[i]) <= half) {
            if (bytes_kept(writer, recorder->dumps[i]) >= recorder->bytes / 4)
                return recorder->dumps[i];
            break;
        }
    /* a cut at NOW leaves one packet for each CPU */
    return FIRST_WHERE(sooner(first, now), now, time, bytes_kept(writer, time) <= half);
}

/* The last statedump that leaves enough. */
static uint64_t cut_by_time(const struct recorder *recorder, uint64_t first, uint64_t now)
{
    uint64_t time = now - recorder->ticks;
    for (unsigned i = known_dumps(recorder); i-- > 0;)
        if (recorder->dumps[i] <= time && recorder->dumps[i] > first)
            return recorder->dumps[i];
    return time;
}

/* Whether a cut is due. Sets TIME to where, and IS_FORCED if the bytes demand it. */
static bool wants_cut(const struct recorder *recorder, uint64_t *time, bool *is_forced)
{
    const struct trace_writer *writer = recorder->writer;
    const uint64_t now = find_now(recorder), first = find_first(writer, 1), held = bytes_kept(writer, 0);
    const bool is_old = recorder->ticks != 0 && now > first && (now - first) / KEEP_TIMES >= recorder->ticks;
    *is_forced = recorder->bytes != 0 && held >= recorder->bytes - recorder->bytes / 6;
    *time = 0;
    if (is_old)
        *time = cut_by_time(recorder, first, now);
    if (*is_forced && (*time == 0 || bytes_kept(writer, *time) > recorder->bytes / 2))
        *time = cut_by_bytes(recorder, first, now);
    return (is_old || *is_forced) && bytes_kept(writer, *time) < held;
}

/* Packets that a waiting part needs are not removed, unless the size demands it: then the part is saved at
 * once. Returns false if nothing can be cut. */
static bool prepare_cut(struct recorder *recorder, uint64_t *time, bool is_forced)
{
    if (recorder->triggers.count == 0)
        return true;
    if (*time > recorder->until)
        read_events(recorder, *time);
    if (is_forced)
        saved_write(&recorder->saved, 0, 0, 0, *time, recorder->quiet);
    else if (saved_needs(&recorder->saved) < *time)
        *time = saved_needs(&recorder->saved);
    return bytes_kept(recorder->writer, *time) < bytes_kept(recorder->writer, 0);
}

static void cut_head(struct recorder *recorder, bool has_packet)
{
    const uint64_t removed = recorder->cut.removed_bytes, arrived = bytes_arrived(recorder),
                   most = has_packet ? KEEP_PACE * (arrived - recorder->arrived) : IDLE_BYTES;
    struct fail fail;
    uint64_t time;
    bool is_forced, ok;
    recorder->arrived = arrived;
    if (!recorder->cut.is_active && now_seconds() >= recorder->retry_at &&
        wants_cut(recorder, &time, &is_forced) && prepare_cut(recorder, &time, is_forced))
        head_cut_begin(&recorder->cut, time);
    if (!recorder->cut.is_active)
        return;
    ok = head_cut_step(&recorder->cut, recorder->writer, most, &fail);
    if (recorder->cut.removed_bytes != removed)
        release(recorder);
    if (ok) {
        recorder->has_failed &= recorder->cut.is_active;
        return;
    }
    if (!recorder->has_failed)
        complain("%s; the trace keeps them, and %g seconds later the next attempt follows", fail.text,
                 RETRY_SECONDS);
    recorder->has_failed = true;
    recorder->retry_at = now_seconds() + RETRY_SECONDS;
}

bool recorder_stop_cut(struct recorder *recorder)
{
    const bool was_active = recorder->cut.is_active;
    if (was_active)
        head_cut_drop(&recorder->cut, recorder->writer);
    recorder->retry_at = now_seconds() + RETRY_SECONDS;
    return was_active;
}

/* ---- the pull ---- */

bool recorder_open(struct recorder *recorder, struct trace_writer *writer, bool has_requests, bool quiet,
                   struct fail *fail)
{
    const struct wire_hello *hello = &writer->hello;
    const uint64_t least = (uint64_t)PACKETS_LEAST * hello->cpu_count;
    size_t length = strlen(writer->directory);
    recorder->writer = writer;
    recorder->quiet = quiet;
    if (!recorder_is_on(recorder))
        return true;
    while (length > 1 && writer->directory[length - 1] == '/')
        length--;
    recorder->own_place = alloc_zero(1, length + sizeof(".saved"));
    sprintf(recorder->own_place, "%.*s.saved", (int)length, writer->directory);
    recorder->takes_dumps = recorder->has_requests = has_requests;
    recorder->saved = (struct saved){.writer = writer,
                                     .place = recorder->place != NULL ? recorder->place : recorder->own_place,
                                     .before = ticks_of(recorder, recorder->before),
                                     .after = ticks_of(recorder, recorder->after),
                                     .most = recorder->most,
                                     .has_dumps = has_requests};
    recorder->ticks = later(ticks_of(recorder, recorder->seconds), recorder->seconds != 0);
    return recorder->bytes == 0 || recorder->bytes >= least * hello->buffer_bytes ||
           fail_set(fail,
                    "--keep: %" PRIu64 " bytes are too few; %u CPUs with buffers of %" PRIu64
                    " bytes need at least %" PRIu64 "K",
                    recorder->bytes, hello->cpu_count, hello->buffer_bytes,
                    least * hello->buffer_bytes / 1024);
}

void recorder_step(struct recorder *recorder, bool has_packet)
{
    const double now = now_seconds();
    recorder->packet_at = has_packet ? now : recorder->packet_at;
    if (recorder->triggers.count > 0 && (recorder->writer->packets - recorder->read_packets >= READ_PACKETS ||
                                         now - recorder->read_at >= READ_SECONDS)) {
        read_events(recorder, find_known(recorder, find_now(recorder)));
        save_parts(recorder, recorder->has_requests && recorder->packet_at > 0 &&
                                 now - recorder->packet_at > QUIET_SECONDS);
    }
    if (keeps_part(recorder))
        cut_head(recorder, has_packet);
}

void recorder_finish(struct recorder *recorder)
{
    read_events(recorder, UINT64_MAX);
    save_parts(recorder, true);
}

bool recorder_summarize(const struct recorder *recorder)
{
    const struct trace_writer *writer = recorder->writer;
    const struct saved *saved = &recorder->saved;
    uint64_t first;
    if (!recorder_is_on(recorder) || writer->packets == 0)
        return true;
    first = find_first(writer, 0);
    if (recorder->cut.count > 0 && recorder->cut.time > first)
        first = recorder->cut.time; /* a CPU that was idle since long before keeps a packet */
    if (keeps_part(recorder))
        fprintf(stderr, "kept: the last %.3f s, %.1f MB on disk; %.1f MB before were removed in %u cuts\n",
                (double)(find_now(recorder) - first) / (double)writer->hello.clock_hz,
                (double)bytes_kept(writer, 0) * 1e-6, (double)recorder->cut.removed_bytes * 1e-6,
                recorder->cut.count);
    if (recorder->triggers.count > 0) {
        fprintf(stderr, "saved: %" PRIu64 " parts in %s; %" PRIu64 " could not be saved", saved->count,
                saved->place, saved->failed);
        if (saved->skipped > 0)
            fprintf(stderr, "; %" PRIu64 " triggers beyond --save-most", saved->skipped);
        fputc('\n', stderr);
    }
    return saved->failed == 0 && !recorder->is_broken;
}

void recorder_free(struct recorder *recorder)
{
    release(recorder);
    if (recorder->names.told_by != NULL)
        names_close(&recorder->names);
    free(recorder->out.bytes);
    saved_close(&recorder->saved);
    triggers_close(&recorder->triggers);
    free(recorder->own_place);
    free(recorder);
}
