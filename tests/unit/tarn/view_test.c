/*
 * tests/unit/tarn/view_test.c - compares the view's index and replies with walks over the whole trace; prints
 * TAP.
 *
 * Synthetic traces of both byte orders. The index must give the same sums of a random range as a walk, and
 * the same replies with checkpoints as without. An index that grew with its files, packet by packet, must
 * equal one made at once. Invalid requests must do no harm.
 */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sys/stat.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/lanes.h>
#include <unistd.h>

#define RANGES   12
#define SWITCHES 6
#define REQUESTS 600
#define SEARCHES 90
#define REPLIES  40

static uint64_t random_state = 1;

static uint64_t draw(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 16) % (below ? below : 1);
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

static void ask_for_all(const struct view *view, struct lanes *lanes, const bool *marked)
{
    bool *all = alloc_zero(index_thread_count(&view->index) + 1, sizeof(bool));
    memset(all, true, index_thread_count(&view->index));
    lanes_ask(lanes, view, NULL, all, marked);
    free(all);
}

/* Walks a range event by event. */
static void walk_lanes(const struct view *view, struct lanes *lanes, const bool *marked)
{
    ask_for_all(view, lanes, marked);
    lanes_find(lanes, view);
    if (!lanes->is_exact)
        bail_out("the range has too many events");
}

/* The boxes of a lane in which none is too narrow, and the sum say the same about a thread. */
static bool is_right_thread(const struct lane *lane, const struct tally *tally)
{
    const uint64_t *ticks = tally_ticks(tally, lane->number);
    uint64_t states[MODEL_STATES] = {0};
    bool is_known = false, ok;
    BUFFER_EACH (const struct lane_box, box, &lane->rows[0].out)
        states[box->what] += box->end - box->begin;
    for (unsigned kind = 0; kind < NODE_KINDS; kind++)
        is_known |= ticks[kind] != 0;
    ok = states[MODEL_RUNNING] == ticks[NODE_USER] + ticks[NODE_KERNEL] + ticks[NODE_INTERRUPT];
    for (unsigned state = MODEL_READY; is_known && state < MODEL_STATES; state++)
        ok &= state == MODEL_DEAD || states[state] == ticks[node_kind_of_state((enum model_state)state)];
    return ok;
}

/* The same about a CPU and how long it slept. */
static bool is_right_cpu(const struct lane *lane, const struct tally_cpu *cpu)
{
    uint64_t busy = cpu->ticks[CPU_USER] + cpu->ticks[CPU_KERNEL] + cpu->ticks[CPU_INTERRUPT];
    uint64_t idle = cpu->ticks[CPU_IDLE];
    BUFFER_EACH (const struct lane_box, box, &lane->rows[0].out)
        *(box->kind == ACTIVITIES && box->detail != 0 ? &idle : &busy) -= box->end - box->begin;
    return busy == 0 && idle == 0;
}

/* Boxes of shares, which follow each other and are rounded to percent, say how long a thread ran or was ready
 * as the EXACT lane does. */
static bool is_right_sum(const struct lanes *lanes, const struct lane *lane, const struct lane *exact)
{
    uint64_t end = lanes->from;
    double off = 0;
    bool ok = true;
    BUFFER_EACH (const struct lane_box, box, &exact->rows[0].out)
        off += box->what <= MODEL_READY ? (double)(box->end - box->begin) : 0;
    BUFFER_EACH (const struct lane_box, box, &lane->rows[0].out) {
        ok &= box->begin == end;
        end = box->end;
        for (int kind = 0; kind < 4; kind++)
            off -= (double)(box->end - box->begin) * box->shares[kind] / 100.0;
    }
    return ok && end == lanes->to && fabs(off) < 0.02 * (double)(lanes->to - lanes->from);
}

