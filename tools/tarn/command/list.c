/*
 * list.c - `tarn list`: prints the events of all CPUs in order, in parallel if it can.
 *
 * Each worker walks slices of time like separate traces, and prints into its own buffer. A worker whose
 * buffer is full, or whose slice is done, waits for its turn. A
 * packet that crosses the border of slices is read for both, but reported only by the slice that owns its
 * place in the file: those from a slice's first packet up to the first packet of the next slice.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/model/model.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/read/judge.h>
#include <tools/tarn/read/losses.h>
#include <tools/tarn/read/order.h>
#include <tools/tarn/read/slices.h>
#include <unistd.h>

#define WORKERS_MAX  16u
#define BUFFER_BYTES (24u << 20)
#define REPORTS_KEPT 100000u

struct list {
    struct filter filter;
    enum print_style style;
    enum print_time time;
    uint64_t limit, tail;
    uint64_t skip;    /* of matching events: these are not printed */
    bool has_numbers; /* each line begins with its event's number in the whole trace */
    const char *directory;
};

static const struct command_option options[] = {
    {COUNT("limit", "N", struct list, limit, 0, COUNT_MAX, "print at most the first N of these events")},
    {COUNT("tail", "N", struct list, tail, 0, COUNT_MAX, "print only the last N of these events")},
    {CHOICE(
        "json", struct list, style, PRINT_JSON,
        "print JSON lines\nMembers are ns (since the clock's origin), cycles, cpu, pid, tid, comm, event, "
        "fields. Enumerations appear as labels, or as numbers if they have none")},
    {CHOICE("csv", struct list, style, PRINT_CSV, "print comma-separated values with a heading")},
    {CHOICE("babeltrace", struct list, style, PRINT_BABELTRACE,
            "print like `babeltrace2 --clock-cycles --no-delta --names=all`, including its warnings")},
    {CHOICE("clock", struct list, time, PRINT_TIME_CLOCK,
            "print times since the clock's origin instead of the trace's start")},
    {CHOICE("cycles", struct list, time, PRINT_TIME_CYCLES, "print times in clock ticks")},
    {FLAG("numbers", struct list, has_numbers,
          "begin each line with the event's number, for tarn-goto(1)\nNumbers count from 0 over all events "
          "of the trace. The page of tarn-view(1) takes them after a `#`. Text output only")},
    {.name = NULL}};

static void print_number(struct out *out, uint64_t number)
{
    char *at = out_reserve(out, PUT_NUMBER_MAX);
    out_commit(out, at + sprintf(at, "%10" PRIu64 " ", number));
}

/* Walks over the events of SLICE and prints those that match. Without a PRINTER it only counts. Returns the
 * number of matching events. */
static uint64_t list_walk(const struct list *list, const struct trace *trace, const struct slice *slice,
                          struct reporter *reporter, struct printer *printer)
{
    const uint64_t skip = list->skip;
    struct merge merge;
    struct names names;
    struct model model; /* if without the drain */
    struct cursor *cursor;
    const bool *streams = list->filter.streams;
    bool needs_names = list->filter.process != NULL, has_model = list->filter.without_drain;
    bool all = list->has_numbers || has_model;
    uint64_t count = 0, number, next = 0, left_out = 0;
    names_open(&names, &trace->schema);
    if (has_model) {
        model_open(&model, trace, 0, UINT64_MAX);
        model_leave_out_drain(&model);
    }
    merge_open(&merge, trace, all ? NULL : streams, all ? 0 : slice->from, reporter);
    while ((count < skip || count - skip < list->limit) && (cursor = merge_next(&merge)) != NULL) {
        int64_t ns = cursor_ns(cursor);
        number = next++;
        if (needs_names)
            names_learn(&names, &cursor->event);
        if (cursor->ticks >= list->filter.to_ticks || ns >= slice->to_ns)
            break;
        bool is_drain = has_model && model_is_drain_event(&model, cursor);
        if (has_model)
            model_apply(&model, cursor);
        if (ns < slice->from_ns || cursor->ticks < slice->from ||
            !filter_wants(&list->filter, cursor, &names) || (streams != NULL && !streams[cursor->rank]))
            continue;
        left_out += is_drain;
        if (is_drain || count++ < skip || printer == NULL)
            continue;
        if (list->has_numbers)
            print_number(printer->out, number);
        print_event(printer, cursor);
        if (printer->out->failed)
            break;
    }
    if (has_model)
        model_close(&model);
    if (has_model && printer != NULL)
        complain("drain: %llu events left out", (unsigned long long)left_out);
    merge_close(&merge);
    names_close(&names);
    return count;
}

struct team {
    const struct list *list;
    const struct trace *trace;
    const struct slices *slices;
    struct losses *losses;
    pthread_mutex_t lock;
    pthread_cond_t turn_changed;
    /* under lock */
    unsigned next;  /* next slice to take */
    unsigned turn;  /* slice whose worker may write and report */
    uint64_t count; /* printed events */
    bool failed;    /* the output cannot be written; workers give up */
};

