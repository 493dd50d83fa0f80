/*
 * tarn/runtime.h - libc-glue beyond C and POSIX: the lower layer, which servers use, too.
 *
 * Functions return >= 0 or a negative E_* (<tarn/error.h>) unless stated otherwise.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>
#include <tarn/error.h>
#include <tarn/ipc.h>
#include <tarn/syscall.h>

/* ---- start ----------------------------------------------------------------------------------------- */

const struct startup *program_startup(void); /* the startup block of this process */
bool slot_is_filled(cap_t slot);

/* ---- memory: libc-glue/tarn/memory.c --------------------------------------------------------------- */

static inline uint64_t round_to_pages(uint64_t size)
{
    return (size + TARN_PAGE_SIZE - 1) & ~(TARN_PAGE_SIZE - 1);
}
/* Returns zero-filled private memory at an address that the kernel chooses, or NULL. */
void *memory_map_anonymous(uint64_t size);
/* Maps a whole memory object, with the flags of space_map. Returns NULL on failure. */
void *memory_map(cap_t memory, uint64_t size, uint32_t flags);
void memory_unmap(void *address, uint64_t size);
/* Writes all bytes to a memory object. Returns 0 or -E_*. (sys_memory_write may write less, in particular
 * when memory runs out.) */
int memory_write_all(cap_t memory, uint64_t offset, const void *bytes, uint64_t size);

/* ---- time: libc-glue/tarn/clock.c ------------------------------------------------------------------ */

uint64_t clock_monotonic_ns(void);   /* since boot; all deadlines use this clock */
int64_t clock_realtime_ns(void);     /* since 1970 */
int64_t clock_realtime_offset(void); /* realtime - monotonic */
static inline uint64_t deadline_after(uint64_t ns)
{
    return clock_monotonic_ns() + ns;
}

/* ---- debugging messages: libc-glue/tarn/debug.c ---------------------------------------------------- */

/* Writes to the kernel log, which works even if no server does; at most 255 bytes per call. */
void debug_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes the message and a call chain to the kernel log and ends the process. */
void panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- locks: libc-glue/tarn/lock.c ------------------------------------------------------------------ */

/* The lock of the library itself and inside pthread_mutex_t: one word, LOCK_WORD_* of tarn/abi.h. */
struct lock {
    uint32_t state;
};
void lock_acquire(struct lock *lock);
void lock_release(struct lock *lock);

/* Sets the name of a lock, or of any other object that threads wait for, in the trace: mutex, read-write
 * lock, semaphore, condition, barrier. Without one, an object that is a variable has the variable's name.
 * NULL removes the name and cannot fail; destroying the object removes it, too. Returns 0 or -E_NO_MEMORY.
 * (lock_name.c) */
int lock_set_name(const void *lock, const char *name);

/* ---- threads --------------------------------------------------------------------------------------- */

uint32_t thread_id(void); /* of the caller; needs no system call */
uint32_t process_id(void);
/* The CPUs on which the caller, and threads and programs that the process creates from now on, may run: one
 * bit each, 0 = all. */
int process_set_affinity(uint64_t cpus);
uint64_t process_affinity(void);
/* What posix_spawn hands on to the child of what the caller holds: a set of servers/protocol/authority.def,
 * by default nothing. posix_spawn fails with EPERM if the caller does not hold it. The child has besides what
 * the label of its executable says. Returns 0. */
struct __posix_spawnattr;
int posix_spawnattr_setauthority_np(struct __posix_spawnattr **attr, uint32_t authority);
