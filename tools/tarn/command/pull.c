/*
 * pull.c - `tarn pull SOURCE -o DIR`: copies a guest's trace into a directory.
 *
 * A broken link is reopened and the pull resumes where it stopped. The first Ctrl-C asks the guest to finish;
 * the second one stops at once.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/goto/recipe.h>
#include <tools/tarn/keep/recorder.h>
#include <tools/tarn/read/read.h>
#include <tools/tarn/source/link.h>
#include <tools/tarn/tables/counted.h>
#include <trace/format/store.h>
#include <unistd.h>

#define UNDECODED_TOLD   10 /* limit of messages about packets cut here */
#define PROGRESS_SECONDS 0.5
#define NOTE_SECONDS     0.1
#define BUSY_SECONDS     0.2  /* delay before the next attempt while another pull runs */
#define FINISH_SECONDS   30.0 /* time-out without data after the end was requested */
#define SILENT_SECONDS   1.0  /* the guest reports its losses twice a second */
#define RETRY_SECONDS    0.3

struct pull {
    const char *name, *output;
    bool force, quiet, snapshot, previous, rows;
    uint32_t mode;
    double duration, wait, resume;
    double wait_until; /* deadline for another pull to end */
    uint64_t slow_ms;

    struct source *source;
    struct trace_writer writer;
    struct recorder *recorder;
    struct link probe;   /* its buffer is NULL: there is none */
    double probe_next;   /* no earlier than that: now_seconds() */
    double heard, noted; /* when something came from the guest; when that was noted in the trace */
    double begun, last_progress, finish_by; /* finish_by: 0 until the end is requested */
    uint64_t last_bytes;
    unsigned breaks;
    bool line_open;            /* a progress line is on the terminal */
    struct wire_status status; /* the guest's latest report; no CPUs: none yet */
    struct wire_cpu_status cpu[WIRE_CPUS_MAX];
    struct wire_end end;
};

static void close_probe(struct pull *pull)
{
    if (pull->probe.buffer != NULL)
        link_close(&pull->probe);
}

/*
 * Finds out whether a guest that is silent was reset. A connection through QEMU's user network outlives the
 * guest: after a reset nobody closes it, and nothing comes through it ever again. So after a second of
 * silence a second connection is made, again and again; the HELLO on it tells the boot. A link without
 * connections shows a new boot by itself.
 *
 * It never waits. True: HELLO came.
 */
static bool probe(struct pull *pull, struct wire_hello *hello)
{
    const struct link_class *link = pull->source->class->link;
    const double now = now_seconds();
    struct wire_frame frame;
    const uint8_t *payload;
    struct fail fail;
    if (link == NULL || link->joins || now - pull->heard < SILENT_SECONDS) {
        close_probe(pull);
        return false;
    }
    if (pull->probe.buffer == NULL) {
        int fd = now >= pull->probe_next ? link->connect(strchr(pull->name, ':') + 1, &fail) : -1;
        pull->probe_next = now >= pull->probe_next ? now + RETRY_SECONDS : pull->probe_next;
        if (fd >= 0)
            link_open(&pull->probe, fd, false);
        return false;
    }
    const enum source_got got = link_receive(&pull->probe, &frame, &payload, 0, &fail);
    if (got == SOURCE_NOTHING)
        return false;
    const bool is_hello = got == SOURCE_ITEM && frame.type == WIRE_HELLO && frame.length >= WIRE_HELLO_BYTES;
    if (is_hello)
        wire_get_hello(payload, hello);
    close_probe(pull);
    pull->probe_next = now + RETRY_SECONDS;
    return is_hello && check_hello(hello, &fail);
}

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number)
{
    if (interrupted)
        _exit(EXIT_DAMAGE);
    interrupted = 1;
}

static void end_line(struct pull *pull)
{
    if (pull->line_open)
        fputc('\n', stderr);
    pull->line_open = false;
}

static void show_progress(struct pull *pull)
{
    double now = now_seconds(), since = now - pull->last_progress;
    bool terminal = isatty(2);
    if (pull->quiet || since < (terminal ? PROGRESS_SECONDS : 1.0))
        return;
    fprintf(stderr, "%s%6.1f s  %11llu events  %9.1f MB  %7.1f MB/s  lost %llu packets, %llu events%s",
            terminal ? "\r" : "", now - pull->begun, (unsigned long long)pull->writer.events,
            (double)pull->writer.bytes * 1e-6, (double)(pull->writer.bytes - pull->last_bytes) * 1e-6 / since,
            (unsigned long long)(pull->writer.missing + pull->writer.refused),
            (unsigned long long)count_discarded(&pull->writer, false), terminal ? "  " : "\n");
    pull->line_open = terminal;
    pull->last_progress = now;
    pull->last_bytes = pull->writer.bytes;
}

