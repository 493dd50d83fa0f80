/* lock_watch.c - samples acquisitions of spinlocks. Interface: lock_watch.h. */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/kernel.h>
#include <trace/lock.h>

#define CHAIN_MAX 8

/* ---- Which acquisition ---- */

/* A random number below `bound`, from the upper bits, which are the better ones of such a sequence. */
static uint32_t draw(struct lock_watch *watch, uint32_t bound)
{
    watch->random = watch->random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)watch->random * bound >> 32);
}

/* Distance from the examined acquisition to the next one, at a random place of the next period. */
static uint32_t draw_distance(struct lock_watch *watch)
{
    if (!watch->period)
        return LOCK_SAMPLE_MAX;
    const uint32_t place = draw(watch, watch->period), distance = watch->rest + 1 + place;
    watch->rest = watch->period - 1 - place;
    return distance;
}

/* While no note is in use, no release needs to be examined. */
static inline void settle(struct lock_watch *watch)
{
    if (watch->notes_used || watch->period == 1)
        return;
    watch->left = watch->left - watch->due - 1;
    watch->due = -1;
}

/* While a note is in use, each release is examined. A lock that an NMI took while this note was being made
 * may have settled the count when it was released. */
static inline void examine_releases(struct lock_watch *watch)
{
    if (watch->left >= 0) {
        watch->due -= watch->left + 1;
        watch->left = -1;
    }
}

/* The weight of this acquisition; 0: not sampled. */
static uint32_t draw_sample(struct lock_watch *watch, const struct lock_class *class)
{
    const uint32_t every = class->sample_every;
    return every > watch->period && draw(watch, every) >= watch->period ? 0 : every;
}

/* ---- Events ---- */

static __attribute__((noinline)) void log_acquired(struct spinlock *lock, uint32_t acquisitions)
{
    uint64_t chain[CHAIN_MAX];
    uint32_t depth = arch_backtrace(chain, CHAIN_MAX);
    trace_lock_acquired((uint64_t)lock, lock->class->number, 0, acquisitions, depth, chain);
}

static struct lock_key key_of(const struct spinlock *lock)
{
    return (struct lock_key){.lock = (uint64_t)lock, .lock_class = lock->class->number};
}

/* ---- Where rows are ---- */

static inline uint32_t hash_place(uint64_t address)
{
    return (uint32_t)(address >> 2) * 0x9e3779b1u >> (32 - LOCK_PLACES_BITS);
}

static __attribute__((noinline)) void find_lock_place(struct lock_place *place, const struct spinlock *lock)
{
    char *ring = arch_trace_ring();
    const struct lock_class *class = lock->class;
    if (place->lock == ((uintptr_t)lock | LOCK_HAS_NO_ROW) && place->class == class) {
        trace_table_count_lost(trace_locks_head(ring));
        return;
    }
    struct trace_locks_row *row = trace_locks_row(ring, (uint64_t)lock, class->number, 0);
    place->lock = (uintptr_t)lock | (row ? 0 : LOCK_HAS_NO_ROW);
    place->class = class;
    place->row = lock_row_or_class(row, ring, class->number);
}

static __attribute__((noinline)) void find_site_place(struct site_place *place, uint64_t site,
                                                      const struct lock_class *class)
{
    char *ring = arch_trace_ring();
    if (place->site == site && place->class == class && !place->row) {
        trace_table_count_lost(trace_lock_sites_head(ring));
        return;
    }
    place->site = site;
    place->class = class;
    place->row = trace_lock_sites_row(ring, site, class->number, 0, LOCK_SITE_HELD);
}

void forget_lock_places(struct lock_watch *watch)
{
    memset(watch->lock_places, 0, sizeof watch->lock_places);
    memset(watch->site_places, 0, sizeof watch->site_places);
}

/* Counts a hold in both tables. The second call of each pair is rare. */
static inline void count_hold(struct lock_watch *watch, const struct spinlock *lock,
                              const struct lock_note *note, uint64_t held)
{
    const struct lock_class *class = lock->class;
    struct lock_place *place = &watch->lock_places[hash_place((uintptr_t)lock)];
    if (__builtin_expect(place->lock != (uintptr_t)lock || place->class != class, 0))
        find_lock_place(place, lock);
    lock_row_add_hold(place->row, note->sample, held, TRACE_ROW_OF_ONE);
    struct site_place *at = &watch->site_places[hash_place(note->site)];
    if (__builtin_expect(at->site != note->site || at->class != class || !at->row, 0))
        find_site_place(at, note->site, class);
    lock_site_add(at->row, held, TRACE_ROW_OF_ONE);
}

