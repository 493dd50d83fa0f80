/*
 * tests/guest/explore_meet.c - a workload for `tarn explore`: threads that meet at the same kernel objects.
 *
 * Signals: one that is lost stops its pair for ever. A server that has both calls and signals of its bound
 * notification to serve. Waits that end by a signal or at their deadline, or because the object ends. Replies
 * at once, late, saved, given twice and never, to callers that fault, sleep, and are cancelled and suspended.
 * Threads that signal each other while others move them. Copies of capabilities. Page frames of objects that
 * become free. Objects in slots that all threads share: a user may find one closed at any moment.
 *
 *     explore_meet [signals | waits | replies | moves | copies | objects [TIMES]]     one part alone
 */
#include "child.h"
#include "leak.h"
#include "tap.h"
#include "threads.h"

#include <tarn/ipc.h>

#define ROUNDS       150
#define OPERATIONS   400
#define COPIES       40
#define CROWD        100
#define CROWDS       6
#define PAGE         4096u
#define SOON         40000u /* ns */
#define SHARED_SLOTS 4u
#define FIRST_SHARED 400u

static pthread_t threads[8];
/* Once all are there: a closed slot is anybody's, also for a new thread's capability. */
static pthread_barrier_t all_there;

static void in_threads(unsigned count, void *(*run)(void *))
{
    start_threads(threads, count, run);
    join_threads(threads, count);
}

/* The number of THREADS that wait for each other. */
static void in_threads_that_meet(unsigned count, void *(*run)(void *))
{
    pthread_barrier_init(&all_there, NULL, count);
    in_threads(THREADS, run);
    pthread_barrier_destroy(&all_there);
}

static cap_t signals[THREADS + 2]; /* of each thread; of a server that has one bound, and to its client */

/* 0 and 1 ring each other in turn, and 2 and 3. */
static void *ring(void *argument)
{
    unsigned self = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        if (self % 2)
            sys_notification_wait(signals[self], TARN_FOREVER);
        sys_notification_signal(signals[self ^ 1], 1);
        if (self % 2 == 0)
            sys_notification_wait(signals[self], TARN_FOREVER);
    }
    return NULL;
}

int pthread_setschedprio(pthread_t thread, int priority); /* newlib does not declare it */

static uint32_t ringing;

/* 0 to 3 ring each other; 4 and 5 move them. */
static void *ring_or_move(void *argument)
{
    uint64_t random = (uintptr_t)argument;
    if (random < THREADS) {
        ring(argument);
        __atomic_fetch_sub(&ringing, 1, __ATOMIC_SEQ_CST);
    }
    while (random >= THREADS && __atomic_load_n(&ringing, __ATOMIC_SEQ_CST)) {
        pthread_setschedprio(threads[next_random(&random) % THREADS], (int)(next_random(&random) % 8));
        pthread_setaffinity_mask_np(threads[next_random(&random) % THREADS], 1 + next_random(&random) % 15);
    }
    return NULL;
}

/* ---- a server with a bound notification --------------------------------------------------------- */

#define BOUND  signals[THREADS]
#define SERVED signals[THREADS + 1]
static cap_t service;
static uint32_t wrong;

static void serve(void)
{
    struct ipc_message message;
    must(sys_notification_bind(BOUND));
    int64_t error = ipc_receive(service, &message);
    for (int left = 2 * ROUNDS; left; left--) {
        bool signalled = !error && message.label == IPC_LABEL_NOTIFICATION;
        if (error)
            wrong++;
        if (signalled)
            sys_notification_signal(SERVED, 1);
        message.label++;
        if (left == 1 && !signalled)
            ipc_reply(&message);
        else if (left > 1)
            error = signalled ? ipc_receive(service, &message) : ipc_reply_receive(service, &message);
    }
}

/* One call and one signal come at the same time, and both are served before the next: nothing else comes
 * that would let the server look again. */
static void call_often(void)
{
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct ipc_message message = {.label = i};
        if (ipc_call(service, &message) || message.label != i + 1)
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
        sys_notification_signal(signals[1], 1);
        sys_notification_wait(signals[0], TARN_FOREVER);
    }
}

