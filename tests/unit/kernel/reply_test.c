/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply_test.c - tests that every reply finds the wait that it belongs to, or none, on random walks of two
 * callers, a server and two saved replies.
 *
 * It runs the kernel's endpoint.c, reply.c, ipc_fast.c, fault_fast.c, wait.c, thread.c and cap.c; in place
 * of the scheduler, it chooses which thread acts next.
 *
 * The model knows which reply each caller waits for, and to which wait each reply in hand belongs: every
 * wait has a serial number, which is the message's label. After each step every thread's registers and wait
 * are compared with those before: only threads that the model allows may have changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kernel/cpu/smp_call.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/endpoint.h>
#include <kernel/ipc/ipc.h>
#include <kernel/ipc/irq.h>
#include <kernel/ipc/notification.h>
#include <kernel/ipc/space_exit.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/memory/slab.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/switch.h>
#include <kernel/sched/thread.h>
#include <kernel/sched/traced_state.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <tests/unit/kernel/host.h>
#include <tests/unit/stub.h>

enum { FIRST, SECOND, SERVER, THREADS };
#define CALLERS  2
#define SAVED    2
#define WALKS    30000u
#define STEPS    100u /* of a walk */
#define DEADLINE 1000u

/* ---- Stubs ---- */

static struct space space;
static struct thread_block blocks[THREADS], idle_block;
static struct thread idle = {.block = &idle_block};
static unsigned next_block;

int space_alloc_block(struct space *of, struct thread_block **block, uint64_t *user_address)
{
    *block = &blocks[next_block % THREADS];
    *user_address = next_block;
    return 0;
}
DOES_NOTHING(void space_free_block(struct space *of, uint64_t user_address));
void space_finish(struct space *ended)
{
    ended->dying = false;
}
void space_put(struct space *of)
{
    atomic_fetch_sub(&of->references, 1);
}
DOES_NOTHING(void space_abandon(struct space *of));
DOES_NOTHING(void space_add_cpu(struct space *of, struct cpu *cpu));
DOES_NOTHING(void memory_put(struct memory *memory));
DOES_NOTHING(void irq_put(struct irq *irq));
RETURNS(0, int format_text(char *buffer, size_t size, const char *format, ...));
DOES_NOTHING(void arch_thread_init(struct thread *thread, uint64_t tls));
DOES_NOTHING(void count_switch(struct cpu *cpu, struct thread *prev, struct thread *next));
RETURNS(0, uint64_t trace_switch(struct cpu *cpu, const struct thread *prev, const struct thread *next));
void thread_trace_resumed(struct thread *thread)
{
    thread->traced = 0;
}
DOES_NOTHING(void timer_add(struct timer *timer, uint64_t deadline));
DOES_NOTHING(void timer_remove(struct timer *timer));
RETURNS(nanoseconds, uint64_t timer_ticks(uint64_t nanoseconds));
RETURNS(ticks, uint64_t timer_nanoseconds(uint64_t ticks));
DOES_NOTHING(void smp_poll(void));
void sched_wake(struct thread *thread)
{
    atomic_store(&thread->state, THREAD_READY);
}
void sched_hand_over(struct thread *thread)
{
    sched_wake(thread);
}
DOES_NOTHING(void sched_kick(struct thread *thread));
DOES_NOTHING(void sched_yield(void));
void sched_move_here(struct thread *thread)
{
    atomic_store(&thread->cpu, this_cpu());
}
void sched_set_priority(struct thread *thread, uint32_t priority)
{
    atomic_store(&thread->priority, priority);
}

/* ---- The machine and its model ---- */

/* To reply, once. */
struct right {
    int caller;      /* -1: none */
    uint64_t serial; /* of the wait that it belongs to */
};

static struct thread *threads[THREADS];
static struct endpoint *endpoint;
static cap_t service, saved_slots[SAVED];
/* The model. */
static uint64_t awaits[THREADS]; /* serial of the reply that it waits for; 0: none */
static uint64_t asked[THREADS];  /* serial of its last message */
static bool faulted[THREADS];    /* the last message was a fault */
static struct right held, saved[SAVED];
static uint64_t last_serial;
static unsigned allowed; /* bits: threads that may change in this step */

static const struct right none = {-1, 0};

