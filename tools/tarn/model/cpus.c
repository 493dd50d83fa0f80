/* cpus.c - the running thread of each CPU, also after losses; see model_parts.h. */
#include <tools/tarn/model/model_parts.h>

void count_time(const struct model *model, struct model_cpu *cpu, uint64_t at)
{
    uint64_t from = cpu->since > model->from ? cpu->since : model->from, to = at < model->to ? at : model->to;
    uint64_t ticks = to > from ? to - from : 0;
    *(cpu->is_lost ? &cpu->lost : model_is_asleep(cpu->thread) ? &cpu->idle : &cpu->busy) += ticks;
    if (!cpu->is_lost && cpu->thread->is_booting)
        cpu->boot += ticks;
    if (cpu->thread == model->nobody && !cpu->is_lost)
        cpu->thread->ran += ticks;
    cpu->since = at > cpu->since ? at : cpu->since;
}

static void set_sleep(struct model_thread *thread, bool is_asleep, bool is_booting, bool is_guessed)
{
    thread->is_booting = is_booting;
    thread->is_sleep_guessed = is_guessed;
    activities_set_sleep(thread, is_asleep);
}

/* The CPU goes to sleep, so it was awake until now; or the reverse. A guess to the contrary was wrong. */
EVENT_HANDLER(on_cpu_idle)
{
    struct model_thread *thread = running_thread(model, cpu);
    bool sleeps = GET32(0) != UINT32_MAX;
    model->tells_sleep = true;
    if (thread == NULL || !thread->is_idle)
        return;
    if (thread->is_sleep_guessed)
        set_sleep(thread, !sleeps, sleeps && thread->is_booting, false);
    count_time(model, cpu, model->now);
    close_segment(model, thread, model->now);
    set_sleep(thread, sleeps, false, false);
}

/* An idle thread begins to run. Sleep may not be logged, because class sched is disabled or its events were
 * lost. Then it is assumed to sleep all the time, once it has booted. */
static void guess_sleep(const struct model *model, struct model_thread *thread, bool is_booting)
{
    set_sleep(thread, !is_booting && !model->tells_sleep, is_booting, true);
}

void forget_inside(struct model *model, struct model_thread *thread, uint64_t at)
{
    activities_cut(model, thread, 0, at);
    serving_stop(model, thread);
    set_drains(thread, false); /* unknown from now on */
    thread->is_stack_known = false;
}

void lose_processor(struct model *model, struct model_cpu *cpu, uint64_t at)
{
    struct model_thread *thread = running_thread(model, cpu);
    at = at < model->now ? at : model->now;
    if (thread != NULL) {
        at = at > thread->segment ? at : thread->segment;
        forget_inside(model, thread, at);
        set_state(model, thread, MODEL_UNKNOWN, at);
    }
    count_time(model, cpu, at);
    cpu->thread = thread_nobody(model);
    cpu->is_lost = true;
}

void forget_states(struct model *model, const struct model_cpu *cpu, uint64_t at)
{
    uint32_t rank = rank_of(model, cpu);
    for (struct model_thread *thread = model->live; thread != NULL; thread = thread->next) {
        if (thread->is_idle && thread->cpu != rank)
            continue;
        if (thread->state == MODEL_RUNNING && thread->since <= at)
            continue;
        if (thread->state != MODEL_RUNNING) {
            uint64_t from = at > thread->segment ? at : thread->segment;
            forget_inside(model, thread, from);
            set_state(model, thread, MODEL_UNKNOWN, from);
        } else if (thread->depth != 0 && thread->frames[0].begin < at) {
            forget_inside(model, thread, model->now);
        }
    }
}

void darken_processor(struct model *model, struct model_cpu *cpu, uint64_t at)
{
    cpu->is_dark = true;
    model->dark_cpus++;
    if (cpu->thread == NULL) /* its first event is still to come */
        return;
    lose_processor(model, cpu, at);
    forget_states(model, cpu, at);
}

void run_thread(struct model *model, struct model_cpu *cpu, struct model_thread *next, uint64_t since)
{
    uint32_t rank = rank_of(model, cpu);
    if (next != model->nobody && next->state == MODEL_RUNNING && next->cpu != rank &&
        model->cpus[next->cpu].thread == next)
        lose_processor(model, &model->cpus[next->cpu], model->now);
    if (next != model->nobody && since < next->segment)
        since = next->segment;
    count_time(model, cpu, since);
    if (next->has_run && next->cpu != rank)
        next->migrations++;
    if (!next->is_idle && next->cpu != rank) {
        tell_move(model, next);
        next->cpu = rank;
    }
    if (next->is_idle)
        guess_sleep(model, next, false);
    next->has_run = true;
    next->has_pending_wakeup = false;
    if (next != model->nobody)
        set_state(model, next, MODEL_RUNNING, since);
    cpu->thread = next;
    cpu->is_lost = false;
    cpu->in_timer = false; /* its end may have been lost */
}

/* The first event of a CPU. Its time may begin with a packet that began earlier. Returns when. */
static uint64_t begin_processor(struct model *model, struct model_cpu *cpu, const struct cursor *cursor)
{
    uint64_t begin = cursor->packet.header.timestamp_begin;
    begin = begin > model->from ? begin : model->from;
    cpu->since = begin < model->now ? begin : model->now;
    cpu->is_lost = true;
    if (cursor->has_gap)
        forget_states(model, cpu, cpu->since);
    return cpu->since;
}

void begin_packet(struct model *model, struct model_cpu *cpu, const struct cursor *cursor)
{
    const struct running *running = cursor_running(cursor);
    uint64_t known = known_until(cpu, cursor), since = model->now;
    struct model_thread *next;
    model->dark_cpus -= cpu->is_dark;
    cpu->is_dark = false;
    cpu->packet_end = cursor->packet.header.timestamp_end;
    if (cpu->thread == NULL) {
        since = begin_processor(model, cpu, cursor);
    } else if (!cursor->has_gap && !cpu->is_lost && running->is_known && cpu->thread->tid == running->tid) {
        return;
    } else {
        lose_processor(model, cpu, known);
        if (cursor->has_gap)
            forget_states(model, cpu, known < model->now ? known : model->now);
    }
    next = !running->is_known
               ? thread_nobody(model)
               : thread_know(model, running->tid, running->pid, running->comm, cursor->rank, since);
    run_thread(model, cpu, next, since);
    if (next->is_idle && running->is_booting)
        guess_sleep(model, next, true);
    cpu->is_lost = !running->is_known;
}
