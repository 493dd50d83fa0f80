/*
 * model.h - stage "model": events to states.
 *
 * At any time a thread is in one state (running on a CPU, ready, or blocked on something) and inside a stack
 * of activities, each begun by one event and ended by another: a POSIX call, in it a system call, in it a
 * page fault, interrupted by an interrupt. A segment is the time between two changes of the state or the
 * stack. Segments cover a thread's time without gaps or overlaps, from when it is first known to its end, so
 * a sum over segments counts each tick once. The same holds for a CPU: the segments that run on it, and lost
 * time, cover its time. A sleeping CPU runs its idle thread.
 *
 * The model takes the events of all CPUs in order (order.h), and reports to observers: the analyses
 * (tools/tarn/analysis) and the view's index. It does not guess across lost events: while events of any CPU
 * are missing, a thread that does not run is MODEL_UNKNOWN, because it may have run there. So it stays until
 * an event shows its state, and its activities end with `is_cut`.
 *
 * Times are ticks of the trace's clock. Memory is bounded: all threads beyond MODEL_THREADS_MAX share one
 * record with tid MODEL_NOBODY, which also stands for an unknown running thread; it has no segments. Thread
 * records stay valid until model_close. There are no locks: a model belongs to one thread.
 */
#pragma once

#include <tools/tarn/buffer.h>
#include <tools/tarn/model/executables.h>
#include <tools/tarn/read/decode.h>
#include <tools/tarn/read/names.h>

#define MODEL_THREADS_MAX   262144u
#define MODEL_PROCESSES_MAX 65536u
#define MODEL_NOBODY        UINT32_MAX /* as pid and tid: unknown */
#define MODEL_DEPTH_MAX     24u        /* deeper activities are only counted */

enum model_state { /* The values up to MODEL_DEAD are those of sched.ev: MODEL_STATE_OF. */
                   MODEL_RUNNING,
                   MODEL_READY,
                   MODEL_BLOCKED_SEND,
                   MODEL_BLOCKED_RECEIVE,
                   MODEL_BLOCKED_REPLY,
                   MODEL_BLOCKED_NOTIFICATION,
                   MODEL_BLOCKED_FUTEX,
                   MODEL_SLEEPING,
                   MODEL_BLOCKED_FAULT, /* waits for a pager or a fault handler */
                   MODEL_SUSPENDED,
                   MODEL_DEAD,
                   MODEL_UNKNOWN, /* events were lost, or none has named its state yet */
                   MODEL_STATES
};
extern const char *const model_state_names[MODEL_STATES];
/* The thread_state (sched.ev) in a logged state; the bits below are for readers that expect Linux's. */
#define MODEL_STATE_OF(told) ((told) >> 11)

enum activity {
    ACTIVITY_LIBC,      /* detail: libc_call; args: the call's */
    ACTIVITY_SYSCALL,   /* detail: syscall_number; args: the call's */
    ACTIVITY_FAULT,     /* detail: fault_kind, UINT32_MAX until it ends; args: address, ip */
    ACTIVITY_EXCEPTION, /* detail: vector; args: ip, code */
    ACTIVITY_IRQ,       /* detail: irq; args: ip */
    ACTIVITY_IPI,       /* detail: ipi_kind */
    ACTIVITY_REQUEST,   /* fs_request_begin and _end in a server; detail: request; args: client's pid, file */
    ACTIVITY_DRAIN, /* a round in which packets of the trace are sent to a host; args: the first one's CPU */
    ACTIVITIES
};
extern const char *const model_activity_names[ACTIVITIES];
/* Returns the field whose labels, if any, name the details of such activities; NULL: the trace has none. */
const struct field *model_detail_field(const struct schema *schema, enum activity kind);

/* The mode in which a thread runs, given by its innermost activity. An idle thread outside of all activities
 * is MODE_USER while its CPU sleeps, from one power_cpu_idle to the next, and MODE_KERNEL otherwise: it
 * boots, frees what dead processes leave, or waits for locks. */
enum model_mode { MODE_USER, MODE_KERNEL, MODE_INTERRUPT, MODEL_MODES };

/* One activity in progress. Own time: ran - inner. Time waited in it: end - begin - ran. */
struct model_frame {
    enum activity kind;
    uint32_t detail;
    uint64_t begin;
    uint64_t args[2];    /* from the event that began it */
    uint64_t ran;        /* at its end: time that its thread ran since `begin`, including inner activities */
    uint64_t inner;      /* part of `ran` in completed inner activities */
    uint64_t interrupts; /* part of `ran` in inner interrupts (ACTIVITY_IRQ, ACTIVITY_IPI) */
    uint64_t uncounted;  /* at its end: time since `begin` that does not count; see model_span */
    int64_t result; /* at its end: return value, action, or duration in ticks from the event that ends it */
    bool is_cut;    /* begin or end was not seen: before the trace or `from`, lost, or the thread died */
    bool is_drain;  /* the drain's: its thread was draining when it began; never an interrupt */
};

