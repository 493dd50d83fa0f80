/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * locks.c - `tarn locks`: who waited for which lock, how long and why, how often locks are acquired, and how
 * long they are held.
 *
 * A wait counts where it ends, with all of its time. Acquisitions are known only for sampled classes, so the
 * contention ratio is for the time in which they were sampled.
 *
 * Threads often wait for events (semaphores, conditions, ...) because they have nothing to do. These waits
 * are counted separately, and are not part of any table of locks.
 */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/locks.h>

#define NOT_KNOWN UINT32_MAX /* as holder_tid */

static void sum_wait(struct lock_sum *sum, uint64_t waited, uint64_t spins, bool is_sampled)
{
    sum->contentions++;
    sum->contentions_sampled += is_sampled;
    sum->waited += waited;
    sum->spins += spins;
    if (waited > sum->longest)
        sum->longest = waited;
}

static void sum_hold(struct lock_sum *sum, uint64_t held)
{
    sum->holds++;
    sum->held += held;
    if (held > sum->held_longest)
        sum->held_longest = held;
}

void lock_sum_add(struct lock_sum *into, const struct lock_sum *from)
{
    estimate_merge(&into->acquisitions, &from->acquisitions);
    into->contentions += from->contentions;
    into->contentions_sampled += from->contentions_sampled;
    into->waited += from->waited;
    into->spins += from->spins;
    into->holds += from->holds;
    into->held += from->held;
    if (from->longest > into->longest)
        into->longest = from->longest;
    if (from->held_longest > into->held_longest)
        into->held_longest = from->held_longest;
}

/* ---- reading events ---- */

static struct lock_event read_event(const struct locks *locks, const struct lock_fields *fields,
                                    const struct cursor *cursor, const struct model_thread *thread)
{
    const uint8_t *bytes = cursor->event.bytes;
    struct lock_event event = {.thread = thread,
                               .lock = field_integer(fields->lock, bytes),
                               .at = cursor->ticks,
                               .class = (uint32_t)field_integer(fields->lock_class, bytes),
                               .pid = (uint32_t)field_integer(fields->pid, bytes)};

    if (event.class >= MODEL_LOCK_CLASSES)
        event.class = LOCK_CLASS_OTHERS;
    else
        event.is_sampled = locks->analysis.model->lock_classes[event.class].sample_every != 0;
    event.is_event = lock_class_is_event(locks->analysis.model, event.class);
    return event;
}

/* Returns a duration that ends now, limited to the current time, because longer ones are damaged. */
static uint64_t duration_of(const struct field *field, const struct cursor *cursor)
{
    uint64_t ticks = field_integer(field, cursor->event.bytes);

    return ticks < cursor->ticks ? ticks : cursor->ticks;
}

static struct lock_sum *lock_at(struct locks *locks, const struct lock_event *event)
{
    return map_at(&locks->locks, event->pid, event->lock, event->class);
}

static struct lock_changes *owners_of(struct locks *locks, const struct lock_event *event)
{
    return map_at(&locks->owners, event->pid, event->lock, 0);
}

static const struct model_thread *holder_of(const struct locks *locks, const struct lock_fields *fields,
                                            const struct cursor *cursor)
{
    uint32_t tid =
        fields->holder != NULL ? (uint32_t)field_integer(fields->holder, cursor->event.bytes) : NOT_KNOWN;
    const struct model_thread *thread, *const *ended;

    if (tid == NOT_KNOWN || tid == 0)
        return NULL;
    thread = model_find_thread(locks->analysis.model, tid);
    ended = thread == NULL ? map_find(&locks->ended, tid, 0, 0) : NULL;
    return ended != NULL ? *ended : thread;
}

static void on_thread(struct model_observer *self, const struct model_thread *thread, bool has_ended,
                      uint64_t ticks)
{
    if (has_ended)
        *(const struct model_thread **)map_at(&ANALYSIS_OF(self, struct locks)->ended, thread->tid, 0, 0) =
            thread;
}

