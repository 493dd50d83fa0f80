/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/keep_test.c - a growing trace that loses its oldest packets, and saves parts of itself.
 *
 * The packets of a synthetic trace are given to pull_writer.c in the order in which a guest sends them, and
 * cut by head_cut.c and recorder.c meanwhile. After each step the files are compared with what the guest
 * logged. Prints TAP.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/trace_text.h>
#include <tools/tarn/keep/recorder.h>
#include <tools/tarn/view/index.h>
#include <unistd.h>

#define PACKET      4096u
#define CPUS        3u
#define FREQ        1000000000u
#define PACKETS_MAX 20000u

static char made[64], pulled[64], place[80];

/* ---- what the guest logged ------------------------------------------------------------------------- */

struct sent {
    uint32_t cpu;
    uint64_t place, begin, end; /* its number among those of its CPU; ticks */
};

static struct trace logged;
static uint8_t *streams[CPUS];
static char *metadata;
static struct sent sent[PACKETS_MAX]; /* in the order of their arrival */
static unsigned sent_count, fed;
static uint64_t fed_of[CPUS]; /* packets of each CPU that have arrived */

static uint64_t field_of(const uint8_t *packet, size_t offset)
{
    return load64(packet + offset, logged.schema.swap);
}
#define FIELD(packet, member) field_of((packet), offsetof(struct trace_packet, member))

static const uint8_t *packet_at(uint32_t cpu, uint64_t number)
{
    return streams[cpu] + number * PACKET;
}

