/*
 * trace/model/restart.c - the kernel's part of restartable logging (trace/ring/restart.c), blocks, and a
 * reader: for GenMC, and with EVERY for every.h.
 *
 * `prove` translates the port's block instruction by instruction into C, with a window before each; in a
 * window an interrupt logs, and the block begins again. The functions of a clear and a resize come from
 * kernel/trace. Under GenMC, CPU 0, the reader and the initiator of a clear are threads, and one
 * interrupt comes in one window.
 */
#include <arch/trace.h>
#include <stddef.h>
#include <tarn/abi.h>
#include <trace/ring/read.c>
#include <trace/ring/restart.c>
const char trace_text[1], trace_text_end[1]; /* the block is a program's */
#include "harness.h"
/* It may interrupt the CPU, which changes no ring. */
void trace_check_mark(void)
{
}
#include <kernel/trace/restart.c>

/* ---- blocks --------------------------------------------------------------------------------------- */

static unsigned entered; /* by interrupts and NMIs */
static unsigned asks;
static __thread volatile bool in_kernel; /* its accesses are points of every.h */

static void log_event(unsigned name);
static bool is_interrupted(void);

void pass(int point)
{
    (void)point;
}

/* The block's cell, and the address of an instruction in it, counted back from its exit. */
#define CELL       (USER_TRACE_TEXT + TRACE_CELL_BYTES)
#define AT(before) (CELL + TRACE_CELL_BYTES - ARCH_TRACE_EXIT_BYTES - (before))

/* The kernel's reply when a block asks. */
static __attribute__((noinline)) uint64_t ask(void)
{
    CHECK("BOUNDED", ++asks <= 40);
    in_kernel = true;
    const uint64_t ip = trace_asked(AT(1));
    in_kernel = false;
    return ip;
}

#define WINDOW(restart, before)                                    \
    do {                                                           \
        if (is_interrupted() && trace_restart(AT(before)) == CELL) \
            goto restart;                                          \
    } while (0)
#define ASK(restart)       \
    do {                   \
        if (ask() == CELL) \
            goto restart;  \
        return;            \
    } while (0)

#ifdef EVERY
static void commit(uint32_t half);
#define COMMIT(half) commit(half)
#else
#define COMMIT(half) ((void)0)
#endif
#include "blocks.h"

static void log_event(unsigned name)
{
    if (EVENT_WORDS(name) == 1)
        block_1(trace_header_half(EVENT_ID(name), 1), 0);
    else
        block_2(trace_header_half(EVENT_ID(name), 2), EVENT_DATA(name));
}

/* ---- clear ---------------------------------------------------------------------------------------- */

#ifdef CLEAR
/* By fields: GenMC knows no copy of structures to a place in a ring. */
static void set_era(struct trace_era *to, const struct trace_era *from)
{
    to->number = from->number, to->start = from->start, to->words = from->words;
}
static void trace_on_every_cpu(void (*function)(void *));
void trace_stop_own_ring(void *unused);
static void open_own(void *unused);
#define trace_reader_of(number)                  reader_of_ring()
#define trace_ring(number)                       RING
#define trace_trusted_index(number)              (trace_control_of(RING)->index)
#define trace_expect_index(number, x)            ((void)(x))
#define trace_trusted_eras(number, geometry, to) trace_eras_load(to, trace_control_of(RING), geometry)
#define trace_set_eras(number, from)             set_era(trace_control_of(RING)->eras, (from)->era)
#define trace_store_refresh()                    ((void)0)
#define trace_forget_classes()                   ((void)0)
#define trace_sites_agree()                      ((void)0)
#define spin_held(lock)                          true
#define this_cpu()                               (&(const struct { uint32_t index; }){0})
#define trace_info_page                          info_page
#define assert(holds)                            ((void)0)
#undef TRACE_CPUS_MAX
#define TRACE_CPUS_MAX 1u
#include "clear.h"
#ifdef RESIZE
#include <trace/ring/resize.c>
#define change ring_change /* restart.c has a function of that name */
static struct {
    bool is_on;
    uint64_t buffer_bytes, buffer_count;
    uint32_t cpu;
    struct trace_resize ring[1];
} change;
#define is_online(cpu) true
#include "resize.h"
#endif
#else
static uint64_t fresh_start[1];
static void start_over(void)
{
}
#endif

#ifdef EVERY
#include "every.h"
#else

/* ---- threads -------------------------------------------------------------------------------------- */

static int interrupt_window; /* 0: none; counts down */

static bool is_interrupted(void)
{
    if (!interrupt_window || --interrupt_window)
        return false;
    entered++;
    log_event(NAME(6, 2 * entered));
    return true;
}

#ifdef CLEAR
static int asked, answered;

/* As smp_call_urgently: CPU 0 calls it between two events, and the initiator waits for it. */
static void trace_on_every_cpu(void (*function)(void *))
{
    const int number = function == trace_stop_own_ring ? 1 : 2;
    __atomic_store_n(&asked, number, __ATOMIC_RELEASE);
    __VERIFIER_assume(__atomic_load_n(&answered, __ATOMIC_ACQUIRE) == number);
}

static void answer(int number)
{
    __VERIFIER_assume(__atomic_load_n(&asked, __ATOMIC_ACQUIRE) == number);
    if (number == 1)
        trace_stop_own_ring(0);
    else
        open_own(0);
    __atomic_store_n(&answered, number, __ATOMIC_RELEASE);
}

static void *clearing(void *unused)
{
    start_over();
    return unused;
}
#endif

#ifdef INTERRUPTS
static int chosen;

static void *choose(void *unused)
{
    for (int window = 1; window <= WINDOWS; window++)
        __atomic_store_n(&chosen, window, __ATOMIC_RELAXED);
    return unused;
}
#endif

static unsigned logged;

static void *writing(void *unused)
{
#ifdef INTERRUPTS
    interrupt_window = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
#endif
    logged = follow(WRITES, 5);
#ifdef CLEAR
    answer(1);
    follow(BETWEEN, 6); /* later events are not counted */
    answer(2);
    logged += follow(LATER, 4);
#endif
    return unused;
}

int main(void)
{
    long threads[4];
    unsigned count = 0;
    trace_ring_open(RING, 0);
    unsigned events = follow(BEFORE, 0);
#ifdef INTERRUPTS
    threads[count++] = __VERIFIER_thread_create(0, choose, 0);
#endif
    threads[count++] = __VERIFIER_thread_create(0, writing, 0);
#ifdef CLEAR
    threads[count++] = __VERIFIER_thread_create(0, clearing, 0);
#endif
#ifdef READS
    threads[count++] = __VERIFIER_thread_create(0, reading, 0);
#endif
    for (unsigned i = 0; i < count; i++)
        __VERIFIER_thread_join(threads[i]);
#ifdef CLEAR
    check_quiet(fresh_start[0] / WORDS, events + logged);
#else
    check_quiet(0, events + logged + entered);
#endif
    return 0;
}
#endif
