/*
 * micro.c - measures the cost of single operations. Prints "bench: name value instructions" lines.
 *
 * Each figure is the exact number of instructions, in the kernel and on both user sides, of a round without
 * timer interrupts (trace/cost/cost.h), by the clock, which advances a nanosecond per instruction under QEMU
 * with -icount shift=0,sleep=off and one CPU; elsewhere the figures are only nanoseconds.
 *
 *     micro                 all figures
 *     micro partner NAME    the second process for figures across spaces
 */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tarn/runtime.h>
#include <tarn/service.h>
#include <tarn/trace_control.h>
#include <trace/cost/cost.h>
#include <trace/user.h>

extern char **environ;

/* Equally often from each fraction of a tick, so that the clock's mean is exact. */
#define ROUNDS (4 * COST_PHASES)
enum { LABEL_PING = 1, LABEL_CLOSE = 2 };

static struct cost nothing; /* cost of the measurement itself */

#define MEASURE(code) COST_OF(ROUNDS, code)

static void report_parts(const char *name, struct cost cost, uint32_t parts)
{
    const uint64_t tenths = cost_by_clock(&cost, &nothing, parts);
    printf("bench: %s %llu.%llu instructions\n", name, (unsigned long long)(tenths / 10),
           (unsigned long long)(tenths % 10));
}

static void report(const char *name, struct cost cost)
{
    report_parts(name, cost, 1);
}

static void fail(const char *what)
{
    fprintf(stderr, "micro: %s failed\n", what);
    exit(1);
}

static cap_t must(int64_t result, const char *what)
{
    if (result < 0)
        fail(what);
    return (cap_t)result;
}

/* ---- the trace ------------------------------------------------------------------------------------- */

static void set_mask(uint64_t mask)
{
    must(sys_trace_control(SLOT_TRACE, TRACE_OP_SET_MASK, mask, 0),
         "trace_control (run micro with authority)");
}

static void measure_trace(void)
{
    set_mask(0);
    report("trace.disabled.user", cost_of_one_word());
    set_mask(1ull << TRACE_CLASS_USER);
    report("trace.enabled1.user", cost_of_one_word());
    report("trace.enabled4.user", cost_of_four_words());
    set_mask(0);
}

/* ---- messages -------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) int64_t call_label(cap_t endpoint, uint64_t label)
{
    struct ipc_message message = ipc_label_only(label);
    return ipc_call(endpoint, &message);
}

/* Keeps the label and four words. */
static inline __attribute__((always_inline)) void drop_rest(struct ipc_message *message)
{
    message->word[4] = any_value();
    message->word[5] = any_value();
    message->caps = 0;
}

static void *serve(void *argument)
{
    cap_t endpoint = (cap_t)(uintptr_t)argument;
    struct ipc_message message;
    must(ipc_receive(endpoint, &message), "ipc_receive");
    while (message.label == LABEL_PING) {
        message = ipc_label_only(message.label);
        must(ipc_reply_receive(endpoint, &message), "ipc_reply_receive");
    }
    while (message.label != LABEL_CLOSE) {
        drop_rest(&message);
        must(ipc_reply_receive(endpoint, &message), "ipc_reply_receive");
    }
    struct ipc_message last = {0};
    ipc_reply(&last);
    return NULL;
}

static void measure_calls(cap_t endpoint, const char *suffix)
{
    struct ipc_message message = {.word = {1, 2, 3, 4}};
    char name[64];
    snprintf(name, sizeof name, "ipc.roundtrip%s", suffix);
    report(name, MEASURE(call_label(endpoint, LABEL_PING)));
    snprintf(name, sizeof name, "ipc.roundtrip%s.words4", suffix);
    call_label(endpoint, 3); /* the server switches to four words */
    report(name, MEASURE({
               message.label = 3;
               drop_rest(&message);
               ipc_call(endpoint, &message);
           }));
    call_label(endpoint, LABEL_CLOSE);
}

static void measure_same_space(void)
{
    cap_t endpoint = must(sys_endpoint_create(), "endpoint_create");
    pthread_t server;
    if (pthread_create(&server, NULL, serve, (void *)(uintptr_t)endpoint))
        fail("pthread_create");
    measure_calls(endpoint, "");
    pthread_join(server, NULL);
    sys_cap_close(endpoint);
}