static void signal_often(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        sys_notification_signal(BOUND, 1);
        sys_notification_wait(SERVED, TARN_FOREVER);
        sys_notification_wait(signals[1], TARN_FOREVER);
        sys_notification_signal(signals[0], 1);
    }
}

static void *be_one_of_three(void *argument)
{
    if (!argument)
        serve();
    else if (argument == (void *)1)
        call_often();
    else
        signal_often();
    return NULL;
}

/* ---- waits that end in two ways at once --------------------------------------------------------- */

#define WAITS 200

static cap_t timed;
static uint32_t waiting;

static void count_wrong(bool is_wrong)
{
    __atomic_fetch_add(&wrong, is_wrong, __ATOMIC_SEQ_CST);
}

/* 0 and 1 wait, 2 and 3 signal. */
static void *wait_or_signal(void *argument)
{
    uint64_t random = (uintptr_t)argument + 1;
    bool waits = (uintptr_t)argument < 2;
    for (int i = 0; i < WAITS; i++) {
        uint64_t deadline = deadline_after(next_random(&random) % SOON);
        if (waits) {
            deadline = next_random(&random) % 4 ? deadline : TARN_FOREVER;
            int64_t bits = sys_notification_wait(timed, deadline);
            count_wrong(bits == -E_TIMEOUT ? clock_monotonic_ns() < deadline : bits != 1);
        } else {
            sys_thread_sleep(deadline);
            sys_notification_signal(timed, 1);
        }
    }
    if (waits)
        __atomic_fetch_sub(&waiting, 1, __ATOMIC_SEQ_CST);
    while (!waits && __atomic_load_n(&waiting, __ATOMIC_SEQ_CST)) { /* for ever, perhaps */
        sys_notification_signal(timed, 1);
        sys_thread_sleep(deadline_after(SOON));
    }
    return NULL;
}

/* All but the first wait for ever, until that one closes what they wait for. */
static void *wait_for_end(void *argument)
{
    pthread_barrier_wait(&all_there);
    if (argument) {
        int64_t result = sys_notification_wait(timed, TARN_FOREVER);
        count_wrong(result != -E_DEAD && result != -E_BAD_CAP);
    } else {
        sys_thread_sleep(deadline_after(2 * SOON));
        sys_cap_close(timed);
    }
    return NULL;
}

/* ---- replies ------------------------------------------------------------------------------------ */

/* Callers, in a child. The first one is not upset: it waits for ever where its reply is lost. */
#define CALLERS 3u
#define KEPT    4u /* saved replies of each server */
#define CLOSE   1u
#define PLACE   0x0000000a00000000ull

static struct replied {
    _Atomic uint32_t wrong, calls[CALLERS];
    _Atomic uint64_t unanswered[CALLERS]; /* the last call that a server does not answer */
} * replied;
static cap_t callers[CALLERS];
static struct child asking;

/* Whether the reply is one to this call. */
static bool is_reply_to(const struct ipc_message *reply, uint64_t number)
{
    return reply->label == ~number && reply->word[0] == number && reply->word[IPC_WORDS - 1] == number;
}

static bool call_with(struct replied *told, uint64_t number, uint64_t me, uint64_t random)
{
    struct ipc_message message = {.label = number};
    const bool is_upset = me > 0;
    const uint64_t deadline = is_upset && random % 2 ? deadline_after(random % SOON) : TARN_FOREVER;
    const int64_t error = ipc_call_deadline(SLOT_FIRST_FREE, &message, deadline);
    if (error == 0)
        return is_reply_to(&message, number);
    return (error == -E_TIMEOUT && deadline != TARN_FOREVER) || (error == -E_CANCELED && is_upset) ||
           ((error == -E_DEAD || error == -E_CANCELED) && told->unanswered[me] == number);
}

/* No reply may end it. */
static bool sleep_with(uint64_t me, uint64_t random)
{
    const uint64_t deadline = deadline_after(random % SOON);
    return sys_thread_sleep(deadline) != 0 ? me > 0 : clock_monotonic_ns() >= deadline;
}

/* Returned in a register that results of calls have: the reply to a fault leaves it as it is. */
static __attribute__((noipa)) volatile uint64_t *unmapped_page(uint64_t me)
{
    sys_space_unmap(SLOT_SPACE, PLACE + me * PAGE, PAGE);
    return (volatile uint64_t *)(PLACE + me * PAGE);
}

