/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_owners.c - explains waits for locks; see lock_owners.h. */
#include <tools/tarn/analysis/lock_owners.h>

/* Powers of two. A thread that others wait for until it ends may have a long history until then. */
#define CHANGES_FIRST     8u
#define CHANGES_OF_LOCK   256u
#define CHANGES_OF_THREAD 65536u
#define CHANGES_MAX       (8u << 20) /* of all together: 192 MiB */

/* ---- histories ---- */

/* MOST: more are not kept. If there is no space, the older half is forgotten. */
static void add_change(struct lock_states *states, struct lock_changes *changes, uint32_t most,
                       struct lock_change change)
{
    uint32_t capacity = changes->capacity;
    struct lock_change *old = changes->items;

    if (changes->count == capacity && capacity > 0 &&
        (capacity == most || states->space + capacity > CHANGES_MAX)) {
        changes->count /= 2;
        memcpy(old, old + changes->count, changes->count * sizeof(*old));
        changes->is_cut = true;
    } else if (changes->count == capacity) {
        changes->capacity = capacity > 0 ? 2 * capacity : CHANGES_FIRST;
        changes->items = arena_alloc(states->arena, changes->capacity * sizeof(*old));
        states->space += changes->capacity - capacity;
        for (uint32_t i = 0; i < changes->count; i++)
            changes->items[i] = old[i];
    }
    changes->items[changes->count++] = change;
}

static struct lock_change *newest(const struct lock_changes *changes)
{
    return changes->count != 0 ? &changes->items[changes->count - 1] : NULL;
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

static void add_deed(struct lock_states *states, struct lock_deed deed)
{
    const struct lock_deed *old = states->deeds;

    for (size_t i = 0; i < states->deed_count; i++) {
        struct lock_deed *known = &states->deeds[i];

        if (known->thread == deed.thread && known->cause == deed.cause && known->state == deed.state &&
            known->mode == deed.mode && known->instead == deed.instead) {
            known->ticks += deed.ticks;
            return;
        }
    }
    if (states->deed_count == states->deed_size) {
        states->deed_size = 2 * states->deed_size + 16;
        states->deeds = arena_alloc(states->arena, states->deed_size * sizeof(deed));
        for (size_t i = 0; i < states->deed_count; i++)
            states->deeds[i] = old[i];
    }
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

void lock_taken(struct lock_states *states, struct lock_changes *owners, const struct model_thread *thread,
                uint64_t at)
{
    const struct lock_change *last = newest(owners);

    if (last != NULL && last->at >= at && last->thread == thread)
        return;
    if (last == NULL || last->thread != thread)
        add_change(states, owners, CHANGES_OF_LOCK, (struct lock_change){.at = at, .thread = thread});
}

/* An acquisition that was not logged becomes known only at the release; the history stays in order. If
 * another reader's release is in that time, the lock was not free after it: THREAD still had it. */
void lock_released(struct lock_states *states, struct lock_changes *owners, const struct model_thread *thread,
                   uint64_t from, uint64_t at)
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

void lock_explain(struct lock_states *states, const struct lock_changes *owners, const struct lock_wait *wait)
{
    struct lock_change now = {.at = wait->from, .thread = wait->holder};
    enum lock_cause cause = CAUSE_UNKNOWN; /* while no owner is known */
    uint64_t way;

    states->deed_count = 0;
    if (owners->is_cut && owners->items[0].at > wait->from)
        now.thread = NULL; /* other owners in between were forgotten */
    for (uint32_t i = 0; i < owners->count; i++) {
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
