/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/view_test.c - compares the view's index and replies with walks over the whole trace; prints
 * TAP.
 *
 * usage: view [DIRECTORY]...      real traces, too
 *
 * Synthetic traces of both byte orders. Sums of random ranges must equal those of slow walks, replies from
 * checkpoints those without, an index that grew with its files, packet by packet, one made at once. Damaged
 * index files and invalid requests must do no harm.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/synthetic.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/index_file.h>
#include <tools/tarn/view/lanes.h>
#include <unistd.h>

#define RANGES    12
#define SWITCHES  6
#define MUTATIONS 400
#define REQUESTS  600
#define SEARCHES  150

static uint64_t random_state = 1;

static uint64_t draw(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 16) % (below ? below : 1);
}

/* ---- the slow way -------------------------------------------------------------------------------- */

struct truth {
    struct model_observer observer;
    uint64_t from, to;
    uint64_t (*threads)[NODE_KINDS]; /* by number */
    uint64_t *events;                /* by type */
    uint32_t thread_capacity;
};

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct truth *truth = (struct truth *)self;
    enum node_kind kind = node_kind(thread);

    from = from > truth->from ? from : truth->from;
    to = to < truth->to ? to : truth->to;
    if (from < to && kind < NODE_KINDS && thread->number < truth->thread_capacity)
        truth->threads[thread->number][kind] += to - from;
}

static void find_truth(struct truth *truth, const struct view *view, uint64_t from, uint64_t to)
{
    struct model model;
    struct merge merge;
    struct cursor *cursor;

    *truth = (struct truth){.observer = {.segment = on_segment}, .from = from, .to = to};
    truth->thread_capacity = index_thread_count(&view->index);
    truth->threads = alloc_zero(truth->thread_capacity + 1, sizeof(truth->threads[0]));
    truth->events = alloc_zero(view->trace.schema.event_count + 1, sizeof(truth->events[0]));
    model_open(&model, &view->trace, 0, UINT64_MAX);
    model_observe(&model, &truth->observer);
    merge_open(&merge, &view->trace, NULL, 0, NULL);
    while ((cursor = merge_next(&merge)) != NULL) {
        if (cursor->ticks >= from && cursor->ticks < to)
            truth->events[cursor->event.type->index]++;
        model_apply(&model, cursor);
    }
    model_finish(&model);
    merge_close(&merge);
    model_close(&model);
}

static void forget_truth(struct truth *truth)
{
    free(truth->threads);
    free(truth->events);
}

/* ---- sums ---------------------------------------------------------------------------------------- */

static void choose_range(const struct view *view, uint64_t *from, uint64_t *to)
{
    uint64_t length = (view->index.end - view->index.begin) >> draw(10), begin;

    begin = draw(view->index.end - view->index.begin - length + 1);
    *from = view_ticks(view, view_span(view, begin)); /* requests have whole nanoseconds */
    *to = view_ticks(view, view_span(view, begin + length));
    *to = *to > view->trace.end ? view->trace.end : *to; /* a walk ends there */
}

static bool is_true(const struct truth *truth, const struct tally *tally)
{
    for (uint32_t i = 0; i < tally->event_count; i++)
        if (tally->events[i] != truth->events[i]) {
            printf("# event %u: %llu, should be %llu\n", i, (unsigned long long)tally->events[i],
                   (unsigned long long)truth->events[i]);
            return false;
        }
    for (uint32_t i = 0; i < truth->thread_capacity; i++) {
        bool is_known = i < tally->thread_size && tally->threads[i].stamp == tally->stamp;

        for (int kind = 0; kind < NODE_KINDS && is_known; kind++)
            if (tally->threads[i].ticks[kind] != truth->threads[i][kind]) {
                printf("# thread %u kind %d: %llu, should be %llu\n", i, kind,
                       (unsigned long long)tally->threads[i].ticks[kind],
                       (unsigned long long)truth->threads[i][kind]);
                return false;
            }
        if (!is_known && truth->threads[i][NODE_USER] + truth->threads[i][NODE_KERNEL] != 0)
            return false;
    }
    return true;
}

