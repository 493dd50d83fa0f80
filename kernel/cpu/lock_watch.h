/*
 * lock_watch.h - samples acquisitions of spinlocks.
 *
 * While no class is sampled, acquisition and release cost one instruction each, a site (trace/sites.c).
 * Otherwise each CPU counts its acquisitions of all classes down to the next one to examine: a random one of
 * each `period` consecutive acquisitions, where `period` is the smallest N of the sampled classes. An
 * examined acquisition of a class with a larger N is sampled in `period` of N cases, at random. So each
 * acquisition is sampled with probability 1/N, and the sum of the samples' weights N is an unbiased
 * estimate, with a standard deviation below sqrt(N * acquisitions). Random, because loops take the same
 * locks again and again: each 64th acquisition would always be the same one. One countdown for all classes,
 * because it needs no class: an acquisition that is not examined costs some ten instructions, release
 * included. `left` stays negative while a sampled lock is held, so the release tests it, too.
 *
 * A sampled acquisition makes a note. The release adds acquisition and hold time to the tables locks and
 * lock_sites (trace/schema/lock.ev), without atomic instructions: only this CPU changes rows of the kernel's
 * locks in its tables. (An NMI that takes the very lock whose row it interrupts may lose a count.) All waits
 * and failed tries of sampled classes are counted there, too. The events are logged beside, if they are on.
 *
 * Cost of sampling all classes, in instructions of `sdet` (`tests/bench watch`), x86_64 / ppc64:
 *     N = 64: 6.9 / 6.5 %; with events 9.7 / 9.2 %.   N = 1: 91 / 96 %; with events 266 / 274 %.
 * Of these, programs pay 0.5 / 0.9 % to count their own acquisitions. `sdet` takes a lock every 280
 * instructions, and a sample takes about 300. Use N = 1 for few classes only.
 *
 * Only its CPU uses a struct lock_watch, with interrupts off; restart_lock_watch() is run there.
 */
#pragma once

#include <arch/cpu.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/thread_block.h>
#include <trace/event/lock_tables.h>

struct spinlock;
struct lock_class;

struct lock_note {
    const struct spinlock *lock;
    uint64_t since; /* ticks */
    uint64_t site;  /* return address into the function that took the lock */
    struct lock_sample sample;
};

/* Caches the addresses of a lock's and a site's rows in this CPU's tables. Rows do not move before
 * forget_lock_places(). */
struct lock_place {
    uintptr_t lock; /* + LOCK_HAS_NO_ROW: `row` is its class's; 0: unused */
    const struct lock_class *class;
    struct lock_row row;
};
struct site_place {
    uint64_t site; /* 0: unused */
    const struct lock_class *class;
    struct trace_lock_sites_row *row; /* NULL: no row was free */
};
#define LOCK_HAS_NO_ROW  1u
#define LOCK_PLACES_BITS 7u
#define LOCK_SAMPLE_MAX  (1u << 28) /* the largest N: sums of two or three fit 32 bits */
#define LOCK_NOTES       7u         /* more nested locks are counted without their hold times */

struct lock_watch {
    int64_t left;    /* acquisitions before the next examined one; negative: that one, or a note is in use */
    int64_t due;     /* value of `left` at which to examine; -1 while no note is in use */
    uint32_t period; /* 0: no class is sampled; 1: `left` stays negative, all are examined */
    uint32_t rest;   /* acquisitions of the current period after the examined one */
    uint32_t random;
    uint32_t notes_used; /* bits */
    struct lock_note notes[LOCK_NOTES];
    struct lock_place lock_places[1u << LOCK_PLACES_BITS]; /* by a hash */
    struct site_place site_places[1u << LOCK_PLACES_BITS];
};

/* The place in struct cpu, which is declared later. */
#define LOCK_WATCH_OFFSET ((sizeof(struct thread_block) + sizeof(struct arch_cpu) + 7) & ~(size_t)7)
static inline struct lock_watch *this_lock_watch(void)
{
    return (struct lock_watch *)((char *)this_cpu() + LOCK_WATCH_OFFSET);
}

/* This CPU took the lock, by spin_lock or by spin_try_lock, and `left` has become negative. */
void spin_note_taken(struct spinlock *lock);
void spin_note_tried(struct spinlock *lock, uint64_t site);
void spin_note_taken_after_wait(struct spinlock *lock, uint64_t site);
/* This CPU is about to release the lock while `left` is negative. */
void spin_note_released(struct spinlock *lock, uint64_t site);
/* A wait for the lock, of a sampled class, has ended. */
void spin_count_wait(const struct spinlock *lock, uint64_t site, uint64_t ticks, uint64_t spins);
/* spin_try_lock() found the lock held. */
void spin_count_failed(const struct spinlock *lock, uint64_t site);

/* Rows of this CPU's tables have been moved or freed. */
void forget_lock_places(struct lock_watch *watch);

/* Begins a new period. */
void restart_lock_watch(struct lock_watch *watch, uint32_t period);
