/*
 * model_parts.h - what the files of the model share.
 *
 * model.c dispatches events to the handlers in on_*.c, which event_bindings.c binds to event types. cpus.c
 * tracks the running threads, threads.c the threads and their states, activities.c their stacks, calls.c
 * IPC. Every change happens at model->now, or earlier if events were lost. The inline functions here run for
 * every second event.
 */
#pragma once

#include <tools/tarn/model/model.h>

/* ---- observers ---- */

#define TELL_OBSERVERS(model, function, ...)                                                                \
    for (struct model_observer *observer = (model)->observers; observer != NULL; observer = observer->next) \
        if (observer->function != NULL)                                                                     \
    observer->function(observer, __VA_ARGS__)

static inline bool is_in_range(const struct model *model)
{
    return model->now >= model->from && model->now < model->to;
}

static inline void tell_call(struct model *model, const struct model_call *call, bool has_ended)
{
    if (!is_in_range(model))
        return;
    if (model->leaves_out_drain && call->is_drain)
        model->left_out.calls += has_ended;
    else
        TELL_OBSERVERS(model, call, call, model->now, has_ended);
}

static inline void tell_thread(struct model *model, const struct model_thread *thread, bool has_ended)
{
    if (is_in_range(model))
        TELL_OBSERVERS(model, thread, thread, has_ended, model->now);
}

/* ---- threads.c ---- */

/* The record for unknown threads and those beyond the limit; it has no segments or activities. */
struct model_thread *thread_nobody(struct model *model);
/* Returns the thread, adding it as known from AT on if needed; the record of thread_nobody if there are too
 * many. PID may be MODEL_NOBODY and COMM NULL: unknown. */
struct model_thread *thread_know(struct model *model, uint32_t tid, uint32_t pid, const char *comm,
                                 uint32_t rank, uint64_t at);
void thread_set_pid(struct model *model, struct model_thread *thread, uint32_t pid);
/* Adds the record NUMBER to the tables of living threads; for checkpoints. */
struct model_thread *thread_revive(struct model *model, uint32_t number, uint32_t tid, uint32_t rank);
/* Returns the record NUMBER, which is in no table. */
struct model_thread *thread_record(struct model *model, uint32_t number);
void threads_reserve(struct model *model, uint32_t count);            /* for numbers below COUNT */
void thread_forget(struct model *model, struct model_thread *thread); /* removes it from the tables */
void thread_end(struct model *model, struct model_thread *thread);

struct model_process *process_know(struct model *model, uint32_t pid); /* for changes; NULL: too many */
/* Adds MORE to the number of living threads of PID; does nothing for an unknown process. */
void process_count_living(struct model *model, uint32_t pid, int more);

void tell_segment(struct model *model, struct model_thread *thread, uint64_t from, uint64_t to);
void tell_stay(struct model *model, struct model_thread *thread);
void tell_move(struct model *model, struct model_thread *thread);
/* Part of the segment may be outside the counted range, or not count. */
void count_run_slowly(struct model *model, struct model_thread *thread, uint64_t from, uint64_t to);

static inline void count_run(struct model *model, struct model_thread *thread, uint64_t from, uint64_t to)
{
    if (__builtin_expect(from < model->plain_from || to > model->to, 0)) {
        count_run_slowly(model, thread, from, to);
        return;
    }
    thread->ran += to - from;
    if (model->wants_stays)
        thread->run_ticks[model_mode(thread)] += to - from;
}

/* Ends the open segment at AT and begins the next. */
static inline void close_segment(struct model *model, struct model_thread *thread, uint64_t at)
{
    uint64_t from = thread->segment;
    if (at <= from)
        return;
    if (model->wants_segments)
        tell_segment(model, thread, from, at);
    if (thread->state == MODEL_RUNNING)
        count_run(model, thread, from, at);
    thread->segment = at;
}