/* ---- waits ---- */

#define INSTEAD_MAX 8u /* number of threads distinguished in one wait */

struct blamed {
    struct locks *locks;
    const struct lock_event *event;
    const struct lock_chain *chain; /* of the waiter */
    struct lock_wait_record record;
    uint64_t holder_ticks; /* of the holder reported last */
    const struct model_thread *holder;
    struct lock_instead instead[INSTEAD_MAX];
};

static void note_instead(struct blamed *blamed, const struct model_thread *holder,
                         const struct model_thread *thread, uint64_t ticks)
{
    struct lock_instead *sum =
        map_at(&blamed->locks->instead, thread->number, holder->number, blamed->event->class);
    struct lock_wait_record *record = &blamed->record;

    *sum = (struct lock_instead){sum->waited + ticks, thread, holder};
    for (unsigned i = 0; i < INSTEAD_MAX; i++) {
        struct lock_instead *instead = &blamed->instead[i];

        if (instead->thread != NULL && instead->thread != thread)
            continue;
        instead->thread = thread;
        instead->waited += ticks;
        if (instead->waited > record->instead_ticks) {
            record->instead = thread;
            record->instead_ticks = instead->waited;
        }
        return;
    }
}

static void note_holder(struct blamed *blamed, const struct model_thread *thread, enum lock_cause cause,
                        uint64_t ticks)
{
    struct lock_holder *holder = map_at(&blamed->locks->holders, thread->number, blamed->event->class, 0);

    blamed->holder_ticks = thread == blamed->holder ? blamed->holder_ticks + ticks : ticks;
    blamed->holder = thread;
    if (blamed->holder_ticks > blamed->record.holder_ticks) {
        blamed->record.holder_ticks = blamed->holder_ticks;
        blamed->record.holder = thread;
    }
    /* counted at the first stretch of this holder */
    tally_merge(&holder->waits, &(struct tally){blamed->holder_ticks == ticks, ticks, blamed->holder_ticks});
    holder->causes[cause] += ticks;
}

/* A thread keeps its CPU while it has a lock of the kernel, and stays in the kernel. If it seems otherwise,
 * another thread holds the lock, which did not have to wait for it. */
static void correct_kernel(struct lock_stretch *stretch)
{
    if (stretch->cause == CAUSE_PREEMPTED || stretch->cause == CAUSE_BLOCKED)
        *stretch = (struct lock_stretch){
            .cause = CAUSE_UNKNOWN, .state = MODEL_UNKNOWN, .mode = MODEL_MODES, .ticks = stretch->ticks};
    else if (stretch->cause == CAUSE_RUNNING && stretch->mode == MODE_USER)
        stretch->mode = MODEL_MODES;
}

static void take_blame(void *context, const struct lock_stretch *told)
{
    struct blamed *blamed = context;
    struct lock_stretch stretch = *told;

    if (blamed->event->pid == 0)
        correct_kernel(&stretch);
    blamed->record.causes[stretch.cause] += stretch.ticks;
    if (!blamed->event->is_event)
        lock_chain_blame(blamed->locks, blamed->chain, &stretch);
    if (stretch.thread == NULL)
        return;
    note_holder(blamed, stretch.thread, stretch.cause, stretch.ticks);
    if (stretch.instead != NULL)
        note_instead(blamed, stretch.thread, stretch.instead, stretch.ticks);
}

/* Notes the thread that woke the waiter. One that only spun was not woken. */
static void note_waker(struct blamed *blamed)
{
    const struct lock_wait *wait = &blamed->record.wait;
    const struct model_thread *waiter = wait->waiter;
    struct lock_waker *waker;

    if (!wait->may_sleep || waiter->woken <= wait->from || waiter->woken > wait->to)
        return;
    waker = map_at(&blamed->locks->wakers, waiter->waker != NULL ? waiter->waker->number : UINT64_MAX,
                   blamed->event->class, 0);
    waker->thread = blamed->record.waker = waiter->waker;
    tally_add(&waker->waits, wait->to - wait->from);
}