static int by_end(const void *left, const void *right)
{
    const struct sent *a = left, *b = right;

    return a->end != b->end ? (a->end > b->end) - (a->end < b->end) : (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static void log_events(const char *order, uint64_t events, bool losses)
{
    const struct synthetic_options options = {.order = order,
                                              .directory = made,
                                              .cpus = CPUS,
                                              .events = events,
                                              .packet = PACKET,
                                              .losses = losses,
                                              .freq = FREQ};
    struct fail fail = {""};

    metadata = synthetic_metadata(&options, &fail);
    if (!metadata || !synthetic_write(&options, NULL, &fail) || !trace_open(&logged, made, &fail))
        bail_out(fail.text);
    sent_count = 0;
    for (unsigned i = 0; i < logged.stream_count; i++) {
        const struct stream *stream = &logged.streams[i];
        const uint32_t cpu = stream->cpu;

        streams[cpu] = malloc(stream->size);
        if (pread(stream->fd, streams[cpu], stream->size, 0) != (ssize_t)stream->size)
            bail_out("the synthetic trace cannot be read");
        for (uint64_t number = 0; number < stream->size / PACKET && sent_count < PACKETS_MAX; number++)
            sent[sent_count++] = (struct sent){cpu, number, FIELD(packet_at(cpu, number), timestamp_begin),
                                               FIELD(packet_at(cpu, number), timestamp_end)};
    }
    qsort(sent, sent_count, sizeof(sent[0]), by_end);
}

static void forget_events(void)
{
    trace_close(&logged);
    for (unsigned i = 0; i < CPUS; i++)
        free(streams[i]);
    free(metadata);
}

/* ---- the pull -------------------------------------------------------------------------------------- */

static struct trace_writer writer;

static void start_pull(void)
{
    struct wire_hello hello = {.version = WIRE_VERSION,
                               .byte_order = logged.schema.big_endian ? 2 : 1,
                               .cpu_count = CPUS,
                               .mode = 1,
                               .buffer_bytes = PACKET,
                               .buffer_count = 16,
                               .clock_hz = FREQ,
                               .mask = ~0ull,
                               .boot_id = 42,
                               .machine = "made"};
    struct fail fail;

    memcpy(hello.uuid, logged.schema.tsdl.uuid, 16);

    if (!open_trace_writer(&writer, pulled, true, &hello, &fail) ||
        !write_metadata(&writer, (const uint8_t *)metadata, strlen(metadata), &fail))
        bail_out(fail.text);
    fed = 0;
    memset(fed_of, 0, sizeof(fed_of));
}

static void feed_one(void)
{
    const struct sent *one = &sent[fed++];
    const uint8_t *packet = packet_at(one->cpu, one->place);
    const uint64_t content = FIELD(packet, content_size) / 8;
    const struct source_item item = {.kind = SOURCE_PACKET,
                                     .bytes = packet,
                                     .size = content + 8 < PACKET ? content + 8 : PACKET,
                                     .packet = {.cpu = one->cpu, .sequence = FIELD(packet, packet_seq_num)}};
    struct fail fail = {""};

    if (!write_packet(&writer, &item, &fail) || writer.refused != 0 || writer.undecoded != 0)
        bail_out(fail.text);
    fed_of[one->cpu]++;
}

/* ---- what reading reports --------------------------------------------------------------------------- */

struct told {
    struct reporter reporter;
    uint64_t kinds[ANOMALY_COUNT]; /* reports of each kind */
    uint64_t lost_events, unknown; /* unknown: reports of an unknown number of lost events */
    uint64_t oddities;             /* of the directory */
};

static void told_report(struct reporter *reporter, const struct report *report)
{
    struct told *told = (struct told *)reporter;

    told->kinds[report->anomaly]++;
    if (report->anomaly == ANOMALY_LOST_EVENTS && report->count == UINT64_MAX)
        told->unknown++;
    else if (report->anomaly == ANOMALY_LOST_EVENTS)
        told->lost_events += report->count;
}

/* Reads all streams, one after another. */
static struct told read_trace(const char *directory)
{
    struct told told = {.reporter.report = told_report};
    struct trace trace;
    struct fail fail;

    if (!trace_open(&trace, directory, &fail))
        bail_out(fail.text);
    for (unsigned i = 0; i < trace.stream_count; i++) {
        struct cursor cursor;

        cursor_open(&cursor, &trace, &trace.streams[i], 0, &told.reporter);
        while (cursor_next(&cursor))
            ;
        cursor_close(&cursor);
    }
    told.oddities = trace.oddity_count;
    trace_close(&trace);
    return told;
}

/* ---- what is on disk ------------------------------------------------------------------------------- */

/* Returns the packets of one CPU that the file in DIRECTORY has; PACKETS_MAX: it is wrong. FIRST: the number
 * of the first one. */
static uint64_t examine(const char *directory, uint32_t cpu, uint64_t *first)
{
    char path[256];
    struct stat status;
    uint8_t *bytes;
    uint64_t count, base;
    bool ok;
    int fd;

    snprintf(path, sizeof(path), "%s/cpu%u", directory, cpu);
    fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0)
        return PACKETS_MAX;
    bytes = malloc((size_t)status.st_size + 1);
    count = (uint64_t)status.st_size / PACKET;
    ok = status.st_size % PACKET == 0 && count > 0 &&
         pread(fd, bytes, (size_t)status.st_size, 0) == status.st_size;
    close(fd);
    for (*first = 0; ok && *first < fed_of[cpu] &&
                     FIELD(packet_at(cpu, *first), timestamp_begin) != FIELD(bytes, timestamp_begin);)
        ++*first;
    ok = ok && *first + count <= fed_of[cpu];
    base = ok ? FIELD(packet_at(cpu, *first), events_discarded) : 0;
    for (uint64_t i = 0; ok && i < count; i++) {
        uint8_t *packet = bytes + i * PACKET;
        const uint8_t *original = packet_at(cpu, *first + i);
        const uint64_t content = FIELD(original, content_size) / 8;
        const size_t at = offsetof(struct trace_packet, events_discarded);

        /* A trace begins with 0. */
        ok = FIELD(packet, events_discarded) == FIELD(original, events_discarded) - base;
        memcpy(packet + at, original + at, 8);
        ok = ok && memcmp(packet, original, content) == 0;
    }
    free(bytes);
    return ok ? count : PACKETS_MAX;
}

/* Whether each file has the packets of its CPU up to the last that has arrived. */
static bool is_valid(void)
{
    bool ok = true;
    uint64_t first;

    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        ok &= fed_of[cpu] == 0 || (examine(pulled, cpu, &first) != PACKETS_MAX &&
                                   first + examine(pulled, cpu, &first) == fed_of[cpu]);
    return ok;
}

/* Bytes of the streams in DIRECTORY; HIDDEN: also of those that are being made. */
static uint64_t disk_bytes(bool hidden)
{
    DIR *directory = opendir(pulled);
    struct dirent *entry;
    struct stat status;
    uint64_t bytes = 0;

    while ((entry = readdir(directory)) != NULL)
        if ((strncmp(entry->d_name, "cpu", 3) == 0 ||
             (hidden && strncmp(entry->d_name, TRACE_NEW_STREAM_NAME, 8) == 0)) &&
            fstatat(dirfd(directory), entry->d_name, &status, 0) == 0)
            bytes += (uint64_t)status.st_size;
    closedir(directory);
    return bytes;
}

/* Reports of anything but losses. */
static uint64_t damage_of(const struct told *told)
{
    uint64_t count = told->oddities;

    for (int kind = 0; kind < ANOMALY_COUNT; kind++)
        count += kind == ANOMALY_LOST_EVENTS || kind == ANOMALY_LOST_PACKETS ? 0 : told->kinds[kind];
    return count;
}

/* Returns the losses that the packets of the guest report from packet FROM of CPU on. */
static uint64_t lost_after(uint32_t cpu, uint64_t from)
{
    return FIELD(packet_at(cpu, fed_of[cpu] - 1), events_discarded) -
           FIELD(packet_at(cpu, from), events_discarded);
}

/* ---- cuts ------------------------------------------------------------------------------------------ */

/* Whether each stream begins with the packet that was written at TIME. */
static bool begins_at(uint64_t time, const uint64_t *before)
{
    for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
        uint64_t first, right = before[cpu];

        examine(pulled, cpu, &first);
        while (right + 1 < fed_of[cpu] && FIELD(packet_at(cpu, right + 1), timestamp_begin) <= time)
            right++;
        if (first != right)
            return false;
    }
    return true;
}

