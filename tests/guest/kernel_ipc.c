/*
 * kernel_ipc.c - messages: words, badges, capabilities, deadlines, cancellation, saved replies, bound
 * notifications, peers that die. Threads are those of the C library; children are separate spaces.
 */
#include "child.h"
#include "tap.h"
#include "threads.h"
#include "wait.h"

#define MS 1000000ull

static cap_t endpoint;
static _Atomic bool has_given_up; /* the caller of TOO_LATE has timed out */

/* ---- a server whose action is the message's label -------------------------------------------------- */

enum {
    ECHO = 1,  /* words plus one; the reply's label is the badge */
    TAKE_CAPS, /* replies with the number of capabilities and their types */
    GIVE_CAP,  /* replies with a memory object */
    GIVE_BAD,  /* tries to reply with an empty slot */
    MOVE_CAP,  /* replies with a memory object, and closes its own slot, which word[0] tells */
    SAVE,      /* replies through a saved reply, after the next message */
    DROP,      /* closes the saved reply instead */
    TOO_LATE,  /* replies after the caller has timed out */
    FORGET,    /* receives the next message without a reply */
    END,
};

static uint64_t count_caps(struct ipc_message *message)
{
    uint64_t types = 0;
    for (int i = 0; i < IPC_CAPS; i++) {
        if (!message->cap[i])
            continue;
        int64_t info = sys_cap_info(message->cap[i]);
        types = types << 8 | (uint64_t)(info >> 8);
        sys_cap_close(message->cap[i]);
    }
    return types;
}

static void give_bad(struct ipc_message *message, cap_t memory)
{
    struct ipc_message reply = {.label = 5, .cap = {0, 60000}};
    int64_t error = ipc_reply(&reply);
    reply = (struct ipc_message){.label = 5, .cap = {(uint16_t)memory, 60000}};
    int64_t closing_error = ipc_reply_receive_closing(endpoint, &reply);
    *message = (struct ipc_message){.label = (uint64_t)-error,
                                    .word = {(uint64_t)-closing_error, sys_cap_info(memory) >= 0}};
}

static int64_t move_cap(struct ipc_message *message)
{
    cap_t memory = must(sys_memory_create(8192));
    *message = (struct ipc_message){.word = {memory}, .cap = {0, (uint16_t)memory}};
    return ipc_reply_receive_closing(endpoint, message);
}

static void *serve(void *argument)
{
    struct ipc_message message;
    cap_t memory = must(sys_memory_create(4096)), saved = 0;
    must(ipc_receive(endpoint, &message));
    for (;;) {
        uint64_t label = message.label;
        struct ipc_message reply = {.label = message.badge};
        if (label == ECHO)
            for (int i = 0; i < IPC_WORDS; i++)
                reply.word[i] = message.word[i] + 1;
        if (label == TAKE_CAPS)
            reply.word[0] = count_caps(&message);
        if (label == GIVE_CAP)
            reply.cap[2] = (uint16_t)memory;
        if (label == GIVE_BAD)
            give_bad(&reply, memory);
        while (label == TOO_LATE && !has_given_up)
            sys_thread_sleep(deadline_after(MS));
        if (label == MOVE_CAP && must(move_cap(&message)) == 0)
            continue;
        if (label == SAVE || label == DROP) {
            saved = must(ipc_save_reply());
            must(ipc_receive(endpoint, &message));
            if (label == SAVE)
                ipc_reply_to(saved, &(struct ipc_message){.label = 77});
            else
                sys_cap_close(saved);
            continue;
        }
        if (label == FORGET) {
            must(ipc_receive(endpoint, &message));
            continue;
        }
        if (label == END)
            break;
        message = reply;
        must(ipc_reply_receive(endpoint, &message));
    }
    ipc_reply(&(struct ipc_message){0});
    return NULL;
}

static _Atomic uint32_t other_tid; /* the thread under test, once it runs */
static _Atomic bool has_ended;     /* it does not wait any more: some calls end at once */

static cap_t lonely; /* an endpoint without a receiver */

/* Without a label: of the lonely endpoint. */
static void *call_in_thread(void *argument)
{
    struct ipc_message message = {.label = (uint64_t)argument};
    other_tid = thread_id();
    int64_t error = ipc_call(argument ? endpoint : lonely, &message);
    has_ended = true;
    return (void *)(error ? error : (int64_t)message.label);
}

