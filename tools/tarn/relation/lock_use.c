/*
 * lock_use.c - the relations of locks: `lock_use` has waits, acquisitions and holds; `lock_blame` what
 * holders did while others waited; `lock_waiting` who still waits at the end.
 *
 * A wait is a row where it ends, with all of its time. Acquisitions are known only for sampled classes.
 * Threads often wait for events (semaphores, conditions, ...) because they have NOTHING to do: such rows are
 * marked.
 *
 * The event at the end of a wait names the holder at its begin. Later holders are known if they logged it:
 * after a wait of their own, or because their class is sampled. The model knows what each holder did: it
 * ran, was preempted (and which threads ran instead), or waited for something else. Between a release and
 * the next acquisition the lock was free, and the waiter was about to take it. The history is limited; what
 * is older is unknown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <tools/tarn/relation/delays.h>
#include <tools/tarn/relation/maker.h>

#define NOT_KNOWN   UINT32_MAX /* as holder_tid */
#define CHAIN_MAX   16u
#define CHAIN_BYTES (CHAIN_MAX * 19u)  /* of its text */
#define CLASS_REST  MODEL_LOCK_CLASSES /* for class numbers beyond those the model keeps */

/* Powers of two. A thread that others wait for until it ends may have a long history until then. */
#define CHANGES_OF_LOCK   256u
#define CHANGES_OF_THREAD 65536u
#define CHANGES_MAX       (8u << 20) /* of all together: 192 MiB */

enum { USE, BLAME, WAITING };
enum { CONTENDED, HELD, ACQUIRED, SLEEP, EVENTS };
enum { LOCK, CLASS, PID, VALUE, NEEDED, SPINS = NEEDED, HOLDER, DEPTH, CHAIN, FIELDS };

/* VALUE: without it the event is useless. Older traces lack some of the others. */
static const struct {
    const char *name, *fields[FIELDS];
} events[EVENTS] = {
    {"lock_contended", {"lock", "lock_class", "pid", "wait", "spins", "holder_tid", "depth", "chain"}},
    {"lock_held", {"lock", "lock_class", "pid", "held"}},
    {"lock_acquired", {"lock", "lock_class", "pid", "acquisitions", NULL, NULL, "depth", "chain"}},
    {"lock_sleep", {"lock", "lock_class", "pid", "holder_tid", NULL, "holder_tid"}},
};

enum lock_cause { CAUSE_RUNNING, CAUSE_PREEMPTED, CAUSE_BLOCKED, CAUSE_FREE, CAUSE_UNKNOWN, LOCK_CAUSES };
static const char *const causes[LOCK_CAUSES] = {"running", "preempted", "blocked", "free", "unknown"};

/* A change in a history: of a lock's owner, or of a thread's state. */
struct lock_change {
    uint64_t at; /* ticks */
    /* the owner, NULL: the lock is free; or the thread that runs in place of a ready one, NULL: unknown */
    const struct model_thread *thread;
    enum model_state state; /* of a thread */
    enum model_mode mode;   /* MODEL_MODES: it does not run */
};

/* The newest changes, oldest first. All zero: empty. */
struct lock_changes {
    struct lock_change *items;
    size_t count, size;
    bool is_cut; /* older ones were forgotten */
};

/* The parts of a wait with one cause. */
struct lock_deed {
    /* the holder; if NULL, only `cause` and `ticks` are valid */
    const struct model_thread *thread;
    enum lock_cause cause;
    enum model_state state; /* of the holder */
    enum model_mode mode;   /* of the holder; MODEL_MODES: it did not run, or unknown */
    /* the thread that ran instead while the holder was preempted; NULL: unknown */
    const struct model_thread *instead;
    uint64_t ticks;
};

struct lock_chain {
    uint64_t number;
    uint32_t pid; /* whose addresses they are; 0: the kernel, whose chains all processes share */
    char text[CHAIN_BYTES];
};

