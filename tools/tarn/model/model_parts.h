/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/model/model_parts.h - what the files of the model share among themselves.
 *
 * model.c takes events, meanings.c knows by which function of take_*.c; processors.c has who runs, threads.c
 * the table of threads and their states, activities.c their stacks, calls.c IPC. All changes happen at
 * model->now, or earlier where events were lost. What stands here is run for every other event.
 */
#ifndef TARN_MODEL_PARTS_H
#define TARN_MODEL_PARTS_H

#include <tools/tarn/model/model.h>

/* The number of a thread_state (sched.ev); the bits below are for readers that know Linux's. */
#define MODEL_STATE_OF(told) ((told) >> 11)

/* ---- observers ---- */

static inline bool is_in_range(const struct model *model)
{
    return model->now >= model->from && model->now < model->to;
}

static inline void tell_call(struct model *model, const struct model_call *call, bool has_ended)
{
    if (!is_in_range(model))
        return;
    for (struct model_observer *observer = model->observers; observer != NULL; observer = observer->next)
        if (observer->call != NULL)
            observer->call(observer, call, model->now, has_ended);
}

static inline void tell_thread(struct model *model, const struct model_thread *thread, bool has_ended)
{
    if (!is_in_range(model))
        return;
    for (struct model_observer *observer = model->observers; observer != NULL; observer = observer->next)
        if (observer->thread != NULL)
            observer->thread(observer, thread, has_ended, model->now);
}

/* ---- threads.c ---- */

/* Who has this number; NULL: none that lives. Thread 0 is the idle thread of processor RANK. */
struct model_thread *thread_find(const struct model *model, uint32_t tid, uint32_t rank);
/* Stands for all that are too many or not known; has no segments and no activities. */
struct model_thread *thread_nobody(struct model *model);
/* As thread_find, or a new one that is known from AT on; nobody when there are too many. PID may be
 * MODEL_NOBODY, COMM NULL: not told. */
struct model_thread *thread_know(struct model *model, uint32_t tid, uint32_t pid, const char *comm,
                                 uint32_t rank, uint64_t at);
void thread_set_pid(struct model *model, struct model_thread *thread, uint32_t pid);
/* Puts a record of number NUMBER into the tables of those that live; for checkpoints. */
struct model_thread *thread_revive(struct model *model, uint32_t number, uint32_t tid, uint32_t rank);
/* A record of that number, in no table. */
struct model_thread *thread_record(struct model *model, uint32_t number);
void thread_make_room(struct model *model, uint32_t count);           /* numbers below COUNT have a place */
void thread_forget(struct model *model, struct model_thread *thread); /* takes it out of the tables */
void thread_end(struct model *model, struct model_thread *thread);

void tell_segment(struct model *model, const struct model_thread *thread, uint64_t from, uint64_t to);
/* Slow path of end_stay: tells observers. */
void tell_stay(struct model *model, struct model_thread *thread);
void tell_move(struct model *model, struct model_thread *thread);
/* Adds a segment that ran to what its thread ran; part of it may lie outside of what is counted. */
void count_run_slowly(struct model *model, struct model_thread *thread, uint64_t from, uint64_t to);

static inline void count_run(struct model *model, struct model_thread *thread, uint64_t from, uint64_t to)
{
    if (__builtin_expect(from < model->counts_from || to > model->to, 0)) {
        count_run_slowly(model, thread, from, to);
        return;
    }
    thread->ran += to - from;
    if (model->wants_stays)
        thread->stint[model_mode(thread)] += to - from;
}

/* The segment that is open ends at AT, and the next begins. */
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

/* A state has lasted up to the end of the last segment. */
static inline void end_stay(struct model *model, struct model_thread *thread)
{
    uint64_t from = thread->since > model->counts_from ? thread->since : model->counts_from;
    uint64_t to = thread->segment < model->to ? thread->segment : model->to;

    if (__builtin_expect(!model_has_waited(model, thread), 0))
        tell_stay(model, thread);
    else if (thread->state != MODEL_RUNNING)
        thread->waited[thread->state] += from < to ? to - from : 0;
    else if (__builtin_expect(thread->stint_cpu != thread->cpu, 0))
        tell_stay(model, thread);
}

static inline void set_state(struct model *model, struct model_thread *thread, enum model_state state,
                             uint64_t at)
{
    close_segment(model, thread, at);
    if (model->wants_stays)
        end_stay(model, thread);
    thread->state = state;
    thread->since = thread->segment;
}

/* ---- activities.c, activities.h ---- */

/* Room for so many, and before the first a place for what is outside of all: no activity. */
void activities_make_room(struct model_thread *thread, uint8_t room);
void activities_free(struct model_thread *thread);
void activities_set_depth(struct model_thread *thread, uint32_t depth);
/* The processor of this idle thread sleeps, or is awake. */
void activities_set_sleep(struct model_thread *thread, bool is_asleep);
/* Of all its activities from DEPTH on the end will not be seen. */
void activities_cut(struct model *model, struct model_thread *thread, uint32_t depth, uint64_t at);