static bool is_right(const struct view *view, uint64_t from, uint64_t to)
{
    struct fail fail = {""};
    struct truth truth;
    struct tally tally;
    bool ok;

    find_truth(&truth, view, from, to);
    tally_open(&tally, &view->trace);
    ok = cover_sum(&view->index, &view->trace, from, to, &tally, &fail) && is_true(&truth, &tally);
    if (!ok)
        printf("# range %llu %llu %s\n", (unsigned long long)from, (unsigned long long)to, fail.text);
    tally_close(&tally);
    forget_truth(&truth);
    return ok;
}

/* Returns the first block from BLOCK on that begins with a switch. */
static size_t find_switch(const struct view *view, size_t block)
{
    struct merge merge;
    struct cursor *cursor;

    merge_open(&merge, &view->trace, NULL, 0, NULL);
    while ((cursor = merge_next(&merge)) != NULL) {
        while (block < index_block_count(&view->index) && index_begin(&view->index, block) < cursor->ticks)
            block++;
        if (cursor->ticks == index_begin(&view->index, block) &&
            strcmp(cursor->event.type->name, "sched_switch") == 0)
            break;
    }
    merge_close(&merge);
    return block;
}

static void test_sums(const struct view *view, const char *name)
{
    unsigned wrong = 0, at_switches = 0;
    uint64_t begin, length;

    for (int i = 0; i < RANGES; i++) {
        uint64_t from, to;

        choose_range(view, &from, &to);
        wrong += !is_right(view, from, to);
    }
    check(wrong == 0, "%s: times and counts of %d ranges are those of a walk over everything", name, RANGES);
    wrong = 0;
    for (size_t block = 1; at_switches < SWITCHES; block++) {
        block = find_switch(view, block);
        if (block >= index_block_count(&view->index))
            break;
        at_switches++;
        begin = index_begin(&view->index, block);
        length = index_begin(&view->index, block + 1) - begin;
        wrong += !is_right(view, view->index.begin, begin + length / 16);
    }
    check(at_switches > 0 && wrong == 0, "%s: so are those whose last walk begins with a switch (%u)", name,
          at_switches);
}

/* Shares are rounded to percent, so sums may differ by one percent of a pixel each. */
static void test_pixels(const struct view *view, const char *name)
{
    bool *cpus = alloc_zero(lanes_cpu_count(view) + 1, sizeof(bool));
    bool *threads = alloc_zero(index_thread_count(&view->index) + 1, sizeof(bool));
    struct lanes lanes = {.from = view->index.begin + 1, .to = view->trace.end, .width = 300};
    double pixel = (double)(lanes.to - lanes.from) / lanes.width;
    struct truth truth;
    struct fail fail;
    unsigned wrong = 0;

    memset(threads, true, index_thread_count(&view->index));
    lanes_ask(&lanes, view, cpus, threads);
    find_truth(&truth, view, lanes.from, lanes.to);
    wrong += !lanes_sum(&lanes, view, &fail);
    for (uint32_t i = 0; i < lanes.thread_count; i++) {
        const struct lane_run *run = (const struct lane_run *)lanes.threads[i].runs.bytes;
        double told[4] = {0}, pixels = 0;

        for (size_t n = 0; n < lane_count(&lanes.threads[i].runs, sizeof(*run)); n++, run++) {
            pixels += run->pixels;
            for (int kind = 0; kind < 4; kind++)
                told[kind] += run->pixels * (run->shares[kind] / 100.0) * pixel;
        }
        for (int kind = 0; kind < 4; kind++) {
            double off = told[kind] - (double)truth.threads[lanes.threads[i].number][kind];

            wrong += off > 0.006 * pixel * lanes.width || off < -0.006 * pixel * lanes.width;
        }
        wrong += pixels != lanes.width;
    }
    check(wrong == 0, "%s: pixels add up to what each thread did", name);
    lanes_free(&lanes);
    forget_truth(&truth);
    free(cpus);
    free(threads);
}

/* ---- requests ----------------------------------------------------------------------------------- */

/* A client that stops waiting after it was checked PATIENCE times. */
struct asker {
    unsigned asked, patience;
};

static bool has_patience(const struct request *request)
{
    struct asker *asker = request->asker;

    return asker->asked++ < asker->patience;
}

/* PARAMETERS: key=value&..., split here. The caller frees the reply. */
static struct buffer ask_with(struct view *view, const char *path, const char *parameters,
                              struct asker *asker, unsigned *status)
{
    char text[600], *at = text;
    struct request request = {.path = path, .is_waiting = has_patience, .asker = asker};
    struct json json = {0};
    const char *type;