struct worker {
    struct reporter reporter; /* first */
    struct team *team;
    pthread_t thread;
    struct out out;
    struct printer printer;
    unsigned slice;
    uint64_t *owned_from, *owned_to; /* per stream: file offsets */
    struct report *reports;          /* of this slice, printed when its turn comes */
    unsigned report_count;
};

static void wait_turn(struct out *out)
{
    struct worker *worker = out->owner;
    struct team *team = worker->team;
    pthread_mutex_lock(&team->lock);
    while (team->turn != worker->slice)
        pthread_cond_wait(&team->turn_changed, &team->lock);
    if (team->failed)
        out->failed = true;
    pthread_mutex_unlock(&team->lock);
}

static void keep_report(struct reporter *reporter, const struct report *report)
{
    struct worker *worker = (struct worker *)reporter;
    unsigned rank = report->stream->rank, count = worker->report_count;
    if (report->offset < worker->owned_from[rank] || report->offset >= worker->owned_to[rank] ||
        count == REPORTS_KEPT)
        return;
    if ((count & (count - 1)) == 0)
        worker->reports = alloc_more(worker->reports, count ? 2 * count : 1, sizeof(worker->reports[0]));
    worker->reports[worker->report_count++] = *report;
}

/* Returns the file offset of the first packet that a slice reads of a stream. */
static uint64_t first_offset(const struct team *team, unsigned slice, const struct stream *stream)
{
    uint64_t from;
    if (slice == team->slices->count)
        return stream->size;
    from = team->slices->slices[slice].from;
    return from == 0 ? 0 : stream_seek(team->trace, stream, from);
}

static void work_on_slice(struct worker *worker)
{
    struct team *team = worker->team;
    uint64_t count;
    for (unsigned i = 0; i < team->trace->stream_count; i++) {
        worker->owned_from[i] = first_offset(team, worker->slice, &team->trace->streams[i]);
        worker->owned_to[i] = first_offset(team, worker->slice + 1, &team->trace->streams[i]);
    }
    worker->report_count = 0;
    if (worker->slice == 0)
        print_heading(&worker->printer);
    count =
        list_walk(team->list, team->trace, &team->slices->slices[worker->slice],
                  team->slices->count == 1 ? &team->losses->reporter : &worker->reporter, &worker->printer);
    wait_turn(&worker->out);
    out_flush(&worker->out);
    for (unsigned i = 0; i < worker->report_count; i++)
        team->losses->reporter.report(&team->losses->reporter, &worker->reports[i]);
    pthread_mutex_lock(&team->lock);
    team->turn++;
    team->count += count;
    team->failed |= worker->out.failed;
    pthread_cond_broadcast(&team->turn_changed);
    pthread_mutex_unlock(&team->lock);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct team *team = worker->team;
    for (;;) {
        pthread_mutex_lock(&team->lock);
        worker->slice = team->next++;
        pthread_mutex_unlock(&team->lock);
        if (worker->slice >= team->slices->count)
            return NULL;
        work_on_slice(worker);
    }
}

static bool open_worker(struct worker *worker, struct team *team, struct fail *fail)
{
    worker->reporter.report = keep_report;
    worker->team = team;
    out_open(&worker->out, STDOUT_FILENO, BUFFER_BYTES);
    worker->out.before_write = wait_turn;
    worker->out.owner = worker;
    worker->owned_from = alloc_zero(team->trace->stream_count, sizeof(uint64_t));
    worker->owned_to = alloc_zero(team->trace->stream_count, sizeof(uint64_t));
    return printer_open(&worker->printer, team->trace, &worker->out, team->list->style, team->list->time,
                        fail);
}

static void close_worker(struct worker *worker)
{
    printer_close(&worker->printer);
    out_close(&worker->out);
    free(worker->owned_from);
    free(worker->owned_to);
    free(worker->reports);
}

/* Prints all slices in order, several in parallel, and sets PRINTED to the number of events. Reports the
 * losses of each packet once. */
