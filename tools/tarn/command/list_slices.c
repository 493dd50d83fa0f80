/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_slices.c - `tarn list` in parallel: each worker prints slices of time.
 *
 * A worker takes the next slice, walks it like a separate trace and prints into its own buffer. Buffers are
 * written in the order of the slices: a worker whose buffer is full, or whose slice is done, waits for its
 * turn. So the output equals that of a single walk, with one buffer per worker in memory.
 *
 * A packet that crosses the border of slices is read for both, but reported only once, by the slice that owns
 * its place in the file. A slice owns the places from its first packet up to the first packet of the next
 * slice.
 *
 * Locking: `lock` protects the fields listed under it. All other data belongs to one worker.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/command/list.h>
#include <unistd.h>

#define WORKERS_MAX  16u
#define BUFFER_BYTES (24u << 20)
#define REPORTS_KEPT 100000u

struct list_workers {
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
    struct list_workers *list_workers;
    pthread_t thread;
    struct out out;
    struct printer printer;
    unsigned slice;
    uint64_t *owned_from, *owned_to; /* per stream: file offsets */
    struct report *reports;          /* of this slice, printed when its turn comes */
    unsigned report_count;
};

static void wait_turn(struct worker *worker)
{
    struct list_workers *list_workers = worker->list_workers;

    pthread_mutex_lock(&list_workers->lock);
    while (list_workers->turn != worker->slice)
        pthread_cond_wait(&list_workers->turn_changed, &list_workers->lock);
    if (list_workers->failed)
        worker->out.failed = true;
    pthread_mutex_unlock(&list_workers->lock);
}

static void before_write(struct out *out)
{
    wait_turn(out->owner);
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
static uint64_t first_offset(const struct list_workers *list_workers, unsigned slice,
                             const struct stream *stream)
{
    uint64_t from;

    if (slice == list_workers->slices->count)
        return stream->size;
    from = list_workers->slices->slices[slice].from;
    return from == 0 ? 0 : stream_seek(list_workers->trace, stream, from);
}

static void work_on_slice(struct worker *worker)
{
    struct list_workers *list_workers = worker->list_workers;
    uint64_t count;

    for (unsigned i = 0; i < list_workers->trace->stream_count; i++) {
        worker->owned_from[i] = first_offset(list_workers, worker->slice, &list_workers->trace->streams[i]);
        worker->owned_to[i] = first_offset(list_workers, worker->slice + 1, &list_workers->trace->streams[i]);
    }
    worker->report_count = 0;
    if (worker->slice == 0)
        print_heading(&worker->printer);
    count = list_walk(list_workers->list, list_workers->trace, &list_workers->slices->slices[worker->slice],
                      &worker->reporter, &worker->printer, 0);
    wait_turn(worker);
    out_flush(&worker->out);
    for (unsigned i = 0; i < worker->report_count; i++)
        list_workers->losses->reporter.report(&list_workers->losses->reporter, &worker->reports[i]);
    pthread_mutex_lock(&list_workers->lock);
    list_workers->turn++;
    list_workers->count += count;
    list_workers->failed |= worker->out.failed;
    pthread_cond_broadcast(&list_workers->turn_changed);
    pthread_mutex_unlock(&list_workers->lock);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct list_workers *list_workers = worker->list_workers;

    for (;;) {
        pthread_mutex_lock(&list_workers->lock);
        worker->slice = list_workers->next++;
        pthread_mutex_unlock(&list_workers->lock);
        if (worker->slice >= list_workers->slices->count)
            return NULL;
        work_on_slice(worker);
    }
}

static bool open_worker(struct worker *worker, struct list_workers *list_workers, struct fail *fail)
{
    worker->reporter.report = keep_report;
    worker->list_workers = list_workers;
    out_open(&worker->out, STDOUT_FILENO, BUFFER_BYTES);
    worker->out.before_write = before_write;
    worker->out.owner = worker;
    worker->owned_from = alloc_zero(list_workers->trace->stream_count, sizeof(uint64_t));
    worker->owned_to = alloc_zero(list_workers->trace->stream_count, sizeof(uint64_t));
    return printer_open(&worker->printer, list_workers->trace, &worker->out, list_workers->list->style,
                        list_workers->list->time, fail);
}

static void close_worker(struct worker *worker)
{
    printer_close(&worker->printer);
    out_close(&worker->out);
    free(worker->owned_from);
    free(worker->owned_to);
    free(worker->reports);
}

bool list_slices(const struct list *list, const struct trace *trace, const struct slices *slices,
                 struct losses *losses, uint64_t *printed, struct fail *fail)
{
    struct list_workers list_workers = {.list = list,
                                        .trace = trace,
                                        .slices = slices,
                                        .losses = losses,
                                        .lock = PTHREAD_MUTEX_INITIALIZER,
                                        .turn_changed = PTHREAD_COND_INITIALIZER};
    struct worker *workers = alloc_zero(WORKERS_MAX, sizeof(workers[0]));
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned count = processors < 1 ? 1 : processors > WORKERS_MAX ? WORKERS_MAX : (unsigned)processors;
    unsigned opened = 0, started = 1;
    bool ok = true;

    while (ok && opened < count)
        ok = open_worker(&workers[opened++], &list_workers, fail);
    if (ok) {
        while (started < count &&
               pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
            started++;
        work(&workers[0]);
        for (unsigned i = 1; i < started; i++)
            pthread_join(workers[i].thread, NULL);
        if (list_workers.failed)
            ok = fail_set(fail, "cannot write: %s", strerror(errno));
    }
    for (unsigned i = 0; i < opened; i++)
        close_worker(&workers[i]);
    free(workers);
    *printed = list_workers.count;
    return ok;
}