/* Cuts again and again at some time, while packets arrive, with steps of some size. */
static void test_cuts(const char *order)
{
    struct head_cut cut = {.fd = -1};
    unsigned wrong = 0, misplaced = 0, unequal = 0;
    struct fail fail;

    log_events(order, 240000, true);
    start_pull();
    srandom(5);
    while (fed + 400 < sent_count) {
        uint64_t time, before[CPUS] = {0}, lost = 0;

        for (unsigned count = 30 + (unsigned)random() % 60; count > 0; count--)
            feed_one();
        time = sent[fed - 1 - (unsigned)random() % 60].begin;
        for (uint32_t cpu = 0; cpu < CPUS; cpu++)
            examine(pulled, cpu, &before[cpu]);
        for (head_cut_begin(&cut, time); cut.is_active; wrong += !is_valid()) {
            if (!head_cut_step(&cut, &writer, writer.hello.buffer_bytes * (1 + (uint64_t)random() % 9),
                               &fail))
                bail_out(fail.text);
            if (random() % 3 == 0)
                feed_one();
        }
        /* those that arrived during the cut may have begun before its time, too */
        misplaced += !begins_at(time, before);
        const struct told told = read_trace(pulled);
        for (uint32_t cpu = 0; cpu < CPUS; cpu++)
            lost += lost_after(cpu, writer.cpu[cpu].removed);
        unequal += told.lost_events != lost || damage_of(&told) != 0 || told.unknown != 0;
    }
    check(cut.count > 10 && wrong == 0, "%s, %u cuts: after each step every file is whole", order, cut.count);
    check(misplaced == 0, "%s, every stream begins with the packet of that time", order);
    check(unequal == 0, "%s, losses before the beginning do not count, and those after it do", order);
    check(disk_bytes(true) == disk_bytes(false), "%s, nothing else is left", order);
    close_trace_writer(&writer);
    forget_events();
}

/* A cut that cannot be made changes nothing, and can be made later. */
static void test_failure(void)
{
    struct head_cut cut = {.fd = -1};
    struct fail fail = {""};
    char path[100];
    bool ok;

    log_events("le", 20000, false);
    start_pull();
    while (fed < 60)
        feed_one();
    snprintf(path, sizeof(path), "%s/" TRACE_NEW_STREAM_NAME "1", pulled);
    mkdir(path, 0777);
    head_cut_begin(&cut, sent[40].begin);
    ok = head_cut_step(&cut, &writer, UINT64_MAX, &fail);
    check(!ok && !cut.is_active && strstr(fail.text, "cannot create cpu1") != NULL,
          "a cut that fails is reported: %s", fail.text);
    while (fed < 80)
        feed_one();
    check(is_valid(), "every file is whole, and the pull goes on");
    rmdir(path);
    head_cut_begin(&cut, sent[40].begin);
    ok = head_cut_step(&cut, &writer, UINT64_MAX, &fail);
    check(ok && is_valid() && begins_at(sent[40].begin, (uint64_t[CPUS]){0}), "the next attempt succeeds");
    head_cut_begin(&cut, sent[60].begin);
    ok = head_cut_step(&cut, &writer, 3 * writer.hello.buffer_bytes, &fail);
    head_cut_drop(&cut, &writer);
    check(ok && is_valid() && disk_bytes(true) == disk_bytes(false), "a cut that is given up leaves nothing");
    close_trace_writer(&writer);
    forget_events();
}

