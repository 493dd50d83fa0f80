/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_watch.h - which acquisitions of spinlocks are sampled, and what is noted of them.
 *
 * While no class is sampled, an acquisition and a release are one instruction each longer than without: a
 * site (trace/sites.c). Otherwise every CPU counts its acquisitions, of whatever class, down to the next one
 * to look at. Of each `period` consecutive acquisitions one is looked at, a random one; `period` is the
 * smallest N of the sampled classes. Of what is looked at, one in N / period is sampled, at random, and
 * stands for N. So each acquisition of a class is sampled with a probability of 1 / N, and the sum of what
 * samples stand for is an unbiased estimate.
 *
 * A sampled acquisition makes a note. At the release the tables locks and lock_sites (trace/schema/lock.ev)
 * get acquisition and hold time together: without atomic instructions, because only this CPU changes rows of
 * the kernel's locks in its tables. (An NMI that takes the very lock whose row it interrupts may lose a
 * count.) Waits are counted there, too, all of those of sampled classes. The events are logged beside, if
 * they are on.
 *
 * Only its CPU uses a struct lock_watch, with interrupts off; restart_lock_watch() is run there.
 */
#ifndef KERNEL_LOCK_WATCH_H
#define KERNEL_LOCK_WATCH_H

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

/* Where the rows of a lock and of a site are in this CPU's tables, which is looked up once: rows stay until
 * forget_lock_places(). */
struct lock_place {
    uintptr_t lock; /* + LOCK_HAS_NO_ROW: the row is that of its class; 0: unused */
    const struct lock_class *class;
    struct lock_row row;
};
struct site_place {
    uint64_t site; /* 0: unused */
    const struct lock_class *class;
    struct trace_lock_sites_row *row; /* NULL: it has none */
};
#define LOCK_HAS_NO_ROW  1u
#define LOCK_PLACES_BITS 7u
#define LOCK_SAMPLE_MAX  (1u << 28) /* the largest N, so that sums of two or three fit 32 bits */
#define LOCK_NOTES       7u         /* more nested locks are counted without their hold times */

struct lock_watch {
    int64_t left;    /* to the next acquisition to look at; negative: that one, or a note is in use */
    int64_t due;     /* the value of `left` at which to look; -1 while no note is in use */
    uint32_t period; /* 0: no class is sampled; 1: `left` stays negative, and all are looked at */
    uint32_t rest;   /* acquisitions of the current period that follow the one looked at */
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

#endif