static int run_partner(const char *name)
{
    cap_t endpoint = must(sys_endpoint_create(), "endpoint_create");
    must(service_publish(name, endpoint), "service_publish");
    serve((void *)(uintptr_t)endpoint);
    return 0;
}

static pid_t start(char *const *arguments)
{
    pid_t pid;
    errno = posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ);
    if (errno)
        fail("posix_spawnp");
    return pid;
}

static void measure_across_spaces(void)
{
    char name[32];
    snprintf(name, sizeof name, "micro-%d", (int)getpid());
    pid_t pid = start((char *[]){"micro", "partner", name, NULL});
    cap_t endpoint = must(service_connect(name, deadline_after(10000000000ull)), "service_connect");
    measure_calls(endpoint, ".spaces");
    waitpid(pid, NULL, 0);
}

/* ---- notifications, faults, processes -------------------------------------------------------------- */

static cap_t ping, pong;

static void *echo_signals(void *argument)
{
    (void)argument;
    while (sys_notification_wait(ping, TARN_FOREVER) == 1)
        sys_notification_signal(pong, 1);
    return NULL;
}

static void measure_signals(void)
{
    ping = must(sys_notification_create(), "notification_create");
    pong = must(sys_notification_create(), "notification_create");
    pthread_t partner;
    if (pthread_create(&partner, NULL, echo_signals, NULL))
        fail("pthread_create");
    report("signal.wait", MEASURE({
               sys_notification_signal(ping, 1);
               sys_notification_wait(pong, TARN_FOREVER);
           }));
    sys_notification_signal(ping, 2);
    pthread_join(partner, NULL);
}