/* Waits until the other thread is in this state. */
static void let_wait(enum thread_state state)
{
    while (!other_tid)
        sys_thread_sleep(deadline_after(MS));
    if (!wait_until(process_id(), other_tid, state))
        printf("# thread %u does not wait\n", other_tid);
}

static int64_t call_beside(uint64_t label, uint64_t then)
{
    pthread_t thread;
    void *result;
    other_tid = 0;
    has_ended = false;
    start_thread(&thread, call_in_thread, (void *)label);
    while (!has_ended && !(other_tid && thread_is(process_id(), other_tid, THREAD_BLOCKED_REPLY)))
        sys_thread_sleep(deadline_after(MS));
    struct ipc_message message = {.label = then};
    ipc_call(endpoint, &message);
    pthread_join(thread, &result);
    return (int64_t)result;
}

static void test_words(void)
{
    cap_t badged = must(sys_cap_copy(SLOT_SPACE, endpoint, 0, RIGHT_SEND | RIGHT_GRANT, 4711));
    struct ipc_message message = {.label = ECHO, .word = {1, 2, 3, 4, 5, 6}};
    check(ipc_call(badged, &message) == 0 && message.label == 4711, "a badge arrives");
    bool all = true;
    for (uint64_t i = 0; i < IPC_WORDS; i++)
        all &= message.word[i] == i + 2;
    check(all, "six words there and back");
    check(sys_cap_copy(SLOT_SPACE, badged, 0, RIGHT_ALL, 9) == -E_BAD_ARGUMENT, "a badge is given once");
    check(ipc_receive_deadline(badged, &message, 0) == -E_BAD_RIGHT,
          "the right to send does not permit receiving");
    sys_cap_close(badged);
    check(all_return(-E_BAD_CAP, ipc_call(badged, &message), ipc_call(9999999, &message)),
          "neither a closed capability nor a slot out of range serves");
    check(all_return(-E_BAD_TYPE, ipc_call(SLOT_SPACE, &message), ipc_reply_to(SLOT_SPACE, &message)),
          "a space is no endpoint and no reply");
}

static void test_caps(void)
{
    cap_t memory = must(sys_memory_create(4096));
    struct ipc_message message = {.label = TAKE_CAPS,
                                  .cap = {(uint16_t)memory, 0, (uint16_t)endpoint, SLOT_SPACE}};
    check(ipc_call(endpoint, &message) == 0 &&
              message.word[0] == (CAP_MEMORY << 16 | CAP_ENDPOINT << 8 | CAP_SPACE),
          "three capabilities arrive");
    message = (struct ipc_message){.label = TAKE_CAPS, .cap = {(uint16_t)memory, 50000}};
    check(ipc_call(endpoint, &message) == -E_BAD_CAP, "an empty slot cannot be sent");
    cap_t kept = must(sys_cap_copy(SLOT_SPACE, memory, 0, RIGHT_READ, 0));
    message = (struct ipc_message){.label = TAKE_CAPS, .cap = {(uint16_t)kept}};
    check(ipc_call(endpoint, &message) == -E_BAD_RIGHT, "nor one without the right to grant");
    message = (struct ipc_message){.label = GIVE_CAP};
    check(ipc_call(endpoint, &message) == 0 && message.cap[2] && !message.cap[0] && !message.cap[1] &&
              sys_memory_size(message.cap[2]) == 4096,
          "a reply carries one");
    sys_cap_close(message.cap[2]);
    message = (struct ipc_message){.label = GIVE_BAD};
    check(ipc_call(endpoint, &message) == 0 && message.label == E_BAD_CAP && message.word[0] == E_BAD_CAP &&
              message.word[1],
          "a bad reply fails and closes nothing, and the server can still reply");
    message = (struct ipc_message){.label = MOVE_CAP};
    check(ipc_call(endpoint, &message) == 0 && message.cap[1] && message.cap[1] != message.word[0] &&
              sys_memory_size(message.cap[1]) == 8192 && sys_cap_info((cap_t)message.word[0]) == -E_BAD_CAP,
          "a reply moves one: the server's slot is closed");
}