static bool begin(struct pull *pull, bool again, struct fail *fail)
{
    uint32_t flags = pull->previous ? WIRE_PULL_PREVIOUS
                                    : WIRE_PULL_MODE | (pull->snapshot ? WIRE_PULL_SNAPSHOT : 0) |
                                          (again ? WIRE_PULL_RESUME : 0);
    uint64_t want[WIRE_CPUS_MAX];
    for (uint32_t cpu = 0; cpu < pull->source->hello.cpu_count; cpu++)
        want[cpu] = pull->writer.cpu[cpu].next;
    return pull->source->class->begin_pull(pull->source, flags, pull->mode, want, fail);
}

static void close_source(struct pull *pull)
{
    if (pull->source)
        pull->source->class->close(pull->source);
    pull->source = NULL;
}

/* A trace belongs to one boot, and ends when the rings are cleared. */
static bool is_restarted(struct pull *pull, const struct wire_hello *hello)
{
    const struct wire_hello *ours = &pull->writer.hello;
    if (hello->boot_id == ours->boot_id && hello->cpu_count == ours->cpu_count &&
        hello->generation == ours->generation && memcmp(hello->uuid, ours->uuid, 16) == 0)
        return false;
    complain("the guest was restarted or its trace was cleared: this trace ends here");
    note_link(&pull->writer, TRACE_LINK_RESTARTED, pull->heard);
    return true;
}

static bool reconnect(struct pull *pull, struct fail *why)
{
    double until = now_seconds() + pull->resume;
    struct fail fail;
    end_line(pull);
    complain("%s", why->text);
    close_source(pull);
    recorder_on_break(pull->recorder);
    note_link(&pull->writer, TRACE_LINK_BROKEN, pull->heard);
    if (pull->resume <= 0 || interrupted || pull->snapshot)
        return false;
    complain("trying to resume for %g seconds", pull->resume);
    for (double left = pull->resume; left > 0; left = until - now_seconds()) {
        pull->source = open_source(pull->name, left, &fail);
        if (pull->source && is_restarted(pull, &pull->source->hello))
            return false;
        pull->breaks += pull->source != NULL;
        /* the guest forgot all requests with the connection, so an end is requested again */
        if (pull->source && begin(pull, true, &fail) &&
            (pull->finish_by == 0 || pull->source->class->end_pull(pull->source, &fail)))
            return true;
        complain("%s", fail.text);
        close_source(pull);
    }
    return false;
}

/* With the first ones, copies the recipe, unless the trace is of the previous boot, which is another run. */
static bool take_metadata(struct pull *pull, const struct source_item *item, struct fail *fail)
{
    struct buffer text = {0};
    if (!pull->writer.have_metadata) {
        pull->begun = now_seconds();
        if (!pull->previous && !recipe_copy(pull->name, pull->writer.directory_fd, fail))
            complain("%s", fail->text);
    }
    buffer_add(&text, item->bytes, item->size);
    if (pull->rows)
        declare_rows(&text);
    const bool ok = write_metadata(&pull->writer, text.bytes, text.used, fail);
    free(text.bytes);
    return ok;
}

/* Returns false if the trace cannot be written. */
static bool take_item(struct pull *pull, const struct source_item *item, struct fail *fail)
{
    uint64_t refused = pull->writer.refused, undecoded = pull->writer.undecoded;
    switch (item->kind) {
    case SOURCE_METADATA:
        return take_metadata(pull, item, fail);
    case SOURCE_PACKET:
        /* on a full disk, a cut in progress is given up for the packet */
        if (!write_packet(&pull->writer, item, fail) &&
            !(recorder_stop_cut(pull->recorder) && write_packet(&pull->writer, item, fail)))
            return false;
        if (pull->writer.refused != refused) {
            end_line(pull);
            complain("refused: %s", fail->text);
        } else if (pull->writer.undecoded != undecoded && undecoded < UNDECODED_TOLD) {
            end_line(pull);
            complain("%s%s", fail->text,
                     undecoded + 1 < UNDECODED_TOLD ? "" : "; further ones are only counted");
        }
        if (pull->slow_ms)
            usleep((useconds_t)pull->slow_ms * 1000);
        return true;
    case SOURCE_STATUS:
        pull->status = item->status;
        memcpy(pull->cpu, item->cpu, sizeof(pull->cpu));
        return check_trace_writer(&pull->writer, fail); /* periodically, not only at the end */
    case SOURCE_END:
        pull->end = item->end;
        return check_trace_writer(&pull->writer, fail);
    case SOURCE_REPLY:
        end_line(pull);
        recorder_on_reply(pull->recorder, item->reply.status);
        return true;
    }
    return true;
}

