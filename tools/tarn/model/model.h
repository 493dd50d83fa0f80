/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/model/model.h - stage "model": events to states.
 *
 * At every moment a thread is in one state (it runs on a processor, is ready, or is blocked on something) and
 * inside a stack of activities, each of which one event began and another ends: a POSIX call, in it a system
 * call, in it a page fault, interrupted by an interrupt. The time between two changes of either is a segment.
 * Segments of a thread follow each other without gap or overlap from when it was first known to its end, so
 * whatever sums them up accounts for each tick once. Segments in which threads run on a processor, and the
 * time that is counted as lost there, do the same for the processor: one that sleeps runs its idle thread.
 *
 * Fed with the events of all processors in order (order.h), one by one; what it finds goes to observers: the
 * answers (tools/tarn/answer) and the view's index. Where events were lost, nothing is guessed: a thread that
 * may have run meanwhile is MODEL_UNKNOWN until an event tells, its activities are left with `is_cut`.
 *
 * Times are ticks of the trace's clock. What is remembered is bounded: threads beyond MODEL_THREADS_MAX are
 * one, MODEL_NOBODY, which also stands for who runs when no event tells; it has no segments. Records of
 * threads stay where they are until model_close. Nothing here locks: a model belongs to one thread.
 */
#ifndef TARN_MODEL_H
#define TARN_MODEL_H

#include <tools/tarn/buffer.h>
#include <tools/tarn/model/images.h>
#include <tools/tarn/model/lock_names.h>
#include <tools/tarn/read/decode.h>
#include <tools/tarn/read/names.h>

#define MODEL_THREADS_MAX   262144u
#define MODEL_PROCESSES_MAX 65536u
#define MODEL_NOBODY        UINT32_MAX /* pid and tid */
#define MODEL_DEPTH_MAX     24u        /* activities beyond are counted, not kept */

enum model_state { /* up to MODEL_DEAD as sched.ev numbers them: MODEL_STATE_OF */
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
                   MODEL_UNKNOWN, /* events were lost, or none told yet */
                   MODEL_STATES
};
extern const char *const model_state_names[MODEL_STATES];

enum activity {
    ACTIVITY_LIBC,      /* detail: libc_call; args: of the call */
    ACTIVITY_SYSCALL,   /* syscall_number; args: of the call */
    ACTIVITY_FAULT,     /* fault_kind, known when it ends (before: UINT32_MAX); address, ip */
    ACTIVITY_EXCEPTION, /* vector; ip, code */
    ACTIVITY_IRQ,       /* irq; ip */
    ACTIVITY_IPI,       /* ipi_kind */
    ACTIVITY_REQUEST,   /* fs_request_begin and _end in a server: request; client's pid, file */
    ACTIVITIES
};
extern const char *const model_activity_names[ACTIVITIES];
/* The field whose labels, if it has any, name the details of such activities; NULL: the trace has none. */
const struct field *model_detail_field(const struct schema *schema, enum activity kind);

/* How a thread runs: by its innermost activity. Outside of all an idle thread is MODE_USER while its
 * processor sleeps, from one power_cpu_idle to the next; the rest of its time it runs the kernel: boots,
 * frees what dead processes leave, waits for locks. */
enum model_mode { MODE_USER, MODE_KERNEL, MODE_INTERRUPT, MODEL_MODES };

/* One activity under way. Own time: ran - inner. Waiting in it: end - begin - ran. */
struct model_frame {
    enum activity kind;
    uint32_t detail;
    uint64_t begin;
    uint64_t args[2];    /* of the event that began it */
    uint64_t ran;        /* on leaving: its thread on a processor since then, inner activities included */
    uint64_t inner;      /* of that, in activities inside it that ended */
    uint64_t interrupts; /* of that, in interrupts (ACTIVITY_IRQ, ACTIVITY_IPI) inside it */
    int64_t result;      /* on leaving: return value, action, duration in ticks of the event that ends it */
    bool is_cut;         /* begin or end was not seen (before the trace or `from`, lost, the thread died) */
};

/* One IPC call; its four ends carry the same id. Times are 0 until known. */
struct model_call {
    uint64_t id, label;
    uint32_t endpoint;
    struct model_thread *client, *server; /* server: NULL until known */
    uint64_t called, received, replied, returned;
    uint64_t parked; /* from when on its server worked on something else, and will answer later; 0: it did not
                      */
    int64_t error;
    uint64_t reply_label; /* of the answer, once replied */
    /* The call that the client was serving when it made this one; only while outer->id is still outer_id. */
    const struct model_call *outer;
    uint64_t outer_id; /* 0: none */
};