static void new_thread(unsigned who)
{
    static const struct thread_config config = {.priority = 1};
    int error;
    next_block = who;
    threads[who] = thread_new(&space, &config, &error);
    assert(threads[who]);
    thread_resume(threads[who]);
    awaits[who] = asked[who] = 0;
    faulted[who] = false;
    if (who == SERVER)
        held = none;
}

static void start_machine(void)
{
    struct cpu *cpu = this_cpu();
    cpu->current = cpu->idle = &idle;
    endpoint = endpoint_new();
    assert(endpoint);
    service = (cap_t)cap_insert(&space, CAP_ENDPOINT, endpoint, RIGHT_ALL, 0);
    last_serial = 0;
    for (unsigned i = 0; i < THREADS; i++)
        new_thread(i);
    for (unsigned i = 0; i < SAVED; i++)
        saved[i] = none;
}

static void let_run(struct thread *thread)
{
    this_cpu()->current = thread;
    atomic_store(&thread->state, THREAD_RUNNING);
    atomic_store(&thread->on_cpu, 1);
}

static void stop_running(void)
{
    this_cpu()->current = &idle;
    for (unsigned i = 0; i < THREADS; i++) {
        atomic_store(&threads[i]->on_cpu, 0);
        if (atomic_load(&threads[i]->state) == THREAD_RUNNING)
            atomic_store(&threads[i]->state, THREAD_READY);
    }
}

static void end_thread(unsigned who)
{
    let_run(threads[who]);
    struct thread *thread = threads[who];
    this_cpu()->current = &idle;
    atomic_store(&thread->on_cpu, 0);
    thread_finish(thread);
    thread_put(thread); /* the creator's reference */
}

static void stop_machine(void)
{
    for (unsigned i = 0; i < SAVED; i++)
        if (saved[i].caller >= 0)
            cap_close(&space, saved_slots[i]);
    for (unsigned i = 0; i < THREADS; i++) {
        thread_kill(threads[i]);
        end_thread(i);
    }
    cap_close(&space, service);
}

/* ---- Comparison with the step before ---- */

static struct {
    struct arch_frame frame;
    struct spinlock *wait_lock;
    uint32_t pending;
} before[THREADS];
static const char *wrong; /* what the step broke */

static void note_before(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        before[i].frame = threads[i]->frame;
        before[i].wait_lock = threads[i]->wait_lock;
        before[i].pending = threads[i]->pending;
    }
}

static bool waits(unsigned who)
{
    return threads[who]->wait_lock != NULL;
}

/* A waiting thread's state says what it waits for; a fault may still be queued. */
static bool waits_for_reply(unsigned who)
{
    uint32_t state = threads[who]->state;
    return waits(who) && threads[who]->wait_lock != &endpoint->lock &&
           (state == THREAD_BLOCKED_REPLY || state == THREAD_BLOCKED_FAULT);
}

static void check_after(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        if (!(allowed >> i & 1) &&
            (memcmp(&before[i].frame, &threads[i]->frame, sizeof before[i].frame) ||
             before[i].wait_lock != threads[i]->wait_lock || before[i].pending != threads[i]->pending))
            wrong = "a thread changed that the step has nothing to do with";
        if (waits_for_reply(i) != (awaits[i] != 0))
            wrong = "a wait for a reply began or ended that should not have";
    }
}

/* ---- Messages ---- */

static void prepare_frame(struct thread *thread, uint64_t label, uint64_t deadline)
{
    frame_set_label(&thread->frame, label);
    frame_set_caps(&thread->frame, 0);
    thread->frame.deadline = deadline;
}

static void note_received(void)
{
    uint64_t serial = frame_label(&threads[SERVER]->frame);
    held = none;
    for (int i = 0; i < CALLERS; i++)
        if (asked[i] == serial && serial) {
            held = (struct right){i, serial};
            awaits[i] = serial;
        }
    if (held.caller < 0)
        wrong = "the server got a message that was not sent";
}

static bool server_receives(void)
{
    return threads[SERVER]->wait_lock == &endpoint->lock;
}