/* Cuts the trace and saves parts of it; asks the guest for a statedump if one is needed. */
static void record(struct pull *pull, bool has_packet)
{
    const struct wire_request request = {.operation = WIRE_OP_COMMAND, .text = "statedump"};
    struct fail fail;
    if (!recorder_is_on(pull->recorder))
        return;
    recorder_step(pull->recorder, has_packet);
    if (pull->source != NULL && pull->finish_by == 0 && recorder_wants_dump(pull->recorder) &&
        pull->source->class->request(pull->source, &request,
                                     &fail)) /* a broken link is noticed at the next item */
        recorder_asked(pull->recorder);
}

/* If another pull runs, tries again until --wait ends. */
static bool try_again(struct pull *pull, struct fail *fail)
{
    if (pull->end.reason != WIRE_ENDED_BUSY || interrupted || now_seconds() >= pull->wait_until)
        return false;
    usleep(BUSY_SECONDS * 1000000);
    pull->end.reason = 0;
    pull->finish_by = 0;
    pull->begun = pull->last_progress = now_seconds();
    begin(pull, pull->writer.packets > 0, fail); /* a broken link is noticed at the next item */
    return true;
}

/* The guest lets a pull wait for the end of another one; that time does not count as --duration. */
static bool is_over(const struct pull *pull, double now)
{
    double grace = pull->writer.have_metadata ? 0 : FINISH_SECONDS;
    return pull->duration > 0 && now - pull->begun >= pull->duration + grace;
}

/* Notes whether anything comes. False: the guest was restarted. Guest memory that is read from outside is
 * never silent. */
static bool watch_link(struct pull *pull, bool has_item, struct fail *fail)
{
    struct wire_hello hello;
    if (has_item || pull->source->class->link == NULL)
        pull->heard = now_seconds();
    if (now_seconds() - pull->noted > NOTE_SECONDS) {
        pull->noted = now_seconds();
        note_link(&pull->writer, TRACE_LINK_FOLLOWS, pull->heard);
    }
    return !probe(pull, &hello) || !is_restarted(pull, &hello) ||
           fail_set(fail, "the end of the trace is missing");
}

/* Runs until the guest reports the end, or until nothing more can arrive. */
static bool pull_loop(struct pull *pull, struct fail *fail)
{
    struct source_item *item = alloc_zero(1, sizeof(*item));
    bool ok = true;
    while (ok && (pull->end.reason == 0 || try_again(pull, fail))) {
        double now = now_seconds();
        bool finish = interrupted || is_over(pull, now);
        if (finish && pull->finish_by == 0 && !pull->snapshot) {
            pull->finish_by = now + FINISH_SECONDS;
            pull->source->class->end_pull(pull->source, fail); /* a broken link is noticed below */
        }
        if (pull->finish_by != 0 && now > pull->finish_by) {
            ok = fail_set(fail, "the guest did not finish");
            break;
        }
        switch (pull->source->class->next(pull->source, item, 100, fail)) {
        case SOURCE_ITEM:
            ok = take_item(pull, item, fail) && watch_link(pull, true, fail);
            if (ok)
                record(pull, item->kind == SOURCE_PACKET);
            if (pull->finish_by != 0)
                pull->finish_by = now_seconds() + FINISH_SECONDS;
            break;
        case SOURCE_NOTHING:
            ok = watch_link(pull, false, fail);
            if (ok)
                record(pull, false);
            break;
        case SOURCE_BROKEN:
            ok = reconnect(pull, fail);
            if (!ok)
                fail_set(fail, "the link broke: the end of the trace is missing");
            break;
        }
        show_progress(pull);
    }
    free(item);
    return ok;
}

/* Writes the guest's latest report of losses into the trace, and rows behind it. OK: the pull did not fail.
 * The guest then sent the report at the end, so it covers all losses. */
static bool write_losses(struct pull *pull, bool ok, struct fail *fail)
{
    uint32_t reason = pull->end.reason;
    bool is_whole =
        ok && reason != WIRE_ENDED_CHANGED && reason != WIRE_ENDED_BUSY && reason != WIRE_ENDED_ERROR;
    bool is_written = write_closing(&pull->writer, &pull->status, pull->cpu, is_whole, fail),
         lacks_rows = is_written && is_whole && pull->rows && !log_rows(&pull->writer, pull->source, fail);

    if (lacks_rows)
        complain("%s", fail->text);
    if (is_written && (!is_whole || finish_trace_writer(&pull->writer, fail)))
        return !lacks_rows;
    if (ok)
        complain("%s", fail->text);
    return false;
}