static void keep_longest(struct locks *locks, const struct lock_event *event, uint64_t waited,
                         const struct lock_wait_record *record)
{
    struct longest_list *list = &locks->longest;
    struct lock_wait_record *kept;

    if (list->count == LONGEST_KEPT && waited <= list->items[0].ticks)
        return;
    kept = arena_alloc(&locks->analysis.arena, sizeof(*kept));
    *kept = *record;
    longest_add(list, &(struct longest){.ticks = waited,
                                        .begin = record->wait.from,
                                        .thread = event->thread,
                                        .what = event->class,
                                        .args = {event->lock, (uint64_t)(uintptr_t)kept}});
}

static struct lock_wait read_wait(const struct locks *locks, const struct cursor *cursor,
                                  const struct lock_event *event)
{
    struct lock_wait wait = {.waiter = event->thread, .to = event->at, .may_sleep = event->pid != 0};

    wait.from = event->at - duration_of(locks->contended.wait, cursor);
    wait.holder = holder_of(locks, &locks->contended, cursor);
    wait.all_known = event->class < MODEL_LOCK_CLASSES &&
                     locks->analysis.model->lock_classes[event->class].sample_every == 1;
    return wait;
}

/* Counts what applies to locks only. */
static void count_lock_wait(struct locks *locks, const struct blamed *blamed, uint64_t waited, uint64_t spins)
{
    const struct lock_event *event = blamed->event;

    sum_wait(map_at(&locks->threads, event->thread->number, 0, 0), waited, spins, event->is_sampled);
    distribution_add(&locks->waits, &locks->analysis.arena, waited);
    keep_longest(locks, event, waited, &blamed->record);
}

static void count_wait(struct locks *locks, const struct cursor *cursor, struct blamed *blamed)
{
    const struct lock_fields *fields = &locks->contended;
    const struct lock_event *event = blamed->event;
    const struct lock_wait *wait = &blamed->record.wait;
    uint64_t waited = wait->to - wait->from;
    uint64_t spins = fields->spins != NULL ? field_integer(fields->spins, cursor->event.bytes) : 0;
    struct lock_class *class = map_at(&locks->classes, event->class, 0, 0);
    struct lock_chain *chain = lock_chain_at(locks, fields, cursor, event);

    blamed->chain = chain;
    locks->wait_count++;
    if (!event->is_event || wait->holder != NULL)
        lock_explain(&locks->states, owners_of(locks, event), wait, take_blame, blamed);
    else
        blamed->record.causes[CAUSE_UNKNOWN] = waited;
    for (unsigned i = 0; i < LOCK_CAUSES; i++)
        class->causes[i] += blamed->record.causes[i];
    note_waker(blamed);
    sum_wait(&class->sum, waited, spins, event->is_sampled);
    sum_wait(lock_at(locks, event), waited, spins, event->is_sampled);
    sum_wait(&chain->sum, waited, spins, event->is_sampled);
    lock_chain_takes(locks, event, chain);
    distribution_add(&class->waits, &locks->analysis.arena, waited);
    if (!event->is_event)
        count_lock_wait(locks, blamed, waited, spins);
}

static void on_contended(struct locks *locks, const struct cursor *cursor, const struct model_thread *thread)
{
    const struct lock_event event = read_event(locks, &locks->contended, cursor, thread);
    struct blamed blamed = {.locks = locks, .event = &event};
    uint32_t threshold = locks->analysis.model->limits[cursor->event.type->index].threshold;

    locks->threshold = threshold > locks->threshold ? threshold : locks->threshold;
    blamed.record.wait = read_wait(locks, cursor, &event);
    if (analysis_wants_on(&locks->analysis, thread, cursor->stream->rank))
        count_wait(locks, cursor, &blamed);
    if (!event.is_event)
        lock_taken(owners_of(locks, &event), thread, event.at);
}

