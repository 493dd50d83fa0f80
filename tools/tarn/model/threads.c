/* threads.c - the tables of threads and processes; see model_parts.h. */
#include <tools/tarn/model/model_parts.h>

static struct model_thread **find_place(const struct model *model, uint32_t tid, uint32_t rank)
{
    uint32_t hash = (tid != 0 ? tid : ~rank) * 2654435761u;
    return &model->places[hash >> 7 & (model->place_count - 1)];
}

struct model_thread *thread_find(const struct model *model, uint32_t tid, uint32_t rank)
{
    struct model_thread *thread = *find_place(model, tid, rank);
    while (thread != NULL && (thread->tid != tid || (tid == 0 && thread->cpu != rank)))
        thread = thread->same_place;
    return thread;
}

static void grow_places(struct model *model)
{
    free(model->places);
    model->place_count *= 2;
    model->places = alloc_zero(model->place_count, sizeof(model->places[0]));
    for (struct model_thread *thread = model->live; thread != NULL; thread = thread->next) {
        struct model_thread **place = find_place(model, thread->tid, thread->cpu);
        thread->same_place = *place;
        *place = thread;
    }
}

void threads_reserve(struct model *model, uint32_t count)
{
    uint32_t capacity = count <= 128 ? 256 : 2 * count;
    if (count <= model->thread_capacity)
        return;
    model->threads = alloc_more(model->threads, capacity, sizeof(model->threads[0]));
    memset(model->threads + model->thread_capacity, 0,
           (capacity - model->thread_capacity) * sizeof(model->threads[0]));
    model->thread_capacity = capacity;
}

struct model_thread *thread_record(struct model *model, uint32_t number)
{
    threads_reserve(model, number + 1);
    if (model->threads[number] == NULL)
        model->threads[number] = arena_alloc(&model->arena, sizeof(*model->threads[0]));
    return model->threads[number];
}

struct model_thread *thread_revive(struct model *model, uint32_t number, uint32_t tid, uint32_t rank)
{
    struct model_thread *thread = thread_record(model, number), **place;
    activities_free(thread);
    memset(thread, 0, sizeof(*thread));
    thread->number = number;
    thread->tid = tid;
    thread->cpu = rank;
    thread->is_idle = tid == 0;
    thread->pid = MODEL_NOBODY;
    thread->is_listed = true;
    thread->next = model->live;
    if (model->live != NULL)
        model->live->previous = thread;
    model->live = thread;
    if (++model->live_count > model->place_count) {
        grow_places(model);
    } else {
        place = find_place(model, tid, rank);
        thread->same_place = *place;
        *place = thread;
    }
    return thread;
}

void thread_forget(struct model *model, struct model_thread *thread)
{
    struct model_thread **link = find_place(model, thread->tid, thread->is_idle ? thread->cpu : 0);
    while (*link != thread)
        link = &(*link)->same_place;
    *link = thread->same_place;
    *(thread->previous != NULL ? &thread->previous->next : &model->live) = thread->next;
    if (thread->next != NULL)
        thread->next->previous = thread->previous;
    process_count_living(model, thread->pid, -1);
    model->live_count--;
    thread->is_listed = false;
    thread->calling = thread->serving = NULL;
    activities_free(thread);
}

void thread_set_pid(struct model *model, struct model_thread *thread, uint32_t pid)
{
    if (thread->pid == MODEL_NOBODY && pid != MODEL_NOBODY) {
        struct model_process *process = process_know(model, pid);
        if (process != NULL)
            process->threads++;
    }
    process_count_living(model, thread->pid, -1);
    process_count_living(model, pid, 1);
    thread->pid = pid;
}

struct model_thread *thread_nobody(struct model *model)
{
    if (model->nobody == NULL) {
        struct model_thread *thread = thread_record(model, model->thread_count);
        /* it may be left from another thread, before a checkpoint was restored */
        memset(thread, 0, sizeof(*thread));
        thread->number = model->thread_count++;
        thread->tid = thread->pid = MODEL_NOBODY;
        memcpy(thread->comm, "(unknown)", 10);
        thread->state = MODEL_UNKNOWN;
        thread->segment = UINT64_MAX; /* it has none */
        model->nobody = thread;
    }
    return model->nobody;
}

struct model_thread *thread_know(struct model *model, uint32_t tid, uint32_t pid, const char *comm,
                                 uint32_t rank, uint64_t at)
{
    struct model_thread *thread = thread_find(model, tid, rank);
    bool is_new = thread == NULL;
    if (is_new) {
        if (model->thread_count >= MODEL_THREADS_MAX && tid != 0)
            return thread_nobody(model);
        thread = thread_revive(model, model->thread_count++, tid, rank);
        thread->begin = thread->since = thread->segment = at;
        thread->state = MODEL_UNKNOWN;
    }
    if (thread->pid != pid && pid != MODEL_NOBODY)
        thread_set_pid(model, thread, pid);
    if (comm != NULL && (comm[0] != '\0' || thread->comm[0] == '\0'))
        memcpy(thread->comm, comm, TRACE_NAME_BYTES);
    if (comm != NULL && thread->comm[0] == '\0' && thread->pid == 0)
        memcpy(thread->comm, "kernel",
               7); /* so an empty name of the kernel's first thread is shown (decode.c) */
    if (is_new)
        tell_thread(model, thread, false);
    return thread;
}