/* `fault`: with a fault; `general`: by the general path. */
static void ask(unsigned who, bool fault, bool general)
{
    struct thread *self = threads[who];
    bool receiver = server_receives();
    allowed = 1u << who | (receiver ? 1u << SERVER : 0);
    asked[who] = ++last_serial;
    faulted[who] = fault;
    if (fault) {
        uint64_t words[IPC_WORDS] = {who};
        ipc_prepare_fault(self, last_serial, words);
        if (general || !ipc_send_fault_fast(self, &endpoint))
            ipc_send_fault(endpoint);
    } else {
        prepare_frame(self, last_serial, general ? DEADLINE : TARN_FOREVER);
        sys_ipc_call(service);
    }
    if (receiver)
        note_received();
}

/* Models a reply; false: the caller does not wait for it any more. */
static bool take_reply(struct right right)
{
    if (right.caller < 0 || awaits[right.caller] != right.serial)
        return false;
    awaits[right.caller] = 0;
    allowed |= 1u << right.caller;
    return true;
}

static void check_replied(struct right right, uint64_t label)
{
    const struct thread *caller = threads[right.caller];
    bool killed = faulted[right.caller] && label == FAULT_REPLY_KILL;
    if (waits((unsigned)right.caller))
        wrong = "a reply did not end the wait that it belongs to";
    if (!faulted[right.caller] && (caller->frame.label != label || caller->frame.result != 0))
        wrong = "a reply did not arrive";
    if (faulted[right.caller] &&
        (memcmp(&caller->frame, &before[right.caller].frame, sizeof caller->frame) ||
         !!(caller->pending & PENDING_KILL) != (killed || before[right.caller].pending & PENDING_KILL)))
        wrong = "the reply to a fault did more or less than it says";
}

/* The server receives, and first gives up the caller that it has. */
static void receive_next(void)
{
    for (int i = 0; i < CALLERS; i++) /* callers whose message it may take */
        if (threads[i]->wait_lock == &endpoint->lock)
            allowed |= 1u << i;
}

static void end_receive(void)
{
    held = none;
    if (!waits(SERVER) && threads[SERVER]->frame.result == 0)
        note_received();
}

static uint64_t label_of(struct right right, bool kill)
{
    bool fault = right.caller >= 0 && faulted[right.caller];
    return fault || kill ? kill : 0x10000 + right.serial;
}

/* ---- Steps ---- */

/* Steps of the server. `kill`: the label, if it replies to a fault. */
static void receive(void)
{
    take_reply(held);
    receive_next();
    prepare_frame(threads[SERVER], 0, TARN_FOREVER);
    int64_t result = sys_ipc_receive(service);
    if (result != SYSCALL_NO_RESULT)
        frame_set_result(&threads[SERVER]->frame, result);
    end_receive();
}

static void reply(bool kill)
{
    struct right right = held;
    uint64_t label = label_of(right, kill);
    bool finds = take_reply(right);
    prepare_frame(threads[SERVER], label, TARN_FOREVER);
    int64_t result = sys_ipc_reply();
    held = none;
    if (result != (right.caller < 0 ? -E_NO_REPLY : finds ? 0 : -E_DEAD))
        wrong = "ipc_reply returned the wrong error";
    if (finds)
        check_replied(right, label);
}

static void reply_receive(bool kill, bool general)
{
    struct right right = held;
    uint64_t label = label_of(right, kill);
    bool finds = take_reply(right);
    receive_next();
    prepare_frame(threads[SERVER], label, general ? DEADLINE : TARN_FOREVER);
    int64_t result = sys_ipc_reply_receive(service);
    if (result != SYSCALL_NO_RESULT)
        frame_set_result(&threads[SERVER]->frame, result);
    if (finds)
        check_replied(right, label);
    end_receive();
}

static void reply_to(unsigned slot, bool kill)
{
    struct right right = saved[slot];
    uint64_t label = label_of(right, kill);
    bool finds = take_reply(right);
    prepare_frame(threads[SERVER], label, TARN_FOREVER);
    int64_t result = sys_ipc_reply_to(saved_slots[slot]);
    saved[slot] = none;
    if (result != (finds ? 0 : -E_DEAD))
        wrong = "ipc_reply_to returned the wrong error";
    if (finds)
        check_replied(right, label);
}

static bool is_copied(unsigned slot)
{
    return saved[!slot].caller == saved[slot].caller && saved[!slot].serial == saved[slot].serial;
}