/* An event of a lock, logged by the running thread, which it is about. */
struct lock_event {
    const struct cursor *cursor;
    unsigned kind;
    const struct model_thread *thread;
    const struct model_thread *holder; /* at the begin of a wait; NULL: unknown */
    uint64_t lock, value;
    uint64_t from, at; /* ticks; from: begin of the wait or hold */
    uint32_t class;
    uint32_t pid; /* 0: a lock of the kernel; others may sleep, and are woken at the release */
    bool is_sampled, is_event;
    bool all_known; /* all acquisitions of the class are logged, so the lock was free if it had no owner */
};

/* A thread that sleeps until a lock is free. */
struct lock_sleeper {
    struct lock_event event;
    uint64_t switches; /* the thread's count then: if unchanged, it has not run since */
};

struct locks {
    struct making making; /* first */
    const struct event_type *types[EVENTS];
    const struct field *fields[EVENTS][FIELDS];
    struct slots threads; /* struct lock_changes by thread number, in order of time */
    uint64_t space;       /* number of changes for which there is space */
    struct delays delays;
    struct map owners;   /* struct lock_changes by pid and address */
    struct map chains;   /* struct lock_chain by class, the thread's pid, hash */
    struct map takings;  /* struct lock_chain * by thread number, address, pid and class: until the release */
    struct map sleepers; /* struct lock_sleeper by thread number */
    uint64_t wait_count; /* including the current one */
    struct lock_deed *deeds; /* of the wait that was explained last, latest first; they add up to it */
    size_t deed_count, deed_size;
};

/* ---- histories ---- */

/* MOST: more are not kept. If there is no space, the older half is forgotten. */
static void add_change(struct locks *locks, struct lock_changes *changes, size_t most,
                       struct lock_change change)
{
    size_t size = changes->size;
    if (changes->count == size && size > 0 && (size == most || locks->space + size > CHANGES_MAX)) {
        changes->count /= 2;
        memcpy(changes->items, changes->items + changes->count, changes->count * sizeof(change));
        changes->is_cut = true;
    }
    changes->items = arena_grow(&locks->making.analysis->arena, changes->items, changes->count,
                                &changes->size, sizeof(change));
    locks->space += changes->size - size;
    changes->items[changes->count++] = change;
}

static struct lock_change *newest(const struct lock_changes *changes)
{
    return changes->count != 0 ? &changes->items[changes->count - 1] : NULL;
}

/* ---- states of threads ---- */

/* A change at the time of the last one replaces it. */
static void add_state(struct locks *locks, const struct model_thread *thread, struct lock_change change)
{
    struct lock_changes *changes = slots_at(&locks->threads, thread->number);
    struct lock_change *last = newest(changes);
    if (last != NULL && last->at == change.at)
        *last = change;
    else if (last == NULL || last->state != change.state || last->mode != change.mode ||
             last->thread != change.thread)
        add_change(locks, changes, CHANGES_OF_THREAD, change);
}

/* THREAD's current state, which began at AT. */
static struct lock_change current_state(const struct model_thread *thread, uint64_t at)
{
    enum model_mode mode = thread->state == MODEL_RUNNING ? model_mode(thread) : MODEL_MODES;
    return (struct lock_change){.at = at, .state = thread->state, .mode = mode};
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct locks *locks = MAKING_OF(self, struct locks);
    delays_segment(&locks->delays, thread, from, to);
    if (!thread->is_idle && thread->state != MODEL_READY)
        add_state(locks, thread, current_state(thread, from));
}

/* Behind a delay the state is unknown, unless the next one says more. */
static void on_delayed(struct delays *delays, const struct model_thread *thread,
                       const struct model_thread *by, uint32_t cpu, uint64_t from, uint64_t to)
{
    struct locks *locks = OUTER(delays, struct locks, delays);
    by = by != NULL && !by->is_idle ? by : NULL;
    add_state(locks, thread, (struct lock_change){from, by, MODEL_READY, MODEL_MODES});
    add_state(locks, thread, (struct lock_change){to, NULL, MODEL_READY, MODEL_MODES});
}

