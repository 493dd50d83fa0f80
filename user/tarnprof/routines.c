/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routines.c - counts a program's routines. Interface: routines.h.
 *
 * A thread's time moves from routine to routine at each entry and exit: the raw times of all its routines add
 * up to the time since it entered its first one. The word for the kernel changes at the same place; what
 * comes between the two moves a few ticks between two neighbours and is lost to neither.
 */
#include <arch/trace.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tarn/syscall.h>
#include <trace/events.h>
#include <trace/print/routines.h>
#include <user/tarnprof/routines.h>
#include <user/tarnprof/tarnprof.h>

#define ROUTINES_MAX TRACE_PROFILE_CONTEXT_MAX
#define DEPTH_MAX    256u

#define UNCOUNTED __attribute__((no_instrument_function))

struct row {
    uint64_t times, inclusive, raw, least, greatest;
    uint64_t histogram[TRACE_PROFILE_BUCKETS];
    uint32_t depth; /* calls that are open */
};

struct thread_routines {
    struct row *rows; /* by number, 0: outside; demand-zero */
    volatile uint64_t *context;
    uint64_t since; /* the current routine has had no time from here on */
    uint32_t current, depth;
    struct {
        uint32_t routine; /* before the entry */
        uint64_t since;
    } stack[DEPTH_MAX];
};

static _Thread_local struct thread_routines *own;
static _Thread_local bool is_busy; /* in this file: what it calls is not counted */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* covers the rest */
static struct tarnprof_routine *routines, *by_number[ROUTINES_MAX + 1];
static struct row *ended; /* of threads that have ended */
static uint32_t last_number;
static pthread_key_t thread_end;

#define ROWS_BYTES ((ROUTINES_MAX + 1) * sizeof(struct row))

