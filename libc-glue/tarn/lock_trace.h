/*
 * lock_trace.h - events and tables of locks and of other objects that threads wait for.
 *
 * Events, while they are on:
 *
 *   - lock_sleep: before each sleep.
 *   - lock_contended: after a wait.
 *   - lock_held: at the release of a lock whose acquisition had to wait.
 *   - lock_acquired and lock_held: for sampled acquisitions.
 *
 * While a class is sampled (trace_info.lock_sample), its waits and its sampled acquisitions are counted in
 * the tables of trace/schema/lock.ev, too, whichever events are on. Of each N acquisitions of a thread one is
 * sampled, at a random place, so that a thread that makes few of them is as likely to be seen as one that
 * makes many.
 *
 * Classes are enum tarn_lock_class. A new kind of waiting uses:
 *
 *     struct lock_wait wait = begin_lock_wait(TARN_LOCK_..., &what, word);
 *     while (... still closed) {
 *         wait.spins++;                                       if it polls more than once before it sleeps
 *         sleep_for_lock(&wait, &word, value, deadline);      instead of sys_futex_wait
 *     }
 *     end_lock_wait(&wait);
 *
 * Only threads that wait, or hold a timed lock, pay for this.
 */
#pragma once

#include <arch/trace.h>
#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

#define LOCK_NOBODY UINT32_MAX

struct lock_wait {
    void *lock; /* address of the object, which identifies it in the trace */
    enum tarn_lock_class lock_class;
    uint32_t holder;  /* tid, or LOCK_NOBODY: unknown or none */
    uint32_t readers; /* number of readers of a read-write lock */
    uint64_t since;   /* ticks */
    uint64_t spins;
    bool slept;
};

/* The holder's tid in a lock word (LOCK_WORD_*), or LOCK_NOBODY. */
static inline uint32_t lock_word_holder(uint32_t word)
{
    return word & LOCK_WORD_HELD ? word & LOCK_WORD_TID : LOCK_NOBODY;
}

/* `word`: the value of a lock word, 0 for other objects. */
struct lock_wait begin_lock_wait(enum tarn_lock_class lock_class, void *lock, uint32_t word);
/* Calls sys_futex_wait and returns its result. */
int sleep_for_lock(struct lock_wait *wait, const uint32_t *word, uint32_t value, uint64_t deadline);
/* Call after the wait: acquired, event occurred, or timed out. If the caller now holds the lock, it may be
 * timed (LOCK_WORD_TIMED), and the release must call end_lock_timing. */
void end_lock_wait(const struct lock_wait *wait);

/* One of this many acquisitions of the class is sampled; 0: none. */
static inline uint32_t lock_sample_interval(enum tarn_lock_class lock_class)
{
    return __atomic_load_n(&arch_trace_info()->lock_sample[lock_class], __ATOMIC_RELAXED);
}
/* Of each `every` acquisitions of a class that a thread makes, one is sampled, a random one. */
struct lock_turn {
    /* One word: when `left` is 0, counting down borrows from `every`, so one comparison finds the sample, and
     * that the interval was changed. */
    union {
        uint64_t both;
        struct {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            uint32_t left;  /* acquisitions before the next sample */
            uint32_t every; /* the interval */
#else
            uint32_t every, left;
#endif
        };
    };
    uint32_t begun; /* the interval, whatever was borrowed */
    uint32_t rest;  /* acquisitions that follow the sample in the same interval */
};
extern _Thread_local struct lock_turn lock_turns[TARN_LOCK_CLASSES_USER]
    __attribute__((tls_model("local-exec")));

/* Call after taking a lock. True: call note_acquisition() before anything else. Off, one load and a test. */
static inline bool is_to_be_noted(enum tarn_lock_class lock_class)
{
    const uint32_t every = lock_sample_interval(lock_class);
    struct lock_turn *turn = &lock_turns[lock_class];
    if (__builtin_expect(every == 0, 1))
        return false;
    turn->both--;
    __asm__("" : "+m"(turn->both)); /* in memory: half of it is compared there */
    return turn->every != every;
}
/* Returns 0, as acquire functions do. */
int note_acquisition(enum tarn_lock_class lock_class, void *lock);
/* The same, in a function that only tries. */
int note_tried(enum tarn_lock_class lock_class, void *lock);
/* Call if such a function failed because the lock was held. Returns EBUSY. */
int count_failed_try(enum tarn_lock_class lock_class, const void *lock);
/* Call before releasing a lock that may be timed, so that events are in order. */
void end_lock_timing(const void *lock);
/* Whether the caller times any lock that it holds for reading; such a lock has no flag. */
bool times_read_locks(void);

/* lock_name.c: logs the object's name unless that was done since the last statedump. */
void log_lock_name(const void *lock);