static void on_sleep(struct locks *locks, const struct cursor *cursor, const struct model_thread *thread)
{
    const struct lock_event event = read_event(locks, &locks->sleep, cursor, thread);
    struct lock_sleeper *sleeper = map_at(&locks->sleepers, thread->number, 0, 0);

    *sleeper = (struct lock_sleeper){.since = event.at,
                                     .lock = event.lock,
                                     .switches = thread->switches,
                                     .class = event.class,
                                     .thread = thread,
                                     .holder = holder_of(locks, &locks->sleep, cursor)};
    if (sleeper->holder != NULL && !event.is_event)
        lock_taken(owners_of(locks, &event), sleeper->holder, event.at);
}

/* ---- acquisitions and releases ---- */

static void on_acquired(struct locks *locks, const struct cursor *cursor, const struct model_thread *thread)
{
    const struct lock_fields *fields = &locks->acquired;
    const struct lock_event event = read_event(locks, fields, cursor, thread);
    uint64_t times = field_integer(fields->acquisitions, cursor->event.bytes);
    struct lock_class *class = map_at(&locks->classes, event.class, 0, 0);
    struct lock_sum *of_thread = map_at(&locks->threads, thread->number, 0, 0);
    struct lock_chain *chain;

    if (!event.is_event)
        lock_taken(owners_of(locks, &event), thread, event.at);
    if (!analysis_wants_on(&locks->analysis, thread, cursor->stream->rank))
        return;
    estimate_add(&class->sum.acquisitions, times);
    estimate_add(&lock_at(locks, &event)->acquisitions, times);
    if (!event.is_event)
        estimate_add(&of_thread->acquisitions, times);
    chain = lock_chain_at(locks, fields, cursor, &event);
    estimate_add(&chain->sum.acquisitions, times);
    lock_chain_takes(locks, &event, chain);
}

static void on_held(struct locks *locks, const struct cursor *cursor, const struct model_thread *thread)
{
    const struct lock_event event = read_event(locks, &locks->held, cursor, thread);
    uint64_t held = duration_of(locks->held.held, cursor);
    struct lock_class *class = map_at(&locks->classes, event.class, 0, 0);
    struct lock_chain *chain = lock_chain_lets_go(locks, &event);

    lock_released(owners_of(locks, &event), thread, event.at - held, event.at);
    if (!analysis_wants_on(&locks->analysis, thread, cursor->stream->rank))
        return;
    sum_hold(&class->sum, held);
    sum_hold(lock_at(locks, &event), held);
    sum_hold(map_at(&locks->threads, thread->number, 0, 0), held);
    if (chain != NULL)
        sum_hold(&chain->sum, held);
    distribution_add(&class->holds, &locks->analysis.arena, held);
    distribution_add(&locks->holds, &locks->analysis.arena, held);
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct locks *locks = ANALYSIS_OF(self, struct locks);
    const struct event_type *type = cursor->event.type;

    delays_event(&locks->delays, cursor);
    if (type == locks->contended.type)
        on_contended(locks, cursor, thread);
    else if (type == locks->held.type)
        on_held(locks, cursor, thread);
    else if (type == locks->acquired.type)
        on_acquired(locks, cursor, thread);
    else if (type == locks->sleep.type)
        on_sleep(locks, cursor, thread);
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct locks *locks = ANALYSIS_OF(self, struct locks);

    delays_segment(&locks->delays, thread, from, to);
    if (!thread->is_idle)
        lock_states_segment(&locks->states, thread, from);
}

static void on_delayed(struct delays *delays, const struct model_thread *thread,
                       const struct model_thread *by, uint32_t cpu, uint64_t from, uint64_t to)
{
    struct locks *locks = delays->owner;

    lock_states_delay(&locks->states, thread, by, from, to);
}

/* ---- the analysis ---- */

static bool is_number(const struct field *field)
{
    return field != NULL && (field->kind == FIELD_INTEGER || field->kind == FIELD_ENUM);
}

