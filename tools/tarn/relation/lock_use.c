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

/* A change in a history: of a lock's owner, or of a thread's state. */
struct lock_change {
    uint64_t at; /* ticks */
    /* the owner, NULL: the lock is free; or the thread that runs in place of one that is ready, NULL: unknown
     */
    const struct model_thread *thread;
    /* of a thread; MODEL_MODES: it does not run */
    enum model_state state;
    enum model_mode mode;
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
struct lock_wait {
    const struct model_thread *waiter, *holder; /* holder: at the begin of the wait; NULL: unknown */
    uint64_t from, to;
    bool may_sleep; /* the waiter may sleep, and is woken at the release; not for a lock of the kernel */
    bool all_known; /* all acquisitions of the class are logged, so the lock was free if it had no owner */
};

struct lock_states {
    struct slots threads;    /* struct lock_changes by thread number, in order of time */
    uint64_t space;          /* number of changes for which there is space */
    struct arena *arena;     /* of all changes, and of the owners */
    struct lock_deed *deeds; /* of the wait that was explained last, latest first; they add up to it */
    size_t deed_count, deed_size;
};

struct lock_chain {
    uint64_t number;
    uint32_t pid; /* whose addresses they are; 0: the kernel, whose chains all processes share */
    char text[CHAIN_BYTES];
};

/* The latest acquisition of a lock by a thread, until the release. */
struct lock_taking {
    const struct model_thread *thread;
    uint64_t lock;
    const struct lock_chain *chain; /* NULL: unknown */
};

/* A thread that sleeps until a lock is free. */
struct lock_sleeper {
    uint64_t since, lock;
    uint64_t switches; /* the thread's count then: if unchanged, it has not run since */
    uint32_t class;
    const struct model_thread *thread, *holder;
};

struct locks {
    struct making making; /* first */
    const struct event_type *types[EVENTS];
    const struct field *fields[EVENTS][FIELDS];
    struct lock_states states;
    struct delays delays;
    struct map owners;   /* struct lock_changes by pid and address */
    struct map chains;   /* struct lock_chain by class, the thread's pid, hash */
    struct map takings;  /* struct lock_taking by thread number, address, pid and class */
    struct map sleepers; /* struct lock_sleeper by thread number */
    uint64_t wait_count; /* including the current one */
};

/* An event of a lock, logged by the running thread, which it is about. */
struct lock_event {
    const struct cursor *cursor;
    unsigned kind;
    const struct model_thread *thread;
    uint64_t lock, at, value; /* at: ticks */
    uint32_t class, pid;
    bool is_sampled, is_event;
};

/* ---- histories ---- */

/* MOST: more are not kept. If there is no space, the older half is forgotten. */
static void add_change(struct lock_states *states, struct lock_changes *changes, size_t most,
                       struct lock_change change)
{
    size_t size = changes->size;
    if (changes->count == size && size > 0 && (size == most || states->space + size > CHANGES_MAX)) {
        changes->count /= 2;
        memcpy(changes->items, changes->items + changes->count, changes->count * sizeof(change));
        changes->is_cut = true;
    }
    changes->items =
        arena_grow(states->arena, changes->items, changes->count, &changes->size, sizeof(change));
    states->space += changes->size - size;
    changes->items[changes->count++] = change;
}

static struct lock_change *newest(const struct lock_changes *changes)
{
    return changes->count != 0 ? &changes->items[changes->count - 1] : NULL;
}

/* ---- states of threads ---- */

/* A change at the time of the last one replaces it. */
static void add_state(struct lock_states *states, struct lock_changes *changes, struct lock_change change)
{
    struct lock_change *last = newest(changes);
    if (last != NULL && last->at == change.at)
        *last = change;
    else if (last == NULL || last->state != change.state || last->mode != change.mode ||
             last->thread != change.thread)
        add_change(states, changes, CHANGES_OF_THREAD, change);
}

/* THREAD's current state, which began at AT. */
static struct lock_change current_state(const struct model_thread *thread, uint64_t at)
{
    enum model_mode mode = thread->state == MODEL_RUNNING ? model_mode(thread) : MODEL_MODES;
    return (struct lock_change){.at = at, .state = thread->state, .mode = mode};
}

static void lock_states_segment(struct lock_states *states, const struct model_thread *thread, uint64_t from)
{
    if (thread->state != MODEL_READY)
        add_state(states, slots_at(&states->threads, thread->number), current_state(thread, from));
}

static void lock_states_delay(struct lock_states *states, const struct model_thread *thread,
                              const struct model_thread *by, uint64_t from, uint64_t to)
{
    struct lock_changes *changes = slots_at(&states->threads, thread->number);
    struct lock_change change = {.at = from, .state = MODEL_READY, .mode = MODEL_MODES};
    change.thread = by != NULL && !by->is_idle ? by : NULL;
    add_state(states, changes, change);
    change.at = to; /* unknown from then on, unless the next one says more */
    change.thread = NULL;
    add_state(states, changes, change);
}

static void add_deed(struct lock_states *states, struct lock_deed deed)
{
    for (size_t i = 0; i < states->deed_count; i++) {
        struct lock_deed *known = &states->deeds[i];
        if (known->thread == deed.thread && known->cause == deed.cause && known->state == deed.state &&
            known->mode == deed.mode && known->instead == deed.instead) {
            known->ticks += deed.ticks;
            return;
        }
    }
    states->deeds =
        arena_grow(states->arena, states->deeds, states->deed_count, &states->deed_size, sizeof(deed));
    states->deeds[states->deed_count++] = deed;
}

/* A time in which nobody is known to have the lock. */
static void add_nobody(struct lock_states *states, enum lock_cause cause, uint64_t ticks)
{
    add_deed(states,
             (struct lock_deed){.cause = cause, .state = MODEL_UNKNOWN, .mode = MODEL_MODES, .ticks = ticks});
}

/* Adds TICKS in which THREAD, the holder, was in the state that CHANGE says. A thread keeps its CPU while it
 * has a lock of the kernel, and stays in the kernel. If it seems otherwise, another thread holds the lock,
 * which did not have to wait for it. */
static void explain_state(struct lock_states *states, const struct lock_wait *wait,
                          const struct model_thread *thread, const struct lock_change *change, uint64_t ticks)
{
    bool is_kernel = !wait->may_sleep, runs = change->state == MODEL_RUNNING;
    struct lock_deed deed = {.thread = thread,
                             .cause = runs                             ? CAUSE_RUNNING
                                      : change->state == MODEL_READY   ? CAUSE_PREEMPTED
                                      : change->state == MODEL_UNKNOWN ? CAUSE_UNKNOWN
                                                                       : CAUSE_BLOCKED,
                             .state = change->state,
                             .mode = is_kernel && change->mode == MODE_USER ? MODEL_MODES : change->mode,
                             .instead = change->thread,
                             .ticks = ticks};
    if (is_kernel && (deed.cause == CAUSE_PREEMPTED || deed.cause == CAUSE_BLOCKED))
        add_nobody(states, CAUSE_UNKNOWN, ticks);
    else
        add_deed(states, deed);
}

/* Adds what a holder did, newest first, beginning with the open segment. */
static void explain_holder(struct lock_states *states, const struct lock_wait *wait,
                           const struct model_thread *thread, uint64_t from, uint64_t to)
{
    const struct lock_change unknown = {.state = MODEL_UNKNOWN, .mode = MODEL_MODES};
    const struct lock_change now = current_state(thread, thread->segment);
    const struct lock_changes *changes = slots_find(&states->threads, thread->number);
    static const struct lock_changes none;
    changes = changes != NULL ? changes : &none;
    if (now.at < to && (changes->count == 0 || newest(changes)->at <= now.at)) {
        uint64_t begin = later(now.at, from);
        explain_state(states, wait, thread, &now, to - begin);
        to = begin;
    }
    for (uint64_t i = FIRST_WHERE(0, changes->count, n, changes->items[n].at >= to); i > 0 && from < to;
         i--) {
        const struct lock_change *change = &changes->items[i - 1];
        uint64_t begin = later(change->at, from);
        explain_state(states, wait, thread, change, to - begin);
        to = begin;
    }
    if (from < to)
        explain_state(states, wait, thread, &unknown, to - from);
}

/* ---- owners of a lock ---- */

/* THREAD owns the lock from AT on; NULL: it is free. AT may be slightly earlier than the last change, if it
 * was logged late. */
static void lock_taken(struct lock_states *states, struct lock_changes *owners,
                       const struct model_thread *thread, uint64_t at)
{
    const struct lock_change *last = newest(owners);
    if (last != NULL && last->at >= at && last->thread == thread)
        return;
    if (last == NULL || last->thread != thread)
        add_change(states, owners, CHANGES_OF_LOCK, (struct lock_change){.at = at, .thread = thread});
}

/* THREAD, which acquired the lock at FROM, released it. An acquisition that was not logged becomes known only
 * at the release; the history stays in order. If another reader's release is in that time, the lock was not
 * free after it: THREAD still had it. */
static void lock_released(struct lock_states *states, struct lock_changes *owners,
                          const struct model_thread *thread, uint64_t from, uint64_t at)
{
    struct lock_change *last = newest(owners);
    if (last == NULL || (last->thread != thread && last->at <= from))
        lock_taken(states, owners, thread, from);
    else if (last->thread == NULL && last->at > from && last->at < at)
        last->thread = thread;
    if (newest(owners)->thread == thread && newest(owners)->at <= at)
        lock_taken(states, owners, NULL, at);
}

/* ---- a wait ---- */

/* Adds a time in which THREAD owned the lock; if it is NULL, CAUSE says whether the lock was free. */
static void explain_owner(struct lock_states *states, const struct lock_wait *wait,
                          const struct model_thread *thread, enum lock_cause cause, uint64_t from,
                          uint64_t to)
{
    if (from < to && thread != NULL)
        explain_holder(states, wait, thread, from, to);
    else if (from < to)
        add_nobody(states, cause, to - from);
}

/* Returns when the waiter began to take the lock without competition: it was woken, and LAST did not take
 * the lock after that. */
static uint64_t on_its_way(const struct lock_wait *wait, const struct lock_change *last)
{
    uint64_t woken = wait->waiter->woken;
    if (!wait->may_sleep || woken <= wait->from || woken >= wait->to)
        return wait->to;
    if (woken > last->at)
        return woken;
    return last->thread == NULL ? last->at : wait->to;
}

/* Splits a wait that ends now into `deeds`. */
static void lock_explain(struct lock_states *states, const struct lock_changes *owners,
                         const struct lock_wait *wait)
{
    struct lock_change now = {.at = wait->from, .thread = wait->holder};
    enum lock_cause cause = CAUSE_UNKNOWN; /* while no owner is known */
    uint64_t way;
    states->deed_count = 0;
    if (owners->is_cut && owners->items[0].at > wait->from)
        now.thread = NULL; /* other owners in between were forgotten */
    for (size_t i = 0; i < owners->count; i++) {
        const struct lock_change *change = &owners->items[i];
        if (change->at <= now.at || change->at >= wait->to || change->thread == wait->waiter)
            continue;
        explain_owner(states, wait, now.thread, cause, now.at, change->at);
        now = *change;
        cause = wait->all_known ? CAUSE_FREE : CAUSE_UNKNOWN;
    }
    way = on_its_way(wait, &now);
    explain_owner(states, wait, now.thread, cause, now.at, way);
    explain_owner(states, wait, NULL, CAUSE_FREE, way, wait->to);
}

/* ---- reading events ---- */

static uint64_t number_in(const struct locks *locks, const struct lock_event *event, unsigned field,
                          uint64_t none)
{
    const struct field *known = locks->fields[event->kind][field];
    return known != NULL ? field_integer(known, event->cursor->event.bytes) : none;
}

static struct lock_event read_event(const struct locks *locks, unsigned kind, const struct cursor *cursor,
                                    const struct model_thread *thread)
{
    const struct model *model = locks->making.analysis->model;
    struct lock_event event = {.cursor = cursor, .kind = kind, .thread = thread, .at = cursor->ticks};
    event.lock = number_in(locks, &event, LOCK, 0);
    event.class = (uint32_t)number_in(locks, &event, CLASS, 0);
    event.pid = (uint32_t)number_in(locks, &event, PID, 0);
    event.value = number_in(locks, &event, VALUE, 0);
    if (event.class >= MODEL_LOCK_CLASSES)
        event.class = CLASS_REST;
    else
        event.is_sampled = model->lock_classes[event.class].sample_every != 0;
    event.is_event = event.class < CLASS_REST && model->lock_classes[event.class].kind == MODEL_EVENT;
    return event;
}

/* Returns the duration that ends with the event, limited to the current time, because longer ones are
 * damaged. */
static uint64_t duration_of(const struct lock_event *event)
{
    return event->value < event->at ? event->value : event->at;
}

static struct lock_changes *owners_of(struct locks *locks, const struct lock_event *event)
{
    return map_at(&locks->owners, event->pid, event->lock, 0);
}

static const struct model_thread *holder_of(const struct locks *locks, const struct lock_event *event)
{
    uint32_t tid = (uint32_t)number_in(locks, event, HOLDER, NOT_KNOWN);
    return tid != NOT_KNOWN && tid != 0 ? model_find_last(locks->making.analysis->model, tid) : NULL;
}

/* ---- call chains ---- */

static void name_chain(struct lock_chain *chain, const uint64_t *addresses, uint64_t depth)
{
    size_t used = 0;
    for (uint64_t i = 0; i < depth; i++)
        used += (size_t)snprintf(chain->text + used, CHAIN_BYTES - used,
                                 i == 0 ? "0x%" PRIx64 : " 0x%" PRIx64, addresses[i]);
}

/* Chains with the same length and hash are considered equal. */
static struct lock_chain *chain_of(struct locks *locks, const struct lock_event *event)
{
    const struct field *field = locks->fields[event->kind][CHAIN];
    uint64_t addresses[CHAIN_MAX], hash = HASH_SEED, depth = (uint32_t)number_in(locks, event, DEPTH, 0);
    struct lock_chain *chain;
    depth = depth < CHAIN_MAX ? depth : CHAIN_MAX;
    if (field == NULL || field->offset / 8 + depth > event->cursor->event.words)
        depth = 0;
    for (uint64_t i = 0; i < depth; i++) {
        addresses[i] = load64(event->cursor->event.bytes + field->offset + 8ul * i, field->swap);
        hash = hash_number(hash, addresses[i]);
    }
    chain = map_at(&locks->chains, event->class, event->pid != 0 ? event->thread->pid : 0, hash + depth);
    if (chain->number == 0) {
        chain->number = locks->chains.count;
        chain->pid = event->pid != 0 ? event->thread->pid : 0;
        name_chain(chain, addresses, depth);
    }
    return chain;
}

static struct lock_taking *taking_at(struct locks *locks, const struct lock_event *event)
{
    return map_at(&locks->takings, event->thread->number, event->lock,
                  (uint64_t)event->pid << 32 | event->class);
}

/* The event's thread acquires the lock in CHAIN, which replaces its earlier acquisition. */
static void take(struct locks *locks, const struct lock_event *event, const struct lock_chain *chain)
{
    *taking_at(locks, event) = (struct lock_taking){event->thread, event->lock, chain};
}

/* The thread releases the lock: returns the chain that acquired it, or NULL. */
static const struct lock_chain *let_go(struct locks *locks, const struct lock_event *event)
{
    struct lock_taking *taking = taking_at(locks, event);
    /* beyond the map's limit, all share one entry */
    bool is_same = taking->thread == event->thread && taking->lock == event->lock;
    const struct lock_chain *chain = is_same ? taking->chain : NULL;
    if (is_same)
        taking->chain = NULL;
    return chain;
}

/* ---- rows ---- */

#define SPAN(ticks) VALUE_TICKS(ticks, 0)
/* clang-format off */
#define CHAIN_CELLS(chain)                                                                        \
    VALUE_IF((chain) != NULL, VALUE_NUMBER((chain)->pid)),                                      \
    VALUE_IF((chain) != NULL, VALUE_NUMBER((chain)->number)),                                   \
    value_text((chain) != NULL ? (chain)->text : NULL)
#define EVENT_CELLS(event, begin, chain)                                                          \
    VALUE_OF(VALUE_WHEN, begin), value_of_thread((event)->thread), VALUE_NUMBER((event)->pid),    \
    VALUE_OF(VALUE_HEX, (event)->lock), VALUE_NUMBER((event)->class),                             \
    VALUE_NUMBER((event)->is_event), CHAIN_CELLS(chain)
/* clang-format on */

static const char *name_deed(const struct lock_deed *deed)
{
    static const char *const modes[MODEL_MODES + 1] = {[MODE_USER] = "runs, user code",
                                                       [MODE_KERNEL] = "runs in the kernel",
                                                       [MODE_INTERRUPT] = "is interrupted",
                                                       [MODEL_MODES] = "runs"};
    static const char *const others[LOCK_CAUSES] = {
        [CAUSE_PREEMPTED] = "preempted", [CAUSE_FREE] = "free", [CAUSE_UNKNOWN] = "unknown"};
    return deed->cause == CAUSE_RUNNING   ? modes[deed->mode]
           : deed->cause == CAUSE_BLOCKED ? model_state_names[deed->state]
                                          : others[deed->cause];
}

/* ---- waits ---- */

/* Returns how long HOLDER had the lock in the current wait, or INSTEAD ran in a holder's place. */
static uint64_t time_of(const struct locks *locks, const struct model_thread *holder,
                        const struct model_thread *instead)
{
    uint64_t ticks = 0;
    for (size_t i = 0; i < locks->states.deed_count; i++) {
        const struct lock_deed *deed = &locks->states.deeds[i];
        if (holder != NULL ? deed->thread == holder : instead != NULL && deed->instead == instead)
            ticks += deed->ticks;
    }
    return ticks;
}

static void give_blame(struct locks *locks, const struct lock_event *event, uint64_t from,
                       const struct lock_chain *chain)
{
    static const char *const causes[LOCK_CAUSES] = {"running", "preempted", "blocked", "free", "unknown"};
    const struct lock_deed *deeds = locks->states.deeds;
    for (size_t i = 0; locks->making.sinks[BLAME] != NULL && i < locks->states.deed_count; i++) {
        size_t first = 0; /* of this holder */
        while (deeds[first].thread != deeds[i].thread)
            first++;
        MAKING_GIVE(&locks->making, BLAME, from, EVENT_CELLS(event, from, chain),
                    VALUE_NUMBER(locks->wait_count), SPAN(deeds[i].ticks), value_text(causes[deeds[i].cause]),
                    value_text(name_deed(&deeds[i])), value_of_thread(deeds[i].thread),
                    value_of_thread(deeds[i].instead), VALUE_NUMBER(first == i),
                    SPAN(time_of(locks, deeds[i].thread, NULL)));
    }
}

static void give_wait(struct locks *locks, const struct lock_event *event, const struct lock_wait *wait,
                      const struct lock_chain *chain)
{
    /* one that only spun was not woken */
    bool is_woken = wait->may_sleep && wait->waiter->woken > wait->from && wait->waiter->woken <= wait->to;
    const struct model_thread *worst = NULL, *instead = NULL;
    uint64_t causes[LOCK_CAUSES] = {0}, worst_ticks = 0, instead_ticks = 0, unknown = wait->to - wait->from;
    const struct model_limit *limits = locks->making.analysis->model->limits;
    for (size_t i = 0; i < locks->states.deed_count; i++) {
        const struct lock_deed *deed = &locks->states.deeds[i];
        uint64_t held = time_of(locks, deed->thread, NULL), ran = time_of(locks, NULL, deed->instead);
        causes[deed->cause] += deed->ticks;
        unknown -= deed->cause != CAUSE_UNKNOWN ? deed->ticks : 0;
        worst = held > worst_ticks ? deed->thread : worst;
        worst_ticks = later(held, worst_ticks);
        instead = ran > instead_ticks ? deed->instead : instead;
        instead_ticks = later(ran, instead_ticks);
    }
    MAKING_GIVE(&locks->making, USE, wait->from, EVENT_CELLS(event, wait->from, chain), VALUE_NUMBER(1),
                SPAN(wait->to - wait->from), VALUE_NUMBER(event->is_sampled),
                VALUE_NUMBER(number_in(locks, event, SPINS, 0)), SPAN(causes[CAUSE_RUNNING]),
                SPAN(causes[CAUSE_PREEMPTED]), SPAN(causes[CAUSE_BLOCKED]), SPAN(causes[CAUSE_FREE]),
                SPAN(unknown), value_of_thread(worst), value_of_thread(instead),
                VALUE_IF(instead != NULL, SPAN(instead_ticks)), VALUE_NUMBER(is_woken),
                value_of_thread(is_woken ? wait->waiter->waker : NULL),
                SPAN(limits[event->cursor->event.type->index].threshold), NOTHING, NOTHING, NOTHING, NOTHING);
}

static void explain_wait(struct locks *locks, const struct lock_event *event)
{
    const struct model_lock_class *classes = locks->making.analysis->model->lock_classes;
    const struct lock_chain *chain = chain_of(locks, event);
    struct lock_wait wait = {.waiter = event->thread,
                             .holder = holder_of(locks, event),
                             .from = event->at - duration_of(event),
                             .to = event->at,
                             .may_sleep = event->pid != 0,
                             .all_known =
                                 event->class < CLASS_REST && classes[event->class].sample_every == 1};
    locks->wait_count++;
    locks->states.deed_count = 0;
    if (!event->is_event || wait.holder != NULL)
        lock_explain(&locks->states, owners_of(locks, event), &wait);
    give_blame(locks, event, wait.from, chain);
    give_wait(locks, event, &wait, chain);
    take(locks, event, chain);
}

/* ---- the events ---- */

static bool is_wanted(const struct locks *locks, const struct lock_event *event)
{
    return analysis_wants_on(locks->making.analysis, event->thread, event->cursor->stream->rank);
}

static void on_contended(struct locks *locks, const struct lock_event *event)
{
    if (is_wanted(locks, event))
        explain_wait(locks, event);
    if (!event->is_event)
        lock_taken(&locks->states, owners_of(locks, event), event->thread, event->at);
}

static void on_sleep(struct locks *locks, const struct lock_event *event)
{
    struct lock_sleeper *sleeper = map_at(&locks->sleepers, event->thread->number, 0, 0);
    *sleeper = (struct lock_sleeper){.since = event->at,
                                     .lock = event->lock,
                                     .switches = event->thread->switches,
                                     .class = event->class,
                                     .thread = event->thread,
                                     .holder = holder_of(locks, event)};
    if (sleeper->holder != NULL && !event->is_event)
        lock_taken(&locks->states, owners_of(locks, event), sleeper->holder, event->at);
}

#define NO_WAIT                                                                                       \
    VALUE_NUMBER(0), NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, \
        NOTHING, NOTHING, VALUE_NUMBER(0), NOTHING, NOTHING

/* An acquisition stands for N, with variance N * (N - 1), because one of N was logged with probability 1/N
 * whatever is asked for. */
static void on_acquired(struct locks *locks, const struct lock_event *event)
{
    const struct lock_chain *chain;
    if (!event->is_event)
        lock_taken(&locks->states, owners_of(locks, event), event->thread, event->at);
    if (!is_wanted(locks, event))
        return;
    chain = chain_of(locks, event);
    MAKING_GIVE(&locks->making, USE, event->at, EVENT_CELLS(event, event->at, chain), NO_WAIT,
                VALUE_NUMBER(event->value), VALUE_NUMBER(event->value * (event->value - 1)), VALUE_NUMBER(0),
                NOTHING);
    take(locks, event, chain);
}

static void on_held(struct locks *locks, const struct lock_event *event)
{
    uint64_t held = duration_of(event), from = event->at - held;
    const struct lock_chain *chain = let_go(locks, event);
    lock_released(&locks->states, owners_of(locks, event), event->thread, from, event->at);
    if (is_wanted(locks, event))
        MAKING_GIVE(&locks->making, USE, from, EVENT_CELLS(event, from, chain), NO_WAIT, NOTHING, NOTHING,
                    VALUE_NUMBER(1), SPAN(held));
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    static void (*const actions[EVENTS])(struct locks * locks, const struct lock_event *event) = {
        on_contended, on_held, on_acquired, on_sleep};
    struct locks *locks = MAKING_OF(self, struct locks);

    delays_event(&locks->delays, cursor);
    for (unsigned kind = 0; kind < EVENTS; kind++)
        if (cursor->event.type == locks->types[kind]) {
            const struct lock_event event = read_event(locks, kind, cursor, thread);
            actions[kind](locks, &event);
            return;
        }
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct locks *locks = MAKING_OF(self, struct locks);
    delays_segment(&locks->delays, thread, from, to);
    if (!thread->is_idle)
        lock_states_segment(&locks->states, thread, from);
}

static void on_delayed(struct delays *delays, const struct model_thread *thread,
                       const struct model_thread *by, uint32_t cpu, uint64_t from, uint64_t to)
{
    lock_states_delay(&OUTER(delays, struct locks, delays)->states, thread, by, from, to);
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
    locks->states.arena = &analysis->arena;
    analysis_slots(analysis, &locks->states.threads, sizeof(struct lock_changes));
    delays_open(&locks->delays, analysis);
    locks->delays.delayed = on_delayed;
    analysis_map(analysis, &locks->owners, sizeof(struct lock_changes));
    analysis_map(analysis, &locks->chains, sizeof(struct lock_chain));
    analysis_map(analysis, &locks->takings, sizeof(struct lock_taking));
    analysis_map(analysis, &locks->sleepers, sizeof(struct lock_sleeper));
    making->observer.event = on_event;
    making->observer.segment = on_segment;
}

static void finish_locks(struct making *making)
{
    const struct locks *locks = (const struct locks *)making;
    for (size_t i = 0; i < locks->sleepers.count; i++) {
        const struct lock_sleeper *sleeper = map_value(&locks->sleepers, i);
        const struct model_thread *thread = sleeper->thread;
        if (thread->state == MODEL_BLOCKED_FUTEX && thread->switches == sleeper->switches &&
            analysis_wants(making->analysis, thread))
            MAKING_GIVE(making, WAITING, sleeper->since, VALUE_OF(VALUE_WHEN, sleeper->since),
                        value_of_thread(thread), VALUE_OF(VALUE_HEX, sleeper->lock),
                        VALUE_NUMBER(sleeper->class), value_of_thread(sleeper->holder));
    }
}

/* clang-format off */
#define EVENT_COLUMNS(ts_text) \
    MADE_COLUMN("ts", UNIT_WHEN, ts_text), \
    MADE_COLUMN("utid", UNIT_NUMBER, "thread that waited, acquired or held it"), \
    MADE_COLUMN("pid", UNIT_NUMBER, "process of the lock; 0: a lock of the kernel"), \
    MADE_COLUMN("lock", UNIT_ADDRESS, "address of the lock"), \
    MADE_COLUMN("class", UNIT_NUMBER, "number of the lock class: lock_class_name() names it"), \
    MADE_COLUMN("is_event", UNIT_NUMBER, "1: a semaphore, condition, ...: no lock"), \
    MADE_COLUMN("chain_pid", UNIT_NUMBER, "process of the chain's addresses; 0: the kernel"), \
    MADE_COLUMN("chain_id", UNIT_NUMBER, "number of the chain, class and process together"), \
    MADE_COLUMN("chain", UNIT_TEXT, "return addresses from the innermost on: call_chain() names them")

static const struct relation_column use_columns[] = {
    EVENT_COLUMNS("begin of the wait or hold; time of the acquisition"),
    MADE_COLUMN("is_wait", UNIT_NUMBER, "1: a wait"),
    MADE_COLUMN("wait_dur", UNIT_SPAN, "duration of the wait"),
    MADE_COLUMN("is_sampled", UNIT_NUMBER, "1: acquisitions of the class were sampled at the time"),
    MADE_COLUMN("spins", UNIT_NUMBER, "iterations of the waiting loop"),
    MADE_COLUMN("running_dur", UNIT_SPAN, "part of the wait in which the holder ran"),
    MADE_COLUMN("preempted_dur", UNIT_SPAN, "part in which the holder was ready but had no CPU"),
    MADE_COLUMN("blocked_dur", UNIT_SPAN, "part in which the holder waited"),
    MADE_COLUMN("free_dur", UNIT_SPAN, "part in which the lock was free"),
    MADE_COLUMN("unknown_dur", UNIT_SPAN, "part in which the holder, or what it did, is unknown"),
    MADE_COLUMN("holder_utid", UNIT_NUMBER, "thread that held it longest meanwhile"),
    MADE_COLUMN("instead_utid", UNIT_NUMBER, "thread that ran longest while holders were preempted"),
    MADE_COLUMN("instead_dur", UNIT_SPAN, "run time of that thread"),
    MADE_COLUMN("is_woken", UNIT_NUMBER, "1: the thread slept until it was woken"),
    MADE_COLUMN("waker_utid", UNIT_NUMBER, "thread that woke it; empty: a time-out, or unknown"),
    MADE_COLUMN("threshold", UNIT_SPAN, "shorter waits were not logged at the time"),
    MADE_COLUMN("acquisitions", UNIT_NUMBER, "number of acquisitions that this logged one stands for"),
    MADE_COLUMN("variance", UNIT_NUMBER, "variance of that estimate"),
    MADE_COLUMN("is_hold", UNIT_NUMBER, "1: the lock was released"),
    MADE_COLUMN("hold_dur", UNIT_SPAN, "time in which it was held"),
};
static const struct relation_column blame_columns[] = {
    EVENT_COLUMNS("begin of the wait"),
    MADE_COLUMN("wait", UNIT_NUMBER, "number of the wait"),
    MADE_COLUMN("dur", UNIT_SPAN, "part of the wait in which that holder was in that state"),
    MADE_COLUMN("cause", UNIT_TEXT, "running, preempted, blocked, free or unknown"),
    MADE_COLUMN("did", UNIT_TEXT, "state of the holder"),
    MADE_COLUMN("holder_utid", UNIT_NUMBER, "the holder; empty: none, or unknown"),
    MADE_COLUMN("instead_utid", UNIT_NUMBER, "thread that ran while the holder was preempted"),
    MADE_COLUMN("is_new_holder", UNIT_NUMBER, "1: the first row of this holder in the wait"),
    MADE_COLUMN("holder_dur", UNIT_SPAN, "time for which the holder had it in this wait"),
};
static const struct relation_column waiting_columns[] = {
    MADE_COLUMN("ts", UNIT_WHEN, "begin of the wait"),
    MADE_COLUMN("utid", UNIT_NUMBER, "thread that still waits at the end"),
    MADE_COLUMN("lock", UNIT_ADDRESS, "address of the lock"),
    MADE_COLUMN("class", UNIT_NUMBER, "number of the lock class"),
    MADE_COLUMN("holder_utid", UNIT_NUMBER, "thread that held it when the wait began"),
};
/* clang-format on */

const struct maker lock_maker = {
    .relations = {MADE_RELATION("lock_use", "waits for locks and events, acquisitions and holds",
                                use_columns),
                  MADE_RELATION("lock_blame", "waits for locks, by holder and what it did", blame_columns),
                  MADE_RELATION("lock_waiting", "threads that still wait at the end", waiting_columns)},
    .size = sizeof(struct locks),
    .open = open_locks,
    .finish = finish_locks,
};