    snprintf(text, sizeof(text), "%s", parameters);
    while (at != NULL && *at != '\0' && request.count < REQUEST_PARAMETERS_MAX) {
        char *next = strchr(at, '&'), *value;

        if (next != NULL)
            *next++ = '\0';
        value = strchr(at, '=');
        if (value != NULL)
            *value++ = '\0';
        request.parameters[request.count].key = at;
        request.parameters[request.count++].value = value != NULL ? value : "";
        at = next;
    }
    *status = api_ask(view, &request, &json, &type);
    return json.text;
}

static struct buffer ask(struct view *view, const char *path, const char *parameters, unsigned *status)
{
    return ask_with(view, path, parameters, &(struct asker){.patience = UINT_MAX}, status);
}

static bool has_reply(struct view *view, const char *parameters, struct asker *asker)
{
    unsigned status;
    struct buffer reply = ask_with(view, "/api/analysis", parameters, asker, &status);

    free(reply.bytes);
    return status == 200;
}

/* The walk of an analysis, and the second one for the path of a request, end when no client waits. */
static void test_patience(struct view *view, const char *name)
{
    struct asker once = {.patience = UINT_MAX}, twice = once, first, second, third;
    bool ok = has_reply(view, "name=ipc", &once) && has_reply(view, "name=ipc&request=longest", &twice);

    first = (struct asker){.patience = once.asked - 1};
    second = (struct asker){.patience = once.asked};
    third = (struct asker){.patience = twice.asked};
    check(ok && once.asked > 2 && twice.asked > once.asked && !has_reply(view, "name=ipc", &first) &&
              !has_reply(view, "name=ipc&request=longest", &second) &&
              has_reply(view, "name=ipc&request=longest", &third),
          "%s: an analysis stops when no client waits, in its second walk, too", name);
}

/* ---- searches ------------------------------------------------------------------------------------- */

/* Repeats a search until it is done. Returns the found event as JSON, or nothing. */
static struct buffer search_on(struct view *view, const char *what, const char *direction, uint64_t from)
{
    static const char key[] = "\"n\":";

    for (;;) {
        char parameters[600], *end, *at, *last = NULL;
        struct buffer reply;
        unsigned status;

        snprintf(parameters, sizeof(parameters), "%s&direction=%s&n=%llu", what, direction,
                 (unsigned long long)from);
        reply = ask(view, "/api/search", parameters, &status);
        buffer_add(&reply, "", 1);
        at = (char *)reply.bytes;
        end = strstr(at, "\"found\":");
        if (status != 200 || end == NULL || strstr(end, "\"done\":true") != NULL) {
            reply.used = end != NULL ? (size_t)(end - at) : 0;
            return reply;
        }
        for (at = end; (at = strstr(at, key)) != NULL; at += sizeof(key) - 1)
            last = at;
        from = last != NULL ? strtoull(last + sizeof(key) - 1, NULL, 10) : 0;
        free(reply.bytes);
    }
}

/* Makes a search that many events match, or one, or none. */
static void make_search(const struct view *view, char what[300])
{
    const struct schema *schema = &view->trace.schema;
    const struct event_type *type = schema->events[draw(schema->event_count)];
    const struct index_thread *thread =
        index_thread(&view->index, (uint32_t)draw(index_thread_count(&view->index)));
    const char *field = type->field_count > 0 ? type->fields[draw(type->field_count)].name : "cpu_id";
    size_t length = draw(2) ? (size_t)snprintf(what, 300, "events=%u&", type->index) : 0;
    char *at = what + length;
    size_t capacity = 300 - length;

    what[length] = '\0';
    switch (draw(8)) {
    case 0:
        snprintf(at, capacity, "text=%.5s", type->name + draw(strlen(type->name)));
        break;
    case 1:
        snprintf(at, capacity, "text=%s", thread->name);
        break;
    case 2:
        snprintf(at, capacity, "text=%llu", (unsigned long long)draw(1ull << draw(34)));
        break;
    case 3:
        snprintf(at, capacity, "text=%c%c", 'a' + (char)draw(26), 'A' + (char)draw(26));
        break;
    case 4:
        snprintf(at, capacity, "tids=%u", thread->tid);
        break;
    case 5:
        snprintf(at, capacity, "field=%s&value=%llu", field, (unsigned long long)draw(1ull << draw(34)));
        break;
    case 6:
        snprintf(at, capacity, "field=%s&value=%s&cpus=%llu", field, thread->name,
                 (unsigned long long)draw(4));
        break;
    default:
        snprintf(at, capacity, "field=%s&text=%u", field, thread->tid);
    }
}