static void add_deed(struct locks *locks, struct lock_deed deed)
{
    for (size_t i = 0; i < locks->deed_count; i++) {
        struct lock_deed *known = &locks->deeds[i];
        if (known->thread == deed.thread && known->cause == deed.cause && known->state == deed.state &&
            known->mode == deed.mode && known->instead == deed.instead) {
            known->ticks += deed.ticks;
            return;
        }
    }
    locks->deeds = arena_grow(&locks->making.analysis->arena, locks->deeds, locks->deed_count,
                              &locks->deed_size, sizeof(deed));
    locks->deeds[locks->deed_count++] = deed;
}

/* A time in which nobody is known to have the lock. */
static void add_nobody(struct locks *locks, enum lock_cause cause, uint64_t ticks)
{
    add_deed(locks, (struct lock_deed){NULL, cause, MODEL_UNKNOWN, MODEL_MODES, NULL, ticks});
}

/* Adds TICKS in which THREAD, the holder, was in the state that CHANGE says. A thread keeps its CPU while it
 * has a lock of the kernel, and stays in the kernel. If it seems otherwise, another thread holds the lock,
 * which did not have to wait for it. */
static void explain_state(struct locks *locks, const struct lock_event *wait,
                          const struct model_thread *thread, const struct lock_change *change, uint64_t ticks)
{
    enum lock_cause cause = change->state == MODEL_RUNNING   ? CAUSE_RUNNING
                            : change->state == MODEL_READY   ? CAUSE_PREEMPTED
                            : change->state == MODEL_UNKNOWN ? CAUSE_UNKNOWN
                                                             : CAUSE_BLOCKED;
    bool is_kernel = wait->pid == 0;
    enum model_mode mode = is_kernel && change->mode == MODE_USER ? MODEL_MODES : change->mode;
    if (is_kernel && (cause == CAUSE_PREEMPTED || cause == CAUSE_BLOCKED))
        add_nobody(locks, CAUSE_UNKNOWN, ticks);
    else
        add_deed(locks, (struct lock_deed){thread, cause, change->state, mode, change->thread, ticks});
}

/* Adds a time in which THREAD owned the lock, newest first, beginning with the open segment; if THREAD is
 * NULL, CAUSE says whether the lock was free. */
static void explain_owner(struct locks *locks, const struct lock_event *wait,
                          const struct model_thread *thread, enum lock_cause cause, uint64_t from,
                          uint64_t to)
{
    const struct lock_change unknown = {.state = MODEL_UNKNOWN, .mode = MODEL_MODES};
    const struct lock_changes *changes;
    struct lock_change now;
    if (from < to && thread == NULL)
        add_nobody(locks, cause, to - from);
    if (from >= to || thread == NULL)
        return;
    changes = slots_at(&locks->threads, thread->number);
    now = current_state(thread, thread->segment);
    if (now.at < to && (changes->count == 0 || newest(changes)->at <= now.at)) {
        explain_state(locks, wait, thread, &now, to - later(now.at, from));
        to = later(now.at, from);
    }
    for (uint64_t i = FIRST_WHERE(0, changes->count, n, changes->items[n].at >= to); i > 0 && from < to;
         i--) {
        const struct lock_change *change = &changes->items[i - 1];
        explain_state(locks, wait, thread, change, to - later(change->at, from));
        to = later(change->at, from);
    }
    if (from < to)
        explain_state(locks, wait, thread, &unknown, to - from);
}

/* ---- owners of a lock ---- */

static struct lock_changes *owners_of(struct locks *locks, const struct lock_event *event)
{
    return map_at(&locks->owners, event->pid, event->lock, 0);
}