/* Ends the state interval at the end of the last segment. */
static inline void end_stay(struct model *model, struct model_thread *thread)
{
    uint64_t from = thread->since > model->counts_from ? thread->since : model->counts_from;
    uint64_t to = thread->segment < model->to ? thread->segment : model->to;
    if (__builtin_expect(!model_has_waited(model, thread), 0))
        tell_stay(model, thread);
    else if (thread->state != MODEL_RUNNING)
        thread->waited[thread->state] += from < to ? to - from : 0;
    else if (__builtin_expect(thread->run_cpu != thread->cpu, 0))
        tell_stay(model, thread);
}

/* While events are missing, only threads that run are known. */
static inline void set_state(struct model *model, struct model_thread *thread, enum model_state state,
                             uint64_t at)
{
    bool is_inferred = state != MODEL_RUNNING && state != MODEL_DEAD && !thread->is_idle;
    close_segment(model, thread, at);
    if (model->wants_stays)
        end_stay(model, thread);
    thread->state = __builtin_expect(model->dark_cpus != 0, 0) && is_inferred ? MODEL_UNKNOWN : state;
    thread->since = thread->segment;
}

/* Up to when the activity of CPU is known, if CURSOR is at its next event. */
static inline uint64_t known_until(const struct model_cpu *cpu, const struct cursor *cursor)
{
    return cpu->packet_end > cpu->last && !cursor->was_broken ? cpu->packet_end : cpu->last;
}

/* ---- activities.c, activities.h ---- */

/* Makes space for CAPACITY activities and the sentinel below them, which stands for "no activity". */
void activities_reserve(struct model_thread *thread, uint8_t capacity);
void activities_free(struct model_thread *thread);
void activities_set_depth(struct model_thread *thread, uint32_t depth);
/* The CPU of this idle thread goes to sleep or wakes up. */
void activities_set_sleep(struct model_thread *thread, bool is_asleep);
/* Ends the activities from DEPTH on as cut: their ends will not be seen. */
void activities_cut(struct model *model, struct model_thread *thread, uint32_t depth, uint64_t at);

/* The kind of the innermost activity; ACTIVITIES: none, or unknown. */
static inline enum activity activity_top(const struct model_thread *thread)
{
    return thread->depth != 0 && thread->depth <= MODEL_DEPTH_MAX ? thread->frames[thread->depth - 1].kind
                                                                  : ACTIVITIES;
}

static inline bool is_interrupted(const struct model_thread *thread)
{
    enum activity top = activity_top(thread);
    return top == ACTIVITY_IRQ || top == ACTIVITY_IPI;
}

/* ---- drain.c ---- */

/* The thread that runs after an event of that type. */
void subtract_cost(struct model *model, struct model_thread *thread, const struct event_type *type);
/* Decides which part of a segment, cut to the range, does not count. Returns false if nothing does. */
bool count_segment(struct model *model, struct model_thread *thread, uint64_t from, uint64_t to);
void set_drains(struct model_thread *thread, bool drains);

/* CALL: the one that SERVER works on from now on; NULL: none. Its segment is closed. */
static inline void set_serving(struct model_thread *server, const struct model_call *call)
{
    server->serving = call;
    server->is_draining = server->drains || (call != NULL && call->is_drain);
}

/* ---- calls.c ---- */

/* The thread stops working on the call that it serves; the client waits for a later reply. */
void serving_stop(struct model *model, struct model_thread *server);
/* The thread waits for a message, unless a client has given it one on its way there. */
void serving_wait(struct model *model, struct model_thread *server);
/* The client's call in progress ends without a result. */
void call_abandon(struct model *model, struct model_thread *client);

/* ---- cpus.c ---- */

static inline uint32_t rank_of(const struct model *model, const struct model_cpu *cpu)
{
    return (uint32_t)(cpu - model->cpus);
}

