/*
 * trace/model/every.h - runs restart.c's code on the host once for each way in which something can come in
 * between, up to DEPTH things in a run.
 *
 * A *point* lies before each instruction of a block, and before each access to memory in the kernel's part,
 * which gcc marks with a call (-fsanitize=thread; the functions are below). At a point nothing happens, or
 * one of the configuration's ACTIONS. A run follows a plan, which says what happens at which points, and
 * records what may happen at the later ones; explore() extends the plan by each of these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum action {
    NMI_SHORT, /* where there is no NMI yet; logs an event of one word */
    NMI_LONG,
    INTERRUPT, /* in a thread's block; logs an event */
    BEAT,      /* an interrupt that logs a heartbeat */
    CHANGES,   /* another CPU clears the ring, or halves it, once */
    JUMP,      /* the clock goes on by less than 2^32 ticks */
    FAR_JUMP,  /* by more */
    READER,    /* another CPU reads, once, or goes on; in mode stream it consumes a packet */
    PAUSE,     /* the reader stops before one of its accesses, at the longest until the run ends */
    ACTION_COUNT
};
#define BIT(action)  (1u << (action))
#define NMIS         (BIT(NMI_SHORT) | BIT(NMI_LONG))
#define THREADS_ONLY (BIT(INTERRUPT) | BIT(BEAT) | BIT(CHANGES))
#define POINTS_MAX   4000

static struct {
    unsigned point;
    enum action action;
} plan[DEPTH + 1];
static unsigned plan_length, followed, points;
static uint16_t allowed[POINTS_MAX]; /* of this run: a bit for each action */
static bool in_nmi, in_interrupt;
static volatile enum { READS_LATER, READS, PAUSES, HAS_READ } reader_state;
static ucontext_t writer_context, reader_context;
static uint64_t first_packet; /* behind a clear */
static unsigned meanwhile;    /* events during a clear */
static uint64_t runs;

void __VERIFIER_assert_fail(const char *property, const char *file, int line)
{
    printf("Assertion violation: %s (%s, line %d)", property, file, line);
    for (unsigned i = 0; i < plan_length; i++)
        printf("; action %u at point %u", plan[i].action, plan[i].point);
    printf("\n");
    exit(1);
}

/* Called by a block right behind the store that commits its event. */
static void commit(uint32_t half)
{
    const unsigned name = TRACE_ID_MINOR(half & 0x3fffff);
    const struct trace_control *control = trace_control_of(RING);
    const struct trace_slot slot = packet_place(RING, trace_index_words(control->index) - 1);
    LOSS(slot.packet->events_discarded == control->discarded);
    ghost.times[name] = ghost.now;
    ghost.committed++;
}

/* ---- what comes in between ------------------------------------------------------------------------- */

#ifdef CLEAR
/* CPU 0 logs between the two calls: more than the ring holds. */
static void trace_on_every_cpu(void (*function)(void *))
{
    in_kernel = false;
    for (unsigned thread = 2; thread < 5 && function != trace_stop_own_ring; thread++)
        meanwhile += follow("lLlLlLl", thread);
    ORDER(function != open_own || trace_index_words(trace_control_of(RING)->index) <= fresh_start[0]);
    in_kernel = true;
    function(0);
}
#endif

static void read_all(void)
{
    reader_state = READS;
    static uint64_t copy[WORDS];
    const struct trace_reader reader = reader_of_ring();
    const bool is_valid = !trace_geometry_is_changing(reader.geometry);
    const uint64_t tail = trace_reader_tail(&reader), head = is_valid ? trace_reader_head(&reader) : 0;
    for (uint64_t number = tail; number < head; number++)
        read_packet(&reader, number, copy);
    if (tail < head)
        info_page.consumed[0] = tail + 1;
    if (is_valid)
        read_snapshot(&reader, copy);
    reader_state = HAS_READ;
}

static void begin_reader(void)
{
    static char stack[1 << 16];
    getcontext(&reader_context);
    reader_context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof(stack)};
    reader_context.uc_link = &writer_context;
    makecontext(&reader_context, read_all, 0);
    swapcontext(&writer_context, &reader_context);
}

static void pause_reader(void)
{
    reader_state = PAUSES;
    swapcontext(&reader_context, &writer_context);
    reader_state = READS;
}

static void change_ring(void)
{
#ifdef RESIZE
    uint64_t most = ~0ull;
    change.buffer_bytes = WORDS * 8;
    change.buffer_count = BUFFERS / 2;
    if (!begin())
        return;
    trace_resize_move(change.ring, RING + TRACE_BUFFERS_OFFSET, &most);
    finish();
#else
    start_over();
    first_packet = fresh_start[0] / WORDS;
#endif
}

static void interrupt(enum action action)
{
    in_kernel = action == BEAT || action == CHANGES;
    if (action == BEAT) {
        trace_ring_heartbeat();
    } else if (!in_kernel) {
        entered++;
        log_event(NAME(action == INTERRUPT ? 6 : 7, 2 * entered - (action == NMI_SHORT)));
    } else if (!meanwhile) {
        change_ring();
    }
}

/* gcc marks no access of these. */
#define UNMARKED __attribute__((no_sanitize("thread")))