/* The prefilter skips no match: the same is found when no node of the index can be read. */
static void test_searches(struct view *view, const char *name)
{
    unsigned wrong = 0, found = 0;

    for (int i = 0; i < SEARCHES; i++) {
        uint64_t from = draw(view->index.events + 1), ends[INDEX_LEVELS];
        const char *direction = draw(2) ? "next" : "previous";
        struct buffer quick, slow;
        char what[300];

        make_search(view, what);
        quick = search_on(view, what, direction, from);
        for (unsigned level = 0; level < INDEX_LEVELS; level++) {
            ends[level] = view->index.levels[level].ends.used;
            view->index.levels[level].ends.used = 0;
        }
        slow = search_on(view, what, direction, from);
        for (unsigned level = 0; level < INDEX_LEVELS; level++)
            view->index.levels[level].ends.used = ends[level];
        found += slow.used > 20;
        if (quick.used == slow.used && memcmp(quick.bytes, slow.bytes, slow.used) == 0) {
            free(quick.bytes);
            free(slow.bytes);
            continue;
        }
        wrong++;
        printf("# %s %s from %llu\n# %.*s\n# %.*s\n", what, direction, (unsigned long long)from,
               (int)(quick.used < 200 ? quick.used : 200), quick.bytes,
               (int)(slow.used < 200 ? slow.used : 200), slow.bytes);
        free(quick.bytes);
        free(slow.bytes);
    }
    check(wrong == 0 && found > 0 && found < SEARCHES,
          "%s: %u searches, of which %u find something, skip the right parts", name, SEARCHES, found);
}

/* ---- checkpoints ------------------------------------------------------------------------------- */

#define REPLIES 40

static void make_request(const struct view *view, unsigned number, const char **path, char parameters[300])
{
    static const char *const paths[] = {"/api/lanes", "/api/rows", "/api/marks", "/api/flags", "/api/list"};
    uint64_t duration = view_duration(view), length = duration >> draw(12),
             from = draw(duration - length + 1);

    *path = paths[number % 5];
    if (number % 5 < 4)
        snprintf(parameters, 300, "from=%llu&to=%llu&width=%u&threads=0-30&cpus=0-3&events=1-30",
                 (unsigned long long)from, (unsigned long long)(from + length), 100 + (unsigned)draw(1000));
    else
        snprintf(parameters, 300, "at=%llu&before=20&after=20%s&direction=%s", (unsigned long long)from,
                 draw(2) ? "&events=20-40" : "", draw(2) ? "next" : "previous");
}

/* On a busy host a list may end early, and the page asks for the rest: the longest of some is whole. */
static struct buffer ask_for_list(struct view *view, const char *parameters, unsigned *status)
{
    struct buffer longest = ask(view, "/api/list", parameters, status);

    for (unsigned i = 0; i < 3 && *status == 200; i++) {
        struct buffer reply = ask(view, "/api/list", parameters, status), shorter = reply;

        if (reply.used > longest.used) {
            shorter = longest;
            longest = reply;
        }
        free(shorter.bytes);
    }
    return longest;
}

/* The reply to a request drawn at random, which the caller frees; a refused search is empty. */
static struct buffer draw_reply(struct view *view, unsigned number, char request[300], unsigned *status)
{
    const char *path;

    *status = 200;
    if (number % 6 == 5) {
        const char *direction = draw(2) ? "next" : "previous";
        snprintf(request, 300, "cpus=0-2%s", draw(2) ? "&events=20-40" : "");
        return search_on(view, request, direction, draw(view->index.events + 1));
    }
    make_request(view, number % 6, &path, request);
    return strcmp(path, "/api/list") == 0 ? ask_for_list(view, request, status)
                                          : ask(view, path, request, status);
}

