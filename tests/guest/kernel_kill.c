/*
 * kernel_kill.c - spaces can be killed at any time, whatever they are doing, and all their resources are
 * freed.
 *
 * Children do all that they can. The test kills several of them after a random time and compares the numbers
 * of page frames and kernel objects before and after. Their server must survive.
 *
 *     kernel_kill [births]      all, or only kills while threads are created
 *     kernel_kill ROUNDS        fewer rounds
 */
#include "child.h"
#include "leak.h"
#include "tap.h"
#include "threads.h"

#include <arch/runtime.h>
#include <trace/user.h>

#define MS         1000000ull
#define ROUNDS     (4 + REPEATS(16u))
#define AT_ONCE    4
#define VICTIM     3 /* threads, at first */
#define FAMILIES   10
#define BIRTHS     60u
#define BREEDERS   3
#define LATEST     200000u /* latest time of the kill, in ns after the last breeder was started */
#define FIRST_BORN 16u     /* stack of the first thread that a child makes */

enum { SLOT_SERVER = 16, SLOT_PEER = 17, SLOT_SIGNAL = 18, SLOT_PAGED = 19, SLOT_SHARED = 20 };

/* ---- in the child ---------------------------------------------------------------------------------- */

static void do_calls(uint64_t *random)
{
    struct ipc_message message = {.label = child_random(random) % 4};
    uint64_t deadline = child_random(random) % 3 ? TARN_FOREVER : deadline_after(MS / 4);
    if (child_random(random) % 4 == 0)
        message.cap[0] = SLOT_SIGNAL;
    ipc_call_deadline(child_random(random) % 2 ? SLOT_SERVER : SLOT_PEER, &message, deadline);
    for (int i = 0; i < IPC_CAPS; i++)
        if (message.cap[i] >= SLOT_FIRST_FREE + 8)
            sys_cap_close(message.cap[i]);
}

static void do_serve(uint64_t *random)
{
    struct ipc_message message;
    if (ipc_receive_deadline(SLOT_PEER, &message, deadline_after(MS)) < 0)
        return;
    const unsigned way = child_random(random) % 4; /* 3: no reply */
    if (way == 0)
        ipc_reply_receive_deadline(SLOT_PEER, &message, deadline_after(MS));
    else if (way == 1)
        ipc_reply(&message);
    else if (way == 2)
        ipc_save_reply(); /* kept until the child ends */
}

static void do_memory(uint64_t *random)
{
    uint64_t size = (1 + child_random(random) % 32) * TARN_PAGE_SIZE;
    int64_t memory = sys_memory_create(size);
    if (memory < 0)
        return;
    int64_t at = sys_space_map(SLOT_SPACE, (cap_t)memory, 0, size, 0,
                               MAP_READ | MAP_WRITE | (child_random(random) % 2 ? MAP_PRIVATE : 0));
    for (uint64_t i = 0; at > 0 && i < size; i += TARN_PAGE_SIZE)
        *(volatile uint64_t *)(at + i) = i;
    if (at > 0 && child_random(random) % 2)
        sys_space_unmap(SLOT_SPACE, (uint64_t)at, size / 2 & ~(TARN_PAGE_SIZE - 1) ? TARN_PAGE_SIZE : size);
    if (child_random(random) % 4)
        sys_cap_close((cap_t)memory);
}

static void do_waits(uint64_t *random)
{
    static uint32_t word;
    const unsigned way = child_random(random) % 5;
    const uint64_t deadline = way % 2 || child_random(random) % 8 ? deadline_after(MS) : TARN_FOREVER;
    if (way == 0)
        sys_notification_wait(SLOT_SIGNAL, deadline);
    else if (way == 1)
        sys_notification_signal(SLOT_SIGNAL, 1);
    else if (way == 2)
        sys_futex_wait(&word, 0, deadline);
    else if (way == 3)
        sys_futex_wake(&word, 2);
    else
        sys_thread_sleep(deadline_after(child_random(random) % MS));
}

static void misbehave(uint64_t seed);

