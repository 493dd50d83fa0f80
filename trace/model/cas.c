/*
 * trace/model/cas.c - writers of trace/ring/cas.h, and a reader, for GenMC.
 *
 * CPU 0 logs. Another thread has begun on CPU 0 and migrates in a named window (enum trace_test_point), which
 * the configuration chooses: from there on it is a thread of GenMC's. The reader is one from the start. With
 * SHARED_CLOCK each writer is on a CPU of its own, as in a program of the host whose threads share a ring.
 * Interrupts in each window: tests/unit/trace/ring_test.c.
 */
#define TRACE_CAS
#include <stddef.h>
#include <trace/ring/cas.c>
#include <trace/ring/read.c>

/* behind the code under test */
#include "harness.h"

static __thread int migrate_window; /* 0: none; else 1 + enum trace_test_point */

static uint64_t handoff;
static unsigned logged; /* by CPU 0 */

static void log_event(unsigned name)
{
    const uint64_t fixed[1] = {EVENT_DATA(name)};
    const uint32_t words = EVENT_WORDS(name);
    struct trace_slot slot;
    /* as the generated functions do */
    if (trace_reserve(&slot, words)) {
        if (words > 1)
            trace_put_64(&slot, 0, fixed[0]);
        trace_commit(&slot, EVENT_ID(name), words);
        return;
    }
    trace_log_slow(EVENT_ID(name), fixed, words);
}

void pass(int point)
{
    if (migrate_window == 1 + point) {
        migrate_window = 0;
        cpu = 1;
        /* release, as the kernel's locks: its stores on CPU 0 come before CPU 0's next ones */
        __atomic_store_n(&handoff, 1, __ATOMIC_RELEASE);
    }
}

/* ---- threads -------------------------------------------------------------------------------------- */

#ifdef MIGRATE
static void *migrating(void *unused)
{
    migrate_window = 1 + MIGRATE;
    log_event(NAME(7, 2));
    /* it never came to that window: it ends on CPU 0 */
    if (migrate_window)
        __atomic_store_n(&handoff, 1, __ATOMIC_RELEASE);
    return unused;
}
#endif

#ifndef WRITERS
static void *writing(void *unused)
{
#ifdef MIGRATE
    __VERIFIER_assume(__atomic_load_n(&handoff, __ATOMIC_ACQUIRE) == 1);
#endif
    logged += follow(WRITES, 5);
    return unused;
}
#else
static void *writing_shared(void *name)
{
    log_event((unsigned)(uintptr_t)name);
    return 0;
}
#endif

int main(void)
{
    long threads[6];
    unsigned count = 0;
    trace_ring_open(RING, 0);
    cpu = 1;
    trace_ring_open(RING + RING_BYTES, 0);
    cpu = 0;
    unsigned events = follow(BEFORE, 0);
#ifdef MIGRATE
    threads[count++] = __VERIFIER_thread_create(0, migrating, 0);
#endif
#ifdef WRITERS
    for (unsigned i = 0; i < WRITERS; i++)
        threads[count++] = __VERIFIER_thread_create(0, writing_shared, (void *)(uintptr_t)NAME(4 + i, 2));
#else
    threads[count++] = __VERIFIER_thread_create(0, writing, 0);
#endif
#ifdef READS
    threads[count++] = __VERIFIER_thread_create(0, reading, 0);
#endif
    for (unsigned i = 0; i < count; i++)
        __VERIFIER_thread_join(threads[i]);
#ifdef WRITERS
    logged = WRITERS;
#endif
#ifdef MIGRATE
    logged++;
#endif
    check_quiet(0, events + logged);
    return 0;
}
