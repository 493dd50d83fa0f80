/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_tables.c - takes locks of the kernel and of this program a known number of times, of which some are
 * sampled, and finds the numbers in the tables lock_classes and locks. No event is logged.
 * tests/host/tables_equal compares all columns of all rows with events, where each is sampled.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <tests/guest/tables.h>
#include <tests/guest/trace_help.h>
#include <trace/event/schemas.h>
#include <trace/event/sizes.h>
#include <trace/lock.h>

/* ---- reading --------------------------------------------------------------------------------------- */

static struct trace_lock_classes_row find_class_row(uint32_t lock_class)
{
    struct trace_table_walk walk = walk_table("lock_classes");
    for (union row row; trace_table_next(&walk, row.words);)
        if (row.of_class.lock_class == lock_class)
            return row.of_class;
    return (struct trace_lock_classes_row){0};
}

static struct trace_locks_row find_lock_row(const void *lock, uint32_t lock_class)
{
    struct trace_table_walk walk = walk_table("locks");
    for (union row row; trace_table_next(&walk, row.words);)
        if (row.of_lock.lock == (uint64_t)lock && row.of_lock.lock_class == lock_class &&
            row.of_lock.pid == process_id())
            return row.of_lock;
    return (struct trace_locks_row){0};
}

/* The kernel's lock of that class with the most acquisitions. */
static struct trace_locks_row find_busiest(uint32_t lock_class)
{
    struct trace_locks_row busiest = {0};
    struct trace_table_walk walk = walk_table("locks");
    for (union row row; trace_table_next(&walk, row.words);)
        if (row.of_lock.lock_class == lock_class && row.of_lock.pid == 0 &&
            row.of_lock.acquisitions >= busiest.acquisitions)
            busiest = row.of_lock;
    return busiest;
}

/* ---- programs -------------------------------------------------------------------------------------- */

#define ROUNDS 400u

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void take_mutex(pthread_mutex_t *which, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        pthread_mutex_lock(which);
        pthread_mutex_unlock(which);
    }
}

static void check_row(const char *name, struct trace_locks_row row, uint64_t sampled, uint64_t acquisitions,
                      uint64_t holds)
{
    bool is_right = row.sampled == sampled && row.acquisitions == acquisitions && row.holds == holds &&
                    sum_of(row.hold_times) == holds;
    check(is_right, "%s: %lu acquisitions, %lu of them sampled, %lu holds", name, acquisitions, sampled,
          holds);
    if (!is_right)
        printf("# is: %lu, %lu, %lu\n", row.acquisitions, row.sampled, row.holds);
}

static void test_mutex(void)
{
    sample(TARN_LOCK_MUTEX, 1);
    take_mutex(&mutex, ROUNDS);
    sample(TARN_LOCK_MUTEX, 0);
    take_mutex(&mutex, ROUNDS);
    check_row("mutex, sampled 1 of 1", find_lock_row(&mutex, TARN_LOCK_MUTEX), ROUNDS, ROUNDS, ROUNDS);
    const uint64_t bytes = trace_buffer_bytes(arch_trace_info()), count = arch_trace_info()->buffer_count;
    check(control(TRACE_OP_CLEAR, 0, 0) == 0 && trace_set_sizes(SLOT_TRACE, bytes / 2, count * 2) == 0 &&
              find_lock_row(&mutex, TARN_LOCK_MUTEX).sampled == ROUNDS,
          "neither empty rings nor other sizes of them change the tables");
    trace_set_sizes(SLOT_TRACE, bytes, count);
    sample(TARN_LOCK_MUTEX, 8);
    take_mutex(&mutex, 8 * ROUNDS);
    sample(TARN_LOCK_MUTEX, 0);
    const struct trace_locks_row row = find_lock_row(&mutex, TARN_LOCK_MUTEX);
    check_row("mutex, sampled 1 of 8", row, 2 * ROUNDS, 9 * ROUNDS, 2 * ROUNDS);
    check(row.variance == ROUNDS * 8 * 7, "each of these stands for 8, with their variance");
}

/* ---- the kernel ------------------------------------------------------------------------------------ */

/* Takes one lock, of a bucket that only this process has, once for each call. */
static void wake_nobody(unsigned rounds)
{
    static uint32_t word;
    for (unsigned i = 0; i < rounds; i++)
        sys_futex_wake(&word, 1);
}

static bool is_about(uint64_t value, uint64_t right, uint64_t error)
{
    return value + error >= right && value <= right + error;
}