static void do_births(uint64_t *random)
{
    static uint32_t born; /* each has a stack of its own: races on it would be found (tarn explore) */
    uint32_t stack = FIRST_BORN + __atomic_fetch_add(&born, 1, __ATOMIC_RELAXED);
    if (stack > CHILD_STACKS_MAX)
        return;
    struct thread_config config = {.entry = (uint64_t)misbehave,
                                   .stack = arch_stack_start(CHILD_STACKS + stack * CHILD_STACK_BYTES),
                                   .arg = child_random(random) | 1,
                                   .priority = child_random(random) % (TARN_PRIO_USER + 1)};
    int64_t thread = sys_thread_create(SLOT_SPACE, &config);
    if (thread < 0)
        return;
    if (child_random(random) % 4) /* otherwise it never runs */
        sys_thread_resume((cap_t)thread);
    if (child_random(random) % 4 == 0)
        sys_thread_suspend((cap_t)thread);
    if (child_random(random) % 3 == 0)
        sys_thread_kill((cap_t)thread);
    if (child_random(random) % 2)
        sys_cap_close((cap_t)thread);
}

static void do_objects(uint64_t *random)
{
    static const char name[16] = "grandchild";
    const unsigned way = child_random(random) % 5;
    if (way == 0)
        sys_space_create(name, 0);
    else if (way == 1)
        sys_endpoint_create();
    else if (way == 2)
        sys_notification_bind((cap_t)sys_notification_create());
    else if (way == 3)
        sys_cap_copy(SLOT_SPACE, SLOT_SIGNAL, 0, RIGHT_ALL, 0);
    else
        sys_cap_close((cap_t)(SLOT_FIRST_FREE + 8 + child_random(random) % 100));
}

/* Accesses a page whose pager is our server, which replies only sometimes. */
static void do_paged(uint64_t *random)
{
    int64_t at = sys_space_map(SLOT_SPACE, SLOT_PAGED, 0, 16 * TARN_PAGE_SIZE, 0, MAP_READ | MAP_WRITE);
    if (at <= 0)
        return;
    uint64_t page = child_random(random) % 16;
    if (child_random(random) % 2)
        *(volatile uint64_t *)(at + page * TARN_PAGE_SIZE) = 1;
    else /* an access by the kernel */
        sys_system_read(SYSTEM_STATS, 0, (void *)(at + page * TARN_PAGE_SIZE), sizeof(struct system_stats));
    sys_space_unmap(SLOT_SPACE, (uint64_t)at, 16 * TARN_PAGE_SIZE);
}

static void misbehave(uint64_t seed)
{
    uint64_t random = seed;
    static void (*const deeds[])(uint64_t *) = {do_calls,  do_serve,   do_memory, do_waits,
                                                do_births, do_objects, do_paged};
    for (;;) {
        deeds[child_random(&random) % 7](&random);
        trace_user_values(seed, random, 0, 0);
        if (child_random(&random) % 4096 == 0)
            sys_space_kill(SLOT_SPACE, 1);
        if (child_random(&random) % 4096 == 0)
            *(volatile uint64_t *)(random % 4096) = 0; /* nothing is mapped there */
        if (child_random(&random) % 512 == 0)
            sys_thread_exit();
    }
}

static void end_at_once(uint64_t arg)
{
    sys_thread_exit();
}

/* Makes threads which end at once, or are killed before they have run. */
static void breed(uint64_t seed)
{
    struct thread_config config = {.entry = (uint64_t)end_at_once,
                                   .stack =
                                       arch_stack_start(CHILD_STACKS + CHILD_STACKS_MAX * CHILD_STACK_BYTES),
                                   .priority = TARN_PRIO_USER};
    for (uint64_t random = seed;;) {
        int64_t thread = sys_thread_create(SLOT_SPACE, &config);
        if (thread < 0)
            continue;
        if (child_random(&random) % 2)
            sys_thread_resume((cap_t)thread);
        else
            sys_thread_kill((cap_t)thread);
        sys_cap_close((cap_t)thread);
    }
}

static cap_t server_endpoint, paged, supply;
static _Atomic uint64_t served;

/* Usually replies; sometimes saves the caller and serves others first; supplies pages only sometimes. */
static void *serve(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument;
    struct ipc_message message;
    int64_t error = ipc_receive(server_endpoint, &message);
    for (;;) {
        served++;
        for (int i = 0; error == 0 && i < IPC_CAPS; i++)
            if (message.cap[i])
                sys_cap_close(message.cap[i]);
        if (message.label == 99)
            break;
        if (message.label == IPC_LABEL_PAGE && child_random(&random) % 4)
            sys_memory_supply(paged, message.word[1] & ~(TARN_PAGE_SIZE - 1), supply, 0, TARN_PAGE_SIZE);
        struct ipc_message reply = {.label = FAULT_REPLY_RESUME};
        if (message.label == IPC_LABEL_FAULT ||
            (message.label == IPC_LABEL_PAGE && child_random(&random) % 64 == 0))
            reply.label = child_random(&random) % 4 ? FAULT_REPLY_KILL : FAULT_REPLY_RESUME;
        int64_t saved = child_random(&random) % 4 == 0 ? ipc_save_reply() : 0;
        if (saved > 0) {
            error = ipc_receive_deadline(server_endpoint, &message, deadline_after(MS / 2));
            ipc_reply_to((cap_t)saved, &reply);
            if (error == 0)
                continue;
            error = ipc_receive(server_endpoint, &message);
        } else {
            message = reply;
            error = ipc_reply_receive(server_endpoint, &message);
        }
    }
    ipc_reply(&(struct ipc_message){0});
    return NULL;
}