/* The view's index of a trace is not used for the same trace after a cut, but made again. */
static void test_index(void)
{
    struct head_cut cut = {.fd = -1};
    struct index index = {0}, loaded = {0};
    struct buffer bytes = {0};
    enum index_state before, after;
    struct trace trace;
    struct fail fail = {""};
    uint64_t from;

    log_events("le", 20000, false);
    start_pull();
    while (fed < 100)
        feed_one();
    if (!trace_open(&trace, pulled, &fail) || !index_extend(&index, &trace, 0, NULL, &fail))
        bail_out(fail.text);
    index_write(&index, &trace, &bytes);
    before = index_read(&loaded, &trace, bytes.bytes, bytes.used, &from);
    index_free(&loaded);
    trace_close(&trace);
    head_cut_begin(&cut, sent[40].begin);
    if (!head_cut_step(&cut, &writer, UINT64_MAX, &fail) || !trace_open(&trace, pulled, &fail))
        bail_out(fail.text);
    loaded = (struct index){0};
    after = index_read(&loaded, &trace, bytes.bytes, bytes.used, &from);
    check(before == INDEX_WHOLE && after == INDEX_NONE, "an index from before a cut is not used");
    index_free(&index);
    index_free(&loaded);
    free(bytes.bytes);
    trace_close(&trace);
    close_trace_writer(&writer);
    forget_events();
}

/* ---- what is kept ---------------------------------------------------------------------------------- */

static struct recorder recorder;

static void start_recorder(const char *amount, bool has_requests)
{
    struct fail fail;

    recorder = (struct recorder){.cut.fd = -1, .quiet = true};
    recorder_set_defaults(&recorder);
    start_pull();
    if ((amount != NULL && !parse_keep(amount, &recorder.amount, &fail)) ||
        !recorder_open(&recorder, &writer, has_requests, &fail))
        bail_out(fail.text);
}

static void stop_recorder(void)
{
    recorder_stop_cut(&recorder);
    recorder_close(&recorder);
    close_trace_writer(&writer);
}

/* When the oldest packet that is not needed any more could have been removed. */
static uint64_t first_time(void)
{
    uint64_t first = UINT64_MAX;

    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        if (fed_of[cpu] > writer.cpu[cpu].removed + 1) {
            uint64_t second = FIELD(packet_at(cpu, writer.cpu[cpu].removed + 1), timestamp_begin);

            first = second < first ? second : first;
        }
    return first;
}

static void test_bytes(const char *order, unsigned kilobytes)
{
    const uint64_t limit = kilobytes * 1024ull;
    unsigned wrong = 0, above = 0, below = 0, beyond = 0;
    char amount[16];

    log_events(order, 400000, false);
    snprintf(amount, sizeof(amount), "%uK", kilobytes);
    start_recorder(amount, false);
    while (fed < sent_count) {
        feed_one();
        /* before the copy is complete, the disk has most */
        recorder_step(&recorder, true);
        wrong += fed % 7 == 0 && !is_valid();
        above += disk_bytes(false) > limit;
        beyond += disk_bytes(true) > limit + limit / 2;
        below += fed > limit / PACKET && disk_bytes(false) + CPUS * PACKET < limit / 2;
    }
    check(wrong == 0 && recorder.cut.count > sent_count / (limit / PACKET) - 1,
          "%s, --keep %s: %u cuts for %u packets, and the files are always whole", order, amount,
          recorder.cut.count, sent_count);
    check(above == 0 && below == 0, "%s, --keep %s: the files have about half to all of it (%u, %u)", order,
          amount, above, below);
    check(beyond == 0, "%s, --keep %s: with the copy at most one and a half times (%u)", order, amount,
          beyond);
    stop_recorder();
    forget_events();
}

/* Returns the time in which all CPUs log without long pauses: until the first of them ends. */
static uint64_t dense_span(void)
{
    uint64_t span = UINT64_MAX;

    for (unsigned i = 0; i < sent_count; i++)
        if (i + 1 == sent_count || sent[i].place + 1 == logged.streams[sent[i].cpu].size / PACKET)
            span = sent[i].end - logged.begin < span ? sent[i].end - logged.begin : span;
    return span;
}