static void test_replies(void)
{
    check(call_beside(SAVE, ECHO) == 77, "a saved reply");
    check(call_beside(DROP, ECHO) == -E_DEAD, "a saved reply that is closed");
    check(call_beside(FORGET, ECHO) == -E_CANCELED, "a caller that is forgotten");
    check(all_return(-E_NO_REPLY, ipc_reply(&(struct ipc_message){0}), ipc_save_reply()),
          "no caller to reply to, nor to save");
}

static void test_deadlines(void)
{
    lonely = must(sys_endpoint_create());
    struct ipc_message message = {.label = 1};
    cap_t n = must(sys_notification_create());
    uint32_t word = 1;
    uint64_t before = clock_monotonic_ns();
    check(ipc_call_deadline(lonely, &message, before + 30 * MS) == -E_TIMEOUT,
          "a call without a receiver times out");
    uint64_t waited = clock_monotonic_ns() - before;
    check(waited >= 30 * MS, "and not too early");
    check(all_return(-E_TIMEOUT, ipc_call_deadline(lonely, &message, 0),
                     ipc_receive_deadline(lonely, &message, 0),
                     ipc_receive_deadline(lonely, &message, deadline_after(10 * MS)),
                     ipc_send_deadline(lonely, &message, deadline_after(10 * MS)),
                     sys_notification_wait(n, deadline_after(10 * MS)),
                     sys_futex_wait(&word, 1, deadline_after(10 * MS))),
          "so do calls at once, receives, sends, waits for signals and words");
    message = (struct ipc_message){.label = TOO_LATE};
    check(ipc_call_deadline(endpoint, &message, deadline_after(20 * MS)) == -E_TIMEOUT,
          "a call whose reply is late times out");
    has_given_up = true;
    message = (struct ipc_message){.label = ECHO};
    check(ipc_call(endpoint, &message) == 0, "the server continues after a reply without a receiver");
    before = clock_monotonic_ns();
    sys_thread_sleep(before + 20 * MS);
    check(clock_monotonic_ns() - before >= 20 * MS, "sleep is not short");
    check(sys_futex_wait(&word, 2, TARN_FOREVER) == -E_AGAIN,
          "a word that is waited for must have the value");
}

static void test_death(void)
{
    pthread_t thread;
    void *result;
    other_tid = 0;
    start_thread(&thread, call_in_thread, NULL);
    let_wait(THREAD_BLOCKED_SEND);
    sys_cap_close(lonely);
    pthread_join(thread, &result);
    check((int64_t)result == -E_DEAD, "a queued caller gets E_DEAD when the endpoint dies");
    lonely = must(sys_endpoint_create());
    cap_t sender = must(sys_cap_copy(SLOT_SPACE, lonely, 0, RIGHT_SEND, 0));
    sys_cap_close(lonely);
    struct ipc_message message = {.label = 1};
    check(ipc_call(sender, &message) == -E_DEAD, "an endpoint without receivers is dead");
}

/* In a child: receives a call and ends without a reply. */
static void take_and_end(uint64_t faults)
{
    struct ipc_message message;
    ipc_receive(20, &message);
    if (faults)
        *(volatile uint64_t *)(faults * 8) = 1; /* nothing is mapped there */
    sys_space_kill(SLOT_SPACE, 3);
}

static int64_t call_dying_child(bool faults)
{
    struct child child;
    cap_t service = must(sys_endpoint_create());
    must(child_create(&child, "dying"));
    must(child_give(&child, service, 20, RIGHT_ALL));
    must(child_start(&child, take_and_end, faults));
    struct ipc_message message = {.label = 1};
    int64_t error = ipc_call(service, &message);
    child_end(&child);
    sys_cap_close(service);
    return error;
}

static _Atomic bool has_one; /* the bound thread has received its first signal */

static void *wait_bound(void *argument)
{
    struct ipc_message message;
    must(sys_notification_bind((cap_t)(uintptr_t)argument));
    lonely = must(sys_endpoint_create());
    other_tid = thread_id();
    int64_t error = ipc_receive(lonely, &message);
    uint64_t first = message.word[0];
    bool good = error == 0 && message.label == IPC_LABEL_NOTIFICATION;
    has_one = true;
    error = ipc_receive_deadline(lonely, &message, deadline_after(WAIT_SECONDS * 1000 * MS));
    good &= error == 0 && message.label == IPC_LABEL_NOTIFICATION;
    sys_cap_close(lonely);
    return (void *)(good ? first << 8 | message.word[0] : 0);
}