struct model_thread {
    uint32_t number;       /* index in model.threads */
    uint32_t tid, pid;     /* MODEL_NOBODY: see above */
    uint32_t cpu;          /* rank of the processor where it runs or ran last */
    bool is_idle;          /* of processor `cpu`; tid 0 */
    bool is_asleep;        /* an idle thread, whose processor sleeps or handles what ends its sleep */
    bool is_booting;       /* an idle thread, whose processor has neither slept nor run another thread */
    bool is_sleep_guessed; /* these two: no power_cpu_idle has told yet */
    bool has_run;
    bool was_created, has_ended; /* begin, end are its birth and death, not just what is known */
    bool is_stack_known;         /* else it may be inside more activities than the stack shows */
    uint16_t prio;
    char comm[TRACE_NAME_BYTES + 1];
    uint64_t begin, end; /* known since; end is valid when it has ended, and after model_finish */
    enum model_state state;
    uint64_t since;             /* this state */
    uint64_t segment;           /* begin of the segment that is open */
    uint32_t depth;             /* activities under way; may exceed MODEL_DEPTH_MAX */
    uint8_t mode;               /* enum model_mode: how it runs when it does */
    struct model_frame *frames; /* from the outermost; their `ran` is not yet the frame's: model_ran */
    /* Who made it ready last, and when; valid while READY and while it runs then. NULL: a timer, an
     * interrupt, or not known. */
    struct model_thread *waker;
    uint64_t woken;
    const struct model_call *calling; /* under way as client, or NULL */
    const struct model_call *serving; /* what it works on: the call it received last, until it answers it or
                                       * receives again; or NULL */
    uint64_t ran, switches,
        migrations; /* ticks on a processor; times switched to; of these: elsewhere than before */
    /* Only while an observer has `stay`: ticks that it has not been told of. By enum model_mode what it ran
     * on `cpu`; by state its other stays, valid if model_has_waited. */
    uint64_t stint[MODEL_MODES], waited[MODEL_STATES];
    /* the model's own */
    struct model_call call;               /* the last one as client */
    struct model_thread *previous, *next; /* in the list of those that live */
    struct model_thread *same_place;      /* in the hash table */
    uint32_t stays_period, stint_cpu;     /* when it told of a stay last; where it ran when that was one */
    bool is_listed, is_named, has_pending_wakeup;
    uint8_t frame_room;
};

struct model_cpu {
    struct model_thread *thread; /* who runs; NULL before the first event */
    bool is_lost;                /* nobody knows who runs */
    uint64_t since;              /* ticks: from when on its time is not yet counted */
    uint64_t last;               /* of the last event */
    uint64_t packet_end;         /* of the last packet that was begun */
    uint64_t busy, idle, lost;   /* ticks; idle: model_is_asleep */
    uint64_t boot;               /* of busy: is_booting */
    uint64_t switches;
    /* the model's own */
    uint32_t expired_tid;      /* whom the last time-out was for */
    uint32_t exception_action; /* what the last end of an exception said */
};

struct model_process {
    uint32_t pid, parent; /* parent: MODEL_NOBODY until known */
    bool was_created, has_ended;
    uint64_t begin, end; /* ticks: birth or when first known; death */
    int32_t status;      /* once it has ended */
    uint32_t threads;    /* of it that the model has known */
    const char *path;    /* of its program, or NULL */
    uint32_t living;     /* the model's own: its threads that live */
    bool is_changed;     /* since model_save_knowledge */
};

/* A class of locks (state.ev), by its number. */
#define MODEL_LOCK_CLASSES 128u
struct model_lock_class {
    char name[28];  /* empty: not told */
    uint32_t watch; /* of so many acquisitions one is logged; 0: none */
    uint32_t kind;
};
enum model_lock_kind {
    MODEL_LOCK, /* somebody holds it while others wait */
    MODEL_EVENT /* nobody does: a semaphore, a condition, ... */
};

/* What an interrupt is called (state.ev). */
#define MODEL_IRQS 256u
struct model_irq {
    uint32_t number;
    char name[28];
};

/* How programs are sampled (profile.ev), as was set last. */
struct model_sampling {
    uint64_t period; /* ticks; 0: not told */
    bool counts_instructions;
};

/* What an observer wants to be told; NULL: nothing. `self` is the observer itself: embed it. Called while the
 * state is still that of before the change. Only what lies in model.from <= t < model.to, cut there; for
 * each thread in order of time. A pointer that is passed is valid during the call, those to threads longer.
 */