/* THREAD owns the lock from AT on; NULL: it is free. AT may be slightly earlier than the last change, if it
 * was logged late. */
static void lock_taken(struct locks *locks, const struct lock_event *event, const struct model_thread *thread,
                       uint64_t at)
{
    struct lock_changes *owners = owners_of(locks, event);
    const struct lock_change *last = newest(owners);
    if (last == NULL || last->thread != thread)
        add_change(locks, owners, CHANGES_OF_LOCK, (struct lock_change){.at = at, .thread = thread});
}

/* An acquisition that was not logged becomes known only at the release; the history stays in order. If
 * another reader's release is in that time, the lock was not free after it: the thread still had it. */
static void lock_released(struct locks *locks, const struct lock_event *event)
{
    struct lock_changes *owners = owners_of(locks, event);
    struct lock_change *last = newest(owners);
    if (last == NULL || (last->thread != event->thread && last->at <= event->from))
        lock_taken(locks, event, event->thread, event->from);
    else if (last->thread == NULL && last->at > event->from && last->at < event->at)
        last->thread = event->thread;
    if (newest(owners)->thread == event->thread && newest(owners)->at <= event->at)
        lock_taken(locks, event, NULL, event->at);
}

/* ---- a wait ---- */

/* One that only spun was not woken. */
static bool is_woken(const struct lock_event *wait)
{
    return wait->pid != 0 && wait->thread->woken > wait->from && wait->thread->woken <= wait->at;
}

/* Returns when the waiter began to take the lock without competition: it was woken, and LAST did not take
 * the lock after that. */
static uint64_t on_its_way(const struct lock_event *wait, const struct lock_change *last)
{
    uint64_t woken = wait->thread->woken;
    if (!is_woken(wait) || woken > last->at)
        return is_woken(wait) ? woken : wait->at;
    return last->thread == NULL ? last->at : wait->at;
}

/* Splits a wait that ends now into `deeds`. */
static void lock_explain(struct locks *locks, const struct lock_event *wait)
{
    const struct lock_changes *owners = owners_of(locks, wait);
    struct lock_change now = {.at = wait->from, .thread = wait->holder};
    enum lock_cause cause = CAUSE_UNKNOWN; /* while no owner is known */
    uint64_t way;
    if (owners->is_cut && owners->items[0].at > wait->from)
        now.thread = NULL; /* other owners in between were forgotten */
    for (size_t i = 0; i < owners->count; i++) {
        const struct lock_change *change = &owners->items[i];
        if (change->at <= now.at || change->at >= wait->at || change->thread == wait->thread)
            continue;
        explain_owner(locks, wait, now.thread, cause, now.at, change->at);
        now = *change;
        cause = wait->all_known ? CAUSE_FREE : CAUSE_UNKNOWN;
    }
    way = on_its_way(wait, &now);
    explain_owner(locks, wait, now.thread, cause, now.at, way);
    explain_owner(locks, wait, NULL, CAUSE_FREE, way, wait->at);
}

static uint64_t number_in(const struct locks *locks, const struct lock_event *event, unsigned field)
{
    const struct field *known = locks->fields[event->kind][field];
    return known != NULL ? field_integer(known, event->cursor->event.bytes) : 0;
}

/* Longer durations than the current time are damaged. */
static struct lock_event read_event(const struct locks *locks, unsigned kind, const struct cursor *cursor,
                                    const struct model_thread *thread)
{
    const struct model *model = locks->making.analysis->model;
    struct lock_event event = {.cursor = cursor, .kind = kind, .thread = thread, .at = cursor->ticks};
    uint32_t holder = (uint32_t)number_in(locks, &event, HOLDER);
    event.lock = number_in(locks, &event, LOCK);
    event.class = (uint32_t)number_in(locks, &event, CLASS);
    event.pid = (uint32_t)number_in(locks, &event, PID);
    event.value = number_in(locks, &event, VALUE);
    event.from = kind == CONTENDED || kind == HELD ? event.at - sooner(event.value, event.at) : event.at;
    event.holder = holder != NOT_KNOWN && holder != 0 ? model_find_last(model, holder) : NULL;
    event.class = event.class < CLASS_REST ? event.class : CLASS_REST;
    if (event.class < CLASS_REST) {
        const struct model_lock_class *class = &model->lock_classes[event.class];
        event.is_sampled = class->sample_every != 0;
        event.all_known = class->sample_every == 1;
        event.is_event = class->kind == MODEL_EVENT;
    }
    return event;
}

