/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tarn/runtime.h - what libc-glue offers beyond C and POSIX: the lower layer that servers use too.
 *
 * Functions return >= 0 or a negative E_* (<tarn/error.h>) unless they say otherwise.
 */
#ifndef TARN_RUNTIME_H
#define TARN_RUNTIME_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>
#include <tarn/error.h>
#include <tarn/ipc.h>
#include <tarn/syscall.h>

/* ---- start --------------------------------------------------------------------------------------- */

const struct startup *program_startup(void); /* what crt0 got */
bool slot_is_filled(cap_t slot);

/* ---- memory: libc-glue/tarn/memory.c -------------------------------------------------------------- */

/* Zero-filled memory of this space alone, at an address that the kernel chooses. NULL if there is none. */
void *memory_map_anonymous(uint64_t size);
/* The whole of a memory object; flags as for space_map. NULL if it cannot be mapped. */
void *memory_map(cap_t memory, uint64_t size, uint32_t flags);
void memory_unmap(void *address, uint64_t size);
/* Writes all of it into a memory object, or says why not: -E_*. (sys_memory_write may write less, above all
 * when memory runs out on the way.) */
int memory_write_all(cap_t memory, uint64_t offset, const void *bytes, uint64_t size);

/* ---- time: libc-glue/tarn/clock.c ----------------------------------------------------------------- */

uint64_t clock_monotonic_ns(void);   /* since boot; the clock of all deadlines */
int64_t clock_realtime_ns(void);     /* since 1970 */
int64_t clock_realtime_offset(void); /* realtime - monotonic */
static inline uint64_t deadline_after(uint64_t ns)
{
    return clock_monotonic_ns() + ns;
}

/* ---- messages for people who debug: libc-glue/tarn/debug.c ---------------------------------------- */

/* Straight to the kernel's log, without any server or heap; at most 255 bytes a call. */
void debug_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says why on the kernel's log, with a call chain, and ends the process. */
void panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- locks: libc-glue/tarn/lock.c ------------------------------------------------------------------ */

/* The lock under all of the library's, and pthread_mutex_t's: one word, LOCK_WORD_* of tarn/abi.h. */
struct lock {
    uint32_t state;
};
void lock_acquire(struct lock *lock);
bool lock_try_acquire(struct lock *lock);
void lock_release(struct lock *lock);

/* What the trace calls a lock, or anything else that threads wait for: mutex, read-write lock, semaphore,
 * condition, barrier. One that is a variable is called like it without a name. NULL takes the name away,
 * which cannot fail; destroying the object does it, too. 0 or -E_NO_MEMORY. (lock_name.c) */
int lock_set_name(const void *lock, const char *name);

/* ---- threads --------------------------------------------------------------------------------------- */

uint32_t thread_id(void); /* of the caller; no system call */
uint32_t process_id(void);
/* The processors that the caller, and threads and programs that the process makes from now on, may run on: a
 * bit each, 0 = all. */
int process_set_affinity(uint64_t cpus);
uint64_t process_affinity(void);

#endif