static __attribute__((no_sanitize_thread)) void ask(uint64_t me)
{
    struct replied *told = (struct replied *)CHILD_SHARED;
    uint64_t random = me;
    for (uint64_t number = (me + 1) << 32;; number++) {
        const uint64_t way = next_random(&random) % 8, drawn = next_random(&random);
        const bool good = way == 0   ? *unmapped_page(me) == 0 /* a server maps it */
                          : way == 1 ? sleep_with(me, drawn)
                                     : call_with(told, number, me, drawn);
        told->wrong += !good;
        told->calls[me]++;
    }
}

/* Before it is not answered. One that its caller has given up is older than the caller's last. */
static void leave_unanswered(uint64_t number)
{
    if (number == IPC_LABEL_FAULT)
        return;
    _Atomic uint64_t *last = &replied->unanswered[(number >> 32) - 1];
    for (uint64_t before = *last; before < number;)
        if (atomic_compare_exchange_weak(last, &before, number))
            break;
}

static int64_t next_message(struct ipc_message *message)
{
    return ipc_receive_deadline(service, message, deadline_after(SOON));
}

static struct kept {
    cap_t slot;
    struct ipc_message reply;
} kept[2][KEPT]; /* by each server */

/* Once, also where there are two capabilities to it, or never. */
static void give(struct kept *place, uint64_t random)
{
    const int64_t copy =
        random % 4 == 0 ? sys_cap_copy(SLOT_SPACE, place->slot, 0, RIGHT_ALL, 0) : -E_BAD_CAP;
    if (random % 8 == CLOSE) {
        leave_unanswered(place->reply.word[0]);
        sys_cap_close(place->slot);
    } else {
        ipc_reply_to(place->slot, &place->reply);
    }
    if (copy > 0)
        count_wrong(ipc_reply_to((cap_t)copy, &place->reply) != -E_DEAD);
    place->slot = 0;
}

/* Gives the reply that was saved in this place, if any. Then saves the reply to a message, if there is one.
 */
static void save(struct kept *place, const struct ipc_message *message, uint64_t random)
{
    if (place->slot)
        give(place, random);
    if (message)
        *place = (struct kept){must(sys_ipc_save_reply()), *message};
}

/* Returns the result of receiving the next message. */
static int64_t reply_randomly(struct kept *place, struct ipc_message *message, uint64_t random)
{
    const uint64_t number = message->label;
    if (number == IPC_LABEL_FAULT && random % 4)
        sys_space_map(asking.space, timed, message->word[1], PAGE, 0, MAP_READ | MAP_FIXED);
    *message = (struct ipc_message){.label = number == IPC_LABEL_FAULT ? FAULT_REPLY_RESUME : ~number};
    message->word[0] = message->word[IPC_WORDS - 1] = number;
    const unsigned way = random / 4 % 8;
    if (way > 4)
        return ipc_reply_receive(service, message);
    if (way == 4)
        return ipc_reply_receive_deadline(service, message, deadline_after(SOON));
    if (way == 0) {
        ipc_reply(message);
        count_wrong(ipc_reply(message) != -E_NO_REPLY);
    } else if (way == 1) { /* the next message takes its place */
        leave_unanswered(number);
    } else {
        save(place, message, random / 32);
    }
    return next_message(message);
}

/* Until the first caller has called often enough. */
static void serve_randomly(struct kept *places, uint64_t random)
{
    struct ipc_message message;
    int64_t error = next_message(&message);
    while (replied->calls[0] < WAITS) {
        const uint64_t drawn = next_random(&random);
        struct kept *place = &places[drawn / 1024 % KEPT];
        if (error)
            save(place, NULL, drawn);
        error = error ? next_message(&message) : reply_randomly(place, &message, drawn);
    }
    if (!error)
        leave_unanswered(message.label);
    for (unsigned i = 0; i < KEPT; i++)
        save(&places[i], NULL, CLOSE);
}