static void test_time(void)
{
    unsigned below = 0, above = 0;
    uint64_t span, wanted, full = 0;
    char amount[40];

    log_events("le", 400000, false);
    span = dense_span();
    wanted = span / 40;
    snprintf(amount, sizeof(amount), "%lluns", (unsigned long long)wanted);
    start_recorder(amount, false);
    while (fed < sent_count) {
        feed_one();
        recorder_step(&recorder, true);
        const uint64_t now = sent[fed - 1].end, first = first_time(), held = now > first ? now - first : 0;
        full += now - logged.begin > wanted;
        for (uint32_t cpu = 0; cpu < CPUS; cpu++)
            below += now - logged.begin > wanted && fed_of[cpu] > 0 && writer.cpu[cpu].first > now - wanted &&
                     writer.cpu[cpu].removed > 0;
        above += now - logged.begin < span && held > 2 * wanted + wanted / 3;
    }
    check(full > sent_count / 2 && below == 0 && above == 0 && recorder.cut.count > 15 && is_valid(),
          "--keep %s of %lluns: %u cuts; at least the time is there, and not much more than twice (%u, %u)",
          amount, (unsigned long long)span, recorder.cut.count, below, above);
    stop_recorder();
    forget_events();
}

/* The guest replies to a request for a statedump some packets later. */
static void test_statedumps(const char *bytes, unsigned parts)
{
    char amount[60];
    uint64_t asked[1000] = {0}, last_cut = 0;
    unsigned asks = 0, reply_in = 0, elsewhere = 0, cuts = 0;

    log_events("le", 400000, false);
    if (parts != 0)
        snprintf(amount, sizeof(amount), "%lluns,%s", (unsigned long long)dense_span() / parts, bytes);
    else
        snprintf(amount, sizeof(amount), "%s", bytes);
    start_recorder(amount, true);
    while (fed < sent_count) {
        feed_one();
        recorder_step(&recorder, true);
        if (recorder.cut.count > cuts) {
            bool found = false;
            cuts = recorder.cut.count;
            for (unsigned i = 0; i < asks; i++)
                found |= asked[i] == recorder.cut.time;
            elsewhere +=
                (!found && sent[fed - 1].end - logged.begin < dense_span()) || recorder.cut.time <= last_cut;
            last_cut = recorder.cut.time;
        }
        if (reply_in > 0 && --reply_in == 0)
            recorder_on_reply(&recorder, 0);
        if (recorder_wants_dump(&recorder) && asks < 1000) {
            recorder_asked(&recorder);
            asked[asks++] = recorder.keep.dump_time;
            reply_in = 3;
        }
    }
    check(cuts > 10 && asks > cuts && elsewhere == 0,
          "--keep %s: all of %u cuts are where one of %u statedumps begins (%u are not)", amount, cuts, asks,
          elsewhere);
    stop_recorder();
    forget_events();
}

static void test_amounts(void)
{
    static const struct {
        const char *text;
        double seconds;
        uint64_t bytes;
    } good[] = {{"90s", 90, 0},
                {"10m", 600, 0},
                {"2h", 7200, 0},
                {"1.5s", 1.5, 0},
                {"500M", 0, 500u << 20},
                {"2G", 0, 2ull << 30},
                {"10m,2G", 600, 2ull << 30},
                {"1K,1ms", 1e-3, 1024}};
    static const char *const bad[] = {"",       "10",    "10x",      "0s",   "0M",    "-5m",
                                      "10m,5m", "1G,2G", "1g",       "m",    "1e99h", "inf",
                                      "10m,",   ",10m",  "1m,2G,3s", "nans", " 1s",   "0x10s!"};
    struct keep_amount amount;
    struct fail fail;
    unsigned right = 0, refused = 0;

    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        right += parse_keep(good[i].text, &amount, &fail) && amount.seconds == good[i].seconds &&
                 amount.bytes == good[i].bytes;
    check(right == sizeof(good) / sizeof(good[0]), "amounts are what they say (%u)", right);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refused += !parse_keep(bad[i], &amount, &fail) && strstr(fail.text, "10m,2G") != NULL;
    check(refused == sizeof(bad) / sizeof(bad[0]), "what is no amount is refused (%u)", refused);

    struct keep keep;
    const struct wire_hello hello = {.cpu_count = 4, .buffer_bytes = 65536, .clock_hz = FREQ};
    check(keep_open(&keep, &(struct keep_amount){0, 1 << 20}, &hello, &fail) &&
              !keep_open(&keep, &(struct keep_amount){0, (1 << 20) - 1}, &hello, &fail) &&
              strstr(fail.text, "at least 1024K") != NULL,
          "four packets for each CPU are the least: %s", fail.text);
}

/* ---- triggers -------------------------------------------------------------------------------------- */