/* The kind of the innermost activity; ACTIVITIES: none, or it is not known. */
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

/* ---- calls.c ---- */

void call_made(struct model *model, struct model_thread *client, uint64_t id, uint64_t label,
               uint32_t endpoint, uint32_t server_tid);
void call_received(struct model *model, struct model_thread *here, uint64_t id, uint32_t client_tid);
void call_replied(struct model *model, struct model_thread *here, uint64_t id, uint64_t label,
                  struct model_thread *client);
void call_returned(struct model *model, struct model_thread *client, uint64_t id, int64_t error);
/* The thread no longer works on what it served; whoever asked waits for an answer that comes later. */
void serving_stop(struct model *model, struct model_thread *server);
/* The call that a client has under way comes to nothing. */
void call_abandon(struct model *model, struct model_thread *client);

/* ---- processors.c ---- */

static inline uint32_t rank_of(const struct model *model, const struct model_cpu *cpu)
{
    return (uint32_t)(cpu - model->cpus);
}

/* Time up to AT goes to the thread that runs, or is lost. */
void count_time(const struct model *model, struct model_cpu *cpu, uint64_t at);
/* From AT on nobody knows who runs there. */
void lose_processor(struct model *model, struct model_cpu *cpu, uint64_t at);
/* Events of processor CPU are lost from AT until now. Whoever does not run elsewhere may have run there. */
void doubt_threads(struct model *model, const struct model_cpu *cpu, uint64_t at);
/* NEXT runs there from SINCE on. */
void run_thread(struct model *model, struct model_cpu *cpu, struct model_thread *next, uint64_t since);
/* power_cpu_idle: the processor goes to sleep, or is awake again. */
void processor_sleeps(struct model *model, struct model_cpu *cpu, bool sleeps);
/* The first event of a packet says who runs; so does the first one of a walk that began later, of all the
 * time since its packet began. */
void begin_packet(struct model *model, struct model_cpu *cpu, const struct cursor *cursor);

static inline struct model_thread *running_thread(const struct model *model, const struct model_cpu *cpu)
{
    return cpu->thread != model->nobody ? cpu->thread : NULL;
}

/* ---- processes.c ---- */

struct model_process *process_know(struct model *model, uint32_t pid); /* to change; NULL: too many */
/* A thread of it more or less lives; not those that no process is known of. */
void process_count_living(struct model *model, uint32_t pid, int more);
void processes_close(struct model *model);

/* ---- events ---- */

static inline uint32_t get32(const struct model *model, const struct event *event, uint16_t at)
{
    return load32(event->bytes + at, model->swap);
}

static inline uint64_t get64(const struct model *model, const struct event *event, uint16_t at)
{
    return load64(event->bytes + at, model->swap);
}

static inline uint16_t get16(const struct model *model, const struct event *event, uint16_t at)
{
    return (uint16_t)load_integer(event->bytes + at, 2, false, model->swap);
}

static inline const char *get_text(const struct event *event, uint16_t at)
{
    return (const char *)event->bytes + at;
}

static inline size_t text_length(const struct event *event, uint16_t at)
{
    return strnlen(get_text(event, at), event->words * 8ul - at);
}

/* The thread that an event of this processor is about, by its number; NULL: not known. Mostly the one that
 * runs. Others answer for those that wait, and a program that is moved while it logs ends in the old
 * processor's buffer. */
static inline struct model_thread *get_thread(struct model *model, const struct model_cpu *cpu, uint32_t tid)
{
    return __builtin_expect(cpu->thread->tid == tid && cpu->thread != model->nobody, 1)
               ? cpu->thread
               : thread_find(model, tid, rank_of(model, cpu));
}

/* ---- meanings.c ---- */

/* Fills the actions; those of activities and calls unless ONLY_SCHEDULING. */
void meanings_resolve(struct model *model, bool only_scheduling);

/* ---- take_*.c: what an event means; fields as the tables in meanings.c have them ---- */

typedef void model_taker(struct model *model, struct model_cpu *cpu, const struct event *event,
                         const struct model_action *action);

model_taker take_control, take_switch, take_wakeup, take_enqueue, take_create, take_exit, take_priority,
    take_expire, take_cpu_idle, take_syscall_entry, take_syscall_exit, take_libc_entry, take_libc_exit,
    take_fault_entry, take_fault_exit, take_exception_entry, take_exception_exit, take_irq_entry,
    take_irq_exit, take_ipi_entry, take_ipi_exit, take_request_begin, take_request_end, take_call,
    take_receive, take_reply, take_return, take_process_create, take_process_exec, take_process_exit,
    take_process_free, take_process_rename, take_state_process, take_state_thread, take_state_image,
    take_state_irq, take_state_lock_class, take_lock_name, take_sampling;

#endif