/* One IPC call. Its four ends carry the same id. Times are 0 until known. */
struct model_call {
    uint64_t id, label;
    uint32_t endpoint;
    struct model_thread *client, *server; /* server: NULL until known */
    uint64_t called, received, replied, returned;
    uint64_t parked; /* when its server turned to other work, to reply later; 0: it did not */
    int64_t error;
    uint64_t reply_label; /* of the reply; valid once replied */
    /* The call that the client was serving when it made this one; valid while outer->id == outer_id. */
    const struct model_call *outer;
    uint64_t outer_id; /* 0: none */
    bool is_drain;     /* the client was draining when it called */
    bool is_early;     /* it was received before its server had left the processor to wait for it */
};

struct model_thread {
    /* saved in checkpoints, up to `call` */
    uint32_t number;       /* index in model.threads */
    uint32_t tid, pid;     /* MODEL_NOBODY: unknown */
    uint32_t cpu;          /* rank of the CPU where it runs or last ran */
    bool is_idle;          /* the idle thread of `cpu`; its tid is 0 */
    bool is_asleep;        /* an idle thread whose CPU sleeps, or handles the interrupt that ends the sleep */
    bool is_booting;       /* an idle thread whose CPU has not yet slept or run another thread */
    bool is_sleep_guessed; /* is_asleep and is_booting are guesses: no power_cpu_idle yet */
    bool has_run;
    bool was_created, has_ended; /* `begin` and `end` are its creation and death, not just the known range */
    bool is_stack_known;         /* otherwise it may be inside more activities than the stack shows */
    uint16_t prio;
    char comm[TRACE_NAME_BYTES + 1];
    uint64_t begin, end; /* known since `begin`; `end` is valid once it has ended, and after model_finish */
    enum model_state state;
    uint64_t since;   /* start of this state */
    uint64_t segment; /* start of the open segment */
    uint32_t depth;   /* activities in progress; may exceed MODEL_DEPTH_MAX */
    uint8_t mode;     /* enum model_mode, valid when it runs */
    bool drains;      /* it sends the trace to a host: from its first drain_begin to its last drain_end */
    bool is_draining; /* `drains`, or it serves a call of such a thread, directly or through other servers */
    bool has_pending_wakeup;            /* private to the model */
    uint64_t woken;                     /* see `waker` */
    uint64_t ran, switches, migrations; /* ticks on a CPU; switches to it; those of them to a new CPU */
    struct model_call call;             /* private to the model: its last call as client */
    /* The thread that last made it ready. Valid, as the time `woken`, while READY and in the following run.
     * NULL: a timer, an interrupt, or unknown. */
    struct model_thread *waker;
    struct model_frame *frames;       /* outermost first; `ran` is the thread's time at entry */
    const struct model_call *calling; /* the call it waits for as a client, or NULL */
    const struct model_call *serving; /* the call it works on: received last, not yet replied to; or NULL */
    /* Valid only while an observer has `state_interval`: ticks not yet reported to it. `run_ticks`: time run
     * on `cpu`, by enum model_mode; `waited`: time in other states, valid if model_has_waited. */
    uint64_t run_ticks[MODEL_MODES], waited[MODEL_STATES];
    /* private to the model */
    uint64_t uncounted;        /* ticks so far that do not count */
    uint64_t deducted;         /* part of `uncounted` that closed segments lack */
    uint32_t cost_rest;        /* thousandths of a tick, to be added to `uncounted` */
    uint64_t segment_deducted; /* the same, of the segment that is being reported */
    uint64_t state_deducted;   /* `deducted` when this state began; valid after its first segment */
    struct model_thread *previous, *next; /* in the list of living threads */
    struct model_thread *same_place;      /* next in the hash bucket */
    uint32_t stays_period, run_cpu; /* period of the last interval reported; CPU of the last run reported */
    bool is_listed, is_named;
    uint8_t frame_capacity;
};