/* Counts the time up to AT for the running thread, or as lost. */
void count_time(const struct model *model, struct model_cpu *cpu, uint64_t at);
/* The running thread is unknown from AT on. */
void lose_processor(struct model *model, struct model_cpu *cpu, uint64_t at);
/* Events of CPU are lost from AT until now. Every thread that does not run elsewhere may have run there. */
void forget_states(struct model *model, const struct model_cpu *cpu, uint64_t at);
/* Events of CPU are missing from AT on, until begin_packet. */
void darken_processor(struct model *model, struct model_cpu *cpu, uint64_t at);
/* Forgets what THREAD was inside of. */
void forget_inside(struct model *model, struct model_thread *thread, uint64_t at);
void run_thread(struct model *model, struct model_cpu *cpu, struct model_thread *next, uint64_t since);
/* The first event of a packet names the running thread. For a walk that begins inside the packet, its first
 * event does so for the time since the packet began. */
void begin_packet(struct model *model, struct model_cpu *cpu, const struct cursor *cursor);

static inline struct model_thread *running_thread(const struct model *model, const struct model_cpu *cpu)
{
    return cpu->thread != model->nobody ? cpu->thread : NULL;
}

/* ---- events ---- */

static inline uint32_t get32(const struct model *model, const struct event *event, uint16_t at)
{
    return load32(event->bytes + at, model->swap);
}

static inline uint64_t get64(const struct model *model, const struct event *event, uint16_t at)
{
    return load64(event->bytes + at, model->swap);
}

/* Returns the thread TID that an event on CPU is about; NULL: unknown. It is usually the running one. But one
 * thread may end another's wait, and a program that migrates while it logs finishes in the old CPU's buffer.
 */
static inline struct model_thread *get_thread(struct model *model, const struct model_cpu *cpu, uint32_t tid)
{
    return __builtin_expect(cpu->thread->tid == tid && cpu->thread != model->nobody, 1)
               ? cpu->thread
               : thread_find(model, tid, rank_of(model, cpu));
}

/* ---- event_bindings.c ---- */

/* Fills the actions; those for activities and calls unless ONLY_SCHEDULING. */
void event_bindings_resolve(struct model *model, bool only_scheduling);

/* ---- on_*.c: event handlers; fields are those of the tables in event_bindings.c ---- */

#define EVENT_HANDLER(name)                                                          \
    void name(struct model *model, struct model_cpu *cpu, const struct event *event, \
              const struct model_action *action)
/* In a handler: the fields of its event, by their place in event_bindings.c. */
#define GET16(place)      ((uint16_t)load_integer(event->bytes + action->at[place], 2, false, model->swap))
#define GET32(place)      get32(model, event, action->at[place])
#define GET64(place)      get64(model, event, action->at[place])
#define GET_TEXT(place)   ((const char *)event->bytes + action->at[place])
#define GET_LENGTH(place) strnlen(GET_TEXT(place), event->words * 8ul - action->at[place])

typedef EVENT_HANDLER(model_handler);

model_handler on_control, on_switches, on_switch, on_wakeup, on_enqueue, on_thread_create, on_thread_exit,
    on_thread_rename, on_priority, on_expire, on_cpu_idle, on_syscall_entry, on_syscall_exit, on_libc_entry,
    on_libc_exit, on_fault_entry, on_fault_exit, on_exception_entry, on_exception_exit, on_irq_entry,
    on_irq_exit, on_ipi_entry, on_ipi_exit, on_request_begin, on_request_end, on_call, on_receive, on_reply,
    on_return, on_drain_begin, on_timer_entry, on_timer_exit, on_drain_end, on_process_create,
    on_process_exec, on_process_exit, on_process_free, on_process_rename, on_state_process, on_state_thread,
    on_state_image, on_state_irq, on_state_lock_class, on_lock_name, on_sampling, on_event_sampling,
    on_event_threshold;

/* The type that a trace_sampling or trace_threshold is about; NULL: the trace does not declare it. */
const struct event_type *limited_type(const struct model *model, const struct event *event,
                                      const struct model_action *action);