static void upset_others(uint64_t random)
{
    while (replied->calls[0] < WAITS) {
        const uint64_t drawn = next_random(&random);
        const cap_t other = callers[1 + drawn % (CALLERS - 1)];
        sys_thread_sleep(deadline_after(drawn % SOON));
        sys_thread_resume(other);
        if (drawn / 16 % 4 == 0)
            sys_thread_suspend(other);
        else if (drawn / 16 % 4 == 1)
            sys_thread_cancel(other);
    }
}

static void *serve_or_upset(void *argument)
{
    const uintptr_t me = (uintptr_t)argument;
    if (me < 2)
        serve_randomly(kept[me], me);
    else
        upset_others(me);
    return NULL;
}

static void test_replies(void)
{
    const cap_t shared = must(sys_memory_create(PAGE));
    replied = memory_map(shared, PAGE, MAP_READ | MAP_WRITE);
    timed = must(sys_memory_create(PAGE));
    must(child_create(&asking, "asking"));
    must(child_give(&asking, service, SLOT_FIRST_FREE, RIGHT_SEND));
    must(sys_space_set_fault_handler(asking.space, service));
    child_map(&asking, shared, CHILD_SHARED, PAGE, MAP_READ | MAP_WRITE);
    for (unsigned i = 0; i < CALLERS; i++)
        callers[i] = child_run(&asking, ask, i, TARN_PRIO_USER, 0);
    in_threads(3, serve_or_upset);
    child_end(&asking);
    check(!wrong && !replied->wrong, "a reply ends the wait that it is for, and no other");
    for (unsigned i = 0; i < CALLERS; i++)
        sys_cap_close(callers[i]);
    memory_unmap(replied, PAGE);
    sys_cap_close(shared);
    sys_cap_close(timed);
}

/* ---- objects ------------------------------------------------------------------------------------ */

static int64_t make(uint64_t kind)
{
    static const char name[16] = "met";
    return kind == 0   ? sys_endpoint_create()
           : kind == 1 ? sys_notification_create()
           : kind == 2 ? sys_memory_create(PAGE)
                       : sys_space_create(name, 0);
}

static void make_in(uint64_t kind, cap_t slot)
{
    int64_t made = make(kind);
    if (made < 0)
        return;
    sys_cap_copy(SLOT_SPACE, (cap_t)made, slot, RIGHT_ALL, 0);
    sys_cap_close((cap_t)made);
}

static void map_and_unmap(cap_t space, cap_t memory)
{
    int64_t at = sys_space_map(space, memory, 0, PAGE, 0, MAP_READ | MAP_WRITE);
    if (at <= 0)
        return;
    if (space == SLOT_SPACE)
        *(volatile uint64_t *)at = 1;
    sys_space_unmap(space, (uint64_t)at, PAGE);
}

static struct system_space all_spaces[64]; /* of no interest */

/* Slot i holds objects of kind i, or none. */
static void use(uint64_t kind, cap_t slot, uint64_t way)
{
    struct ipc_message message = {.label = way};
    if (kind == 0 && way % 2)
        ipc_call_deadline(slot, &message, deadline_after(SOON));
    else if (kind == 0)
        ipc_receive_deadline(slot, &message, deadline_after(SOON));
    else if (kind == 1 && way % 2)
        sys_notification_signal(slot, 1);
    else if (kind == 1)
        sys_notification_wait(slot, deadline_after(SOON));
    else if (kind == 2)
        map_and_unmap(SLOT_SPACE, slot);
    else if (way % 8 == 1)
        sys_system_read(SYSTEM_SPACES, 0, all_spaces, sizeof all_spaces);
    else if (way % 4)
        map_and_unmap(slot, FIRST_SHARED + 2);
    else
        sys_space_kill(slot, 1);
}

static void *share(void *argument)
{
    uint64_t random = (uintptr_t)argument + 1;
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < OPERATIONS; i++) {
        uint64_t kind = next_random(&random) % SHARED_SLOTS;
        cap_t slot = FIRST_SHARED + (cap_t)kind;
        const unsigned way = next_random(&random) % 4;
        if (way == 0)
            make_in(kind, slot);
        else if (way == 1)
            sys_cap_close(slot);
        else
            use(kind, slot, next_random(&random));
    }
    return NULL;
}

/* ---- copies ------------------------------------------------------------------------------------- */

static cap_t originals[5];