/* ---- call chains ---- */

/* Chains with the same length and hash are considered equal. */
static struct lock_chain *chain_of(struct locks *locks, const struct lock_event *event)
{
    const struct field *field = locks->fields[event->kind][CHAIN];
    uint64_t addresses[CHAIN_MAX], hash = HASH_SEED, depth = (uint32_t)number_in(locks, event, DEPTH);
    uint32_t pid = event->pid != 0 ? event->thread->pid : 0;
    struct lock_chain *chain;
    size_t used = 0;
    depth = sooner(depth, CHAIN_MAX);
    if (field == NULL || field->offset / 8 + depth > event->cursor->event.words)
        depth = 0;
    for (uint64_t i = 0; i < depth; i++) {
        addresses[i] = load64(event->cursor->event.bytes + field->offset + 8ul * i, field->swap);
        hash = hash_number(hash, addresses[i]);
    }
    chain = map_at(&locks->chains, event->class, pid, hash + depth);
    if (chain->number != 0)
        return chain;
    chain->number = locks->chains.count;
    chain->pid = pid;
    for (uint64_t i = 0; i < depth; i++)
        used += (size_t)snprintf(chain->text + used, CHAIN_BYTES - used,
                                 i == 0 ? "0x%" PRIx64 : " 0x%" PRIx64, addresses[i]);
    return chain;
}

#define TAKING(event) (event)->thread->number, (event)->lock, (uint64_t)(event)->pid << 32 | (event)->class

/* The event's thread acquires the lock in CHAIN, which replaces its earlier acquisition. */
static void take(struct locks *locks, const struct lock_event *event, const struct lock_chain *chain)
{
    bool is_new;
    const struct lock_chain **taking = map_add(&locks->takings, TAKING(event), &is_new);
    if (taking != NULL)
        *taking = chain;
}

/* The thread releases the lock: returns the chain that acquired it, or NULL. */
static const struct lock_chain *let_go(struct locks *locks, const struct lock_event *event)
{
    const struct lock_chain **taking = map_find(&locks->takings, TAKING(event));
    const struct lock_chain *chain = taking != NULL ? *taking : NULL;
    if (taking != NULL)
        map_remove(&locks->takings, TAKING(event));
    return chain;
}

/* ---- rows ---- */

/* clang-format off */
#define EVENT_COLUMNS(C, ts_text) \
    C("ts", WHEN, WHEN(event->from), ts_text) \
    C("utid", NUMBER, THREAD_OF(event->thread), "thread that waited, acquired or held it") \
    C("pid", NUMBER, NUMBER(event->pid), "process of the lock; 0: a lock of the kernel") \
    C("lock", ADDRESS, HEX(event->lock), "address of the lock") \
    C("class", NUMBER, NUMBER(event->class), "number of the lock class: lock_class_name() names it") \
    C("is_event", NUMBER, NUMBER(event->is_event), "1: a semaphore, condition, ...: no lock") \
    C("chain_pid", NUMBER, IF(chain != NULL, NUMBER(chain->pid)), \
      "process of the chain's addresses; 0: the kernel") \
    C("chain_id", NUMBER, IF(chain != NULL, NUMBER(chain->number)), \
      "number of the chain, class and process together") \
    C("chain", TEXT, STRING(chain != NULL ? chain->text : NULL), \
      "return addresses from the innermost on: call_chain() names them")