struct model_cpu {
    struct model_thread *thread; /* the running thread; NULL before the first event */
    bool is_lost;                /* the running thread is unknown */
    bool is_dark;                /* its events are missing: it is in a gap, or behind a stream that was cut */
    uint64_t since;              /* ticks: time from here on is not counted yet */
    uint64_t last;               /* time of the last event */
    uint64_t packet_end;         /* end of the last packet begun */
    uint64_t busy, idle, lost;   /* ticks; idle: see model_is_asleep */
    uint64_t boot;               /* part of `busy`: is_booting */
    uint64_t drained;            /* part of `busy`: left out as the drain's; see model_leave_out_drain */
    uint64_t switches;
    /* private to the model */
    uint32_t expired_tid;      /* the thread of the last time-out */
    uint32_t exception_action; /* `action` of the last exception_exit */
    uint32_t in_timer;         /* 1: a timer interrupt is handled, which is no activity */
};

struct model_process {
    uint32_t pid, parent; /* parent: MODEL_NOBODY until known */
    bool was_created, has_ended;
    uint64_t begin, end; /* ticks: creation or first known; death */
    int32_t status;      /* valid if has_ended */
    uint32_t threads;    /* number of its threads seen */
    const char *path;    /* of its executable, or NULL */
    uint32_t living;     /* private to the model: number of its living threads */
    bool is_changed;     /* since the last model_save_snapshot */
};

/* A lock class (state.ev), indexed by number. */
#define MODEL_LOCK_CLASSES 128u
struct model_lock_class {
    char name[28];         /* empty: unknown */
    uint32_t sample_every; /* one of N acquisitions is sampled; 0: none */
    uint32_t kind;
};
enum model_lock_kind {
    MODEL_LOCK, /* a thread holds it while others wait */
    MODEL_EVENT /* no thread holds it: a semaphore, a condition, ... */
};

/* The latest profiling settings (profile.ev). */
struct model_sampling {
    uint64_t period; /* ticks, or counts of `counter`; 0: unknown */
    bool counts_instructions;
    char counter[28]; /* hardware counter that drives the sampling; "": the clock does */
};

/* The sampling and threshold of an event type (trace.ev); 0: all of its events are logged. */
struct model_limit {
    uint32_t every;     /* N: one in N is logged */
    uint32_t threshold; /* ticks: shorter ones are not logged */
};

/* Callbacks of an observer; NULL: not wanted. Embed it: `self` is the observer. Callbacks see the state
 * before the change. They get only what is in model.from <= t < model.to, cut to that range, and for each
 * thread in order of time. Pointers are valid during the call, those to threads longer. */
struct model_observer {
    /* A segment: thread->state, frames, depth, cpu, calling and serving describe it. */
    void (*segment)(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                    uint64_t to);
    /* A state interval, for observers that only add up: all segments of one state, starting at
     * thread->since. For a run, thread->run_ticks says in which modes. It is called for a thread's first
     * interval after model_begin_stays, and when a run follows one on another CPU. The rest accumulates in
     * thread->run_ticks and thread->waited, where the observer finds it at the end. */
    void (*state_interval)(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                           uint64_t to);
    /* A thread is about to run on another CPU: thread->run_ticks belongs to the old one. */
    void (*moves)(struct model_observer *self, const struct model_thread *thread);
    /* An activity begins; FRAME is the innermost. */
    void (*enter)(struct model_observer *self, const struct model_thread *thread,
                  const struct model_frame *frame);
    /* An activity has ended; FRAME is off the stack. */
    void (*leave)(struct model_observer *self, const struct model_thread *thread,
                  const struct model_frame *frame, uint64_t end);
    /* BY: as thread->waker. DIRECT: no wake-up was logged, because an IPC handed over the CPU. */
    void (*wakeup)(struct model_observer *self, const struct model_thread *by,
                   const struct model_thread *thread, uint64_t ticks, bool direct);
    /* A CPU switches threads; PREV's next state is NEW_STATE. */
    void (*switched)(struct model_observer *self, uint32_t cpu, const struct model_thread *prev,
                     enum model_state new_state, const struct model_thread *next, uint64_t ticks);
    /* One of the times of a call was set. HAS_ENDED: it was the last. */
    void (*call)(struct model_observer *self, const struct model_call *call, uint64_t ticks, bool has_ended);
    /* A thread is first known, or has ended. */
    void (*thread)(struct model_observer *self, const struct model_thread *thread, bool has_ended,
                   uint64_t ticks);
    /* Every event, before the model takes it. THREAD is the one that runs. */
    void (*event)(struct model_observer *self, const struct cursor *cursor,
                  const struct model_thread *thread);
    /* It ignores activities and calls. If all observers do, the model does not track them. */
    bool only_scheduling;
    struct model_observer *next; /* private to the model */
};

/* Totals of what was hidden from observers because the drain caused it (model_leave_out_drain). */
struct model_left_out {
    uint64_t events, activities, calls;
    uint64_t waited; /* ticks that its threads waited; the time that they ran is in model_cpu */
};