void thread_end(struct model *model, struct model_thread *thread)
{
    call_abandon(model, thread);
    serving_stop(model, thread);
    activities_cut(model, thread, 0, model->now);
    set_state(model, thread, MODEL_DEAD, model->now);
    thread->has_ended = true;
    thread->end = thread->segment;
    tell_thread(model, thread, true);
    *(const struct model_thread **)map_at(&model->ended, thread->tid, 0, 0) = thread;
    thread->segment = UINT64_MAX; /* no more segments */
    thread_forget(model, thread);
}

void tell_segment(struct model *model, struct model_thread *thread, uint64_t from, uint64_t to)
{
    from = later(from, model->from);
    to = sooner(to, model->to);
    if (from >= to || (model->plain_from == UINT64_MAX && !count_segment(model, thread, from, to)))
        return;
    TELL_OBSERVERS(model, segment, thread, from, to);
}

void tell_stay(struct model *model, struct model_thread *thread)
{
    uint64_t from = later(thread->since, model->from), to = sooner(thread->segment, model->to);
    if (!model_has_waited(model, thread) && thread->state != MODEL_RUNNING)
        memset(thread->run_ticks, 0, sizeof(thread->run_ticks)); /* from an earlier period */
    /* Also reports an interval that ends where the range begins, because the thread has another state there.
     */
    if (from > to || from >= model->to)
        return;
    if (!model_has_waited(model, thread))
        memset(thread->waited, 0, sizeof(thread->waited));
    thread->stays_period = model->stays_period;
    TELL_OBSERVERS(model, state_interval, thread, from, to);
    if (thread->state != MODEL_RUNNING)
        return;
    memset(thread->run_ticks, 0, sizeof(thread->run_ticks));
    thread->run_cpu = thread->cpu;
}

void tell_move(struct model *model, struct model_thread *thread)
{
    const uint64_t *run_ticks = thread->run_ticks;
    if (!model_has_waited(model, thread) ||
        (run_ticks[MODE_USER] | run_ticks[MODE_KERNEL] | run_ticks[MODE_INTERRUPT]) == 0)
        return;
    TELL_OBSERVERS(model, moves, thread);
    memset(thread->run_ticks, 0, sizeof(thread->run_ticks));
}

void count_run_slowly(struct model *model, struct model_thread *thread, uint64_t from, uint64_t to)
{
    uint64_t begin = later(from, model->from), counted = later(from, model->counts_from);
    uint64_t end = sooner(to, model->to);
    if (model_leaves_out(model, thread))
        return;
    if (begin < end)
        thread->ran += model_segment_ticks(thread, begin, end);
    if (counted < end)
        thread->run_ticks[model_mode(thread)] += end - counted;
}

void model_begin_stays(struct model *model, uint64_t at)
{
    for (unsigned i = 0; i < model->trace->stream_count; i++)
        if (model->cpus[i].thread != NULL)
            memset(model->cpus[i].thread->run_ticks, 0, sizeof(model->cpus[i].thread->run_ticks));
    model->counts_from = later(at, model->from);
    if (model->plain_from != UINT64_MAX)
        model->plain_from = model->counts_from;
    model->stays_period++;
}

const struct model_thread *model_find_last(const struct model *model, uint32_t tid)
{
    const struct model_thread *thread = thread_find(model, tid, 0);
    const struct model_thread *const *ended = thread == NULL ? map_find(&model->ended, tid, 0, 0) : NULL;
    return ended != NULL && (*ended)->tid == tid ? *ended : thread;
}

const char *model_thread_name(const struct model *model, const struct model_thread *thread)
{
    const char *name = thread->comm[0] != '\0' ? thread->comm : names_find(&model->names, thread->pid);
    return name != NULL ? name : "(unknown)";
}

static struct model_process *find_or_make(struct model *model, uint32_t pid)
{
    bool is_new;
    struct model_process *process = map_add(&model->processes, pid, 0, 0, &is_new);
    if (is_new)
        *process = (struct model_process){
            .pid = pid, .parent = MODEL_NOBODY, .begin = model->now, .is_changed = true};
    return process;
}

struct model_process *process_know(struct model *model, uint32_t pid)
{
    struct model_process *process = find_or_make(model, pid);
    if (process != NULL)
        process->is_changed = true;
    return process;
}

void process_count_living(struct model *model, uint32_t pid, int more)
{
    struct model_process *process = pid != MODEL_NOBODY ? find_or_make(model, pid) : NULL;
    if (process != NULL)
        process->living += (uint32_t)more;
}

const struct model_process *model_process(const struct model *model, uint32_t pid)
{
    return map_find(&model->processes, pid, 0, 0);
}