static void measure_zero_faults(void)
{
    volatile char *memory =
        mmap(NULL, ROUNDS * TARN_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    uint64_t page = 0;
    report("fault.zero", MEASURE(memory[page++ * TARN_PAGE_SIZE] = 1));
    munmap((void *)memory, ROUNDS * TARN_PAGE_SIZE);
}

/* A pager that replies without a page: it has supplied the page before the fault is repeated. */
static cap_t paged, pager_endpoint, pager_source;

static void *serve_pages(void *argument)
{
    (void)argument;
    struct ipc_message message;
    must(ipc_receive(pager_endpoint, &message), "ipc_receive");
    for (;;) {
        uint64_t offset = message.word[1];
        must(sys_memory_supply(paged, offset, pager_source, offset, TARN_PAGE_SIZE), "memory_supply");
        message.label = 0;
        drop_rest(&message);
        must(ipc_reply_receive(pager_endpoint, &message), "ipc_reply_receive");
    }
    return NULL;
}

static void measure_pager_faults(void)
{
    uint64_t size = ROUNDS * TARN_PAGE_SIZE;
    pager_endpoint = must(sys_endpoint_create(), "endpoint_create");
    paged = must(sys_memory_create_paged(size, pager_endpoint), "memory_create_paged");
    pager_source = must(sys_memory_create(size), "memory_create");
    for (uint64_t i = 0; i < ROUNDS; i++)
        must(sys_memory_write(pager_source, i * TARN_PAGE_SIZE, &i, sizeof i), "memory_write");
    volatile char *memory = memory_map(paged, size, MAP_READ | MAP_WRITE);
    pthread_t pager;
    if (!memory || pthread_create(&pager, NULL, serve_pages, NULL))
        fail("pager");
    uint64_t page = 0;
    report("fault.pager.supply", MEASURE(memory[page++ * TARN_PAGE_SIZE] = 1));
}

/* The fault handler of another space receives the fault, replies "retry", and receives it again: the round
 * trip to a user-level handler without any mapping, comparable to seL4's figure. */
static void measure_fault_handler(void)
{
    extern void fault_forever(void); /* arch/ARCH/user/fault.S: loads from address 0x1000, for ever */
    cap_t space = must(sys_space_create("faulter", 0), "space_create");
    cap_t endpoint = must(sys_endpoint_create(), "endpoint_create");
    must(sys_space_set_fault_handler(space, endpoint), "space_set_fault_handler");
    cap_t code = must(sys_memory_create(TARN_PAGE_SIZE), "memory_create");
    must(sys_memory_write(code, 0, (const void *)fault_forever, 64), "memory_write");
    must(sys_space_map(space, code, USER_LINK_ADDRESS, TARN_PAGE_SIZE, 0, MAP_READ | MAP_EXECUTE | MAP_FIXED),
         "space_map");
    struct thread_config config = {.entry = USER_LINK_ADDRESS, .priority = TARN_PRIO_USER, .name = "faulter"};
    cap_t thread = must(sys_thread_create(space, &config), "thread_create");
    must(sys_thread_resume(thread), "thread_resume");
    struct ipc_message message;
    must(ipc_receive(endpoint, &message), "ipc_receive");
    report("fault.pager", MEASURE({
               message = ipc_label_only(FAULT_REPLY_RESUME);
               ipc_reply_receive(endpoint, &message);
           }));
    sys_space_kill(space, 0);
}

static _Atomic bool stop_yielding;

static void *yield_always(void *argument)
{
    (void)argument;
    while (!stop_yielding)
        sys_thread_yield();
    return NULL;
}

static void measure_switch(void)
{
    pthread_t partner;
    if (pthread_create(&partner, NULL, yield_always, NULL))
        fail("pthread_create");
    sys_thread_yield();
    report_parts("switch", MEASURE(sys_thread_yield()), 2); /* there and back */
    stop_yielding = true;
    pthread_join(partner, NULL);
}

/* ---- programs --------------------------------------------------------------------------------------- */

extern const char __text_end[], __trace_sites[], __trace_sites_end[]; /* user.ld */

#define TEXT    USER_TRACE_TEXT_END /* text begins here */
#define COPY_AT 0x40000000ull

static int64_t register_sites(uint64_t text, uint64_t table)
{
    return sys_trace_sites(SLOT_TRACE, SLOT_SPACE, text, table,
                           (uint64_t)(__trace_sites_end - __trace_sites));
}

/* Of an executable that is loaded for the first time: a copy of this one. */
static struct cost cost_of_new_sites(void)
{
    const uint64_t text_size = round_to_pages((uint64_t)__text_end - TEXT),
                   size = (uint64_t)__trace_sites_end - TEXT, rest = round_to_pages(size) - text_size;
    struct cost cost = COST_UNKNOWN;
    for (uint32_t round = 0; round < COST_PHASES; round++) {
        volatile struct cost_reading begin;
        const cap_t memory = must(sys_memory_create(size), "memory_create");
        must(memory_write_all(memory, 0, (const void *)TEXT, size), "memory_write");
        must(sys_space_map(SLOT_SPACE, memory, COPY_AT, text_size, 0, MAP_READ | MAP_EXECUTE | MAP_FIXED),
             "space_map");
        must(sys_space_map(SLOT_SPACE, memory, COPY_AT + text_size, rest, text_size, MAP_READ | MAP_FIXED),
             "space_map");
        cost_begin(&begin, round);
        const int64_t result = register_sites(COPY_AT, COPY_AT + ((uint64_t)__trace_sites - TEXT));
        cost_add(&cost, cost_since(&begin));
        must(result, "trace_sites");
        must(sys_space_unmap(SLOT_SPACE, COPY_AT, text_size + rest), "space_unmap");
        sys_cap_close(memory);
    }
    return cost;
}

/* sites.loaded: what each load of an executable pays after the first. on_and_off: of one class, in all text.
 */
static void measure_sites(void)
{
    report("trace.sites.loaded", MEASURE(register_sites(TEXT, (uint64_t)__trace_sites)));
    report("trace.sites.new", cost_of_new_sites());
    report("trace.class.on_and_off", COST_OF(COST_PHASES, {
               set_mask(1ull << TRACE_CLASS_USER);
               set_mask(0);
           }));
    printf("micro: %zu trace points in this executable\n",
           (size_t)(__trace_sites_end - __trace_sites) / sizeof(struct trace_site));
}

static void measure_spawn(void)
{
    report("spawn", COST_OF(COST_PHASES, waitpid(start((char *[]){"true", NULL}), NULL, 0)));
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "partner"))
        return run_partner(argv[2]);
    nothing = cost_of_nothing();
    measure_trace();
    report("syscall.null", MEASURE(sys_null()));
    measure_same_space();
    measure_across_spaces();
    measure_signals();
    measure_fault_handler();
    measure_pager_faults();
    measure_zero_faults();
    measure_switch();
    measure_sites();
    measure_spawn();
    return 0;
}