/* 0 waits for a reply, of which the others make copies, too. */
static void *copy_and_close(void *argument)
{
    struct ipc_message message = {0};
    if (!argument) {
        count_wrong(ipc_call(service, &message) != 0);
        return NULL;
    }
    if (argument == (void *)1) {
        count_wrong(ipc_receive(service, &message) != 0);
        originals[4] = must(sys_ipc_save_reply());
    }
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < COPIES; i++)
        for (int kind = 0; kind < 5; kind++) {
            int64_t copy = sys_cap_copy(SLOT_SPACE, originals[kind], 0, RIGHT_ALL, 0);
            count_wrong(copy < 0 || sys_cap_close((cap_t)copy) != 0);
        }
    pthread_barrier_wait(&all_there);
    if (argument == (void *)1)
        count_wrong(ipc_reply_to(originals[4], &message) != 0);
    return NULL;
}

static cap_t crowd[CROWD];

/* 0 makes and closes so many objects that page frames of them become free; the others use them meanwhile. */
static void *come_and_go(void *argument)
{
    uint64_t random = (uintptr_t)argument;
    for (int i = 0; !argument && i < 2 * CROWDS * CROWD; i++) {
        if (i / CROWD % 2)
            sys_cap_close(crowd[i % CROWD]);
        else
            __atomic_store_n(&crowd[i % CROWD], must(sys_endpoint_create()), __ATOMIC_RELAXED);
        if (i % (2 * CROWD) == 2 * CROWD - 1) /* the frames become free */
            sys_thread_sleep(deadline_after(5 * SOON));
    }
    if (!argument)
        __atomic_store_n(&waiting, 0, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST)) {
        struct ipc_message message = {0};
        ipc_call_deadline(__atomic_load_n(&crowd[next_random(&random) % CROWD], __ATOMIC_RELAXED), &message,
                          0);
    }
    return NULL;
}

static void test_signals(void)
{
    in_threads(THREADS, ring);
    check(true, "no signal is lost");
    in_threads(3, be_one_of_three);
    check(!wrong, "a server replies to calls and signals");
}

static void test_waits(void)
{
    timed = must(sys_notification_create());
    waiting = 2;
    in_threads(THREADS, wait_or_signal);
    check(!wrong, "a wait ends by a signal, or at its deadline");
    sys_cap_close(timed);
    timed = must(sys_notification_create());
    in_threads_that_meet(THREADS, wait_for_end);
    check(!wrong, "the end of a notification ends all waits for it");
}

static void test_moves(void)
{
    ringing = THREADS;
    in_threads(THREADS + 2, ring_or_move);
    check(true, "nor one between threads that are moved");
}

static void test_copies(void)
{
    for (uint64_t kind = 0; kind < 4; kind++)
        originals[kind] = must(make(kind));
    in_threads_that_meet(THREADS - 1, copy_and_close);
    for (int kind = 0; kind < 4; kind++)
        sys_cap_close(originals[kind]);
    waiting = 1;
    in_threads(THREADS, come_and_go);
    check(!wrong, "objects last as long as capabilities to them");
}

static void test_objects(void)
{
    in_threads_that_meet(THREADS, share);
    for (cap_t slot = FIRST_SHARED; slot < FIRST_SHARED + SHARED_SLOTS; slot++)
        sys_cap_close(slot);
}

static const struct part {
    const char *name;
    void (*test)(void);
} parts[] = {{"signals", test_signals}, {"waits", test_waits},   {"replies", test_replies},
             {"moves", test_moves},     {"copies", test_copies}, {"objects", test_objects}};

int main(int argc, char **argv)
{
    child_prepare();
    struct system_stats before = first_stats();
    int times = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < THREADS + 2; i++)
        signals[i] = must(sys_notification_create());
    service = must(sys_endpoint_create());
    for (int i = 0; i < times; i++)
        for (const struct part *part = parts; part < parts + sizeof parts / sizeof parts[0]; part++)
            if (argc < 2 || strcmp(argv[1], part->name) == 0)
                part->test();
    for (int i = 0; i < THREADS + 2; i++)
        sys_cap_close(signals[i]);
    sys_cap_close(service);
    check(same_stats_soon(&before), "objects that all close at the same time come back once");
    return finish_tests();
}