/* ---- Notes ---- */

static __attribute__((noinline)) void count_without_note(const struct spinlock *lock,
                                                         struct lock_sample sample)
{
    lock_row_add_sample(lock_row_of(arch_trace_ring(), key_of(lock)), sample, TRACE_ROW_OF_MANY);
}

/* Sampling ends: locks still held are counted, as their events were, but without their hold times. */
static void forget_notes(struct lock_watch *watch)
{
    for (; watch->notes_used; watch->notes_used &= watch->notes_used - 1) {
        const struct lock_note *note = &watch->notes[__builtin_ctz(watch->notes_used)];
        assert(spin_held(note->lock));
        count_without_note(note->lock, note->sample);
    }
}

void restart_lock_watch(struct lock_watch *watch, uint32_t period)
{
    watch->period = period;
    watch->rest = 0;
    if (!period)
        forget_notes(watch);
    if (!watch->random)
        watch->random = (uint32_t)(uintptr_t)watch; /* each CPU draws others */
    if (period == 1) {
        watch->left = watch->due = -1;
        return;
    }
    watch->due = watch->left - draw_distance(watch);
    settle(watch);
}

static inline void make_note(struct lock_watch *watch, struct spinlock *lock, uint64_t site,
                             struct lock_sample sample)
{
    const uint32_t place = (uint32_t)__builtin_ctz(~watch->notes_used);
    struct lock_note *note = &watch->notes[place];
    watch->notes_used |= 1u << place;
    lock->note = place + 1;
    note->lock = lock;
    note->site = site;
    note->sample = sample;
    note->since = arch_clock();
}

static __attribute__((noinline)) void note_with_care(struct spinlock *lock, uint64_t site, bool is_tried)
{
    struct lock_watch *watch = this_lock_watch();
    if (watch->period != 1)
        watch->due = watch->left - draw_distance(watch);
    const struct lock_sample sample = {draw_sample(watch, lock->class), is_tried};
    if (sample.acquisitions) {
        if (TRACE_ON_LOCK())
            log_acquired(lock, sample.acquisitions);
        if (watch->notes_used == (1u << LOCK_NOTES) - 1)
            count_without_note(lock, sample);
        else
            make_note(watch, lock, site, sample);
    }
    if (watch->notes_used)
        examine_releases(watch);
    else
        settle(watch);
}

/* Handles the most common case of N = 1 here, all others in note_with_care(), by a tail call. */
static inline __attribute__((always_inline)) void note_taken(struct spinlock *lock, uint64_t site,
                                                             bool is_tried)
{
    struct lock_watch *watch = this_lock_watch();
    if (watch->left > watch->due)
        return;
    if (watch->period == 1 && lock->class->sample_every == 1 && !TRACE_ON_LOCK() &&
        watch->notes_used != (1u << LOCK_NOTES) - 1)
        make_note(watch, lock, site, (struct lock_sample){1, is_tried});
    else
        note_with_care(lock, site, is_tried);
}

void spin_note_taken(struct spinlock *lock)
{
    note_taken(lock, (uint64_t)__builtin_return_address(0), false);
}

void spin_note_tried(struct spinlock *lock, uint64_t site)
{
    note_taken(lock, site, true);
}

void spin_note_taken_after_wait(struct spinlock *lock, uint64_t site)
{
    note_taken(lock, site, false);
}

static __attribute__((noinline)) void end_note(struct spinlock *lock)
{
    struct lock_watch *watch = this_lock_watch();
    const uint32_t place = lock->note - 1;
    lock->note = 0;
    if (!(watch->notes_used >> place & 1) || watch->notes[place].lock != lock) /* it was forgotten */
        return;
    const uint64_t held = arch_clock() - watch->notes[place].since;
    count_hold(watch, lock, &watch->notes[place], held);
    watch->notes_used &= ~(1u << place);
    settle(watch);
    trace_lock_held((uint64_t)lock, held, lock->class->number, 0);
}

void spin_note_released(struct spinlock *lock, uint64_t site)
{
    if (lock->note)
        end_note(lock);
}

void spin_count_wait(const struct spinlock *lock, uint64_t site, uint64_t ticks, uint64_t spins)
{
    lock_tables_add_wait(arch_trace_ring(), key_of(lock), site,
                         (struct lock_waited){.ticks = ticks, .spins = spins});
}

void spin_count_failed(const struct spinlock *lock, uint64_t site)
{
    if (lock->class->sample_every)
        lock_row_add_failed(lock_row_of(arch_trace_ring(), key_of(lock)));
}