static bool list_slices(const struct list *list, const struct trace *trace, const struct slices *slices,
                        struct losses *losses, uint64_t *printed, struct fail *fail)
{
    struct team team = {.list = list,
                        .trace = trace,
                        .slices = slices,
                        .losses = losses,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .turn_changed = PTHREAD_COND_INITIALIZER};
    struct worker *workers = alloc_zero(WORKERS_MAX, sizeof(workers[0]));
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned most = processors < 1 ? 1 : processors > WORKERS_MAX ? WORKERS_MAX : (unsigned)processors;
    unsigned count = most < slices->count ? most : slices->count;
    unsigned opened = 0, started = 1;
    bool ok = true;
    while (ok && opened < count)
        ok = open_worker(&workers[opened++], &team, fail);
    if (ok) {
        while (started < count &&
               pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
            started++;
        work(&workers[0]);
        for (unsigned i = 1; i < started; i++)
            pthread_join(workers[i].thread, NULL);
        if (team.failed)
            ok = fail_set(fail, "cannot write: %s", strerror(errno));
    }
    for (unsigned i = 0; i < opened; i++)
        close_worker(&workers[i]);
    free(workers);
    *printed = team.count;
    return ok;
}

/* Returns the time from which to read the last events: goes back from the end, each time four times as far,
 * until enough events are found. Surplus ones are skipped. */
static uint64_t find_tail(struct list *list, const struct trace *trace)
{
    uint64_t last = list->filter.to_ticks < trace->end ? list->filter.to_ticks : trace->end;
    struct list counting = *list;
    counting.limit = UINT64_MAX;
    for (uint64_t span = 1u << 16;; span *= 4) {
        uint64_t from = span < last && last - span > trace->begin ? last - span : 0;
        struct losses ignored;
        uint64_t count;
        if (from < list->filter.from_ticks)
            from = list->filter.from_ticks;
        losses_open(&ignored, trace);
        ignored.quiet = true;
        count =
            list_walk(&counting, trace, &(struct slice){from, INT64_MIN, INT64_MAX}, &ignored.reporter, NULL);
        if (count >= list->tail || from == list->filter.from_ticks || from == 0 || span >= 1ull << 62) {
            list->skip = count > list->tail ? count - list->tail : 0;
            return from;
        }
    }
}

/* All is one slice for options such as --limit, which depend on all events before. */
static void choose_slices(struct list *list, const struct trace *trace, struct slices *slices)
{
    *slices = (struct slices){NULL, 0};
    if (list->limit == UINT64_MAX && list->tail == UINT64_MAX && list->filter.process == NULL &&
        !list->has_numbers && !list->filter.without_drain)
        slices_plan(slices, trace, &list->filter);
    if (slices->count > 0)
        return;
    *slices = (struct slices){alloc_zero(1, sizeof(slices->slices[0])), 1};
    slices->slices[0] = (struct slice){list->filter.from_ticks, INT64_MIN, INT64_MAX};
    if (list->tail != UINT64_MAX)
        slices->slices[0].from = find_tail(list, trace);
}

/* Reports why nothing was printed. */
static void complain_of_choice(const struct list *list, const struct trace *trace)
{
    if (trace->begin >= trace->end)
        complain("%s: the trace is empty", list->directory);
    else if (list->limit != 0 && list->tail != 0)
        complain(
            "%s: no event matches; `tarn info` shows when the trace begins and ends, `tarn stats` what it "
            "contains",
            list->directory);
}

/* The last line for programs, which do not read standard error. */
static void print_unfinished(const struct trace *trace, enum print_style style)
{
    const uint64_t known = trace_known_end(trace);
    const int64_t ns = schema_ns(&trace->schema, known);
    if (style == PRINT_JSON)
        printf("{\"ns\":%" PRId64 ",\"cycles\":%" PRIu64 ",\"cpu\":null,\"event\":\"(unfinished)\"}\n", ns,
               known);
    else
        printf("%.9f,%" PRIu64 ",,,,,(unfinished),\n",
               (double)schema_elapsed_ns(&trace->schema, trace->begin, known) / 1e9, known);
    fflush(stdout);
}

static int list_events(struct list *list, const struct trace *trace)
{
    struct slices slices;
    struct losses losses;
    struct fail fail;
    uint64_t count = 0;
    bool ok;
    if (!filter_resolve(&list->filter, trace, &fail))
        return fail_report(&fail, EXIT_USAGE);
    losses_open(&losses, trace);
    losses.from = list->filter.from_ticks;
    losses.to = list->filter.to_ticks;
    losses.as_babeltrace = list->style == PRINT_BABELTRACE;
    losses_judge(&losses);
    choose_slices(list, trace, &slices);
    ok = list_slices(list, trace, &slices, &losses, &count, &fail);
    slices_free(&slices);
    if (!ok)
        return fail_report(&fail, EXIT_USAGE);
    if (losses.is_unfinished && (list->style == PRINT_JSON || list->style == PRINT_CSV))
        print_unfinished(trace, list->style);
    if (!losses.as_babeltrace) {
        if (count == 0)
            complain_of_choice(list, trace);
        losses_summary(&losses);
    }
    return losses_status(&losses);
}

static int run_list(int argc, char **argv)
{
    struct list list = {.limit = UINT64_MAX, .tail = UINT64_MAX};
    struct trace trace;
    struct fail fail;
    int status = command_parse(&list_command, (void *[]){&list, &list.filter}, argc, argv);
    if (status >= 0)
        return status;
    if (list.limit != UINT64_MAX && list.tail != UINT64_MAX)
        return complain_of_words(&list_command, "--limit and --tail exclude each other");
    if (list.has_numbers && list.style != PRINT_TEXT)
        return complain_of_words(&list_command, "--numbers requires text output");
    list.directory = argv[optind];
    if (!trace_open(&trace, list.directory, &fail))
        return fail_report(&fail, EXIT_DAMAGE);
    status = list_events(&list, &trace);
    filter_free(&list.filter);
    trace_close(&trace);
    return status;
}

const struct command list_command =
    COMMAND("list", "print the events of all CPUs in order", "[OPTION]... DIRECTORY", 1, 1, run_list, NULL,
            {NULL, options}, {"Events to print", filter_options});