/* Walks that begin at a checkpoint give the same replies as those that begin with the trace. */
static void test_checkpoints(struct view *view, const char *name)
{
    struct buffer replies[REPLIES] = {{0}};
    uint64_t before = random_state;
    unsigned wrong = 0, status;
    size_t checkpoints = blob_array_count(&view->index.checkpoints);

    for (unsigned round = 0; round < 2; round++) {
        random_state = before;
        if (round == 1)
            blob_array_cut(&view->index.checkpoints, 0);
        for (unsigned i = 0; i < REPLIES; i++) {
            char request[300];
            struct buffer reply = draw_reply(view, i, request, &status);

            wrong += status != 200 || reply.used == 0;
            if (round == 0) {
                replies[i] = reply;
                continue;
            }
            if (reply.used != replies[i].used || memcmp(reply.bytes, replies[i].bytes, reply.used) != 0) {
                printf("# %s\n# %.*s\n# %.*s\n", request, (int)(reply.used < 300 ? reply.used : 300),
                       reply.bytes, (int)(replies[i].used < 300 ? replies[i].used : 300), replies[i].bytes);
                wrong++;
            }
            free(reply.bytes);
            free(replies[i].bytes);
        }
    }
    check(wrong == 0 && checkpoints > 0, "%s: %u replies are the same from %zu checkpoints and without", name,
          REPLIES, checkpoints);
}

/* ---- malformed requests ------------------------------------------------------------------------ */

static void test_requests(struct view *view)
{
    static const char *const keys[] = {"from",   "to",        "width",  "threads",    "cpus", "events",
                                       "at",     "n",         "before", "after",      "text", "field",
                                       "value",  "direction", "limit",  "sort",       "name", "by",
                                       "arrows", "tids",      "since_", "top",        "pins", "folded",
                                       "depths", "chosen",    "filter", "folded_pids"};
    static const char *const values[] = {"",
                                         "0",
                                         "1",
                                         "-1",
                                         "18446744073709551615",
                                         "99999999999999999999",
                                         "1-",
                                         "-",
                                         "0-4294967295",
                                         "5-2",
                                         ",,,",
                                         "1,2,x",
                                         "\xff\xfe",
                                         "9007199254740993",
                                         "tid",
                                         "previous",
                                         "time",
                                         "stats",
                                         "sched",
                                         "8192",
                                         "%s%n",
                                         "name",
                                         "1000000000"};
    static const char *const paths[] = {"/api/trace", "/api/lanes",  "/api/rows",     "/api/marks",
                                        "/api/list",  "/api/search", "/api/analysis", "/api/analyses",
                                        "/api/flags", "/api/flame",  "/api/",         "/api/../etc/passwd"};
    unsigned wrong = 0, ok = 0;

    for (int i = 0; i < REQUESTS; i++) {
        char parameters[600] = "";
        size_t length = 0;
        unsigned status;
        struct buffer reply;

        for (uint64_t count = draw(6); count > 0; count--)
            length += (size_t)snprintf(parameters + length, sizeof(parameters) - length, "%s=%s&",
                                       keys[draw(sizeof(keys) / sizeof(keys[0]))],
                                       values[draw(sizeof(values) / sizeof(values[0]))]);
        reply = ask(view, paths[draw(sizeof(paths) / sizeof(paths[0]))], parameters, &status);
        wrong += (status != 200 && status != 400 && status != 404) || reply.used < 2 ||
                 !strchr("{<", reply.bytes[0]) || !strchr("}\n", reply.bytes[reply.used - 1]);
        ok += status == 200;
        free(reply.bytes);
    }
    check(wrong == 0 && ok > REQUESTS / 10, "%d malformed requests get a reply", REQUESTS);
}

/* ---- files --------------------------------------------------------------------------------------- */

static bool is_same_index(const struct index *a, const struct index *b)
{
    bool same = a->events == b->events && a->end == b->end && a->blocks.used == b->blocks.used &&
                memcmp(a->blocks.bytes, b->blocks.bytes, a->blocks.used) == 0 &&
                memcmp(&a->losses, &b->losses, sizeof(a->losses)) == 0;

    same = same && a->snapshots.bytes.used == b->snapshots.bytes.used &&
           (a->snapshots.bytes.used == 0 ||
            memcmp(a->snapshots.bytes.bytes, b->snapshots.bytes.bytes, a->snapshots.bytes.used) == 0);
    for (unsigned level = 0; level < INDEX_LEVELS && same; level++)
        same = a->levels[level].bytes.used == b->levels[level].bytes.used &&
               (a->levels[level].bytes.used == 0 ||
                memcmp(a->levels[level].bytes.bytes, b->levels[level].bytes.bytes,
                       a->levels[level].bytes.used) == 0);
    return same;
}

