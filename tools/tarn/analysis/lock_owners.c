/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_owners.c - explains waits for locks; see lock_owners.h. */
#include <tools/tarn/analysis/lock_owners.h>

/* Powers of two. A thread that others wait for until it ends
 * may have a long history until then; most have short ones. */
#define CAPACITY_FIRST  8u
#define CAPACITY_OF_ALL 128u
#define CAPACITY_MAX    32768u
#define EXTRA_MAX       (4u << 20) /* total beyond CAPACITY_OF_ALL per thread: 96 MiB */

/* ---- histories ---- */

static struct lock_change *change_at(const struct lock_changes *changes, uint32_t number)
{
    return &changes->ring[number & (changes->capacity - 1)];
}

static uint32_t oldest(const struct lock_changes *changes)
{
    return changes->next > changes->capacity ? changes->next - changes->capacity : 0;
}

/* Whether the ring may be doubled. EXTRA: the total beyond what every ring may have; NULL: no extra. */
static bool may_grow(const struct lock_changes *changes, uint64_t *extra)
{
    if (changes->capacity < CAPACITY_OF_ALL)
        return true;
    if (extra == NULL || changes->capacity == CAPACITY_MAX || *extra + changes->capacity > EXTRA_MAX)
        return false;
    *extra += changes->capacity;
    return true;
}

static const struct lock_change *newest(const struct lock_changes *changes)
{
    return changes->next != 0 ? change_at(changes, changes->next - 1) : NULL;
}

static void add_change(struct lock_states *states, struct lock_changes *changes, uint64_t *extra,
                       struct lock_change change)
{
    if (changes->next == changes->capacity && may_grow(changes, extra)) {
        uint32_t capacity = changes->capacity ? 2 * changes->capacity : CAPACITY_FIRST;
        struct lock_change *ring = arena_alloc(states->arena, capacity * sizeof(*ring));

        if (changes->capacity != 0)
            memcpy(ring, changes->ring, changes->capacity * sizeof(*ring));
        changes->ring = ring;
        changes->capacity = capacity;
    }
    *change_at(changes, changes->next++) = change;
}