UNCOUNTED static struct row *new_rows(void)
{
    void *memory = mmap(NULL, ROWS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

UNCOUNTED static void add_row(struct row *to, const struct row *from)
{
    if (from->times && (!to->times || from->least < to->least))
        to->least = from->least;
    if (from->greatest > to->greatest)
        to->greatest = from->greatest;
    to->times += from->times;
    to->inclusive += from->inclusive;
    to->raw += from->raw;
    for (unsigned i = 0; i < TRACE_PROFILE_BUCKETS; i++)
        to->histogram[i] += from->histogram[i];
}

/* ---- Threads ---- */

UNCOUNTED static void end_thread(void *memory)
{
    struct thread_routines *thread = memory;
    is_busy = true;
    *thread->context = 0;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; ended && i <= last_number; i++)
        add_row(&ended[i], &thread->rows[i]);
    pthread_mutex_unlock(&lock);
    own = NULL;
    munmap(thread->rows, ROWS_BYTES);
    free(thread);
}

UNCOUNTED static void at_exit(void)
{
    tarnprof_show_merged();
}

/* lock held */
UNCOUNTED static void start_process(void)
{
    const char *wanted = getenv("TARNPROF");
    ended = new_rows();
    pthread_key_create(&thread_end, end_thread);
    if (wanted && *wanted && *wanted != '0')
        atexit(at_exit);
}

/* NULL: no memory, or the kernel has no word for it. */
UNCOUNTED static __attribute__((noinline)) struct thread_routines *start_thread(void)
{
    struct thread_routines *thread = calloc(1, sizeof *thread);
    const int64_t word = thread ? sys_profile_context() : -1;
    if (word < 0 || !(thread->rows = new_rows())) {
        free(thread);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    if (!ended)
        start_process();
    pthread_mutex_unlock(&lock);
    pthread_setspecific(thread_end, thread);
    thread->context = (volatile uint64_t *)(uintptr_t)word;
    thread->since = arch_trace_clock();
    return own = thread;
}

/* ---- Entry and exit ---- */

UNCOUNTED static __attribute__((noinline)) void number_routine(struct tarnprof_routine *routine)
{
    pthread_mutex_lock(&lock);
    if (!routine->number && last_number < ROUTINES_MAX) {
        by_number[last_number + 1] = routine;
        routine->next = routines;
        routines = routine;
        last_number++;
        __atomic_store_n(&routine->number, last_number,
                         __ATOMIC_RELEASE); /* pairs with the load in enter() */
    }
    pthread_mutex_unlock(&lock);
}

UNCOUNTED static inline void move_to(struct thread_routines *thread, uint32_t routine, uint64_t now)
{
    thread->rows[thread->current].raw += now - thread->since;
    thread->since = now;
    thread->current = routine;
    *thread->context = routine;
}

UNCOUNTED static inline void enter(struct thread_routines *thread, uint32_t routine)
{
    const uint64_t now = arch_trace_clock();
    if (thread->depth < DEPTH_MAX) {
        thread->stack[thread->depth].routine = thread->current;
        thread->stack[thread->depth].since = now;
        thread->rows[routine].depth++;
        move_to(thread, routine, now);
    }
    thread->depth++;
}

UNCOUNTED static inline void count(struct row *row, uint64_t elapsed)
{
    const uint32_t bucket = 63 - (uint32_t)__builtin_clzll(elapsed | 1);
    if (!row->times++ || elapsed < row->least)
        row->least = elapsed;
    if (elapsed > row->greatest)
        row->greatest = elapsed;
    row->histogram[bucket < TRACE_PROFILE_BUCKETS ? bucket : TRACE_PROFILE_BUCKETS - 1]++;
    if (--row->depth == 0)
        row->inclusive += elapsed;
}

UNCOUNTED static inline void leave(struct thread_routines *thread)
{
    if (thread->depth == 0 || --thread->depth >= DEPTH_MAX)
        return;
    const uint64_t now = arch_trace_clock();
    struct row *row = &thread->rows[thread->current];
    move_to(thread, thread->stack[thread->depth].routine, now);
    count(row, now - thread->stack[thread->depth].since);
}

UNCOUNTED void tarnprof_enter(struct tarnprof_routine *routine)
{
    struct thread_routines *thread = own;
    uint32_t number = __atomic_load_n(&routine->number, __ATOMIC_ACQUIRE);
    if (is_busy)
        return;
    if (__builtin_expect(!thread || !number, 0)) {
        is_busy = true;
        if (!number)
            number_routine(routine);
        if (!thread)
            thread = start_thread();
        number = routine->number;
        is_busy = false;
    }
    if (thread)
        enter(thread, number ? number : thread->current);
}

UNCOUNTED void tarnprof_leave(void)
{
    if (own && !is_busy)
        leave(own);
}

/* ---- -finstrument-functions ---- */

#define FUNCTIONS 4096u /* a power of two: twice as many as are expected */
static struct tarnprof_routine functions[FUNCTIONS];

/* NULL: there are too many. */
UNCOUNTED static struct tarnprof_routine *find_function(void *function)
{
    for (uint32_t i = (uint32_t)((uintptr_t)function * 0x9e3779b97f4a7c15ull >> 40), probes = 0; probes < 64;
         i++, probes++) {
        struct tarnprof_routine *routine = &functions[i % FUNCTIONS];
        const void *none = NULL;
        if (__atomic_load_n(&routine->function, __ATOMIC_RELAXED) == function ||
            __atomic_compare_exchange_n(&routine->function, &none, function, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            none == function)
            return routine;
    }
    return NULL;
}

/* GCC's names. */
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

UNCOUNTED void __cyg_profile_func_enter(void *function, void *caller)
{
    static struct tarnprof_routine others = {.name = "others"};
    struct tarnprof_routine *routine = find_function(function);
    (void)caller;
    tarnprof_enter(routine ? routine : &others);
}

UNCOUNTED void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
    tarnprof_leave();
}

/* ---- Reading ---- */

/* Adds what the kernel counted in that context, in this process. */
UNCOUNTED static void add_kernel(struct tarnprof_times *times, uint32_t number)
{
    struct tarnprof profile = {0};
    while (tarnprof_next(&profile, TARNPROF_OWN) > 0)
        for (uint32_t i = 0; i < profile.head->rows; i++) {
            const struct trace_profile_row *row = &profile.rows[i];
            const enum trace_routine_kind kind = trace_routine_kind(row->key);
            if (profile.head->of == TRACE_PROFILE_CHILDREN || kind == TRACE_ROUTINE_SERVED ||
                kind == TRACE_ROUTINE_PROGRAM || trace_routine_context(row->key) != number)
                continue;
            *(kind == TRACE_ROUTINE_OUT ? &times->out : &times->kernel) += row->exclusive;
        }
    tarnprof_free(&profile);
}

UNCOUNTED bool tarnprof_times(uint32_t number, struct tarnprof_times *times)
{
    struct row sum = {0};
    *times = (struct tarnprof_times){0};
    if (number > last_number)
        return false;
    is_busy = true;
    pthread_mutex_lock(&lock);
    if (ended)
        add_row(&sum, &ended[number]);
    if (own)
        add_row(&sum, &own->rows[number]);
    pthread_mutex_unlock(&lock);
    times->routine = by_number[number];
    times->times = sum.times;
    times->inclusive = sum.inclusive;
    times->raw = sum.raw;
    times->least = sum.least;
    times->greatest = sum.greatest;
    memcpy(times->histogram, sum.histogram, sizeof sum.histogram);
    add_kernel(times, number);
    is_busy = false;
    return true;
}

UNCOUNTED static double in_us(uint64_t ticks)
{
    return (double)ticks * 1e6 / (double)arch_trace_info()->clock_hz;
}

UNCOUNTED static void show_kernel_rows(uint32_t number)
{
    struct tarnprof profile = {0};
    struct tarnprof_sum sum = {0};
    char name[TRACE_ROUTINE_NAME_BYTES];
    while (tarnprof_next(&profile, TARNPROF_OWN) > 0)
        if (profile.head->of != TRACE_PROFILE_CHILDREN && !tarnprof_add(&sum, &profile))
            break;
    for (uint32_t i = 0; i < sum.count; i++)
        if (trace_routine_context(sum.rows[i].key) == number && sum.rows[i].ended)
            fprintf(stderr, "%12.1f %9" PRIu64 " %12.1f    %s\n", in_us(sum.rows[i].exclusive),
                    sum.rows[i].ended, in_us(sum.rows[i].inclusive),
                    trace_routine_name(sum.rows[i].key, trace_event_find, name));
    tarnprof_free_sum(&sum);
    tarnprof_free(&profile);
}

UNCOUNTED void tarnprof_show_merged(void)
{
    struct tarnprof_times times;
    is_busy = true;
    fprintf(stderr, "%12s %9s %12s  %s\n", "own us", "times", "inclusive us", "routine");
    for (uint32_t number = 1; tarnprof_times(number, &times); number++) {
        is_busy = true;
        fprintf(stderr, "%12.1f %9" PRIu64 " %12.1f  ", in_us(times.raw - times.kernel - times.out),
                times.times, in_us(times.inclusive));
        if (times.routine->name)
            fprintf(stderr, "%s\n", times.routine->name);
        else
            fprintf(stderr, "%#" PRIxPTR "\n", (uintptr_t)times.routine->function);
        show_kernel_rows(number);
    }
    is_busy = false;
}