#define WAIT_PART(cause) IF(is_wait, SPAN(parts[cause]))
#define USE_COLUMNS(C) \
    EVENT_COLUMNS(C, "begin of the wait or hold; time of the acquisition") \
    C("is_wait", NUMBER, NUMBER(is_wait), "1: a wait") \
    C("wait_dur", SPAN, IF(is_wait, SPAN(event->at - event->from)), "duration of the wait") \
    C("is_sampled", NUMBER, IF(is_wait, NUMBER(event->is_sampled)), \
      "1: acquisitions of the class were sampled at the time") \
    C("spins", NUMBER, IF(is_wait, NUMBER(number_in(locks, event, SPINS))), "iterations of the waiting loop") \
    C("running_dur", SPAN, WAIT_PART(CAUSE_RUNNING), "part of the wait in which the holder ran") \
    C("preempted_dur", SPAN, WAIT_PART(CAUSE_PREEMPTED), "part in which the holder was ready but had no CPU") \
    C("blocked_dur", SPAN, WAIT_PART(CAUSE_BLOCKED), "part in which the holder waited") \
    C("free_dur", SPAN, WAIT_PART(CAUSE_FREE), "part in which the lock was free") \
    C("unknown_dur", SPAN, WAIT_PART(CAUSE_UNKNOWN), "part in which the holder, or what it did, is unknown") \
    C("holder_utid", NUMBER, THREAD_OF(worst), "thread that held it longest meanwhile") \
    C("instead_utid", NUMBER, THREAD_OF(instead), "thread that ran longest while holders were preempted") \
    C("instead_dur", SPAN, IF(instead != NULL, SPAN(instead_ticks)), "run time of that thread") \
    C("is_woken", NUMBER, NUMBER(was_woken), "1: the thread slept until it was woken") \
    C("waker_utid", NUMBER, THREAD_OF(was_woken ? event->thread->waker : NULL), \
      "thread that woke it; empty: a time-out, or unknown") \
    C("threshold", SPAN, IF(is_wait, SPAN(limits[event->cursor->event.type->index].threshold)), \
      "shorter waits were not logged at the time") \
    C("acquisitions", NUMBER, IF(event->kind == ACQUIRED, NUMBER(event->value)), \
      "number of acquisitions that this logged one stands for") \
    C("variance", NUMBER, IF(event->kind == ACQUIRED, NUMBER(event->value * (event->value - 1))), \
      "variance of that estimate") \
    C("is_hold", NUMBER, IF(!is_wait, NUMBER(event->kind == HELD)), "1: the lock was released") \
    C("hold_dur", SPAN, IF(event->kind == HELD, SPAN(event->at - event->from)), "time in which it was held")
#define BLAME_COLUMNS(C) \
    EVENT_COLUMNS(C, "begin of the wait") \
    C("wait", NUMBER, NUMBER(locks->wait_count), "number of the wait") \
    C("dur", SPAN, SPAN(deed->ticks), "part of the wait in which that holder was in that state") \
    C("cause", TEXT, STRING(causes[deed->cause]), "running, preempted, blocked, free or unknown") \
    C("did", TEXT, STRING(name_deed(deed)), "state of the holder") \
    C("holder_utid", NUMBER, THREAD_OF(deed->thread), "the holder; empty: none, or unknown") \
    C("instead_utid", NUMBER, THREAD_OF(deed->instead), "thread that ran while the holder was preempted") \
    C("is_new_holder", NUMBER, NUMBER(first == i), "1: the first row of this holder in the wait") \
    C("holder_dur", SPAN, SPAN(time_of(locks, deed->thread, NULL)), \
      "time for which the holder had it in this wait")