/* Appends packets of one stream; sometimes only a part of the last one. */
static void grow_file(const struct stream *from, int to, uint64_t *at, uint64_t packets)
{
    uint64_t size = packets * from->first_packet_bytes;
    uint8_t *bytes;

    if (size > from->size - *at)
        size = from->size - *at;
    bytes = alloc_zero(size + 1, 1);
    if (pread(from->fd, bytes, size, (off_t)*at) == (ssize_t)size && draw(3) == 0 && size > 0 &&
        pwrite(to, bytes, size / 2, (off_t)*at) >= 0)
        size = 0; /* the rest comes later */
    if (pwrite(to, bytes, size, (off_t)*at) == (ssize_t)size)
        *at += size;
    free(bytes);
}

static void copy_metadata(const char *from, const char *to)
{
    char command[2500];

    snprintf(command, sizeof(command), "mkdir -p '%s' && rm -f '%s'/* && cp '%s/metadata' '%s/'", to, to,
             from, to);
    if (system(command) != 0)
        exit(2);
}

static void test_growth(const char *directory, const char *other, const char *name)
{
    struct trace whole, grown;
    struct index index = {0}, scratch = {0};
    uint64_t at[64] = {0}, from;
    int files[64];
    struct fail fail = {""};
    unsigned rounds = 0, wrong = 0;
    bool more = true;

    copy_metadata(directory, other);
    if (!trace_open(&whole, directory, &fail))
        return;
    for (unsigned i = 0; i < whole.stream_count; i++) {
        char path[600];

        snprintf(path, sizeof(path), "%s/%s", other, whole.streams[i].name);
        files[i] = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        while (at[i] == 0)
            grow_file(&whole.streams[i], files[i], &at[i], 1);
    }
    wrong += !trace_open(&grown, other, &fail);
    trace_cut_partial(&grown);
    wrong += !index_extend(&index, &grown, 0, NULL, &fail);
    while (more) {
        enum trace_news news;

        more = false;
        for (unsigned i = 0; i < whole.stream_count; i++) {
            grow_file(&whole.streams[i], files[i], &at[i], draw(4));
            more |= at[i] < whole.streams[i].size;
        }
        news = trace_refresh(&grown, &from);
        wrong += news == TRACE_CHANGED ||
                 (news == TRACE_GROWN && !index_extend(&index, &grown, from, NULL, &fail));
        rounds++;
    }
    wrong += !index_extend(&scratch, &whole, 0, NULL, &fail);
    check(wrong == 0 && is_same_index(&index, &scratch),
          "%s: an index that grew in %u steps equals one made at once %s", name, rounds, fail.text);
    for (unsigned i = 0; i < whole.stream_count; i++)
        close(files[i]);
    index_free(&index);
    index_free(&scratch);
    trace_close(&whole);
    trace_close(&grown);
}

/* The pull has just begun to write the packets of one more CPU. */
static void test_new_file(const char *directory, const char *other)
{
    struct view_options options = {.directory = other, .watch = true};
    struct view view;
    struct fail fail = {""};
    char command[2500];
    struct buffer reply;
    unsigned status = 0;

    copy_metadata(directory, other);
    snprintf(command, sizeof(command), "cp '%s'/cpu[1-9]* '%s/'", directory, other);
    if (system(command) != 0 || !view_open(&view, &options, true, &fail)) {
        check(false, "a view without the packets of a CPU: %s", fail.text);
        return;
    }
    if (!view_start(&view, &fail)) {
        check(false, "a view without the packets of a CPU: %s", fail.text);
    } else {
        view_wait(&view, 1, 10000); /* it has looked once */
        snprintf(command, sizeof(command), "cp '%s/cpu0' '%s/'", directory, other);
        if (system(command) == 0) {
            reply = ask(&view, "/api/analysis", "name=stats", &status);
            free(reply.bytes);
        }
        check(status == 200, "an analysis waits until the view has followed its files (%u)", status);
        view_stop(&view);
    }
    view_close(&view);
}