/* Ticks are nanoseconds. */
static const char *const story = "1000 0 trace_context pid=7 tid=11 name=calc\n"
                                 "1000 1 trace_context pid=8 tid=12 name=shop\n"
                                 "2000 0 syscall_entry number=1 tid=11\n"
                                 "2500 1 user_mark number=1\n"
                                 "2600 0 user_stopwatch_start id=5\n"
                                 "3000 0 syscall_exit number=1 tid=11\n" /* took 1000 */
                                 "4000 1 syscall_entry number=2 tid=12\n"
                                 "4500 0 user_mark number=2\n"
                                 "5000 0 ipc_call call_id=77 endpoint=1\n"
                                 "9000 1 ipc_return call_id=77\n"        /* took 4000, on another CPU */
                                 "9500 1 syscall_exit number=2 tid=12\n" /* took 5500 */
                                 "9600 0 user_stopwatch_stop id=5\n"     /* took 7000 */
                                 "9700 0 irq_handler_entry irq=3\n"
                                 "9750 1 irq_handler_exit irq=3\n" /* of another CPU */
                                 "9800 0 irq_handler_exit irq=3\n" /* took 100 */
                                 "9900 1 syscall_entry number=4 tid=12\n"
                                 "9950 1 !lost 3\n"
                                 "9950 1 trace_context pid=8 tid=12 name=shop\n"
                                 "20000 1 syscall_exit number=4 tid=12\n"; /* perhaps of another call */

static struct saved_trigger last_fired;
static char description[200]; /* of its event, or why a trigger is refused */

static void on_trigger(void *context, struct trigger *trigger, const struct cursor *cursor, uint64_t begin)
{
    last_fired = (struct saved_trigger){.begin = begin, .ticks = cursor->ticks};
    snprintf(description, sizeof(description), "%s", follower_text(context, cursor));
}

/* Returns how often TEXT triggers in the story, which is read in PARTS; 1000: it is refused. */
static unsigned count_fired(const char *order, const char *text, unsigned parts)
{
    const struct synthetic_options options = {.order = order, .directory = made, .freq = FREQ};
    struct trace_writer fake = {.directory = made, .hello.buffer_bytes = 65536};
    struct triggers triggers = {.count = 0};
    struct follower follower = {.writer = &fake,
                                .triggers = &triggers,
                                .on_trigger = on_trigger,
                                .context = &follower,
                                .has_complained = true};
    unsigned fired = 1000;
    struct fail fail = {""};

    remove_tree(made);
    if (!trace_text_write(&options, story, &fail))
        bail_out(fail.text);
    if (triggers_add(&triggers, text, &fail)) {
        for (unsigned part = 1; part <= parts; part++)
            if (!follower_read(&follower, part == parts ? UINT64_MAX : 25000 * part / parts, &fail))
                bail_out(fail.text);
        fired = (unsigned)triggers.items[0].fired;
        follower_close(&follower);
    } else {
        snprintf(description, 200, "%.199s", fail.text);
    }
    triggers_close(&triggers);
    return fired;
}

static void test_triggers(const char *order)
{
    static const struct {
        const char *text;
        unsigned fired;
    } cases[] = {
        {"user_mark", 2},
        {"user_*,irq_handler_entry", 5},
        {"class=user", 4},
        {"event=user_mark cpu=1", 1},
        {"user_mark process=shop", 1},
        {"user_mark process=sh", 0},
        {"user_mark pid=7,9", 1},
        {"user_mark tid=12", 1},
        {"syscall > 999ns", 2},
        {"syscall>1us", 1},
        {"syscall > 5501ns", 0},
        {"syscall > 900ns process=calc", 1},
        {"syscall > 900ns tid=13", 0},
        {"ipc > 3us", 1},
        {"ipc > 4us", 0},
        {"stopwatch > 6.9us", 1},
        {"irq > 99ns", 1},
        {"irq > 100ns", 0},
        {"begin=user_mark end=user_stopwatch_start same=any > 1ns", 1},
        {"begin=user_mark end=user_stopwatch_start same=cpu > 1ns", 0},
        {"begin=syscall_entry end=syscall_exit match=tid > 1ns", 2},
        {"not_yet_registered", 0},
        {"user_mark syscall > 5ms", 1000},
        {"syscall", 0}, /* an event that may be registered */
        {"syscall > 5", 1000},
        {"> 5ms", 1000},
        {"process=shop", 1000},
        {"user_mark from=1", 1000},
        {"user_mark colour=red", 1000},
        {"user_mark user_text", 1000},
        {"user_mark pid=x", 1000},
        {"syscall match=tid", 1000},
        {"", 1000},
    };
    unsigned right = 0, count = sizeof(cases) / sizeof(cases[0]);

    for (unsigned i = 0; i < count; i++)
        for (unsigned parts = 1; parts <= 25; parts += 24) {
            unsigned fired = count_fired(order, cases[i].text, parts);

            right += fired == cases[i].fired;
            if (fired != cases[i].fired)
                printf("# '%s' in %u parts: %u, expected %u (%s)\n", cases[i].text, parts, fired,
                       cases[i].fired, description);
        }
    check(right == 2 * count, "%s, each of %u triggers fires as often as it should", order, count);
    count_fired(order, "syscall > 5us", 1);
    check(last_fired.begin == 4000 && last_fired.ticks == 9500 &&
              strncmp(description, "syscall_exit: ", 14) == 0 && strstr(description, "tid=12") != NULL,
          "%s, it is known when it began and fired, and at which event: %s", order, description);
}

