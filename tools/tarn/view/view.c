/* view.c - keeps a trace's index up to date; see view.h. */
#include <tools/tarn/read/judge.h>
#include <tools/tarn/source/source.h>
#include <tools/tarn/view/view.h>
#include <unistd.h>

#define WATCH_MS      200 /* between checks of the files */
#define LIVE_ROUNDS   15  /* rounds without growth after which a trace is no longer live */
#define SILENT_S      1.2 /* without a word, after which the page says so: the guest has a word twice a second */
#define WORTH_KEEPING 1000000u /* events: a smaller index is made quickly */

void view_read_lock(struct view *view)
{
    atomic_fetch_add(&view->readers_waiting, 1);
    pthread_rwlock_rdlock(&view->lock);
    atomic_fetch_sub(&view->readers_waiting, 1);
}

void view_unlock(struct view *view)
{
    pthread_rwlock_unlock(&view->lock);
}

uint64_t view_ticks(const struct view *view, uint64_t ns)
{
    const struct schema *schema = &view->trace.schema;
    return schema_ticks(schema, schema_ns(schema, view->index.begin) + (int64_t)ns);
}

uint64_t view_ns(const struct view *view, uint64_t ticks)
{
    return schema_elapsed_ns(&view->trace.schema, view->index.begin, ticks);
}

uint64_t view_span(const struct view *view, uint64_t ticks)
{
    return (uint64_t)((double)ticks * 1e9 / (double)view->trace.schema.clock_freq + 0.5);
}

void view_losses(const struct view *view, struct losses *losses)
{
    losses_open(losses, &view->trace);
    losses_add(losses, &view->index.losses);
    losses->is_unfinished = trace_is_unfinished(&view->trace);
    losses->damaged += view->damaged;
    model_lacks(&view->trace.schema, false, losses->lacks, sizeof(losses->lacks));
}

static void forget_judgement(struct view *view)
{
    blob_array_cut(&view->judged, 0);
    view->judged_count = view->damaged = 0;
}

void view_judge(struct view *view, bool quiet)
{
    struct losses losses;
    struct report_keeper keeper =
        report_keeper(&view->trace, &view->judged, &view->judged_count, &losses.reporter);
    forget_judgement(view);
    losses_open(&losses, &view->trace);
    losses.quiet = quiet;
    trace_judge(&view->trace, JUDGE_BYTES, &keeper.reporter);
    view->damaged = losses.damaged;
}

/* Lets readers in between checkpoints. */
static bool let_readers_in(struct index_yield *yield)
{
    struct view *view = OUTER(yield, struct view, yield);
    view->version++;
    pthread_rwlock_unlock(&view->lock);
    for (int i = 0; i < 100 && atomic_load(&view->readers_waiting) > 0; i++)
        usleep(100);
    pthread_rwlock_wrlock(&view->lock);
    return !view->is_stopping;
}

/* Loads the index, or makes it by a walk. The lock is held for writing. */
static void make_index(struct view *view)
{
    if (index_load(&view->index, &view->trace))
        return;
    index_extend(&view->index, &view->trace, 0, &view->yield);
    if (!view->index.is_partial && view->index.events >= WORTH_KEEPING)
        index_save(&view->index, &view->trace);
}

static bool open_again(struct view *view, struct fail *fail)
{
    struct trace before = view->trace;
    if (!trace_open(&view->trace, view->options.directory, fail)) {
        view->trace = before;
        return false;
    }
    trace_close(&before);
    forget_judgement(view);
    index_free(&view->index);
    view->generation++;
    index_extend(&view->index, &view->trace, 0, &view->yield);
    return true;
}

/* The functions below hold the lock for writing, and return whether requests see a change. */

/* Checks the files. */
static bool look_at_files(struct view *view)
{
    struct fail fail;
    uint64_t from;
    enum trace_news news = view->is_stale ? TRACE_CHANGED : trace_refresh(&view->trace, &from);
    if (news == TRACE_GROWN)
        index_extend(&view->index, &view->trace, from, &view->yield);
    /* If it fails, a writer is active, and the next check will find its changes. */
    view->is_stale = news == TRACE_CHANGED && !open_again(view, &fail);
    return news != TRACE_SAME && !view->is_stale;
}