static void test_file(struct view *view)
{
    struct buffer bytes = {0}, again = {0};
    struct index index = {0};
    uint64_t from;
    enum index_state state;

    index_write(&view->index, &view->trace, &bytes);
    state = index_read(&index, &view->trace, bytes.bytes, bytes.used, &from);
    check(state == INDEX_WHOLE && is_same_index(&index, &view->index), "a written index can be read");
    index_write(&index, &view->trace, &again);
    check(again.used == bytes.used && memcmp(again.bytes, bytes.bytes, bytes.used) == 0,
          "the index is written the same again");
    index_free(&index);
    bytes.bytes[bytes.used / 2] ^= 4;
    check(index_read(&index, &view->trace, bytes.bytes, bytes.used, &from) == INDEX_NONE,
          "one changed bit is detected");
    free(bytes.bytes);
    free(again.bytes);
}

/* Forged index files have a correct checksum. */
static void test_hostile_files(struct view *view)
{
    struct buffer bytes = {0};
    struct index index = view->index;
    unsigned taken = 0, asked = 0;
    uint64_t from;

    index_write(&view->index, &view->trace, &bytes);
    for (int i = 0; i < MUTATIONS; i++) {
        uint8_t *copy = alloc_zero(bytes.used, 1);
        char parameters[300];
        const char *path;
        unsigned status;

        memcpy(copy, bytes.bytes, bytes.used);
        for (uint64_t changes = 1 + draw(6); changes > 0; changes--)
            copy[draw(3) ? draw(bytes.used) : draw(2000) % bytes.used] = (uint8_t)draw(256);
        index_forge(copy, bytes.used);
        memset(&view->index, 0, sizeof(view->index));
        if (index_read(&view->index, &view->trace, copy, bytes.used, &from) != INDEX_NONE) {
            taken++;
            for (unsigned n = 0; n < 5; n++) {
                make_request(view, n, &path, parameters);
                free(ask(view, path, parameters, &status).bytes);
                asked += status == 200 || status == 400;
            }
            index_free(&view->index);
        }
        free(copy);
    }
    view->index = index;
    free(bytes.bytes);
    check(asked == 5 * taken && taken > 0, "%d forged index files do no harm (%u were not refused)",
          MUTATIONS, taken);
}

/* ---- all ----------------------------------------------------------------------------------- */

static bool open_view(struct view *view, const char *directory)
{
    struct view_options options = {.directory = directory};
    struct fail fail;

    if (view_open(view, &options, true, &fail))
        return true;
    check(false, "%s", fail.text);
    return false;
}

static void test_trace(const char *directory, const char *name)
{
    char other[600];
    struct view view;

    snprintf(other, sizeof(other), "%s/grown", scratch);
    if (!open_view(&view, directory))
        return;
    test_sums(&view, name);
    test_pixels(&view, name);
    test_patience(&view, name);
    test_searches(&view, name);
    test_checkpoints(&view, name);
    view_close(&view);
    test_growth(directory, other, name);
}

static void test_damage(const char *directory)
{
    struct view view;

    if (!open_view(&view, directory))
        return;
    test_file(&view);
    test_hostile_files(&view);
    test_requests(&view);
    view_close(&view);
}

int main(int argc, char **argv)
{
    char trace[600];
    struct synthetic_options options = SYNTHETIC_DEFAULTS;
    struct fail fail;

    make_scratch();
    for (int i = 0; i < 2; i++) {
        static const char *const names[] = {"le", "be, 2.1 GHz"};

        snprintf(trace, sizeof(trace), "%s/%d", scratch, i);
        options.directory = trace;
        options.order = i == 0 ? "le" : "be";
        options.freq = i == 1 ? 2099999842 : 1000000000;
        options.events = 250000;
        options.seed = 7 + (uint64_t)i;
        options.work = true;
        if (!synthetic_write(&options, NULL, &fail))
            check(false, "%s", fail.text);
        else
            test_trace(trace, names[i]);
    }
    snprintf(trace, sizeof(trace), "%s/lossy", scratch);
    options.losses = true;
    options.work = false;
    options.events = 100000;
    if (synthetic_write(&options, NULL, &fail)) {
        char other[600];
        struct view view;

        snprintf(other, sizeof(other), "%s/grown", scratch);
        test_growth(trace, other, "with losses");
        test_new_file(trace, other);
        if (open_view(&view, trace)) {
            test_searches(&view, "with losses");
            test_checkpoints(&view, "with losses");
            view_close(&view);
        }
        test_damage(trace);
    }
    for (int i = 1; i < argc; i++)
        test_trace(argv[i], argv[i]);
    return finish_tests();
}