static void close_saved(unsigned slot)
{
    if (!is_copied(slot))
        take_reply(saved[slot]);
    cap_close(&space, saved_slots[slot]);
    saved[slot] = none;
}

static void save(unsigned slot)
{
    int64_t result = sys_ipc_save_reply();
    assert(result > 0);
    saved_slots[slot] = (cap_t)result;
    saved[slot] = held;
    held = none;
}

static void copy_saved(unsigned slot)
{
    int64_t result = cap_copy(&space, saved_slots[slot], &space, 0, RIGHT_ALL, 0);
    assert(result > 0);
    saved_slots[!slot] = (cap_t)result;
    saved[!slot] = saved[slot];
}

/* Something else ends the wait. */
static void lose_wait(unsigned who)
{
    allowed = 1u << who;
    awaits[who] = 0;
}

static void end_and_begin_anew(unsigned who)
{
    allowed = 1u << who;
    if (who == SERVER)
        take_reply(held);
    end_thread(who);
    new_thread(who);
}

/* clang-format off */
#define KINDS_OF_STEPS(X)                                                      \
    /* steps of callers */                                                                            \
    X(CALL, "call") X(CALL_GENERAL, "call (general)") X(FAULT, "fault")                               \
    X(FAULT_GENERAL, "fault (general)") X(SLEEP, "sleep")                                             \
    /* of the server; from SAVE on `who` is the slot */                                               \
    X(RECEIVE, "receive") X(REPLY, "reply") X(REPLY_KILL, "reply kill")                               \
    X(REPLY_RECEIVE, "reply_receive") X(REPLY_RECEIVE_KILL, "reply_receive kill")                     \
    X(REPLY_RECEIVE_GENERAL, "reply_receive (general)") X(SAVE, "save") X(COPY, "copy")               \
    X(REPLY_TO, "reply_to") X(REPLY_TO_KILL, "reply_to kill") X(CLOSE, "close")                       \
    /* of any thread */                                                                               \
    X(EXPIRE, "expire") X(CANCEL, "cancel") X(SUSPEND, "suspend") X(RESUME, "resume") X(KILL, "kill") \
    X(PARK, "park") X(END, "end")
/* clang-format on */
#define KIND_OF(kind, name) kind,
#define NAME_OF(kind, name) name,
enum kind { KINDS_OF_STEPS(KIND_OF) KINDS };
struct step {
    uint8_t kind, who;
};

static bool is_ready(unsigned who)
{
    return !waits(who) && !threads[who]->pending;
}

static bool of_server_possible(enum kind kind, unsigned who)
{
    if (!is_ready(SERVER))
        return false;
    if (kind >= SAVE) {
        bool full = who < SAVED && saved[who].caller >= 0;
        bool fault = full && faulted[saved[who].caller];
        return who < SAVED && (kind == SAVE   ? !full && held.caller >= 0
                               : kind == COPY ? full && saved[!who].caller < 0
                                              : full && (kind != REPLY_TO_KILL || fault));
    }
    bool kills = kind == REPLY_KILL || kind == REPLY_RECEIVE_KILL;
    return who == SERVER && (!kills || (held.caller >= 0 && faulted[held.caller]));
}

static bool possible(struct step step)
{
    unsigned who = step.who;
    const struct thread *thread = threads[who];
    if (step.kind <= SLEEP)
        return who < CALLERS && is_ready(who);
    if (step.kind <= CLOSE)
        return of_server_possible(step.kind, who);
    switch (step.kind) {
    case EXPIRE:
        return waits(who) && thread->wait_deadline == DEADLINE;
    case CANCEL:
        return waits(who) && thread->state != THREAD_SUSPENDED && thread->state != THREAD_BLOCKED_FAULT;
    case SUSPEND:
        return who != SERVER && !thread->pending;
    case RESUME:
        return thread->pending == PENDING_SUSPEND;
    case KILL:
        return !(thread->pending & PENDING_KILL);
    case PARK:
        return !waits(who) && thread->pending == PENDING_SUSPEND;
    default: /* END */
        return !waits(who) && thread->pending & PENDING_KILL;
    }
}