/* ---- saved parts ----------------------------------------------------------------------------------- */

static unsigned count_parts(char last[300])
{
    DIR *directory = opendir(place);
    struct dirent *entry;
    unsigned count = 0;

    last[0] = '\0';
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.') {
            count++;
            if (strcmp(entry->d_name, last) > 0)
                snprintf(last, 256, "%s", entry->d_name);
        }
    if (directory != NULL)
        closedir(directory);
    if (count > 0) {
        char name[256];

        snprintf(name, sizeof(name), "%s", last);
        snprintf(last, 300, "%s/%.200s", place, name);
    }
    return count;
}

static struct saved_trigger trigger_at(uint64_t ticks)
{
    return (struct saved_trigger){
        .text = "user_mark", .event = "user_mark", .begin = ticks, .ticks = ticks, .ns = (int64_t)ticks};
}

static void add_at(struct saved *saved, uint64_t ticks)
{
    const struct saved_trigger trigger = trigger_at(ticks);
    struct part *part = saved_add(saved, &trigger, 0);

    if (part != NULL)
        saved_describe(part, &trigger, "user_mark: text=\"a\tb\nc\"");
}

static uint64_t lines_of(const char *part, char text[16384])
{
    char path[400];
    uint64_t lines = 0;
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "%s/" TRACE_SAVED_NAME, part);
    fd = open(path, O_RDONLY);
    got = fd < 0 ? 0 : read(fd, text, 16383);
    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    return lines;
}

static uint64_t begin_of(uint32_t cpu, uint64_t number)
{
    return number < fed_of[cpu] ? FIELD(packet_at(cpu, number), timestamp_begin) : UINT64_MAX;
}

/* Whether the part has the packets that overlap FROM to TO, and their losses only. */
static bool is_part(const char *part, uint64_t from, uint64_t to)
{
    const struct told told = read_trace(part);
    uint64_t lost = 0;

    for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
        uint64_t first, count = examine(part, cpu, &first), last = first + count - 1;

        if (count == PACKETS_MAX || (first > 0 && begin_of(cpu, first) > from) ||
            begin_of(cpu, first + 1) <= from || (count > 1 && begin_of(cpu, last) > to) ||
            begin_of(cpu, last + 1) <= to)
            return false;
        lost +=
            FIELD(packet_at(cpu, last), events_discarded) - FIELD(packet_at(cpu, first), events_discarded);
    }
    return damage_of(&told) == 0 && told.unknown == 0 && told.lost_events == lost;
}

