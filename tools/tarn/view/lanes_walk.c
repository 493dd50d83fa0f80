/* lanes_walk.c - lanes of a range that is walked event by event; see lanes.h. */
#include <tools/tarn/view/lanes.h>

#define WAITS_MAX   2000u
#define ARROWS_MAX  2000u
#define FLAG_PIXELS 2u /* marked events of a type that are closer have one flag */

enum { LOCK, WAITED, LOCK_CLASS, PID, HOLDER, LOCK_FIELDS };

struct walker {
    struct model_observer observer;
    struct model model;
    struct lanes *lanes;
    const struct schema *schema;
    uint64_t pixel;
    const struct index *index;
    const struct event_type *contended;
    const struct field *fields[LOCK_FIELDS]; /* of that event; that of the holder may be NULL */
};

static struct lane *lane_of(const struct walker *walker, const struct model_thread *thread)
{
    const struct lanes *lanes = walker->lanes;
    return thread != NULL && thread->number < lanes->thread_count ? lanes->threads[thread->number] : NULL;
}

/* Returns the thread that it waits for, or the CPU where it runs. */
static uint32_t other_end(const struct model_thread *thread)
{
    switch (thread->state) {
    case MODEL_RUNNING:
        return thread->cpu;
    case MODEL_BLOCKED_SEND:
    case MODEL_BLOCKED_REPLY:
        return thread->calling != NULL && thread->calling->server != NULL ? thread->calling->server->number
                                                                          : LANES_NOBODY;
    case MODEL_READY:
        return thread->waker != NULL ? thread->waker->number : LANES_NOBODY;
    default:
        return LANES_NOBODY;
    }
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    const struct walker *walker = (struct walker *)self;
    struct lane *lane = lane_of(walker, thread);
    struct lane_box box = {.begin = from, .end = to};
    if (lane != NULL) {
        box.what = thread->state;
        box.kind = other_end(thread);
        boxes_add(&lane->rows[0], &box, walker->pixel);
    }
    if (thread->state == MODEL_RUNNING && walker->lanes->cpus[thread->cpu] != NULL) {
        bool sleeps = model_is_asleep(thread);
        bool has_frame = thread->depth != 0 && thread->depth <= MODEL_DEPTH_MAX;
        box.what = thread->number;
        box.kind = has_frame ? thread->frames[thread->depth - 1].kind : ACTIVITIES;
        box.detail = has_frame ? thread->frames[thread->depth - 1].detail : sleeps;
        boxes_add(&walker->lanes->cpus[thread->cpu]->rows[0], &box, walker->pixel);
    }
}

static void on_leave(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame, uint64_t end)
{
    const struct walker *walker = (struct walker *)self;
    struct lane *lane = lane_of(walker, thread);
    uint32_t depth = thread->depth;
    struct lane_box box = {
        .begin = frame->begin, .end = end, .what = depth, .kind = frame->kind, .detail = frame->detail};
    if (lane == NULL || depth >= MODEL_DEPTH_MAX)
        return;
    if (lane->depth <= depth)
        lane->depth = depth + 1;
    boxes_add(&lane->rows[1 + depth], &box, walker->pixel);
}

/* Adds at most one arrow per pixel of the lane where it ends. */
static void add_arrow(struct walker *walker, const struct model_thread *from, const struct model_thread *to,
                      uint64_t begin, uint64_t end, enum arrow_kind kind)
{
    struct lanes *lanes = walker->lanes;
    struct lane *lane = lane_of(walker, to) != NULL ? lane_of(walker, to) : lane_of(walker, from);
    struct lane_arrow arrow = {.begin = begin < lanes->from ? lanes->from : begin,
                               .end = end,
                               .from = from != NULL ? from->number : LANES_NOBODY,
                               .to = to->number,
                               .kind = kind};
    if (lane == NULL)
        return;
    if ((lane->arrow != 0 && end - lane->arrow < walker->pixel) ||
        lanes->arrows.used >= ARROWS_MAX * sizeof(arrow))
        return;
    lane->arrow = end;
    buffer_add(&lanes->arrows, &arrow, sizeof(arrow));
}

static void on_wakeup(struct model_observer *self, const struct model_thread *by,
                      const struct model_thread *thread, uint64_t ticks, bool direct)
{
    add_arrow((struct walker *)self, by, thread, ticks, ticks, direct ? ARROW_HANDOVER : ARROW_WAKEUP);
}

static void on_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                    bool has_ended)
{
    if (call->server == NULL || call->client == NULL)
        return;
    if (call->received == ticks && call->replied == 0)
        add_arrow((struct walker *)self, call->client, call->server, call->called ? call->called : ticks,
                  ticks, ARROW_CALL);
    if (call->returned == ticks && call->replied != 0)
        add_arrow((struct walker *)self, call->server, call->client, call->replied, ticks, ARROW_REPLY);
}

