/* delays.c - who delays whom; see delays.h. */
#include <tools/tarn/relation/delays.h>

#define RING_SIZE 2048u /* runs; a power of two */

struct run {
    const struct model_thread *thread;
    uint64_t from, to;
};

struct run_ring {
    struct run runs[RING_SIZE];
    uint64_t count; /* total; the newest is at count - 1 */
};

struct place {
    uint32_t cpu;   /* rank of the CPU in whose queue it is */
    bool is_known;  /* else: the CPU where it last ran */
    uint64_t since; /* ticks: earlier ready time is attributed already */
};

void delays_open(struct delays *delays, struct analysis *analysis)
{
    static const struct {
        const char *name, *fields[2];
    } events[] = {{"sched_enqueue", {"tid", "cpu"}},
                  {"sched_wakeup", {"tid", "target_cpu"}},
                  {"sched_migrate_task", {"tid", "dest_cpu"}}};
    delays->model = analysis->model;
    delays->rings = arena_alloc(&analysis->arena, analysis->trace->stream_count * sizeof(delays->rings[0]));
    analysis_slots(analysis, &delays->places, sizeof(struct place));
    for (unsigned i = 0; i < 3; i++)
        delays->events[i].type =
            analysis_fields(analysis, events[i].name, events[i].fields, 2, delays->events[i].fields);
}

/* Adds a segment; consecutive ones of a thread become one run. */
static void add_run(struct run_ring *ring, const struct model_thread *thread, uint64_t from, uint64_t to)
{
    struct run *last = &ring->runs[(ring->count - 1) % RING_SIZE];
    if (ring->count != 0 && last->thread == thread && last->to == from)
        last->to = to;
    else
        ring->runs[ring->count++ % RING_SIZE] = (struct run){thread, from, to};
}

static void tell(struct delays *delays, const struct model_thread *thread, const struct model_thread *by,
                 uint32_t cpu, uint64_t from, uint64_t to)
{
    if (from < to)
        delays->delayed(delays, thread, by, cpu, from, to);
}

/* Reports the runs on a CPU between FROM and TO in order of time, the current one last. */
static void account(struct delays *delays, const struct model_thread *thread, uint32_t cpu, uint64_t from,
                    uint64_t to)
{
    const struct run_ring *ring = &delays->rings[cpu];
    const struct model_cpu *now = &delays->model->cpus[cpu];
    uint64_t oldest = ring->count > RING_SIZE ? ring->count - RING_SIZE : 0, first = ring->count;
    while (first > oldest && ring->runs[(first - 1) % RING_SIZE].to > from)
        first--;
    for (uint64_t i = first; i < ring->count; i++) {
        const struct run *run = &ring->runs[i % RING_SIZE];
        uint64_t begin = later(run->from, from), end = run->to < to ? run->to : to;
        if (end <= begin)
            continue;
        tell(delays, thread, NULL, cpu, from, begin);
        tell(delays, thread, run->thread, cpu, begin, end);
        from = end;
    }
    if (now->thread != NULL && !now->is_lost && now->thread->state == MODEL_RUNNING &&
        now->thread != thread && now->thread->segment < to && !model_leaves_out(delays->model, now->thread)) {
        uint64_t begin = later(now->thread->segment, from);
        tell(delays, thread, NULL, cpu, from, begin);
        tell(delays, thread, now->thread, cpu, begin, to);
        from = to;
    }
    tell(delays, thread, NULL, cpu, from, to);
}

void delays_segment(struct delays *delays, const struct model_thread *thread, uint64_t from, uint64_t to)
{
    struct place *place;
    if (thread->state == MODEL_RUNNING)
        add_run(&delays->rings[thread->cpu], thread, from, to);
    if (thread->is_idle)
        return;
    place = slots_at(&delays->places, thread->number);
    if (thread->state == MODEL_READY)
        account(delays, thread, place->is_known ? place->cpu : thread->cpu, later(from, place->since), to);
    if (thread->state == MODEL_RUNNING)
        place->is_known = false;
}

static void take(struct delays *delays, const struct cursor *cursor, const struct queue_event *event)
{
    const struct model_thread *thread =
        thread_find(delays->model, (uint32_t)field_integer(event->fields[0], cursor->event.bytes), 0);
    unsigned rank = trace_find_cpu(cursor->trace, field_integer(event->fields[1], cursor->event.bytes));
    struct place *place;
    if (thread == NULL || thread->is_idle || thread->state == MODEL_RUNNING ||
        rank == cursor->trace->stream_count)
        return;
    place = slots_at(&delays->places, thread->number);
    if (thread->state == MODEL_READY) {
        account(delays, thread, place->is_known ? place->cpu : thread->cpu,
                later(later(thread->segment, place->since), delays->model->from), cursor->ticks);
        place->since = cursor->ticks;
    }
    place->cpu = rank;
    place->is_known = true;
}

void delays_event(struct delays *delays, const struct cursor *cursor)
{
    for (unsigned i = 0; i < 3; i++)
        if (cursor->event.type == delays->events[i].type)
            take(delays, cursor, &delays->events[i]);
}