static void test_saved(const char *order)
{
    char part[300], text[16384];
    uint64_t unit, middle;
    struct saved saved;

    log_events(order, 120000, true);
    start_pull();
    while (fed < sent_count)
        feed_one();
    remove_tree(place);
    unit = (logged.end - logged.begin) / 200;
    middle = logged.begin + 100 * unit;
    saved =
        (struct saved){.writer = &writer, .place = place, .before = 3 * unit, .after = 2 * unit, .most = 3};
    add_at(&saved, middle);
    saved_write(&saved, middle + 2 * unit, 0, 0, false, true);
    check(count_parts(part) == 0, "%s, a part waits for the rest of its time", order);
    saved_write(&saved, middle + 2 * unit + 1, 0, 0, false, true);
    check(count_parts(part) == 1 && is_part(part, middle - 3 * unit, middle + 2 * unit) &&
              strstr(part, "/0001-user_mark-") != NULL,
          "%s, then it is saved: %s", order, part);
    check(lines_of(part, text) == 1 && strstr(text, "\tuser_mark\tuser_mark: text=\"a b c\"\n") != NULL,
          "%s, with a line for its trigger", order);

    add_at(&saved, middle + 10 * unit);
    add_at(&saved, middle + 12 * unit);
    for (unsigned i = 0; i < 150; i++)
        add_at(&saved, middle + 14 * unit);
    saved_write(&saved, UINT64_MAX, 0, 0, false, true);
    check(count_parts(part) == 2 && is_part(part, middle + 7 * unit, middle + 16 * unit) &&
              lines_of(part, text) == 101 && strstr(text, "\t\tand 52 more triggers\n") != NULL,
          "%s, triggers in its time join it and extend it", order);
    for (unsigned i = 0; i < 100; i++)
        add_at(&saved, middle + 20 * unit + i * unit / 2);
    saved_write(&saved, UINT64_MAX, 0, 0, false, true);
    check(count_parts(part) == 3 && is_part(part, middle + 17 * unit, middle + 37 * unit) &&
              saved.skipped > 0,
          "%s, to a limited length; beyond the number of parts, triggers are counted (%u)", order,
          (unsigned)saved.skipped);
    saved_close(&saved);

    saved = (struct saved){.writer = &writer, .place = place, .before = unit, .after = unit, .most = 1};
    struct saved_trigger slow = trigger_at(middle);
    slow.event = "../../a b/\xff.";
    slow.begin = logged.begin;
    saved_add(&saved, &slow, 0);
    check(saved.parts[0].from == middle + unit - SAVED_SPANS_MAX * 2 * unit &&
              saved.parts[0].to == middle + unit,
          "%s, so is one for an interval that took very long", order);
    saved_write(&saved, UINT64_MAX, 0, 0, false, true);
    check(count_parts(part) == 4 && strstr(part, "/0004-______a_b___-") != NULL,
          "%s, an event's name does not leave the place: %s", order, part);
    saved_close(&saved);

    saved = (struct saved){
        .writer = &writer, .place = place, .before = unit, .after = unit, .most = 9, .has_dumps = true};
    add_at(&saved, middle);
    saved_write(&saved, middle + 5 * unit, middle - 2 * unit, middle - unit / 2, false, true);
    check(saved_needs_dump(&saved) && count_parts(part) == 4,
          "%s, a statedump before the part does not serve it", order);
    saved_write(&saved, middle + 5 * unit, middle + 3 * unit, middle + 4 * unit, false, true);
    check(count_parts(part) == 5 && is_part(part, middle - unit, middle + 4 * unit) &&
              strstr(part, "/0005-") != NULL,
          "%s, one after it is included, and numbers continue", order);
    add_at(&saved, middle + 30 * unit);
    add_at(&saved, middle + 50 * unit);
    saved_write(&saved, 0, 0, 0, middle + 40 * unit, true);
    check(count_parts(part) == 6 && saved.part_count == 1 && saved_needs(&saved) == middle + 49 * unit,
          "%s, what is about to be removed is saved at once", order);
    saved_close(&saved);
    close_trace_writer(&writer);
    forget_events();
}

static void test_no_place(void)
{
    struct saved saved = {.writer = &writer, .place = metadata, .before = 1, .after = 1, .most = 3};
    char path[100];
    int fd;

    log_events("le", 20000, false);
    start_pull();
    while (fed < 100)
        feed_one();
    snprintf(path, sizeof(path), "%s/a-file", scratch);
    fd = open(path, O_WRONLY | O_CREAT, 0666);
    close(fd);
    saved.place = path;
    add_at(&saved, sent[50].end);
    saved_write(&saved, UINT64_MAX, 0, 0, false, true);
    check(saved.failed == 1 && saved.count == 0 && saved.part_count == 0,
          "a part that cannot be saved is counted");
    saved_close(&saved);
    close_trace_writer(&writer);
    forget_events();
}

int main(void)
{
    static const char *const orders[] = {"le", "be"};

    make_scratch();
    snprintf(made, sizeof(made), "%s/made", scratch);
    snprintf(pulled, sizeof(pulled), "%s/pulled", scratch);
    snprintf(place, sizeof(place), "%s/pulled.saved", scratch);
    for (int i = 0; i < 2; i++) {
        test_cuts(orders[i]);
        test_bytes(orders[i], 48);
        test_bytes(orders[i], 400);
        test_triggers(orders[i]);
        test_saved(orders[i]);
    }
    test_failure();
    test_index();
    test_time();
    test_statedumps("400K", 0);
    test_statedumps("2M", 40);
    test_amounts();
    test_no_place();
    return finish_tests();
}