static bool is_right(const struct view *view, uint64_t from, uint64_t to)
{
    bool *all = alloc_zero(view->trace.schema.event_count + 1, sizeof(bool)), ok = true;
    struct lanes exact = {.from = from, .to = to, .width = UINT32_MAX},
                 summed = {.from = from, .to = to, .width = 300};
    struct lanes counted = {.from = from, .to = to, .width = 1};
    struct tally tally;
    memset(all, true, view->trace.schema.event_count);
    walk_lanes(view, &exact, NULL);
    walk_lanes(view, &counted, all);
    ask_for_all(view, &summed, NULL);
    lanes_sum(&summed, view);
    tally_open(&tally, &view->trace);
    cover_sum(&view->index, &view->trace, from, to, &tally);
    for (uint32_t i = 0; i < exact.thread_count; i++)
        ok &= is_right_thread(exact.threads[i], &tally) &&
              is_right_sum(&summed, summed.threads[i], exact.threads[i]);
    for (uint32_t i = 0; i < view->trace.stream_count; i++)
        ok &= is_right_cpu(exact.cpus[i], &tally.cpus[i]);
    for (unsigned type = 0; type < tally.event_count; type++)
        ok &= (double)tally.events[type] == counted.counts[type][0];
    if (!ok)
        printf("# range %llu %llu\n", (unsigned long long)from, (unsigned long long)to);
    tally_close(&tally);
    lanes_free(&exact);
    lanes_free(&counted);
    lanes_free(&summed);
    free(all);
    return ok;
}

/* Returns how many of some ranges are wrong of which the last walk begins with a switch, at which a block
 * begins. */
static unsigned count_wrong_switches(const struct view *view, unsigned *count)
{
    size_t block = 1;
    unsigned wrong = 0;
    struct merge merge;
    struct cursor *cursor;
    merge_open(&merge, &view->trace, NULL, 0, NULL);
    while ((cursor = merge_next(&merge)) != NULL && *count < SWITCHES) {
        uint64_t begin;
        while (block < index_block_count(&view->index) && index_begin(&view->index, block) < cursor->ticks)
            block++;
        begin = index_begin(&view->index, block);
        if (cursor->ticks != begin || strcmp(cursor->event.type->name, "sched_switch") != 0)
            continue;
        wrong +=
            !is_right(view, view->index.begin, begin + (index_begin(&view->index, ++block) - begin) / 16);
        ++*count;
    }
    merge_close(&merge);
    return wrong;
}