static const char *end_text(const struct pull *pull)
{
    static const char *const texts[] = {
        [WIRE_ENDED_ASKED] = "as requested",
        [WIRE_ENDED_STOPPED] = "tracing was stopped in the guest",
        [WIRE_ENDED_SNAPSHOT] = "snapshot complete",
        [WIRE_ENDED_CHANGED] = "the guest's buffers were cleared",
        [WIRE_ENDED_BUSY] = "another pull from this guest is running (--wait waits until it ends)",
        [WIRE_ENDED_GUEST] = "the guest ended"};
    const uint32_t reason = pull->end.reason;
    if (reason == WIRE_ENDED_SNAPSHOT && pull->previous)
        return "the previous trace is complete";
    if (reason == WIRE_ENDED_SNAPSHOT && pull->writer.missing)
        return "snapshot, but packets were overwritten first";
    return reason < sizeof(texts) / sizeof(texts[0]) && texts[reason] != NULL
               ? texts[reason]
               : "the guest could not continue";
}

static int summarize(struct pull *pull, bool ok)
{
    struct trace_writer *writer = &pull->writer;
    double seconds = now_seconds() - pull->begun;
    end_line(pull);
    fprintf(stderr, "%s: %llu events, %llu packets, %.1f MB in %.1f s (%.1f MB/s, %.0f events/s)%s%s\n",
            pull->output, (unsigned long long)writer->events, (unsigned long long)writer->packets,
            (double)writer->bytes * 1e-6, seconds, (double)writer->bytes * 1e-6 / seconds,
            (double)writer->events / seconds, ok ? ", ended: " : ", incomplete", ok ? end_text(pull) : "");
    fprintf(stderr, "lost: %llu packets missing, %llu refused, %llu cut; %llu events discarded in the guest",
            (unsigned long long)writer->missing, (unsigned long long)writer->refused,
            (unsigned long long)writer->cut, (unsigned long long)count_discarded(writer, false));
    if (count_discarded(writer, true) > 0)
        fprintf(stderr, ", %llu before this trace", (unsigned long long)count_discarded(writer, true));
    if (writer->cut > 0)
        fprintf(stderr, ", %s%llu cut off packets", writer->cut_off_is_least ? "at least " : "",
                (unsigned long long)writer->cut_off);
    if (writer->undecoded > 0)
        fprintf(stderr, "; %llu packets have an event that cannot be decoded",
                (unsigned long long)writer->undecoded);
    fprintf(stderr, pull->breaks ? "; the link broke %u times\n" : "\n", pull->breaks);
    if (pull->end.reason == WIRE_ENDED_BUSY || pull->end.reason == WIRE_ENDED_ERROR)
        return writer->packets > 0 ? EXIT_DAMAGE : EXIT_USAGE;
    bool is_saved = recorder_summarize(pull->recorder);
    bool whole = ok && is_saved && writer->missing == 0 && writer->refused == 0 && writer->undecoded == 0 &&
                 pull->end.reason != WIRE_ENDED_CHANGED;
    return whole ? EXIT_OK : EXIT_DAMAGE;
}

/* Selects the trace of the previous boot; source->hello then describes that trace. */
static bool choose_previous(struct pull *pull, struct fail *fail)
{
    static const char *const ends[] = {"without a word: a reset, or worse", "by a panic", "in order"};
    struct wire_previous previous;
    if (!source_choose_previous(pull->source, &previous, fail))
        return false;
    fprintf(stderr, "the previous boot ended %s%s%s\n",
            ends[previous.end <= TRACE_STORE_SHUTDOWN ? previous.end : 0], previous.reason[0] ? ": " : "",
            previous.reason);
    if (previous.damaged)
        fprintf(stderr, "%u of its packets have been damaged since and are discarded\n", previous.damaged);
    if (previous.unsummed)
        fprintf(stderr,
                "%u of %u packets have no checksum (they were still open), so damage to them cannot be "
                "excluded\n",
                previous.unsummed, previous.packets);
    return true;
}

static bool choose_mode(void *context, const struct command_option *option, const char *value,
                        struct fail *fail)
{
    return parse_mode(value, &((struct pull *)context)->mode, fail);
}

#define SECONDS_MAX 1e9