static void test_kernel(void)
{
    const uint32_t futex = find_class("futex bucket");
    sample(futex, 1);
    wake_nobody(ROUNDS);
    sample(futex, 0);
    wake_nobody(ROUNDS);
    struct trace_locks_row row = find_busiest(futex);
    check_row("kernel lock, sampled 1 of 1", row, ROUNDS, ROUNDS, ROUNDS);
    check(row.contended == 0 && row.held >= row.held_longest, "nobody waited for it");
    struct trace_lock_classes_row of_class = find_class_row(futex);
    check(of_class.acquisitions >= ROUNDS && of_class.sampled == of_class.acquisitions &&
              of_class.holds == of_class.sampled,
          "so is its class");
    sample(futex, 8);
    wake_nobody(16 * ROUNDS);
    sample(futex, 0);
    /* Each is sampled with a probability of 1/8: the error is five times the deviation at most. */
    const uint64_t deviation = 214; /* sqrt(16 * ROUNDS * 7) */
    row = find_busiest(futex);
    check(is_about(row.acquisitions, 17 * ROUNDS, 5 * deviation) && row.holds == row.sampled &&
              row.acquisitions == ROUNDS + 8 * (row.sampled - ROUNDS),
          "sampled 1 of 8: about as many, from 1 of 8");
    printf("# %lu of %u\n", row.acquisitions, 17 * ROUNDS);
    /* Two classes at a time, of which the other one is sampled more often. */
    sample(find_class("run queue"), 2);
    sample(futex, 8);
    wake_nobody(16 * ROUNDS);
    sample(futex, 0);
    sample(find_class("run queue"), 0);
    const uint64_t before = row.acquisitions;
    row = find_busiest(futex);
    check(is_about(row.acquisitions - before, 16 * ROUNDS, 5 * deviation),
          "also while another class is sampled more often");
    printf("# %lu of %u\n", (row.acquisitions - before), 16 * ROUNDS);
}

/* docs/studies.md, "Lock tables". */
static void test_memory_copy(void)
{
    static char page[TARN_PAGE_SIZE];
    const uint32_t class = find_class("memory object");
    const int64_t memory = sys_memory_create(sizeof page);
    page[0] = 1; /* it and the object have their frames before they are counted */
    sys_memory_write((cap_t)memory, 0, page, sizeof page);
    sample(class, 1);
    for (unsigned i = 0; i < ROUNDS; i++)
        if (sys_memory_read((cap_t)memory, 0, page, sizeof page) != sizeof page)
            printf("Bail out! the object cannot be read\n");
    sample(class, 0);
    sys_cap_close((cap_t)memory);
    const struct trace_locks_row row = find_busiest(class);
    check(row.acquisitions >= ROUNDS && row.acquisitions < ROUNDS + ROUNDS / 2,
          "to copy a page takes the lock of its memory object once");
    printf("# %lu of %u\n", row.acquisitions, ROUNDS);
}

struct held {
    uint64_t lock, count;
};

static void note_held(void *context, uint32_t cpu, const struct trace_header *event, uint64_t time)
{
    struct held *held = context;
    held->count += event->id == TRACE_ID(TRACE_CLASS_LOCK, 2) && event->length > 1 &&
                   *(const uint64_t *)(event + 1) == held->lock;
}

/* Events lock_held of that lock in the rings. */
static uint64_t count_held(const void *lock)
{
    struct held held = {.lock = (uint64_t)lock};
    struct ring_findings findings;
    if (!visit_rings(note_held, &held, &findings))
        printf("Bail out! no memory to read the rings\n");
    return held.count;
}

/* Of events from a threshold on, only long waits and holds are logged; the tables count all. */
static void test_threshold(void)
{
    static pthread_mutex_t timed = PTHREAD_MUTEX_INITIALIZER;
    control(TRACE_OP_SET_MASK, 1ull << TRACE_CLASS_LOCK, 0);
    struct trace_settings settings;
    trace_settings_open(&settings);
    char *words[] = {"threshold", "lock.held", "10ms"};
    const bool is_set = trace_command_run(&settings, 3, words) == 0;
    sample(TARN_LOCK_MUTEX, 1);
    take_mutex(&timed, ROUNDS);
    pthread_mutex_lock(&timed);
    usleep(20000);
    pthread_mutex_unlock(&timed);
    sample(TARN_LOCK_MUTEX, 0);
    control(TRACE_OP_SET_MASK, 0, 0);
    words[2] = "0";
    trace_command_run(&settings, 3, words);
    check_row("mutex, while only long holds are logged", find_lock_row(&timed, TARN_LOCK_MUTEX), ROUNDS + 1,
              ROUNDS + 1, ROUNDS + 1);
    /* The host may take a CPU away from a holder, so that others are long, too. */
    const uint64_t logged = count_held(&timed);
    check(is_set && logged >= 1 && logged < ROUNDS / 8, "of its holds only the long one is logged");
    printf("# %lu logged\n", logged);
}

int main(void)
{
    control(TRACE_OP_SET_MASK, 0, 0);
    move_to(0);
    test_mutex();
    test_kernel();
    test_memory_copy();
    test_threshold();
    return finish_tests();
}