#define WAITING_COLUMNS(C) \
    C("ts", WHEN, WHEN(event->at), "begin of the wait") \
    C("utid", NUMBER, THREAD_OF(event->thread), "thread that still waits at the end") \
    C("lock", ADDRESS, HEX(event->lock), "address of the lock") \
    C("class", NUMBER, NUMBER(event->class), "number of the lock class") \
    C("holder_utid", NUMBER, THREAD_OF(event->holder), "thread that held it when the wait began")
/* clang-format on */

static const char *name_deed(const struct lock_deed *deed)
{
    static const char *const modes[MODEL_MODES + 1] = {[MODE_USER] = "runs, user code",
                                                       [MODE_KERNEL] = "runs in the kernel",
                                                       [MODE_INTERRUPT] = "is interrupted",
                                                       [MODEL_MODES] = "runs"};
    return deed->cause == CAUSE_RUNNING   ? modes[deed->mode]
           : deed->cause == CAUSE_BLOCKED ? model_state_names[deed->state]
                                          : causes[deed->cause];
}

/* Returns how long HOLDER had the lock in the current wait, or INSTEAD ran in a holder's place. */
static uint64_t time_of(const struct locks *locks, const struct model_thread *holder,
                        const struct model_thread *instead)
{
    uint64_t ticks = 0;
    for (size_t i = 0; i < locks->deed_count; i++) {
        const struct lock_deed *deed = &locks->deeds[i];
        if (holder != NULL ? deed->thread == holder : instead != NULL && deed->instead == instead)
            ticks += deed->ticks;
    }
    return ticks;
}

static void give_blame(struct locks *locks, const struct lock_event *event, const struct lock_chain *chain)
{
    for (size_t i = 0; locks->making.sinks[BLAME] != NULL && i < locks->deed_count; i++) {
        const struct lock_deed *deed = &locks->deeds[i];
        size_t first = 0; /* of this holder */
        while (locks->deeds[first].thread != deed->thread)
            first++;
        MAKING_GIVE(&locks->making, BLAME, event->from, BLAME_COLUMNS);
    }
}

/* A logged acquisition stands for N, with variance N * (N - 1), because one of N was logged with probability
 * 1/N whatever is asked for. */
static void give_use(struct locks *locks, const struct lock_event *event, const struct lock_chain *chain)
{
    bool is_wait = event->kind == CONTENDED, was_woken = is_wait && is_woken(event);
    const struct model_thread *worst = NULL, *instead = NULL;
    uint64_t parts[LOCK_CAUSES] = {0}, worst_ticks = 0, instead_ticks = 0;
    const struct model_limit *limits = locks->making.analysis->model->limits;
    for (size_t i = 0; i < locks->deed_count; i++) {
        const struct lock_deed *deed = &locks->deeds[i];
        uint64_t held = time_of(locks, deed->thread, NULL), ran = time_of(locks, NULL, deed->instead);
        parts[deed->cause] += deed->ticks;
        worst = held > worst_ticks ? deed->thread : worst;
        worst_ticks = later(held, worst_ticks);
        instead = ran > instead_ticks ? deed->instead : instead;
        instead_ticks = later(ran, instead_ticks);
    }
    if (is_wait && locks->deed_count == 0)
        parts[CAUSE_UNKNOWN] = event->at - event->from;
    MAKING_GIVE(&locks->making, USE, event->from, USE_COLUMNS);
}