static const struct command_option options[] = {
    {TEXT("output", "DIR", struct pull, output, "directory for the trace; created if missing, must be empty"),
     .letter = 'o'},
    {FLAG("force", struct pull, force, "replace the trace in DIR")},
    {CALL("mode", "MODE", choose_mode,
          "mode while pulling: stream (events without space are counted as discarded; the default), flight "
          "(overwritten events are counted as lost), once")},
    {FLAG("snapshot", struct pull, snapshot,
          "copy the current contents of the buffers, then end; changes nothing in the guest")},
    {FLAG("previous", struct pull, previous,
          "copy the trace that the previous boot left in memory, then end\nIt ended by a reset or a panic, "
          "or died. The trace contains the last events, including those of partly filled buffers. `tarn "
          "pull` first prints how that boot ended. This also works on guest memory, as long as the running "
          "system keeps the trace. The trace stays in the guest until it is dropped (tarn-ctl(1)) or memory "
          "becomes scarce there")},
    {REAL("duration", "SEC", struct pull, duration, 1e-6, SECONDS_MAX,
          "end SEC seconds after the first data")},
    {REAL("wait", "SEC", struct pull, wait, 0, SECONDS_MAX,
          "keep trying for SEC seconds to connect, and while another pull of the guest runs (0)\nA booting "
          "guest accepts connections before it replies")},
    {REAL("resume", "SEC", struct pull, resume, 0, SECONDS_MAX,
          "after the link broke, try for SEC seconds to resume where it broke (10)")},
    {COUNT("slow", "MS", struct pull, slow_ms, 0, 10000,
           "pause after each packet, to test the losses of a slow consumer")},
    {FLAG("rows", struct pull, rows,
          "end the trace with the rows of the guest's tables of counters\nThey are events row_TABLE, and so "
          "relations of tarn-sql(1)")},
    {FLAG("quiet", struct pull, quiet, "print no progress"), .letter = 'q'},
    {.name = NULL}};

static int copy(struct pull *pull)
{
    struct sigaction action = {.sa_handler = note_interrupt};
    struct fail fail;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    if (!begin(pull, false, &fail))
        return fail_report(&fail, EXIT_USAGE);
    pull->begun = pull->last_progress = pull->heard = now_seconds();
    pull->wait_until = pull->begun + pull->wait;
    bool ok = pull_loop(pull, &fail);
    close_probe(pull);
    end_line(pull);
    if (!ok)
        complain("%s", fail.text);
    recorder_stop_cut(pull->recorder);
    ok &= write_losses(pull, ok, &fail);
    recorder_finish(pull->recorder);
    return summarize(pull, ok);
}

static int check_options(const struct pull *pull)
{
    struct fail fail;
    if (!pull->output)
        return complain_of_words(&pull_command, "-o DIR is missing");
    if (recorder_is_on(pull->recorder) && (pull->snapshot || pull->previous))
        return complain_of_words(&pull_command, "--keep and --save-on are not for --snapshot and --previous");
    return recorder_check(pull->recorder, &fail) ? -1 : fail_report(&fail, EXIT_USAGE);
}

static int pull_from(struct pull *pull, const char *name)
{
    struct fail fail;
    int status;
    pull->snapshot |= pull->previous; /* its trace is final */
    pull->name = name;
    pull->writer.directory_fd = -1;
    pull->source = open_source(name, pull->wait, &fail);
    if (pull->source == NULL || (pull->previous && !choose_previous(pull, &fail)) ||
        !open_trace_writer(&pull->writer, pull->output, pull->force, &pull->source->hello, &fail))
        return fail_report(&fail, EXIT_USAGE);
    status =
        recorder_open(pull->recorder, &pull->writer, pull->source->class->request != NULL, pull->quiet, &fail)
            ? copy(pull)
            : fail_report(&fail, EXIT_USAGE);
    close_trace_writer(&pull->writer);
    return status;
}

static int run_pull(int argc, char **argv)
{
    struct pull *pull = alloc_zero(1, sizeof(*pull));
    int status;
    pull->mode = 1;
    pull->resume = 10;
    interrupted = 0;
    pull->recorder = recorder_new();
    status = command_parse(&pull_command, (void *[]){pull, pull->recorder}, argc, argv);
    if (status < 0)
        status = check_options(pull);
    if (status < 0)
        status = pull_from(pull, argv[optind]);
    close_source(pull);
    recorder_free(pull->recorder);
    free(pull);
    return status;
}

const struct command pull_command =
    COMMAND("pull", "copy the trace of a running guest into a directory", "SOURCE -o DIR [OPTION]...", 1, 1,
            run_pull, NULL, {NULL, options}, {"A part of the trace", recorder_options});