static void test_sums(const struct view *view, const char *name)
{
    unsigned wrong = 0, switches = 0;
    for (unsigned i = 0; i < RANGES; i++) {
        uint64_t from, to;
        choose_range(view, &from, &to);
        wrong += !is_right(view, from, to);
    }
    wrong += count_wrong_switches(view, &switches);
    check(switches > 0 && wrong == 0,
          "%s: times and counts of %d ranges, and of %u whose last walk begins with a switch, are those of "
          "their lanes, which are walked or summed",
          name, RANGES, switches);
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

/* QUESTION: NAME?key=value&... The caller frees the reply, which ends with a NUL that is not counted. */
static struct buffer ask_with(struct view *view, const char *question, struct asker *asker, unsigned *status)
{
    char text[600], *at;
    struct request request = {.path = text, .is_waiting = has_patience, .asker = asker};
    struct json json = {0};
    const char *type;
    snprintf(text, sizeof(text), "/api/%s", question);
    at = strchr(text, '?');
    while (at != NULL && *at != '\0' && request.count < REQUEST_PARAMETERS_MAX) {
        *at++ = '\0';
        request.parameters[request.count].key = at;
        at += strcspn(at, "=&");
        if (*at == '=')
            *at++ = '\0';
        request.parameters[request.count++].value = at;
        at += strcspn(at, "&");
    }
    *status = api_ask(view, &request, &json, &type);
    buffer_add(&json.text, "", 1);
    json.text.used--;
    return json.text;
}

static struct buffer ask(struct view *view, const char *question, unsigned *status)
{
    return ask_with(view, question, &(struct asker){.patience = UINT_MAX}, status);
}

/* The walk of an analysis ends when no client waits. */
static void test_patience(struct view *view, const char *name)
{
    unsigned status[3], needed = UINT_MAX;
    for (unsigned i = 0; i < 3; i++) {
        struct asker asker = {.patience = i == 1 ? needed - 1 : needed};
        free(ask_with(view, "analysis?name=ipc&request=longest", &asker, &status[i]).bytes);
        needed = i == 0 ? asker.asked : needed;
    }
    check(status[0] == 200 && needed > 2 && status[1] != 200 && status[2] == 200,
          "%s: an analysis stops when no client waits", name);
}

/* ---- replies from less of the index -------------------------------------------------------------- */

/* Asks for one event, from one chosen at random, until it is found or there is none. Returns the found event
 * as JSON, or an empty reply. */
static struct buffer search(struct view *view, const char *what, unsigned *status)
{
    bool is_next = draw(2) != 0;
    uint64_t from = draw(view->index.events + 1), end = is_next ? view->index.events : 0;
    for (;;) {
        char question[600], *rest;
        struct buffer reply;
        snprintf(question, sizeof(question), "list?%s&before=%d&after=%d&n=%llu", what, !is_next, is_next,
                 (unsigned long long)from);
        reply = ask(view, question, status);
        rest = strstr((char *)reply.bytes, "],\"before\":");
        if (*status != 200 || rest == NULL)
            return reply;
        from = strtoull(strstr(rest, is_next ? "\"to\":" : "\"from\":") + (is_next ? 5 : 7), NULL, 10);
        reply.used = (size_t)(rest - (char *)reply.bytes);
        if (from == end || reply.used > strlen("{\"rows\":["))
            return reply;
        free(reply.bytes);
    }
}

/* Searches for what many events have, or one, or none. */
static struct buffer draw_search(struct view *view, unsigned number, unsigned *status)
{
    const struct schema *schema = &view->trace.schema;
    const struct event_type *type = schema->events[draw(schema->event_count)];
    const struct index_thread *thread =
        index_thread(&view->index, (uint32_t)draw(index_thread_count(&view->index)));
    unsigned long long value = draw(1ull << draw(34));
    char what[6][200], question[300] = "";
    size_t length = draw(2) ? (size_t)snprintf(question, sizeof(question), "events=%u&", type->index) : 0;
    snprintf(what[0], 200, "text=%.5s", type->name + draw(strlen(type->name)));
    snprintf(what[1], 200, "text=%s", thread->name);
    snprintf(what[2], 200, "text=%llu", value);
    snprintf(what[3], 200, "text=%c%c", 'a' + (char)draw(26), 'A' + (char)draw(26));
    snprintf(what[4], 200, "tids=%u", thread->tid);
    snprintf(what[5], 200, "text=%s&cpus=%llu", thread->name, (unsigned long long)draw(4));
    snprintf(question + length, sizeof(question) - length, "%s", what[draw(6)]);
    return search(view, question, status);
}

/* On a busy host a list may end early, and the page asks for the rest: the longest of some is whole. */
static struct buffer ask_for_list(struct view *view, const char *question, unsigned *status)
{
    struct buffer longest = ask(view, question, status);
    for (unsigned i = 0; i < 3 && *status == 200; i++) {
        struct buffer reply = ask(view, question, status), shorter = reply;
        if (reply.used > longest.used) {
            shorter = longest;
            longest = reply;
        }
        free(shorter.bytes);
    }
    return longest;
}

/* Asks for lanes, rows, a list, or a search. */
static struct buffer draw_reply(struct view *view, unsigned number, unsigned *status)
{
    static const char *const names[] = {"lanes", "rows", "lanes"};
    uint64_t duration = view_duration(view), length = duration >> draw(12),
             from = draw(duration - length + 1);
    char question[300];
    if (number % 5 == 4)
        return search(view, draw(2) ? "cpus=0-2&events=20-40" : "cpus=0-2", status);
    if (number % 5 == 3) {
        snprintf(question, sizeof(question), "list?at=%llu&before=20&after=20%s", (unsigned long long)from,
                 draw(2) ? "&events=20-40" : "");
        return ask_for_list(view, question, status);
    }
    snprintf(question, sizeof(question), "%s?from=%llu&to=%llu&width=%u&threads=0-30&cpus=0-3&events=1-30",
             names[number % 5], (unsigned long long)from, (unsigned long long)(from + length),
             100 + (unsigned)draw(1000));
    return ask(view, question, status);
}

static bool is_same(const struct buffer *a, const struct buffer *b)
{
    return a->used == b->used && (a->used == 0 || memcmp(a->bytes, b->bytes, a->used) == 0);
}

/* Replies to COUNT requests that DRAWS makes are the same when the index has only what LEAVE leaves of it.
 * Returns how many replies contain something. */
static unsigned compare_replies(struct view *view, const char *name, unsigned count, const char *what,
                                struct buffer (*draws)(struct view *, unsigned, unsigned *),
                                void (*leave)(struct index *))
{
    struct buffer *replies = alloc_zero(count, sizeof(*replies));
    struct index whole = view->index;
    uint64_t before = random_state;
    unsigned wrong = 0, filled = 0, status;
    for (unsigned i = 0; i < count; i++) {
        replies[i] = draws(view, i, &status);
        filled += replies[i].used > 20;
        wrong += status != 200;
    }
    random_state = before;
    leave(&view->index);
    for (unsigned i = 0; i < count; i++) {
        struct buffer reply = draws(view, i, &status);
        if (status != 200 || !is_same(&reply, &replies[i])) {
            printf("# %.300s\n# %.300s\n", reply.bytes, replies[i].bytes);
            wrong++;
        }
        free(reply.bytes);
        free(replies[i].bytes);
    }
    view->index = whole;
    free(replies);
    check(wrong == 0 && filled > 0, "%s: %u replies, of which %u contain something, are the same %s", name,
          count, filled, what);
    return filled;
}

static void leave_no_nodes(struct index *index)
{
    for (unsigned level = 0; level < INDEX_LEVELS; level++)
        index->levels[level].ends.used = 0;
}

static void leave_no_checkpoints(struct index *index)
{
    check(blob_array_count(&index->checkpoints) > 0, "there are checkpoints");
    blob_array_cut(&index->checkpoints, 0);
}

/* The prefilter skips no match: the same is found when no node of the index can be read. Walks that begin at
 * a checkpoint give the same replies as those that begin with the trace. */
static void test_replies(struct view *view, const char *name)
{
    unsigned found =
        compare_replies(view, name, SEARCHES, "without the nodes of the index", draw_search, leave_no_nodes);
    check(found < SEARCHES, "%s: some searches find nothing", name);
    compare_replies(view, name, REPLIES, "without checkpoints", draw_reply, leave_no_checkpoints);
}

/* Returns one of the WORDS, which spaces separate. */
static const char *draw_word(const char *words, int *length)
{
    uint64_t count = 1;
    for (const char *at = words; *at != '\0'; at++)
        count += *at == ' ';
    for (uint64_t skip = draw(count); skip > 0; skip--)
        words = strchr(words, ' ') + 1;
    *length = (int)strcspn(words, " ");
    return words;
}

static void test_requests(struct view *view)
{
    static const char keys[] = "from to width threads cpus events at n before after text limit name by "
                               "tids since_ top flame pins chosen filter";
    static const char values[] =
        " 0 1 -1 18446744073709551615 99999999999999999999 1- - 0-4294967295 5-2 ,,, "
        "1,2,x \xff\xfe 9007199254740993 tid previous time stats sched 8192 %s%n name "
        "1000000000";
    static const char paths[] = "trace lanes rows list analysis analyses flags  ../etc/passwd";
    unsigned wrong = 0, ok = 0;
    for (int i = 0; i < REQUESTS; i++) {
        char question[600];
        int name, word;
        const char *key, *path = draw_word(paths, &name);
        size_t length = (size_t)snprintf(question, sizeof(question), "%.*s", name, path);
        unsigned status;
        struct buffer reply;
        for (uint64_t left = draw(6), all = left; left > 0; left--) {
            key = draw_word(keys, &name);
            path = draw_word(values, &word);
            length += (size_t)snprintf(question + length, sizeof(question) - length, "%c%.*s=%.*s",
                                       left == all ? '?' : '&', name, key, word, path);
        }
        reply = ask(view, question, &status);
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
    bool same = a->events == b->events && a->end == b->end && is_same(&a->blocks, &b->blocks) &&
                a->report_count == b->report_count && a->losses.lost_events == b->losses.lost_events &&
                is_same(&a->snapshots.bytes, &b->snapshots.bytes);
    for (unsigned level = 0; level < INDEX_LEVELS; level++)
        same &= is_same(&a->levels[level].bytes, &b->levels[level].bytes);
    return same;
}

static void copy_files(const char *from, const char *to, const char *files)
{
    char command[2500];
    snprintf(command, sizeof(command), "mkdir -p '%s' && cd '%s' && cp %s '%s/'", to, from, files, to);
    if (system(command) != 0)
        bail_out(command);
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

static void test_growth(const char *directory, const char *other, const char *name)
{
    struct trace whole, grown;
    struct index index = {0}, scratch = {0};
    uint64_t at[64] = {0}, from;
    int files[64];
    struct fail fail = {""};
    unsigned rounds = 0, wrong = 0;
    bool more = true;
    remove_tree(other);
    copy_files(directory, other, "metadata");
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
    index_extend(&index, &grown, 0, NULL);
    while (more) {
        enum trace_news news;
        more = false;
        for (unsigned i = 0; i < whole.stream_count; i++) {
            grow_file(&whole.streams[i], files[i], &at[i], draw(4));
            more |= at[i] < whole.streams[i].size;
        }
        news = trace_refresh(&grown, &from);
        wrong += news == TRACE_CHANGED;
        if (news == TRACE_GROWN)
            index_extend(&index, &grown, from, NULL);
        rounds++;
    }
    index_extend(&scratch, &whole, 0, NULL);
    check(wrong == 0 && is_same_index(&index, &scratch),
          "%s: an index that grew in %u steps equals one made at once %s", name, rounds, fail.text);
    for (unsigned i = 0; i < whole.stream_count; i++)
        close(files[i]);
    index_free(&index);
    index_free(&scratch);
    trace_close(&whole);
    trace_close(&grown);
}

/* A pull that keeps only the end has removed the first packets (tests/host/keep). */
static bool is_for(const struct buffer *bytes, const char *directory, const char *other)
{
    struct index index = {0};
    struct trace trace;
    struct fail fail = {""};
    char command[600];
    remove_tree(other);
    copy_files(directory, other, "metadata cpu[1-9]*");
    snprintf(command, sizeof(command), "tail -c +65537 %s/cpu0 >%s/cpu0", directory, other);
    if (system(command) != 0 || !trace_open(&trace, other, &fail))
        bail_out(fail.text);
    bool is = index_read(&index, &trace, bytes->bytes, bytes->used);
    index_free(&index);
    trace_close(&trace);
    return is;
}

static struct buffer write_index(const struct index *index, const struct trace *trace)
{
    struct buffer bytes = {0};
    FILE *out = open_memstream((char **)&bytes.bytes, &bytes.used);
    index_write(index, trace, out);
    fclose(out);
    return bytes;
}

static void test_file(struct view *view, const char *directory, const char *other)
{
    struct buffer bytes = write_index(&view->index, &view->trace), again;
    struct index index = {0};
    bool ok;
    ok = index_read(&index, &view->trace, bytes.bytes, bytes.used);
    check(ok && is_same_index(&index, &view->index), "a written index can be read");
    again = write_index(&index, &view->trace);
    check(again.used == bytes.used && memcmp(again.bytes, bytes.bytes, bytes.used) == 0,
          "the index is written the same again");
    check(!is_for(&bytes, directory, other), "an index from before packets were removed is not used");
    index_free(&index);
    bytes.bytes[bytes.used / 2] ^= 4;
    check(!index_read(&index, &view->trace, bytes.bytes, bytes.used), "one changed bit is detected");
    bytes.bytes[bytes.used / 2] ^= 4;
    ok = true;
    for (size_t part = 0; part < INDEX_PARTS; part++) {
        uint8_t *size = bytes.bytes + part * sizeof(struct buffer) + offsetof(struct buffer, used);
        size[part % sizeof(size_t)] ^= 1;
        ok &= !index_read(&index, &view->trace, bytes.bytes, bytes.used);
        size[part % sizeof(size_t)] ^= 1;
    }
    check(ok, "a wrong size of a part is detected, however large");
    for (size_t left = bytes.used; ok && left > 0; left /= 2)
        ok = !index_read(&index, &view->trace, bytes.bytes, left - 1);
    check(ok, "an index that was cut off is detected");
    free(bytes.bytes);
    free(again.bytes);
}

static void test_trace(const char *directory, const char *name, bool has_losses)
{
    struct view_options options = {.directory = directory};
    char other[100];
    struct view view;
    struct fail fail;
    snprintf(other, sizeof(other), "%s/grown", scratch);
    if (!view_open(&view, &options, true, &fail))
        bail_out(fail.text);
    if (has_losses) {
        test_file(&view, directory, other);
        test_requests(&view);
    } else {
        test_sums(&view, name);
        test_patience(&view, name);
    }
    test_replies(&view, name);
    view_close(&view);
    test_growth(directory, other, name);
}

int main(void)
{
    static const char *const names[] = {"le", "be, 2.1 GHz", "with losses"};
    static const char *const options[] = {"--seed 7 --events 250000",
                                          "--seed 8 --events 250000 --order be --freq 2099999842",
                                          "--seed 8 --order be --freq 2099999842 --losses"};
    char trace[100];
    make_scratch();
    for (int i = 0; i < 3; i++) {
        snprintf(trace, sizeof(trace), "%s/%d", scratch, i);
        make_trace(trace, options[i]);
        test_trace(trace, names[i], i == 2);
    }
    return finish_tests();
}