/* ---- the test -------------------------------------------------------------------------------------- */

static void start_child(struct child *child, uint64_t *random)
{
    cap_t peer = must(sys_endpoint_create()), signal = must(sys_notification_create());
    must(child_create(child, "victim"));
    must(child_give(child, server_endpoint, SLOT_SERVER, RIGHT_SEND | RIGHT_GRANT));
    must(sys_space_set_fault_handler(child->space, server_endpoint));
    must(child_give(child, peer, SLOT_PEER, RIGHT_ALL));
    must(child_give(child, signal, SLOT_SIGNAL, RIGHT_ALL));
    must(child_give(child, paged, SLOT_PAGED, RIGHT_ALL));
    sys_cap_close(peer);
    sys_cap_close(signal);
    for (unsigned i = 0; i < VICTIM; i++) {
        int error = child_start(child, misbehave, child_random(random) | 1);
        if (error != -E_DEAD) /* threads that are running may have killed the space already */
            must(error);
    }
}

static void run_rounds(unsigned rounds, uint64_t *random)
{
    struct child children[AT_ONCE];
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < AT_ONCE; i++)
            start_child(&children[i], random);
        for (unsigned i = 0; i < AT_ONCE; i++) {
            sys_thread_sleep(deadline_after(child_random(random) % (3 * MS)));
            child_end(&children[i]);
        }
    }
}

static void test_kills(unsigned rounds)
{
    uint64_t random = 88172645463325252ull;
    pthread_t server;
    server_endpoint = must(sys_endpoint_create());
    paged = must(sys_memory_create_paged(16 * TARN_PAGE_SIZE, server_endpoint));
    supply = must(sys_memory_create(TARN_PAGE_SIZE));
    start_thread(&server, serve, (void *)4711);
    run_rounds(10, &random); /* warm up caches and stacks */
    uint64_t pages = 16;
    while (pages--) /* so that the paged object has all its pages */
        sys_memory_supply(paged, pages * TARN_PAGE_SIZE, supply, 0, TARN_PAGE_SIZE);
    struct system_stats before = first_stats();
    run_rounds(rounds, &random);
    check(same_stats_soon(&before), "spaces killed at random times: all page frames and objects are freed");
    struct ipc_message message = {.label = 99};
    check(ipc_call(server_endpoint, &message) == 0, "their server survives %lu requests", served);
    pthread_join(server, NULL);
}

/* ---- children of a space that ends while others end them ---------------------------------------------- */

#define LITTER   (3 * IPC_CAPS)
#define CLOSERS  2u
#define PATIENCE (5000 * MS)

static cap_t litter[LITTER];
static pthread_barrier_t all_there;

/* Makes spaces, and gives its capabilities to them away. */
static void bear(uint64_t arg)
{
    static const char name[16] = "litter";
    for (;;) {
        struct ipc_message message = {.label = arg};
        int64_t made[IPC_CAPS];
        for (int i = 0; i < IPC_CAPS; i++) {
            made[i] = sys_space_create(name, 0);
            if (made[i] < 0)
                sys_thread_exit();
            message.cap[i] = (uint16_t)made[i];
        }
        ipc_call(SLOT_SERVER, &message);
        for (int i = 0; i < IPC_CAPS; i++)
            sys_cap_close((cap_t)made[i]);
    }
}

static void *close_litter(void *argument)
{
    pthread_barrier_wait(&all_there);
    for (unsigned i = (unsigned)(uintptr_t)argument; i < LITTER; i += CLOSERS)
        sys_cap_close(litter[LITTER - 1 - i]); /* the kernel visits the youngest first */
    return NULL;
}

