/* recorder.c - a pull that keeps the last minutes or bytes, and saves what surrounds triggers; see
 * recorder.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tools/tarn/keep/recorder.h>

#define READ_SECONDS  0.1  /* events are read this often */
#define READ_PACKETS  256u /* or after so many packets */
/* Without a packet for so long, waiting parts are saved as they are: nothing is logged any more. Over a link
 * only; from memory, packets come when they are full. */
#define QUIET_SECONDS 5.0
#define IDLE_BYTES    (16u << 20) /* copied by a step when no packet arrived */
#define RETRY_SECONDS 5.0         /* after a cut failed */
/* Over a link a guest sends partly filled packets after a second. So all that is older than this has arrived,
 * in the guest's time. From memory, packets come when they are full, however old they are by then. */
#define LAG_SECONDS   1.3

/* ---- options ---- */

/* A duration, a size, or both, separated by a comma. */
static bool choose_keep(void *context, const struct command_option *option, const char *value,
                        struct fail *fail)
{
    struct keep_amount *amount = &((struct recorder *)context)->amount;
    char copy[64], *rest = copy, *part;
    bool ok = strlen(value) < sizeof(copy);
    double bytes = 0;
    *amount = (struct keep_amount){0, 0};
    snprintf(copy, sizeof(copy), "%s", value);
    while (ok && (part = strsep(&rest, ",")) != NULL)
        ok = (amount->seconds == 0 && parse_amount(part, false, &amount->seconds)) ||
             (bytes == 0 && parse_amount(part, true, &bytes));
    amount->bytes = (uint64_t)bytes;
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

void recorder_set_defaults(struct recorder *recorder)
{
    recorder->before = recorder->after = 1;
    recorder->most = 100;
}

bool recorder_check(const struct recorder *recorder, struct fail *fail)
{
    const double kept = recorder->amount.seconds;
    if (recorder->triggers.count > 0 && kept > 0 && recorder->before > kept)
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

/* ---- triggers ---- */

static void on_trigger(void *context, struct trigger *trigger, const struct cursor *cursor, uint64_t begin)
{
    struct recorder *recorder = context;
    const struct saved_trigger fired = {.text = trigger->text,
                                        .event = cursor->event.type->name,
                                        .begin = begin,
                                        .ticks = cursor->ticks,
                                        .ns = cursor_ns(cursor)};
    struct part *part = saved_add(&recorder->saved, &fired, recorder->follower.dump_begin);
    if (part != NULL)
        saved_describe(part, &fired, follower_text(&recorder->follower, cursor));
}

static void read_events(struct recorder *recorder, uint64_t time)
{
    struct fail fail;
    if (recorder->triggers.count == 0 || recorder->is_broken || recorder->writer->packets == 0)
        return;
    recorder->is_broken = !follower_read(&recorder->follower, time, &fail);
    if (recorder->is_broken)
        complain("%s; triggers are not looked for any more", fail.text);
    recorder->read_at = now_seconds();
    recorder->read_packets = recorder->writer->packets;
}

static void save_parts(struct recorder *recorder, bool all)
{
    const struct follower *follower = &recorder->follower;
    recorder->saved.has_dumps = recorder->dumps.is_possible;
    if (recorder->saved.part_count > 0)
        saved_write(&recorder->saved, follower->until, follower->dump_begin, follower->dump_end,
                    all ? UINT64_MAX : 0, recorder->quiet);
}

static void follow_triggers(struct recorder *recorder, bool has_packet)
{
    const double now = now_seconds();
    recorder->packet_at = has_packet ? now : recorder->packet_at;
    if (recorder->writer->packets - recorder->read_packets < READ_PACKETS &&
        now - recorder->read_at < READ_SECONDS)
        return;
    read_events(recorder, find_known(recorder, find_now(recorder)));
    save_parts(recorder, recorder->has_requests && recorder->packet_at > 0 &&
                             now - recorder->packet_at > QUIET_SECONDS);
}

/* ---- cuts ---- */

/* Packets that a waiting part needs are not removed, unless the size demands it: then the part is saved at
 * once. Returns false if nothing can be cut. */
static bool prepare_cut(struct recorder *recorder, uint64_t *time, bool is_forced)
{
    if (recorder->triggers.count == 0)
        return true;
    if (*time > recorder->follower.until)
        read_events(recorder, *time);
    if (is_forced)
        saved_write(&recorder->saved, 0, 0, 0, *time, recorder->quiet);
    else if (saved_needs(&recorder->saved) < *time)
        *time = saved_needs(&recorder->saved);
    return bytes_kept(recorder->writer, *time) < bytes_in_files(recorder->writer);
}

static void begin_cut(struct recorder *recorder)
{
    uint64_t time;
    bool is_forced;
    if (now_seconds() >= recorder->retry_at &&
        keep_wants_cut(&recorder->keep, recorder->writer, &recorder->dumps, find_now(recorder), &time,
                       &is_forced) &&
        prepare_cut(recorder, &time, is_forced))
        head_cut_begin(&recorder->cut, time);
}

/* Bytes of packets since the start. */
static uint64_t bytes_arrived(const struct recorder *recorder)
{
    return bytes_in_files(recorder->writer) + recorder->cut.removed_bytes;
}

static void cut_head(struct recorder *recorder, bool has_packet)
{
    const uint64_t removed = recorder->cut.removed, arrived = bytes_arrived(recorder),
                   most = has_packet ? KEEP_PACE * (arrived - recorder->arrived) : IDLE_BYTES;
    struct fail fail;
    bool ok;
    recorder->arrived = arrived;
    if (!recorder->cut.is_active)
        begin_cut(recorder);
    if (!recorder->cut.is_active)
        return;
    ok = head_cut_step(&recorder->cut, recorder->writer, most, &fail);
    if (recorder->cut.removed != removed)
        follower_release(&recorder->follower);
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

bool recorder_open(struct recorder *recorder, struct trace_writer *writer, bool has_requests,
                   struct fail *fail)
{
    size_t length = strlen(writer->directory);
    recorder->writer = writer;
    if (!recorder_is_on(recorder))
        return true;
    while (length > 1 && writer->directory[length - 1] == '/')
        length--;
    recorder->own_place = alloc_zero(1, length + sizeof(".saved"));
    memcpy(recorder->own_place, writer->directory, length);
    memcpy(recorder->own_place + length, ".saved", sizeof(".saved"));
    recorder->dumps.is_possible = recorder->has_requests = has_requests;
    recorder->follower = (struct follower){
        .writer = writer, .triggers = &recorder->triggers, .on_trigger = on_trigger, .context = recorder};
    recorder->saved = (struct saved){.writer = writer,
                                     .place = recorder->place != NULL ? recorder->place : recorder->own_place,
                                     .before = ticks_of(recorder, recorder->before),
                                     .after = ticks_of(recorder, recorder->after),
                                     .most = recorder->most,
                                     .has_dumps = has_requests};
    return keep_open(&recorder->keep, &recorder->amount, &writer->hello, fail);
}

void recorder_step(struct recorder *recorder, bool has_packet)
{
    if (recorder->triggers.count > 0)
        follow_triggers(recorder, has_packet);
    if (recorder->amount.seconds > 0 || recorder->amount.bytes > 0)
        cut_head(recorder, has_packet);
}

/* The pull itself begins with a statedump. */
bool recorder_wants_dump(const struct recorder *recorder)
{
    if (!recorder->dumps.is_possible || recorder->dumps.is_asked || recorder->writer->packets == 0)
        return false;
    return saved_needs_dump(&recorder->saved) ||
           keep_wants_dump(&recorder->keep, find_now(recorder), bytes_arrived(recorder));
}

void recorder_asked(struct recorder *recorder)
{
    recorder->keep.dump_time = find_now(recorder);
    recorder->keep.dump_bytes = bytes_arrived(recorder);
    statedumps_ask(&recorder->dumps, recorder->keep.dump_time);
}

void recorder_on_reply(struct recorder *recorder, int32_t status)
{
    statedumps_confirm(&recorder->dumps, status >= 0);
    if (status < 0)
        complain("the guest refuses statedumps (%s): names may be missing in what is kept",
                 tarn_error_text(status));
}

void recorder_on_break(struct recorder *recorder)
{
    statedumps_forget(&recorder->dumps);
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
    uint64_t first = UINT64_MAX, now;
    if (!recorder_is_on(recorder) || writer->packets == 0)
        return true;
    now = find_now(recorder);
    for (uint32_t cpu = 0; cpu < writer->hello.cpu_count; cpu++)
        if (stream_begin(&writer->cpu[cpu], 0) < first)
            first = stream_begin(&writer->cpu[cpu], 0);
    if (recorder->cut.count > 0 && recorder->cut.time > first)
        first = recorder->cut.time; /* a CPU that was idle since long before keeps a packet */
    if (recorder->amount.seconds > 0 || recorder->amount.bytes > 0)
        fprintf(stderr, "kept: the last %.3f s, %.1f MB on disk; %.1f MB before were removed in %u cuts\n",
                (double)(now - first) / (double)writer->hello.clock_hz, (double)bytes_in_files(writer) * 1e-6,
                (double)recorder->cut.removed_bytes * 1e-6, recorder->cut.count);
    if (recorder->triggers.count > 0)
        fprintf(stderr, "saved: %" PRIu64 " parts in %s; %" PRIu64 " could not be saved", saved->count,
                saved->place, saved->failed);
    if (recorder->triggers.count > 0 && saved->skipped > 0)
        fprintf(stderr, "; %" PRIu64 " triggers beyond --save-most", saved->skipped);
    if (recorder->triggers.count > 0)
        fputc('\n', stderr);
    return saved->failed == 0 && !recorder->is_broken;
}

void recorder_close(struct recorder *recorder)
{
    if (recorder->follower.triggers != NULL)
        follower_close(&recorder->follower);
    saved_close(&recorder->saved);
    triggers_close(&recorder->triggers);
    free(recorder->own_place);
    recorder->own_place = NULL;
}
