/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc-glue/tarn/lock_trace.h - what the trace learns of locks, and of all else that threads wait for.
 *
 * Before each sleep lock_sleep, after a wait lock_contended, and lock_held when a lock is let go that was
 * taken after a wait. Of a class that is watched (trace_info.lock_watch) every so many-th acquisition of a
 * thread logs lock_acquired and lock_held, too. Classes are enum tarn_lock_class. Who has to wait for
 * something new:
 *
 *     struct lock_wait wait = begin_lock_wait(TARN_LOCK_..., &what, word);
 *     while (... still closed) {
 *         wait.spins++;                                       if it looks more than once before it sleeps
 *         sleep_for_lock(&wait, &word, value, deadline);      instead of sys_futex_wait
 *     }
 *     end_lock_wait(&wait);
 *
 * All of it is for those who wait, or hold a lock that is timed: it costs nobody else anything.
 */
#ifndef LIBC_GLUE_LOCK_TRACE_H
#define LIBC_GLUE_LOCK_TRACE_H

#include <arch/trace.h>
#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

#define LOCK_NOBODY UINT32_MAX

struct lock_wait {
    void *lock; /* what the trace calls it: the object's address */
    enum tarn_lock_class lock_class;
    uint32_t holder;  /* tid, or LOCK_NOBODY: not known, or there is none */
    uint32_t readers; /* of a read-write lock that is read */
    uint64_t since;   /* ticks */
    uint64_t spins;
};

/* Who holds a lock word (LOCK_WORD_*). */
static inline uint32_t lock_word_holder(uint32_t word)
{
    return word & LOCK_WORD_HELD ? word & LOCK_WORD_TID : LOCK_NOBODY;
}

/* WORD: as it was found, of a lock that is a lock word; else 0. */
struct lock_wait begin_lock_wait(enum tarn_lock_class lock_class, void *lock, uint32_t word);
/* sys_futex_wait, and its result. */
int sleep_for_lock(const struct lock_wait *wait, const uint32_t *word, uint32_t value, uint64_t deadline);
/* When it is taken, or the event has come, or its time was over. The caller holds a lock, and its lock word
 * is marked (LOCK_WORD_TIMED), so that it calls end_lock_timing. */
void end_lock_wait(const struct lock_wait *wait);

/* Of so many acquisitions of a class one is logged; 0: none. */
static inline uint32_t locks_watched(enum tarn_lock_class lock_class)
{
    return __atomic_load_n(&arch_trace_info()->lock_watch[lock_class], __ATOMIC_RELAXED);
}
/* The caller has taken one of a class that is watched. 0, as taking a lock ends. */
int note_lock_taken(enum tarn_lock_class lock_class, void *lock);
/* Before a lock is let go that its holder may have timed, so that its events come in order. */
void end_lock_timing(const void *lock);
/* Whether the caller times a lock that it reads: nothing in that lock says so. */
bool times_read_locks(void);

/* lock_name.c: logs what a lock is called, unless it has since the last statedump. */
void tell_lock_name(const void *lock);

#endif