static const struct field *number_field(const struct analysis *analysis, const char *event, const char *name)
{
    const struct field *field = analysis_field(analysis, event, name);

    return is_number(field) ? field : NULL;
}

/* Older traces lack some fields. NEEDED: the field without which the event is useless. */
static void find_fields(const struct analysis *analysis, const char *event, const char *needed,
                        struct lock_fields *fields)
{
    fields->lock = number_field(analysis, event, "lock");
    fields->lock_class = number_field(analysis, event, "lock_class");
    fields->pid = number_field(analysis, event, "pid");
    fields->wait = number_field(analysis, event, "wait");
    fields->spins = number_field(analysis, event, "spins");
    fields->holder = number_field(analysis, event, "holder_tid");
    fields->held = number_field(analysis, event, "held");
    fields->acquisitions = number_field(analysis, event, "acquisitions");
    fields->depth = number_field(analysis, event, "depth");
    fields->chain = analysis_field(analysis, event, "chain");
    if (fields->chain != NULL && (fields->chain->kind != FIELD_SEQUENCE || fields->chain->width != 8))
        fields->chain = NULL;
    if (fields->lock != NULL && fields->lock_class != NULL && fields->pid != NULL &&
        number_field(analysis, event, needed) != NULL)
        fields->type = schema_find_event(&analysis->trace->schema, event);
}

static bool open_locks(struct analysis *analysis, struct fail *fail)
{
    struct locks *locks = (struct locks *)analysis;

    find_fields(analysis, "lock_contended", "wait", &locks->contended);
    find_fields(analysis, "lock_held", "held", &locks->held);
    find_fields(analysis, "lock_acquired", "acquisitions", &locks->acquired);
    find_fields(analysis, "lock_sleep", "holder_tid", &locks->sleep);
    lock_states_open(&locks->states);
    delays_open(&locks->delays, analysis);
    locks->delays.delayed = on_delayed;
    locks->delays.owner = locks;
    analysis_map(analysis, &locks->classes, sizeof(struct lock_class));
    analysis_map(analysis, &locks->locks, sizeof(struct lock_sum));
    analysis_map(analysis, &locks->owners, sizeof(struct lock_changes));
    analysis_map(analysis, &locks->chains, sizeof(struct lock_chain));
    analysis_map(analysis, &locks->chain_holders, sizeof(struct lock_chain_holder));
    analysis_map(analysis, &locks->takings, sizeof(struct lock_taking));
    analysis_map(analysis, &locks->threads, sizeof(struct lock_sum));
    analysis_map(analysis, &locks->holders, sizeof(struct lock_holder));
    analysis_map(analysis, &locks->wakers, sizeof(struct lock_waker));
    analysis_map(analysis, &locks->instead, sizeof(struct lock_instead));
    analysis_map(analysis, &locks->sleepers, sizeof(struct lock_sleeper));
    analysis_map(analysis, &locks->ended, sizeof(const struct model_thread *));
    if (locks->depth == 0)
        locks->depth = 4;
    analysis->observer.event = on_event;
    analysis->observer.segment = on_segment;
    analysis->observer.thread = on_thread;
    return true;
}

static void close_locks(struct analysis *analysis)
{
    struct locks *locks = (struct locks *)analysis;

    for (size_t i = 0; i < map_total(&locks->owners); i++)
        lock_changes_free((struct lock_changes *)(void *)map_entry(&locks->owners, i)->value);
    lock_states_close(&locks->states);
}

static const struct command_option options[] = {
    {COUNT("depth", "N", struct locks, depth, 1, 1000,
           "distinguish call chains by their innermost N functions (4)")},
    {.name = NULL}};

const struct analysis_kind locks_analysis = {
    .name = "locks",
    .summary = "waits for locks: holders, causes, call chains; acquisitions and hold times",
    .options = options,
    .uses_symbols = true,
    .tables = locks_tables,
    .table_count = LOCKS_TABLES,
    .size = sizeof(struct locks),
    .open = open_locks,
    .finish = locks_fill,
    .close = close_locks,
};
