/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_owners.c - explains waits for locks; see lock_owners.h. */
#include <tools/tarn/analysis/lock_owners.h>

/* Powers of two. A thread that others wait for until it ends
 * may have a long history until then; most have short ones. */
#define CAPACITY_FIRST  8u
#define CAPACITY_OF_ALL 128u
#define CAPACITY_MAX    8192u
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

static const struct lock_change *newest(const struct lock_changes *changes)
{
    return changes->next != 0 ? change_at(changes, changes->next - 1) : NULL;
}

/* ---- states of threads ---- */

void lock_states_open(struct lock_states *states, struct analysis *analysis)
{
    *states = (struct lock_states){.arena = &analysis->arena};
    analysis_slots(analysis, &states->threads, sizeof(struct lock_changes));
    analysis_slots(analysis, &states->modes, sizeof(struct lock_changes));
    analysis_slots(analysis, &states->instead, sizeof(struct lock_changes));
}

static enum lock_cause cause_of(enum model_state state)
{
    return state == MODEL_RUNNING   ? CAUSE_RUNNING
           : state == MODEL_READY   ? CAUSE_PREEMPTED
           : state == MODEL_UNKNOWN ? CAUSE_UNKNOWN
                                    : CAUSE_BLOCKED;
}

void lock_states_segment(struct lock_states *states, const struct model_thread *thread, uint64_t from)
{
    struct lock_changes *changes = slots_at(&states->threads, thread->number);
    const struct lock_change *last = newest(changes);

    if (last == NULL || last->state != thread->state)
        add_change(states, changes, &states->extra, (struct lock_change){.at = from, .state = thread->state});
    if (thread->state != MODEL_RUNNING)
        return;
    changes = slots_at(&states->modes, thread->number);
    last = newest(changes);
    if (last == NULL || last->mode != model_mode(thread))
        add_change(states, changes, &states->extra,
                   (struct lock_change){.at = from, .mode = model_mode(thread)});
}

void lock_states_delay(struct lock_states *states, const struct model_thread *thread,
                       const struct model_thread *by, uint64_t from, uint64_t to)
{
    if (by != NULL && !by->is_idle)
        add_change(states, slots_at(&states->instead, thread->number), &states->extra,
                   (struct lock_change){.at = from, .until = to, .thread = by});
}

struct explained {
    const struct lock_states *states;
    lock_blame *blame;
    void *context;
};

static void blame(const struct explained *explained, struct lock_stretch stretch)
{
    explained->blame(explained->context, &stretch);
}

/* The holder was preempted: reports a stretch for each thread that ran instead, and one for the rest. */
static void explain_preempted(const struct explained *explained, struct lock_stretch stretch, uint64_t from,
                              uint64_t to)
{
    const struct lock_changes *changes = slots_find(&explained->states->instead, stretch.thread->number);
    uint64_t rest = to - from;

    for (uint32_t i = changes != NULL ? behind_last(changes, to) : 0; i > 0 && i > oldest(changes); i--) {
        const struct lock_change *run = change_at(changes, i - 1);
        uint64_t begin = run->at > from ? run->at : from, end = run->until < to ? run->until : to;

        if (begin >= end)
            break;
        stretch.instead = run->thread;
        stretch.ticks = end - begin;
        blame(explained, stretch);
        rest -= end - begin;
    }
    stretch.instead = NULL;
    stretch.ticks = rest;
    if (rest != 0)
        blame(explained, stretch);
}

/* The holder ran: reports a stretch for each mode, newest first. */
static void explain_running(const struct explained *explained, struct lock_stretch stretch, uint64_t from,
                            uint64_t to)
{
    const struct lock_changes *changes = slots_find(&explained->states->modes, stretch.thread->number);

    for (uint32_t i = changes != NULL ? behind_last(changes, to) : 0;
         i > 0 && i > oldest(changes) && from < to; i--) {
        const struct lock_change *change = change_at(changes, i - 1);
        uint64_t begin = change->at > from ? change->at : from;

        stretch.mode = change->mode;
        stretch.ticks = to - begin;
        blame(explained, stretch);
        to = begin;
    }
    stretch.mode = MODEL_MODES;
    stretch.ticks = to - from;
    if (from < to)
        blame(explained, stretch);
}

static void explain_state(const struct explained *explained, const struct model_thread *thread,
                          enum model_state state, uint64_t from, uint64_t to)
{
    struct lock_stretch stretch = {
        .thread = thread, .cause = cause_of(state), .state = state, .mode = MODEL_MODES, .ticks = to - from};

    if (stretch.cause == CAUSE_PREEMPTED)
        explain_preempted(explained, stretch, from, to);
    else if (stretch.cause == CAUSE_RUNNING)
        explain_running(explained, stretch, from, to);
    else
        blame(explained, stretch);
}

/* Reports what a holder has done since its open segment began. */
static void explain_now(const struct explained *explained, const struct model_thread *thread, uint64_t from,
                        uint64_t to)
{
    struct lock_stretch stretch = {.thread = thread,
                                   .cause = CAUSE_RUNNING,
                                   .state = MODEL_RUNNING,
                                   .mode = model_mode(thread),
                                   .ticks = to - from};

    if (thread->state == MODEL_RUNNING)
        blame(explained, stretch);
    else
        explain_state(explained, thread, thread->state, from, to);
}

/* Reports what a holder did, newest first, beginning with the open segment. */
static void explain_holder(const struct explained *explained, const struct model_thread *thread,
                           uint64_t from, uint64_t to)
{
    const struct lock_changes *changes = slots_find(&explained->states->threads, thread->number);
    uint64_t begin = thread->segment;

    if (begin < to && from < to) {
        begin = begin > from ? begin : from;
        explain_now(explained, thread, begin, to);
        to = begin;
    }
    for (uint32_t i = changes != NULL ? behind_last(changes, to) : 0;
         i > 0 && i > oldest(changes) && from < to; i--) {
        const struct lock_change *change = change_at(changes, i - 1);

        begin = change->at > from ? change->at : from;
        explain_state(explained, thread, change->state, begin, to);
        to = begin;
    }
    if (from < to)
        explain_state(explained, thread, MODEL_UNKNOWN, from, to);
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
    if (thread != NULL)
        explain_holder(explained, thread, from, to);
    else
        blame(explained,
              (struct lock_stretch){
                  .cause = cause, .state = MODEL_UNKNOWN, .mode = MODEL_MODES, .ticks = to - from});
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