static bool set_live(struct view *view, bool is_live)
{
    if (view->is_live == is_live)
        return false;
    view->is_live = is_live;
    if (!is_live) {
        view_judge(view, true);
        view->is_stale = trace_is_unfinished(&view->trace) != view->trace.ends_early;
    }
    return true;
}

/* How the link is of the pull that writes the trace. Without a pull there is none, but one of this view's own
 * may have ended because the guest was reset, and another waits for its next boot. */
static const char *find_link(const struct view *view, const struct trace_link *link)
{
    if (!link->is_held && !view->has_source)
        return "";
    if (link->state == TRACE_LINK_RESTARTED)
        return "restarted";
    if (link->state == TRACE_LINK_BROKEN || !link->is_held)
        return "broken";
    return now_seconds() - link->heard > SILENT_S ? "silent" : "following";
}

/* A pull of the guest's next boot has begun in another directory. */
static void change_directory(struct view *view)
{
    const char *next = view->next_directory;
    if (next == NULL || trace_find_link(next).state == TRACE_LINK_NONE)
        return;
    view->options.directory = next;
    view->next_directory = NULL;
    view->is_stale = true;
}

static bool look(struct view *view)
{
    struct trace_link link;
    const char *before = view->link;
    bool changes, has_grown;
    change_directory(view);
    link = trace_find_link(view->options.directory);
    view->link = find_link(view, &link);
    view->heard_at = link.heard;
    if (strcmp(view->link, "following") == 0) /* earlier, the mark is the previous pull's */
        view->boots = view->pulls;
    changes = strcmp(view->link, before) != 0;
    has_grown = look_at_files(view);
    view->quiet = has_grown ? 0 : view->quiet + 1;
    if (has_grown || view->quiet >= LIVE_ROUNDS) /* a pulled trace is live even while nothing arrives */
        changes |= set_live(view, has_grown || link.is_held);
    return changes || has_grown;
}

static void *keep(void *argument)
{
    struct view *view = argument;
    pthread_rwlock_wrlock(&view->lock);
    view->is_live = view->has_source;
    if (index_block_count(&view->index) == 0)
        make_index(view);
    view->version++;
    pthread_rwlock_unlock(&view->lock);
    while (!view->is_stopping) {
        pthread_rwlock_wrlock(&view->lock);
        view->version += look(view);
        pthread_rwlock_unlock(&view->lock);
        usleep(WATCH_MS * 1000);
    }
    return NULL;
}

bool view_open(struct view *view, const struct view_options *options, bool wait, struct fail *fail)
{
    pthread_rwlockattr_t writer_first;
    memset(view, 0, sizeof(*view));
    view->options = *options;
    view->version = 1;
    view->yield.yield = let_readers_in;
    view->link = "";
    if (!trace_open(&view->trace, view->options.directory, fail))
        return false;
    view->index.begin = view->index.end = view->trace.begin;
    view->index.is_partial = true;
    /* Otherwise a page with continuous requests would keep the index from growing. */
    pthread_rwlockattr_init(&writer_first);
    pthread_rwlockattr_setkind_np(&writer_first, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&view->lock, &writer_first);
    pthread_rwlockattr_destroy(&writer_first);
    pthread_rwlock_wrlock(&view->lock);
    if (wait)
        make_index(view);
    pthread_rwlock_unlock(&view->lock);
    return true;
}

bool view_start(struct view *view, struct fail *fail)
{
    return pthread_create(&view->keeper, NULL, keep, view) == 0 || fail_set(fail, "cannot start a thread");
}

void view_stop(struct view *view)
{
    view->is_stopping = true;
    pthread_join(view->keeper, NULL);
}

void view_close(struct view *view)
{
    free(view->judged.bytes.bytes);
    free(view->judged.ends.bytes);
    index_free(&view->index);
    trace_close(&view->trace);
    pthread_rwlock_destroy(&view->lock);
}