static void take_own_step(struct step step)
{
    bool fault = step.kind == FAULT || step.kind == FAULT_GENERAL;
    let_run(threads[step.who]);
    allowed = 1u << step.who;
    if (step.kind == SLEEP)
        sys_thread_sleep(DEADLINE);
    else if (step.kind == PARK)
        thread_park(threads[step.who]);
    else
        ask(step.who, fault, step.kind == CALL_GENERAL || step.kind == FAULT_GENERAL);
}

static void take_server_step(struct step step)
{
    let_run(threads[SERVER]);
    allowed = 1u << SERVER;
    switch (step.kind) {
    case RECEIVE:
        receive();
        break;
    case REPLY:
    case REPLY_KILL:
        reply(step.kind == REPLY_KILL);
        break;
    case SAVE:
        save(step.who);
        break;
    case COPY:
        copy_saved(step.who);
        break;
    case REPLY_TO:
    case REPLY_TO_KILL:
        reply_to(step.who, step.kind == REPLY_TO_KILL);
        break;
    case CLOSE:
        close_saved(step.who);
        break;
    default:
        reply_receive(step.kind == REPLY_RECEIVE_KILL, step.kind == REPLY_RECEIVE_GENERAL);
    }
}

static void take_foreign_step(struct step step)
{
    struct thread *thread = threads[step.who];
    allowed = 1u << step.who;
    switch (step.kind) {
    case EXPIRE:
        lose_wait(step.who);
        thread_expire(thread, DEADLINE);
        break;
    case CANCEL:
        lose_wait(step.who);
        thread_abort_wait(thread, -E_CANCELED);
        break;
    case SUSPEND:
        thread_suspend(thread);
        break;
    case RESUME:
        thread_resume(thread);
        break;
    case KILL:
        lose_wait(step.who);
        thread_kill(thread);
        break;
    default:
        end_and_begin_anew(step.who);
    }
}

static void take_step(struct step step)
{
    note_before();
    if (step.kind <= SLEEP || step.kind == PARK)
        take_own_step(step);
    else if (step.kind <= CLOSE)
        take_server_step(step);
    else
        take_foreign_step(step);
    stop_running();
    check_after();
}

/* ---- The walks ---- */

static void print_path(const struct step *path, unsigned depth)
{
    static const char *const names[KINDS] = {KINDS_OF_STEPS(NAME_OF)};
    for (unsigned i = 0; i < depth; i++)
        printf("# step %u: %s %u\n", i + 1, names[path[i].kind], path[i].who);
}

/* Messages are sent, and replies saved, `often` times as often as other steps: else a walk would seldom come
 * to where all wait and all replies are saved. */
static struct step choose_step(int often)
{
    struct step steps[KINDS * THREADS];
    unsigned count = 0;
    do
        for (uint8_t kind = 0; kind < KINDS; kind++)
            for (uint8_t who = 0; who < THREADS; who++)
                if (possible((struct step){kind, who}) &&
                    (kind <= SLEEP || kind == SAVE || kind == COPY || rand() % often == 0))
                    steps[count++] = (struct step){kind, who};
    while (!count);
    return steps[(unsigned)rand() % count];
}

/* On a new machine. False: a step breaks a rule. */
static bool walk(void)
{
    struct step path[STEPS];
    const int often = 1 + rand() % 8;
    start_machine();
    for (unsigned depth = 0; depth < STEPS; depth++) {
        path[depth] = choose_step(often);
        take_step(path[depth]);
        if (wrong) {
            print_path(path, depth + 1);
            return false;
        }
    }
    stop_machine();
    return true;
}

static bool keep_nothing(unsigned index, paddr_t *base, uint64_t *size)
{
    return false;
}

int main(void)
{
    host_start(1);
    frame_allocator_init(keep_nothing);
    spin_init(&space.lock, &thread_lock_class);
    cap_table_construct(&space.caps);
    if (cap_table_init(&space.caps))
        return 1;
    unsigned walks = 0;
    while (walks < WALKS && walk())
        walks++;
    check(walks == WALKS, "a reply finds its wait or none, on %u walks of %u steps", WALKS, STEPS);
    if (wrong)
        printf("# %s\n", wrong);
    else
        check(slab_count("thread") == 0 && slab_count("reply") == 0 && slab_count("endpoint") == 0,
              "nothing is leaked");
    return finish_tests();
}