struct model_observer {
    /* A stretch of one state: thread->state, frames, depth, cpu, calling, serving tell which. */
    void (*segment)(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                    uint64_t to);
    /* The same for who only adds up: all segments of one state in one stretch, from thread->since on. Of one
     * that ran, thread->stint tells what it did. Only a thread's first one since model_begin_stays, and of
     * those that ran the first one on another processor than before, is told; what comes after, the observer
     * finds in thread->stint and thread->waited at last. */
    void (*stay)(struct model_observer *self, const struct model_thread *thread, uint64_t from, uint64_t to);
    /* A thread is about to run on another processor: thread->stint is for the one before. */
    void (*moves)(struct model_observer *self, const struct model_thread *thread);
    /* An activity begins: frame is the innermost now. */
    void (*enter)(struct model_observer *self, const struct model_thread *thread,
                  const struct model_frame *frame);
    /* An activity ends: frame is off the stack. */
    void (*leave)(struct model_observer *self, const struct model_thread *thread,
                  const struct model_frame *frame, uint64_t end);
    /* by: as thread->waker. direct: no wakeup was logged, an IPC handed the processor over. */
    void (*wakeup)(struct model_observer *self, const struct model_thread *by,
                   const struct model_thread *thread, uint64_t ticks, bool direct);
    /* A processor changes threads; what prev will be is new_state. */
    void (*switched)(struct model_observer *self, uint32_t cpu, const struct model_thread *prev,
                     enum model_state new_state, const struct model_thread *next, uint64_t ticks);
    /* A call passed one of its ends: called, received, parked, replied or returned was just set. has_ended:
     * no more will come. */
    void (*call)(struct model_observer *self, const struct model_call *call, uint64_t ticks, bool has_ended);
    /* A thread is first known, or has ended. */
    void (*thread)(struct model_observer *self, const struct model_thread *thread, bool has_ended,
                   uint64_t ticks);
    /* Every event, before the model takes it; thread: who runs. */
    void (*event)(struct model_observer *self, const struct cursor *cursor,
                  const struct model_thread *thread);
    /* It does not look at activities and calls. Where all say so, the model does not follow them. */
    bool only_scheduling;
    struct model_observer *next; /* the model's */
};

struct model {
    const struct trace *trace;
    struct names names;
    struct images images;
    struct lock_names lock_names;
    uint64_t from, to;      /* ticks; only from <= t < to is counted */
    struct model_cpu *cpus; /* by the stream's rank */
    /* By number. In a model that was restored, those that ended before may be NULL. */
    struct model_thread **threads;
    uint32_t thread_count;
    /* the model's own */
    struct model_observer *observers;
    bool wants_segments, wants_stays, wants_events, wants_activities, wants_switches, wants_wakeups;
    bool swap;             /* the trace is not in this machine's byte order */
    uint64_t counts_from;  /* `from`, or when stays were begun anew ... */
    uint32_t stays_period; /* ... for the how many-th time */
    uint32_t thread_room;
    uint64_t now; /* the time of the event at hand; never goes back, as ticks may within a nanosecond */
    struct model_thread **places; /* hash table of those that live */
    uint32_t place_count, live_count;
    struct model_thread *live, *nobody;
    struct model_lock_class lock_classes[MODEL_LOCK_CLASSES]; /* also in checkpoints */
    struct model_irq irqs[MODEL_IRQS];                        /* those that were told; not in checkpoints */
    uint32_t irq_count;
    struct model_sampling sampling;
    bool tells_sleep;                 /* there was a power_cpu_idle; also in checkpoints */
    bool has_news;                    /* of irqs, classes or sampling, since model_save_knowledge */
    struct model_process **processes; /* hash table */
    uint32_t process_room, process_count;
    struct model_action *actions; /* by event index */
    uint32_t call_receive;        /* the system call ipc_receive, or UINT32_MAX */
    struct arena arena;
};

/* Whether SCHEMA lacks events or fields that the model knows, as that of another version may, with those of
 * activities and calls unless ONLY_SCHEDULING; then TEXT says which, and what that means. */
bool model_lacks(const struct schema *schema, bool only_scheduling, char *text, size_t size);

/* Only FROM <= time < TO (ticks) counts; walk.h. */
void model_open(struct model *model, const struct trace *trace, uint64_t from, uint64_t to);
/* Teaches a model that was just opened what was so when the trace began, though it is told later: names of
 * processes, their program files, what locks and interrupts are called. Reads up to the end of the first
 * statedump, or so many events. False: the trace ended before, so that one that grows may tell more. */