/* Totals of model_subtract_costs. */
struct model_subtracted {
    uint64_t events, ticks; /* events with a known cost; their cost */
    uint64_t without;       /* events whose type was not measured */
    uint64_t short_spans;   /* activities that were shorter than the cost in them; they count as 0 */
};

struct model {
    const struct trace *trace;
    struct names names;
    struct executables executables;
    uint64_t from, to;      /* ticks; only from <= t < to counts */
    struct model_cpu *cpus; /* by the stream's rank */
    uint32_t dark_cpus;     /* how many CPUs have missing events now */
    /* By number. In a restored model, threads that ended earlier may be NULL. */
    struct model_thread **threads;
    uint32_t thread_count;
    /* private to the model */
    struct model_observer *observers;
    bool wants_segments, wants_stays, wants_events, wants_activities, wants_switches, wants_wakeups;
    bool swap;            /* the trace is not in host byte order */
    uint64_t counts_from; /* `from`, or the time of the last model_begin_stays */
    uint64_t plain_from;  /* the same, or UINT64_MAX if some time does not count */
    bool leaves_out_drain, subtracts_costs;
    struct model_subtracted subtracted;
    struct model_left_out left_out;
    uint16_t *subjects;    /* by event index: offset of the thread that an event schedules; 0: none */
    uint32_t stays_period; /* how often model_begin_stays was called */
    uint32_t thread_capacity;
    uint64_t now; /* time of the current event; never decreases, though ticks may within a nanosecond */
    struct model_thread **places; /* hash table of the living threads */
    uint32_t place_count, live_count;
    struct model_thread *live, *nobody;
    struct model_lock_class lock_classes[MODEL_LOCK_CLASSES]; /* saved in checkpoints */
    struct model_sampling sampling;
    bool tells_sleep;             /* a power_cpu_idle was seen; saved in checkpoints */
    bool has_news;                /* classes, sampling or limits changed since the last model_save_snapshot */
    struct model_limit *limits;   /* by event index; saved in checkpoints */
    struct map processes;         /* of struct model_process, by pid */
    struct map ended;             /* of const struct model_thread *, by tid */
    struct model_action *actions; /* by event index */
    uint32_t number_receive;      /* of the system call ipc_receive, or UINT32_MAX */
    struct arena arena;
};

/* Whether SCHEMA, which may be of another version, lacks events or fields that the model uses (without those
 * of activities and calls if ONLY_SCHEDULING). TEXT then names them and the effect. */
bool model_lacks(const struct schema *schema, bool only_scheduling, char *text, size_t size);

/* Only FROM <= time < TO (ticks) counts; see walk.h. */
void model_open(struct model *model, const struct trace *trace, uint64_t from, uint64_t to);
/* Gives a new model the facts that held when the trace began but are logged later: names of processes,
 * their executables, names of locks and interrupts. Reads up to the end of the first statedump, or a maximum
 * number of events. False: the trace ended before, so a growing trace may contain more. */
bool model_learn_beginning(struct model *model);
/* Observers do not get what the drain causes: events, activities, calls and segments of a draining thread
 * (model_thread.is_draining), and events that wake it or switch to it. Its time does not count: model_span,
 * and `ran` of threads and frames, leave it out. Interrupts stay, because they come whatever thread runs; so
 * do those of the link's device, which cannot be told from others. `switched` and `wakeup` stay, too: use
 * model_leaves_out. Call it before model_observe. */
void model_leave_out_drain(struct model *model);
/* Whether THREAD is left out now. */
bool model_is_left_out(const struct model *model, const struct model_thread *thread);
static inline bool model_leaves_out(const struct model *model, const struct model_thread *thread)
{
    return __builtin_expect(model->leaves_out_drain, 0) && model_is_left_out(model, thread);
}
/* Whether the event at CURSOR, which the model has not taken yet, is the drain's. */
bool model_is_drain_event(const struct model *model, const struct cursor *cursor);

/* Subtracts the cost of logging: the median cost of each event's type, from the time of the thread that
 * logged it. A segment that is shorter passes the rest on to the thread's next one. A client's wait for its
 * server is shortened by what the server logs meanwhile; other waits stay. Call it before model_observe. */
void model_subtract_costs(struct model *model);

/* Call it before the first event. */
void model_observe(struct model *model, struct model_observer *observer);
struct model_thread *model_apply_known(struct model *model, const struct cursor *cursor);
/* Ends all segments and activities (is_cut) at `to`, or at the end of the trace. */
void model_finish(struct model *model);
void model_close(struct model *model);

