/*
 * lock_trace.c - events and tables of locks; see lock_trace.h.
 *
 * The holder records since when it holds a lock (struct lock_note). A timed lock word has the flag
 * LOCK_WORD_TIMED. Timed read-write locks held for reading are counted per thread (read_notes). A sampled
 * acquisition is counted when its lock is released, or when another needs its note.
 */
#include "lock_trace.h"
#include "internal.h"

#include <errno.h>
#include <trace/lock.h>

#define CHAIN_MAX  16
#define SITE_DEPTH 6 /* calls inside of locks */

static struct lock_key key_of(enum tarn_lock_class lock_class, const void *lock)
{
    return (struct lock_key){
        .lock = (uint64_t)lock, .lock_class = lock_class, .pid = arch_thread_block()->pid};
}

/* The functions that take locks lie together (user.ld). */
extern const char lock_code_first[], lock_code_last[];

/* The first return address outside of them. */
static inline __attribute__((always_inline)) uint64_t find_site(const struct pthread *thread)
{
    return arch_find_caller(thread->stack_low, thread->stack_high, (uint64_t)lock_code_first,
                            (uint64_t)lock_code_last, SITE_DEPTH);
}

static uint64_t site_of(const uint64_t *chain, uint32_t depth)
{
    uint32_t i = 0;
    while (i + 1 < depth &&
           chain[i] - (uint64_t)lock_code_first <= (uint64_t)lock_code_last - (uint64_t)lock_code_first)
        i++;
    return depth ? chain[i] : 0;
}

/* ---- tables ---------------------------------------------------------------------------------------- */

static struct trace_places lock_places, site_places; /* of this process's rows */

static inline __attribute__((always_inline)) struct lock_row find_lock_row(char *ring, struct lock_key key)
{
    struct trace_locks_row *row =
        trace_locks_row_known(ring, key.lock, key.lock_class, key.pid, &lock_places);
    if (!row)
        row = trace_locks_row_again(ring, key.lock, key.lock_class, key.pid, &lock_places);
    return lock_row_or_class(row, ring, key.lock_class);
}

static inline __attribute__((always_inline)) struct trace_lock_sites_row *find_site_row(
    char *ring, struct lock_key key, uint64_t site, enum lock_site_kind what)
{
    struct trace_lock_sites_row *row =
        trace_lock_sites_row_known(ring, site, key.lock_class, key.pid, what, &site_places);
    return row ? row : trace_lock_sites_row_again(ring, site, key.lock_class, key.pid, what, &site_places);
}

static __attribute__((noinline)) void count_sample(struct lock_key key, struct lock_sample sample)
{
    lock_row_add_sample(find_lock_row(arch_trace_ring(), key), sample, TRACE_ROW_OF_MANY);
}

int count_failed_try(enum tarn_lock_class lock_class, const void *lock)
{
    if (lock_sample_interval(lock_class))
        lock_row_add_failed(find_lock_row(arch_trace_ring(), key_of(lock_class, lock)));
    return EBUSY;
}

/* ---- hold times ------------------------------------------------------------------------------------ */

static inline void forget_note(struct pthread *thread, struct lock_note *note)
{
    if (note->lock_class == TARN_LOCK_READ)
        thread->read_notes--;
    note->lock = NULL;
}

/* Another lock needs the note: the acquisition counts, its hold time is unknown. */
static __attribute__((noinline)) void drop_note(struct pthread *thread, struct lock_note *note)
{
    if (note->lock && note->sample.acquisitions)
        count_sample(key_of(note->lock_class, note->lock), note->sample);
    forget_note(thread, note);
}

static inline struct lock_note *newest_note(struct pthread *thread)
{
    return &thread->lock_notes[(thread->next_lock_note - 1) % LOCK_NOTES];
}

static struct lock_note *find_note(struct pthread *thread, const void *lock)
{
    for (unsigned i = 0; i < LOCK_NOTES; i++)
        if (thread->lock_notes[i].lock == lock)
            return &thread->lock_notes[i];
    return NULL;
}