static void find_lock_fields(struct walker *walker)
{
    static const char *const names[LOCK_FIELDS] = {"lock", "wait", "lock_class", "pid", "holder_tid"};
    walker->contended = schema_find_event(walker->schema, "lock_contended");
    for (unsigned i = 0; i < LOCK_FIELDS; i++) {
        walker->fields[i] = schema_find_field(walker->contended, names[i]);
        if (walker->fields[i] == NULL && i != HOLDER)
            walker->contended = NULL;
    }
}

/* Returns the youngest thread with this tid that existed before UNTIL. Uses the index, because the model
 * forgets ended threads, and a holder may end before the waiter logs its wait. */
static uint32_t find_holder(const struct walker *walker, uint32_t tid, uint64_t until)
{
    for (uint32_t number = walker->lanes->thread_count; number-- > 0;) {
        const struct index_thread *thread = index_thread(walker->index, number);
        if (thread->tid == tid && thread->begin <= until)
            return number;
    }
    return LANES_NOBODY;
}

/* The event is logged when the lock was acquired, and has the duration of the wait. */
static void add_wait(struct walker *walker, const struct cursor *cursor, const struct model_thread *thread)
{
    uint64_t from = walker->lanes->from, values[LOCK_FIELDS];
    struct lane_wait wait = {.end = cursor->ticks, .holder = LANES_NOBODY, .thread = thread->number};
    if (walker->lanes->waits.used >= WAITS_MAX * sizeof(wait))
        return;
    for (unsigned i = 0; i < LOCK_FIELDS; i++)
        values[i] = walker->fields[i] != NULL ? field_integer(walker->fields[i], cursor->event.bytes) : 0;
    wait.begin = values[WAITED] < wait.end - from ? wait.end - values[WAITED] : from;
    wait.lock = values[LOCK];
    wait.lock_class = (uint32_t)values[LOCK_CLASS];
    wait.pid = (uint32_t)values[PID];
    if (values[HOLDER] != MODEL_NOBODY && values[HOLDER] != 0) /* 0: an interrupt handler on an idle CPU */
        wait.holder = find_holder(walker, (uint32_t)values[HOLDER], wait.end);
    const char *name = names_of(&walker->model.names, wait.pid, wait.lock);
    snprintf(wait.name, sizeof(wait.name), "%s", name != NULL ? name : "");
    buffer_add(&walker->lanes->waits, &wait, sizeof(wait));
}

static void add_flag(const struct walker *walker, struct lane *lane, uint64_t at, uint32_t type)
{
    struct lane_flag *flags = (struct lane_flag *)lane->flags.bytes;
    const struct lane_flag flag = {.at = at, .type = type, .count = 1};
    for (size_t i = lane->flags.used / sizeof(flag);
         i-- > 0 && at - flags[i].at <= FLAG_PIXELS * walker->pixel;)
        if (flags[i].type == type) {
            flags[i].count++;
            return;
        }
    buffer_add(&lane->flags, &flag, sizeof(flag));
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct walker *walker = (struct walker *)self;
    const struct event_type *type = cursor->event.type;
    bool is_marked = walker->lanes->counts[type->index] != NULL;
    struct lane *lane, *cpu;
    if (!is_marked && type != walker->contended)
        return;
    lane = lane_of(walker, thread);
    cpu = walker->lanes->cpus[cursor->stream->rank];
    lanes_count(walker->lanes, type->index, cursor->ticks, cursor->ticks, 1);
    if (is_marked && cpu != NULL)
        add_flag(walker, cpu, cursor->ticks, type->index);
    if (is_marked && lane != NULL)
        add_flag(walker, lane, cursor->ticks, type->index);
    if (type == walker->contended && lane != NULL)
        add_wait(walker, cursor, thread);
}

void lanes_walk(struct lanes *lanes, const struct view *view)
{
    struct walker walker = {.observer = {.segment = on_segment,
                                         .leave = on_leave,
                                         .wakeup = on_wakeup,
                                         .call = on_call,
                                         .event = on_event},
                            .lanes = lanes,
                            .schema = &view->trace.schema,
                            .index = &view->index,
                            .pixel = (lanes->to - lanes->from) / lanes->width};
    struct merge merge;
    find_lock_fields(&walker);
    model_open(&walker.model, &view->trace, lanes->from, lanes->to);
    walk_open_range(&walker.model, &merge, &view->index, lanes->from, WALK_KNOWS_LOCKS, NULL);
    model_observe(&walker.model, &walker.observer);
    model_walk_range(&walker.model, &merge, NULL, NULL);
    merge_close(&merge);
    model_close(&walker.model);
    for (struct lane *lane = lanes->all; lane < lanes->all + lanes->count; lane++)
        for (uint32_t row = 0; row <= lane->depth; row++)
            boxes_close(&lane->rows[row], walker.pixel);
}