/* Restarts the sums of state intervals at AT; observers have collected everything before. An open interval
 * continues across AT. model_restore also leaves the model in this state. */
void model_begin_stays(struct model *model, uint64_t at);
static inline bool model_has_waited(const struct model *model, const struct model_thread *thread)
{
    return thread->stays_period == model->stays_period;
}

/* Returns a thread's own name, or else its process's. */
const char *model_thread_name(const struct model *model, const struct model_thread *thread);
/* Returns the living thread TID, or NULL. Thread 0 is the idle thread of CPU RANK. */
struct model_thread *thread_find(const struct model *model, uint32_t tid, uint32_t rank);
/* The same, or else the last one that ended. */
const struct model_thread *model_find_last(const struct model *model, uint32_t tid);
/* NULL: unknown. */
const struct model_process *model_process(const struct model *model, uint32_t pid);

/* Saves what is needed to continue from here: living threads, activities and calls in progress, CPUs; not
 * the long-lived facts (names, processes, executables, ended threads). Returns the number of bytes. */
size_t model_save(const struct model *model, struct buffer *out);
/* Restores a model of the same trace, which may be new or used. It continues after the event taken last
 * before the save, with the same thread numbers. Counts from before the model's range are discarded. */
void model_restore(struct model *model, const void *bytes, size_t size);
/* Adds what is known of a thread that ended before the checkpoint, if it did. */
void model_restore_ended(struct model *model, const struct model_thread *ended);
/* Call it after model_restore once all observers are set. Drops the activities in progress if no observer
 * wants them, because their ends would not be seen. */
void model_begin_range(struct model *model);

/* Save and restore the long-lived facts (processes, names, executables, lock names) in pieces. Each piece
 * has what was learned since the one before. To get the model of a checkpoint, restore all earlier pieces in
 * order into a new model, then the checkpoint. */
void model_save_snapshot(struct model *model, struct buffer *out); /* NULL: the next piece starts here */
void model_restore_snapshot(struct model *model, const void *bytes, size_t size, bool only_lock_names);

/* The duration of an activity at its end, and of the segment that is being reported, without what does not
 * count. */
static inline uint64_t model_span(const struct model_frame *frame, uint64_t end)
{
    uint64_t whole = end - frame->begin;
    return whole > frame->uncounted ? whole - frame->uncounted : 0;
}
static inline uint64_t model_segment_ticks(const struct model_thread *thread, uint64_t from, uint64_t to)
{
    return to - from - thread->segment_deducted;
}

/* The time from the start of the thread's state to AT, for `switched`. */
static inline uint64_t model_state_ticks(const struct model_thread *thread, uint64_t at)
{
    uint64_t before = thread->segment == thread->since ? thread->deducted : thread->state_deducted;
    uint64_t whole = at - thread->since, rest = thread->uncounted - before;
    return whole > rest ? whole - rest : 0;
}

/* The mode of a running thread. */
static inline enum model_mode model_mode(const struct model_thread *thread)
{
    return (enum model_mode)thread->mode;
}

/* Whether a CPU that runs this thread is idle. This is the only definition of idle. */
static inline bool model_is_asleep(const struct model_thread *thread)
{
    return thread->is_idle && model_mode(thread) == MODE_USER;
}

struct model_action {
    void (*handle)(struct model *model, struct model_cpu *cpu, const struct event *event,
                   const struct model_action *action); /* NULL: nothing to do */
    uint16_t at[8];                                    /* offsets of the fields it uses */
    bool is_special;                                   /* needs model_apply_known */
    bool tells_name;
};

/* Whether the event needs model_apply_known, because of its type or because its CPU's thread is unknown. */
static inline bool model_is_special(const struct model_cpu *cpu, const struct model_action *action)
{
    return __builtin_expect(action->is_special || cpu->thread == NULL, 0);
}

static inline void model_apply_plain(struct model *model, struct model_cpu *cpu,
                                     const struct model_action *action, const struct event *event,
                                     uint64_t ticks)
{
    model->now = ticks > model->now ? ticks : model->now;
    if (action->handle != NULL)
        action->handle(model, cpu, event, action);
    cpu->last = ticks;
}

/* Takes the event at CURSOR; returns the thread that ran when it was logged. */
static inline struct model_thread *model_apply(struct model *model, const struct cursor *cursor)
{
    struct model_cpu *cpu = &model->cpus[cursor->rank];
    const struct model_action *action = &model->actions[cursor->event.type->index];
    struct model_thread *thread = cpu->thread;
    if (model_is_special(cpu, action))
        return model_apply_known(model, cursor);
    model_apply_plain(model, cpu, action, &cursor->event, cursor->ticks);
    return thread;
}