static void test_bound(void)
{
    cap_t notification = must(sys_notification_create());
    pthread_t thread;
    void *result;
    other_tid = 0;
    start_thread(&thread, wait_bound, (void *)(uintptr_t)notification);
    let_wait(THREAD_BLOCKED_RECEIVE);
    sys_notification_signal(notification, 5);
    while (!has_one)
        sys_thread_sleep(deadline_after(MS));
    let_wait(THREAD_BLOCKED_RECEIVE);
    check(sys_notification_bind(notification) == -E_BUSY, "a notification is bound to one thread");
    sys_notification_signal(notification, 2);
    pthread_join(thread, &result);
    check((uint64_t)result == (5 << 8 | 2), "a bound notification ends receives");
    int64_t error;
    for (int i = 0; (error = sys_notification_bind(notification)) == -E_BUSY && i < 1000; i++)
        sys_thread_sleep(deadline_after(10 * MS)); /* join returns slightly before the thread has ended */
    check(error == 0, "and can be bound again when its thread has ended");
    sys_notification_signal(notification, 8);
    struct ipc_message message;
    check(ipc_receive_deadline(endpoint, &message, 0) == 0 && message.word[0] == 8,
          "bits signalled before the binding");
    check(sys_notification_bind(0) == 0, "unbound");
    check(sys_notification_signal(notification, 1ull << 63) == -E_BAD_ARGUMENT, "63 bits are usable");
}

/* In a child: waits, and signals how the wait ended. */
static void sleep_and_tell(uint64_t arg)
{
    int64_t result = sys_thread_sleep(TARN_FOREVER);
    sys_notification_signal((cap_t)arg, (uint64_t)-result << 8);
    sys_thread_exit();
}

static void test_cancel(void)
{
    struct child child;
    cap_t told = must(sys_notification_create());
    must(child_create(&child, "cancel"));
    must(child_give(&child, told, 20, RIGHT_ALL));
    int64_t keeper = must(child_thread(&child, sleep_and_tell, 20, TARN_PRIO_USER, 0));
    int64_t thread = must(child_thread(&child, sleep_and_tell, 20, TARN_PRIO_USER, 0));
    check(sys_thread_cancel((cap_t)thread) == -E_AGAIN, "a thread that does not wait cannot be cancelled");
    must(sys_thread_resume((cap_t)thread));
    wait_until((uint32_t)must(sys_space_info(child.space)), ANY_THREAD, THREAD_SLEEPING);
    must(sys_thread_suspend((cap_t)thread));
    must(sys_thread_cancel((cap_t)thread));
    check(sys_notification_wait(told, deadline_after(50 * MS)) == -E_TIMEOUT,
          "a suspended thread does not continue");
    must(sys_thread_resume((cap_t)thread));
    check(sys_notification_wait(told, deadline_after(5000 * MS)) == E_CANCELED << 8, "a sleep is cancelled");
    sys_cap_close((cap_t)keeper);
    sys_cap_close(told);
    check(sys_thread_set_priority((cap_t)thread, 31) == -E_BAD_RIGHT,
          "a thread cannot give more priority than it has");
    check(sys_thread_set_affinity((cap_t)thread, 0) == -E_BAD_ARGUMENT, "a thread needs a CPU");
    child_end(&child);
    check(sys_thread_resume((cap_t)thread) == 0 && sys_thread_set_name((cap_t)thread, "ghost") == -E_DEAD,
          "a dead thread's capability is harmless");
    sys_cap_close((cap_t)thread);
}

int main(void)
{
    pthread_t server;
    child_prepare();
    endpoint = must(sys_endpoint_create());
    start_thread(&server, serve, NULL);
    test_words();
    test_caps();
    test_replies();
    test_deadlines();
    test_death();
    check(call_dying_child(false) == -E_DEAD, "the server kills itself before it replies");
    check(call_dying_child(true) == -E_DEAD, "the server faults without a fault handler");
    test_bound();
    test_cancel();
    struct ipc_message message = {.label = END};
    check(ipc_call(endpoint, &message) == 0, "the server ends");
    pthread_join(server, NULL);
    return finish_tests();
}