static void on_lock(struct locks *locks, const struct lock_event *event, bool is_wanted)
{
    bool takes = event->kind == CONTENDED || event->kind == ACQUIRED;
    const struct lock_chain *chain = event->kind == HELD  ? let_go(locks, event)
                                     : takes && is_wanted ? chain_of(locks, event)
                                                          : NULL;
    locks->deed_count = 0;
    if (event->kind == CONTENDED && is_wanted) {
        locks->wait_count++;
        if (!event->is_event || event->holder != NULL)
            lock_explain(locks, event);
        give_blame(locks, event, chain);
    }
    if (is_wanted && event->kind != SLEEP)
        give_use(locks, event, chain);
    if (is_wanted && takes)
        take(locks, event, chain);
    if (takes && !event->is_event)
        lock_taken(locks, event, event->thread, event->at);
    if (event->kind == HELD)
        lock_released(locks, event);
    if (event->kind == SLEEP && event->holder != NULL && !event->is_event)
        lock_taken(locks, event, event->holder, event->at);
    if (event->kind == SLEEP)
        *(struct lock_sleeper *)map_at(&locks->sleepers, event->thread->number, 0, 0) =
            (struct lock_sleeper){*event, event->thread->switches};
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct locks *locks = MAKING_OF(self, struct locks);
    unsigned kind = 0;
    delays_event(&locks->delays, cursor);
    while (kind < EVENTS && cursor->event.type != locks->types[kind])
        kind++;
    if (kind < EVENTS) {
        const struct lock_event event = read_event(locks, kind, cursor, thread);
        on_lock(locks, &event, analysis_wants_on(locks->making.analysis, thread, cursor->stream->rank));
    }
}

/* ---- the maker ---- */

static void find_fields(struct locks *locks, unsigned kind)
{
    const struct field **fields = locks->fields[kind];
    const struct analysis *analysis = locks->making.analysis;
    locks->types[kind] = analysis_fields(analysis, events[kind].name, events[kind].fields, NEEDED, fields);
    analysis_fields(analysis, events[kind].name, events[kind].fields + NEEDED, FIELDS - NEEDED,
                    fields + NEEDED);
    for (unsigned i = 0; i < CHAIN; i++)
        if (fields[i] != NULL && fields[i]->kind != FIELD_INTEGER && fields[i]->kind != FIELD_ENUM) {
            fields[i] = NULL;
            locks->types[kind] = i < NEEDED ? NULL : locks->types[kind];
        }
    if (fields[CHAIN] != NULL && (fields[CHAIN]->kind != FIELD_SEQUENCE || fields[CHAIN]->width != 8))
        fields[CHAIN] = NULL;
}

static void open_locks(struct making *making)
{
    struct locks *locks = (struct locks *)making;
    struct analysis *analysis = making->analysis;
    for (unsigned kind = 0; kind < EVENTS; kind++)
        find_fields(locks, kind);
    analysis_slots(analysis, &locks->threads, sizeof(struct lock_changes));
    delays_open(&locks->delays, analysis);
    locks->delays.delayed = on_delayed;
    analysis_map(analysis, &locks->owners, sizeof(struct lock_changes));
    analysis_map(analysis, &locks->chains, sizeof(struct lock_chain));
    analysis_map(analysis, &locks->takings, sizeof(const struct lock_chain *));
    analysis_map(analysis, &locks->sleepers, sizeof(struct lock_sleeper));
}

static void finish_locks(struct making *making)
{
    const struct locks *locks = (const struct locks *)making;
    for (size_t i = 0; i < locks->sleepers.count; i++) {
        const struct lock_sleeper *sleeper = map_value(&locks->sleepers, i);
        const struct lock_event *event = &sleeper->event;
        if (event->thread->state == MODEL_BLOCKED_FUTEX && event->thread->switches == sleeper->switches &&
            analysis_wants(making->analysis, event->thread))
            MAKING_GIVE(making, WAITING, event->at, WAITING_COLUMNS);
    }
}

const struct maker lock_maker = {
    .relations = {MADE_RELATION("lock_use", "waits for locks and events, acquisitions and holds",
                                USE_COLUMNS),
                  MADE_RELATION("lock_blame", "waits for locks, by holder and what it did", BLAME_COLUMNS),
                  MADE_RELATION("lock_waiting", "threads that still wait at the end", WAITING_COLUMNS)},
    .size = sizeof(struct locks),
    .observer = {.event = on_event, .segment = on_segment},
    .open = open_locks,
    .finish = finish_locks,
};