/* The last request gets no reply: the parent ends in the middle of it. */
static void take_litter(cap_t nursery)
{
    struct ipc_message message;
    for (unsigned i = 0; i < LITTER; i += IPC_CAPS) {
        uint64_t deadline = deadline_after(PATIENCE);
        must(i == 0 ? ipc_receive_deadline(nursery, &message, deadline)
                    : ipc_reply_receive_deadline(nursery, &message, deadline));
        for (unsigned j = 0; j < IPC_CAPS; j++)
            litter[i + j] = message.cap[j];
    }
}

static void end_family(cap_t nursery)
{
    struct child parent;
    pthread_t closers[CLOSERS];
    must(child_create(&parent, "parent"));
    must(child_give(&parent, nursery, SLOT_SERVER, RIGHT_SEND | RIGHT_GRANT));
    must(child_start(&parent, bear, 0));
    take_litter(nursery);
    start_threads(closers, CLOSERS, close_litter);
    pthread_barrier_wait(&all_there);
    child_end(&parent);
    join_threads(closers, CLOSERS);
}

static void test_families(void)
{
    cap_t nursery = must(sys_endpoint_create());
    pthread_barrier_init(&all_there, NULL, CLOSERS + 1);
    end_family(nursery);
    struct system_stats before = quiet_stats();
    for (int i = 0; i < FAMILIES; i++)
        end_family(nursery);
    check(same_stats_soon(&before), "spaces that others end while their parent ends: everything is freed");
}

static void spin_always(uint64_t arg)
{
    for (;;)
        ;
}

static void kill_self(uint64_t arg)
{
    sys_space_kill(SLOT_SPACE, 5);
    sys_space_kill(SLOT_SPACE, 6); /* not reached; a second kill would be harmless */
}

static bool end_special(void)
{
    static void (*const entries[])(uint64_t) = {NULL, spin_always, kill_self};
    struct child child;
    for (unsigned way = 0; way < 3; way++) {
        must(child_create(&child, "special"));
        for (int i = 0; entries[way] && i < (way == 1 ? 10 : 1); i++)
            must(child_start(&child, entries[way], 0));
        sys_thread_sleep(deadline_after(20 * MS));
        child_end(&child);
    }
    must(child_create(&child, "suspended"));
    sys_cap_close(must(child_thread(&child, end_at_once, 0, 0, 0)));
    child_end(&child);
    must(child_create(&child, "ends"));
    must(child_start(&child, end_at_once, 0));
    for (int i = 0; i < 1000 && sys_space_info(child.space) != -E_DEAD; i++)
        sys_thread_sleep(deadline_after(10 * MS));
    bool dead = sys_space_info(child.space) == -E_DEAD && sys_space_status(child.space) == 0;
    child_end(&child);
    return dead;
}

/* The first status counts. */
static bool tells_status(void)
{
    struct child child;
    must(child_create(&child, "told"));
    bool good = sys_space_status(child.space) == -E_BUSY;
    must(sys_space_kill(child.space, -9));
    good &= (int32_t)must(sys_space_status(child.space)) == -9;
    sys_space_kill(child.space, 3);
    good &= (int32_t)must(sys_space_status(child.space)) == -9;
    child_end(&child);
    return good;
}

static void test_special(void)
{
    check(tells_status(), "the status of a killed space can be read");
    check(end_special(), "a space ends with its last thread"); /* also warms up slabs and page tables */
    struct system_stats before = quiet_stats();
    end_special();
    check(same_stats_soon(&before), "empty, suspended, busy, self-killing, ended: everything is freed");
}

/* The killer may find a new thread at the first moment at which it is visible. */
static void kill_breeders(unsigned times, uint64_t *random)
{
    struct child child;
    while (times--) {
        must(child_create(&child, "breeders"));
        for (unsigned i = 0; i < BREEDERS; i++)
            child_start(&child, breed, child_random(random) | 1);
        sys_thread_sleep(deadline_after(child_random(random) % LATEST));
        child_end(&child);
    }
}

static void test_births(void)
{
    uint64_t random = 88172645463325252ull;
    kill_breeders(10, &random); /* warms up slabs and caches */
    struct system_stats before = first_stats();
    kill_breeders(BIRTHS, &random);
    check(same_stats_soon(&before),
          "spaces killed while threads are created in them: all page frames and objects are freed");
}

int main(int argc, char **argv)
{
    child_prepare();
    if (argc < 2 || !strcmp(argv[1], "births"))
        test_births();
    if (argc > 1 && !strcmp(argv[1], "births"))
        return finish_tests();
    test_special();
    test_families();
    test_kills(argc > 1 ? (unsigned)atoi(argv[1]) : ROUNDS);
    return finish_tests();
}