/* Starts timing a lock that the caller holds. Replaces the oldest note if all are in use. */
static inline void begin_timing(struct pthread *thread, enum tarn_lock_class lock_class, void *lock,
                                uint64_t site, struct lock_sample sample)
{
    const bool may_have_note = lock_class == TARN_LOCK_READ
                                   ? thread->read_notes != 0
                                   : __atomic_load_n((uint32_t *)lock, __ATOMIC_RELAXED) & LOCK_WORD_TIMED;
    struct lock_note *note = __builtin_expect(may_have_note, 0) ? find_note(thread, lock) : NULL;
    if (!note)
        note = &thread->lock_notes[thread->next_lock_note++ % LOCK_NOTES];
    if (__builtin_expect(note->lock != NULL, 0))
        drop_note(thread, note);
    note->lock = lock;
    note->site = site;
    note->lock_class = lock_class;
    note->sample = sample;
    note->since = arch_trace_clock();
    if (lock_class == TARN_LOCK_READ)
        thread->read_notes++;
    else
        /* Relaxed: only the holder reads the flag. A thread about to sleep notices that the word changed. */
        __atomic_fetch_or((uint32_t *)lock, LOCK_WORD_TIMED, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void log_held(const struct lock_note *note, uint64_t held)
{
    trace_lock_held((uint64_t)note->lock, held, note->lock_class, process_id());
}

static inline void count_hold(const struct lock_note *note, uint64_t held)
{
    const struct lock_key key = key_of(note->lock_class, note->lock);
    char *ring = arch_trace_ring();
    lock_row_add_hold(find_lock_row(ring, key), note->sample, held, TRACE_ROW_OF_MANY);
    lock_site_add(find_site_row(ring, key, note->site, LOCK_SITE_HELD), held, TRACE_ROW_OF_MANY);
}

void end_lock_timing(const void *lock)
{
    struct pthread *thread = current_thread();
    struct lock_note *note = newest_note(thread);
    if (__builtin_expect(note->lock != lock, 0)) {
        note = find_note(thread, lock);
        if (!note)
            return;
    }
    const uint64_t held = arch_trace_clock() - note->since;
    if (TRACE_ON_LOCK_HELD())
        log_held(note, held);
    if (note->sample.acquisitions)
        count_hold(note, held);
    forget_note(thread, note);
}

bool times_read_locks(void)
{
    return current_thread()->read_notes != 0;
}

static bool is_held_by_taker(enum tarn_lock_class lock_class)
{
    return lock_class <= TARN_LOCK_WRITE;
}

/* ---- waits ----------------------------------------------------------------------------------------- */

struct lock_wait begin_lock_wait(enum tarn_lock_class lock_class, void *lock, uint32_t word)
{
    return (struct lock_wait){.lock = lock,
                              .lock_class = lock_class,
                              .holder = lock_word_holder(word),
                              .since = arch_trace_clock()};
}

int sleep_for_lock(struct lock_wait *wait, const uint32_t *word, uint32_t value, uint64_t deadline)
{
    if (TRACE_ON_LOCK()) {
        log_lock_name(wait->lock);
        trace_lock_sleep((uint64_t)wait->lock, wait->holder,
                         wait->holder != LOCK_NOBODY ? process_id() : LOCK_NOBODY, wait->lock_class,
                         process_id());
    }
    const int result = (int)sys_futex_wait(word, value, deadline);
    wait->slept |= result != -E_AGAIN; /* the word has the value no more */
    return result;
}

void end_lock_wait(const struct lock_wait *wait)
{
    const bool is_sampled = lock_sample_interval(wait->lock_class) != 0;
    if (!TRACE_ON_LOCK() && !is_sampled)
        return;
    struct pthread *thread = current_thread();
    uint64_t waited = arch_trace_clock() - wait->since, chain[CHAIN_MAX];
    uint32_t depth = arch_walk_stack(thread->stack_low, thread->stack_high, chain, CHAIN_MAX);
    const uint64_t site = site_of(chain, depth);
    if (is_sampled)
        lock_tables_add_wait(
            arch_trace_ring(), key_of(wait->lock_class, wait->lock), site,
            (struct lock_waited){.ticks = waited, .spins = wait->spins, .slept = wait->slept});
    if (!TRACE_ON_LOCK())
        return;
    log_lock_name(wait->lock);
    trace_lock_contended((uint64_t)wait->lock, waited, wait->spins, wait->lock_class, process_id(),
                         wait->holder, wait->holder != LOCK_NOBODY ? process_id() : LOCK_NOBODY, LOCK_NOBODY,
                         wait->readers, depth, chain);
    if (is_held_by_taker(wait->lock_class))
        begin_timing(thread, wait->lock_class, wait->lock, site, (struct lock_sample){0, false});
}

/* ---- acquisitions ---------------------------------------------------------------------------------- */

/* The upper bits of such a sequence are the good ones. */
uint32_t draw_below(struct pthread *thread, uint32_t bound)
{
    if (!thread->random)
        thread->random = (uint32_t)arch_trace_clock() ^ thread_id() * 0x9e3779b9u;
    thread->random = thread->random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)thread->random * bound >> 32);
}