/* Returns the number after the last change before TO; changes are in order of time. */
static uint32_t behind_last(const struct lock_changes *changes, uint64_t to)
{
    uint32_t low = oldest(changes), high = changes->next;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (change_at(changes, middle)->at < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- states of threads ---- */

void lock_states_open(struct lock_states *states, struct analysis *analysis)
{
    *states = (struct lock_states){.arena = &analysis->arena};
    analysis_slots(analysis, &states->threads, sizeof(struct lock_changes));
}

/* A change at the time of the last one replaces it. */
static void add_state(struct lock_states *states, struct lock_changes *changes, struct lock_change change)
{
    const struct lock_change *last = newest(changes);

    if (last != NULL && last->at == change.at)
        *change_at(changes, changes->next - 1) = change;
    else if (last == NULL || last->state != change.state || last->mode != change.mode ||
             last->thread != change.thread)
        add_change(states, changes, &states->extra, change);
}

/* THREAD's current state, which began at AT. */
static struct lock_change current_state(const struct model_thread *thread, uint64_t at)
{
    enum model_mode mode = thread->state == MODEL_RUNNING ? model_mode(thread) : MODEL_MODES;

    return (struct lock_change){.at = at, .state = thread->state, .mode = mode};
}

void lock_states_segment(struct lock_states *states, const struct model_thread *thread, uint64_t from)
{
    if (thread->state != MODEL_READY)
        add_state(states, slots_at(&states->threads, thread->number), current_state(thread, from));
}

void lock_states_delay(struct lock_states *states, const struct model_thread *thread,
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

struct explained {
    const struct lock_states *states;
    lock_blame *blame;
    void *context;
};

/* Reports TICKS in which THREAD, the holder, was in the state that CHANGE says. */
static void explain_state(const struct explained *explained, const struct model_thread *thread,
                          const struct lock_change *change, uint64_t ticks)
{
    const struct lock_stretch stretch = {.thread = thread,
                                         .cause = change->state == MODEL_RUNNING   ? CAUSE_RUNNING
                                                  : change->state == MODEL_READY   ? CAUSE_PREEMPTED
                                                  : change->state == MODEL_UNKNOWN ? CAUSE_UNKNOWN
                                                                                   : CAUSE_BLOCKED,
                                         .state = change->state,
                                         .mode = change->mode,
                                         .instead = change->thread,
                                         .ticks = ticks};

    explained->blame(explained->context, &stretch);
}

/* Reports what a holder did, newest first, beginning with the open segment. */
static void explain_holder(const struct explained *explained, const struct model_thread *thread,
                           uint64_t from, uint64_t to)
{
    const struct lock_change unknown = {.state = MODEL_UNKNOWN, .mode = MODEL_MODES};
    const struct lock_change now = current_state(thread, thread->segment);
    const struct lock_changes *changes = slots_find(&explained->states->threads, thread->number);
    static const struct lock_changes none;

    changes = changes != NULL ? changes : &none;
    if (now.at < to && (changes->next == 0 || newest(changes)->at <= now.at)) {
        uint64_t begin = later(now.at, from);

        explain_state(explained, thread, &now, to - begin);
        to = begin;
    }
    for (uint32_t i = behind_last(changes, to); i > oldest(changes) && from < to; i--) {
        const struct lock_change *change = change_at(changes, i - 1);
        uint64_t begin = later(change->at, from);

        explain_state(explained, thread, change, to - begin);
        to = begin;
    }
    if (from < to)
        explain_state(explained, thread, &unknown, to - from);
}

/* ---- owners of a lock ---- */

void lock_taken(struct lock_states *states, struct lock_changes *owners, const struct model_thread *thread,
                uint64_t at)
{
    const struct lock_change *last = newest(owners);

    if (last != NULL && last->at >= at && last->thread == thread)
        return;
    if (last == NULL || last->thread != thread)
        add_change(states, owners, NULL, (struct lock_change){.at = at, .thread = thread});
}

/* An acquisition that was not logged becomes known only at the release; the history stays in order. If
 * another reader's release is in that time, the lock was not free after it: THREAD still had it. */
void lock_released(struct lock_states *states, struct lock_changes *owners, const struct model_thread *thread,
                   uint64_t from, uint64_t at)
{
    const struct lock_change *last = newest(owners);

    if (last == NULL || (last->thread != thread && last->at <= from))
        lock_taken(states, owners, thread, from);
    else if (last->thread == NULL && last->at > from && last->at < at)
        change_at(owners, owners->next - 1)->thread = thread;
    if (newest(owners)->thread == thread && newest(owners)->at <= at)
        lock_taken(states, owners, NULL, at);
}

/* ---- a wait ---- */

/* Reports a stretch in which THREAD owned the lock; if it is NULL, CAUSE says whether the lock was free. */
static void explain_owner(const struct explained *explained, const struct model_thread *thread,
                          enum lock_cause cause, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    const struct lock_stretch stretch = {
        .cause = cause, .state = MODEL_UNKNOWN, .mode = MODEL_MODES, .ticks = to - from};

    if (thread != NULL)
        explain_holder(explained, thread, from, to);
    else
        explained->blame(explained->context, &stretch);
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

void lock_explain(const struct lock_states *states, const struct lock_changes *owners,
                  const struct lock_wait *wait, lock_blame *blame, void *context)
{
    const struct explained explained = {states, blame, context};
    struct lock_change now = {.at = wait->from, .thread = wait->holder};
    enum lock_cause cause = CAUSE_UNKNOWN; /* while no owner is known */
    uint32_t first = oldest(owners);
    uint64_t way;

    if (first > 0 && change_at(owners, first)->at > wait->from)
        now.thread = NULL; /* other owners in between were forgotten */
    for (uint32_t i = first; i < owners->next; i++) {
        const struct lock_change *change = change_at(owners, i);

        if (change->at <= now.at || change->at >= wait->to || change->thread == wait->waiter)
            continue;
        explain_owner(&explained, now.thread, cause, now.at, change->at);
        now = *change;
        cause = wait->all_known ? CAUSE_FREE : CAUSE_UNKNOWN;
    }
    way = on_its_way(wait, &now);
    explain_owner(&explained, now.thread, cause, now.at, way);
    explain_owner(&explained, NULL, CAUSE_FREE, way, wait->to);
}