bool model_learn_beginning(struct model *model);
/* Before the first event. */
void model_observe(struct model *model, struct model_observer *observer);
/* Slow path of model_take. */
struct model_thread *model_take_known(struct model *model, const struct cursor *cursor);
/* Ends all segments and activities (is_cut) at `to`, or at the end of what was logged. */
void model_finish(struct model *model);
void model_close(struct model *model);

/* Stays are told and added up anew from AT on, where observers have taken all that was before: what is open
 * reaches across. So it is after model_restore. */
void model_begin_stays(struct model *model, uint64_t at);
static inline bool model_has_waited(const struct model *model, const struct model_thread *thread)
{
    return thread->stays_period == model->stays_period;
}

/* What a thread is called: its own name, else its process's. */
const char *model_thread_name(const struct model *model, const struct model_thread *thread);
/* One that lives now, NULL: none. */
struct model_thread *model_find_thread(const struct model *model, uint32_t tid);
const char *model_irq_name(const struct model *model, uint32_t number); /* NULL: not told */
void model_name_irq(struct model *model, uint32_t number, const char *name, size_t length);
/* NULL: nothing is known of it. */
const struct model_process *model_process(const struct model *model, uint32_t pid);

/* All that is needed to go on from here: threads that live, activities and calls under way, processors. Not
 * what is known for ever: names, processes, images, threads that have ended. Returns the number of bytes. */
size_t model_save(const struct model *model, struct buffer *out);
/* Into a model of the same trace, used or new; it goes on after the event that was taken last before the
 * save, with the same numbers of threads. What was counted until then is forgotten if it lies before the
 * model's range. On failure the model must be restored or closed. */
bool model_restore(struct model *model, const void *bytes, size_t size, struct fail *fail);
/* After that, when all who observe do so: forgets the activities under way if nobody wants them, since
 * nothing would tell their ends. */
void model_begin_range(struct model *model);

/* What is known for ever, processes, their names, program files and locks' names, as pieces: each has what
 * was learned since the one before. All pieces before some checkpoint, restored in order into a new model,
 * and then that checkpoint make a model that knows what the first one knew there. */
void model_save_knowledge(struct model *model, struct buffer *out);
bool model_restore_knowledge(struct model *model, const void *bytes, size_t size, struct fail *fail);
/* Of the same pieces only what locks are called, for who wants to know no more. */
bool model_restore_lock_names(struct model *model, const void *bytes, size_t size, struct fail *fail);
void model_settle(struct model *model); /* the next piece has what is learned from now on */

/* Ticks that the thread of a FRAME under way has run in it up to the end of the last segment. */
static inline uint64_t model_ran(const struct model_thread *thread, const struct model_frame *frame)
{
    return thread->ran - frame->ran;
}

/* Of one that runs. */
static inline enum model_mode model_mode(const struct model_thread *thread)
{
    return (enum model_mode)thread->mode;
}

/* The one definition of an idle processor: this thread runs there. */
static inline bool model_is_asleep(const struct model_thread *thread)
{
    return thread->is_idle && model_mode(thread) == MODE_USER;
}

struct model_action {
    void (*take)(struct model *model, struct model_cpu *cpu, const struct event *event,
                 const struct model_action *action); /* NULL: nothing to do */
    uint16_t at[8];                                  /* offsets of the fields that it needs */
    bool is_special;                                 /* for model_take_known */
    bool tells_name;
};

/* Its event, on this processor, needs more than the event itself: model_take_known. */
static inline bool model_is_special(const struct model_cpu *cpu, const struct model_action *action)
{
    return __builtin_expect(action->is_special || cpu->thread == NULL, 0);
}

static inline void model_take_plain(struct model *model, struct model_cpu *cpu,
                                    const struct model_action *action, const struct event *event,
                                    uint64_t ticks)
{
    model->now = ticks > model->now ? ticks : model->now;
    if (action->take != NULL)
        action->take(model, cpu, event, action);
    cpu->last = ticks;
}

/* Takes the event that CURSOR stands at; the thread that ran when it was logged. */
static inline struct model_thread *model_take(struct model *model, const struct cursor *cursor)
{
    struct model_cpu *cpu = &model->cpus[cursor->rank];
    const struct model_action *action = &model->actions[cursor->event.type->index];
    struct model_thread *thread = cpu->thread;

    if (model_is_special(cpu, action))
        return model_take_known(model, cursor);
    model_take_plain(model, cpu, action, &cursor->event, cursor->ticks);
    return thread;
}

#endif