_Thread_local struct lock_turn lock_turns[TARN_LOCK_CLASSES_USER];

/* The next sample is `rest` and a random number of acquisitions away. */
static void place_sample(struct pthread *thread, struct lock_turn *turn, uint32_t every, uint32_t rest)
{
    const uint32_t place = draw_below(thread, every);
    turn->begun = turn->every = every;
    turn->left = rest + place;
    turn->rest = every - 1 - place;
}

/* After is_to_be_noted(). Returns how many acquisitions this one stands for, or 0: it is not sampled. */
static __attribute__((noinline)) uint32_t draw_turn(struct pthread *thread, enum tarn_lock_class lock_class)
{
    struct lock_turn *turn = &lock_turns[lock_class];
    const uint32_t every = lock_sample_interval(lock_class);
    if (turn->begun != every) {
        place_sample(thread, turn, every, 0);
        if (turn->left) {
            turn->left--;
            return 0;
        }
    }
    place_sample(thread, turn, every, turn->rest);
    return every;
}

static inline uint32_t end_turn(struct pthread *thread, enum tarn_lock_class lock_class)
{
    struct lock_turn *turn = &lock_turns[lock_class];
    if (turn->begun != 1 || lock_sample_interval(lock_class) != 1)
        return draw_turn(thread, lock_class);
    turn->every = 1;
    turn->left = 0;
    return 1;
}

static __attribute__((noinline)) void log_acquired(struct pthread *thread, enum tarn_lock_class lock_class,
                                                   void *lock, uint32_t acquisitions)
{
    uint64_t chain[CHAIN_MAX];
    uint32_t depth = arch_walk_stack(thread->stack_low, thread->stack_high, chain, CHAIN_MAX);
    log_lock_name(lock);
    trace_lock_acquired((uint64_t)lock, lock_class, process_id(), acquisitions, depth, chain);
}

static inline __attribute__((always_inline)) void note_sample(struct pthread *thread,
                                                              enum tarn_lock_class lock_class, void *lock,
                                                              struct lock_sample sample)
{
    if (TRACE_ON_LOCK())
        log_acquired(thread, lock_class, lock, sample.acquisitions);
    if (is_held_by_taker(lock_class))
        begin_timing(thread, lock_class, lock, find_site(thread), sample);
    else
        count_sample(key_of(lock_class, lock), sample);
}

int note_acquisition(enum tarn_lock_class lock_class, void *lock)
{
    struct pthread *thread = current_thread();
    const uint32_t acquisitions = end_turn(thread, lock_class);
    if (acquisitions)
        note_sample(thread, lock_class, lock, (struct lock_sample){acquisitions, false});
    return 0;
}

int note_tried(enum tarn_lock_class lock_class, void *lock)
{
    struct pthread *thread = current_thread();
    const uint32_t acquisitions = end_turn(thread, lock_class);
    if (acquisitions)
        note_sample(thread, lock_class, lock, (struct lock_sample){acquisitions, true});
    return 0;
}