/* True: the CPU was interrupted. */
UNMARKED static bool act(enum action action)
{
    const bool was_in_nmi = in_nmi, was_in_interrupt = in_interrupt, was_in_kernel = in_kernel;
    in_kernel = false;
    in_nmi |= (BIT(action) & NMIS) != 0;
    in_interrupt |= (BIT(action) & THREADS_ONLY) != 0;
    if (action == READER && reader_state == PAUSES)
        swapcontext(&writer_context, &reader_context);
    else if (action == READER && reader_state == READS_LATER)
        begin_reader();
    else if (action == PAUSE)
        pause_reader();
    else if (action == JUMP || action == FAR_JUMP)
        ticks[0] += action == JUMP ? 3ull << 30 : 5ull << 30;
    else if (action != READER)
        interrupt(action);
    in_nmi = was_in_nmi, in_interrupt = was_in_interrupt, in_kernel = was_in_kernel;
    return BIT(action) & (NMIS | THREADS_ONLY);
}

UNMARKED static bool is_interrupted(void)
{
    const unsigned point = points++;
    CHECK("BOUNDED", point < POINTS_MAX);
    const unsigned excluded = BIT(PAUSE) | (in_nmi ? NMIS : 0) | (meanwhile ? BIT(CHANGES) : 0) |
                              (reader_state == HAS_READ ? BIT(READER) : 0) |
                              (in_nmi || in_interrupt || in_kernel ? THREADS_ONLY : 0);
    allowed[point] = (ACTIONS) & (reader_state == READS ? BIT(PAUSE) : ~excluded);
    bool is_interrupt = false;
    while (followed < plan_length && plan[followed].point == point)
        is_interrupt |= act(plan[followed++].action);
    return is_interrupt;
}

/* ---- gcc's calls ----------------------------------------------------------------------------------- */

/* An access to what others see, or NMIs. */
UNMARKED static void pass_access(const volatile void *place)
{
    const uintptr_t at = (uintptr_t)place;
    if ((in_kernel || reader_state == READS) &&
        (at - (uintptr_t)ring_memory < sizeof(ring_memory) || at - (uintptr_t)states < sizeof(states) ||
         at - (uintptr_t)&info_page < sizeof(info_page)))
        is_interrupted();
}

#define PLAIN(name)                          \
    void __tsan_##name(void *);              \
    UNMARKED void __tsan_##name(void *place) \
    {                                        \
        pass_access(place);                  \
    }
#define ATOMIC(type, name, arguments, value)    \
    type __tsan_atomic##name arguments;         \
    UNMARKED type __tsan_atomic##name arguments \
    {                                           \
        pass_access(place);                     \
        return value;                           \
    }
#define ATOMICS(bits, type)                                                                         \
    ATOMIC(type, bits##_load, (type * place), *place)                                               \
    ATOMIC(type, bits##_store, (type * place, type value), *place = value)                          \
    ATOMIC(type, bits##_exchange, (type * place, type value), __atomic_exchange_n(place, value, 0)) \
    ATOMIC(type, bits##_fetch_add, (type * place, type value), __atomic_fetch_add(place, value, 0))
PLAIN(read1)
PLAIN(read2)
PLAIN(read4)
PLAIN(read8)
PLAIN(read_range)
PLAIN(write1)
PLAIN(write2)
PLAIN(write4)
PLAIN(write8)
PLAIN(write_range)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
#define NOTHING(name)         \
    void __tsan_##name(void); \
    void __tsan_##name(void)  \
    {                         \
    }
NOTHING(init)
NOTHING(atomic_thread_fence)
NOTHING(atomic_signal_fence)

/* ---- every run ------------------------------------------------------------------------------------- */

/* Saves what a run changes, or restores it. */
static void copy_state(bool is_saved)
{
    static char saved[3 * 4096];
    const struct {
        void *place;
        size_t bytes;
    } all[] = {{&info_page, sizeof(info_page)},
               {trace_control_of(RING), sizeof(struct trace_control)},
               {ring_memory[0].buffers, sizeof(ring_memory[0].buffers)},
               {&states[0], sizeof(states[0])},
               {&ghost, sizeof(ghost)},
               {ticks, sizeof(ticks)}};
    char *at = saved;
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); at += all[i++].bytes)
        memcpy(is_saved ? at : all[i].place, is_saved ? all[i].place : at, all[i].bytes);
}

static void run(unsigned events)
{
    copy_state(false);
    runs++;
    points = followed = entered = meanwhile = asks = 0;
    first_packet = 0;
    reader_state = READS_LATER;
    events += follow(WRITES, 5);
    if (reader_state == PAUSES)
        swapcontext(&writer_context, &reader_context);
    reader_state = HAS_READ;
    events += entered + meanwhile;
    EVENT(ghost.committed + trace_control_of(RING)->discarded == events);
    check_quiet(first_packet, events);
}

static void explore(unsigned events)
{
    run(events);
    if (plan_length == DEPTH)
        return;
    uint16_t may[points];
    const unsigned count = points;
    memcpy(may, allowed, sizeof(may));
    for (unsigned point = plan_length ? plan[plan_length - 1].point : 0; point < count; point++)
        for (unsigned action = 0; action < ACTION_COUNT; action++)
            if (may[point] & BIT(action)) {
                plan[plan_length].point = point;
                plan[plan_length++].action = action;
                explore(events);
                plan_length--;
            }
}

int main(void)
{
    trace_control_of(RING)->events = EARLIER;
    trace_control_of(RING)->index = trace_index_at(0, EARLIER);
    trace_ring_open(RING, 0);
    const unsigned events = follow(BEFORE, 0);
    copy_state(true);
    explore(events);
    printf("Number of complete executions explored: %llu\nNo errors were detected.\n",
           (unsigned long long)runs);
    return 0;
}
