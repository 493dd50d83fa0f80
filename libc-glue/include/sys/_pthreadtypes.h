/*
 * sys/_pthreadtypes.h - the types of <pthread.h>, replacing newlib's one-word handles.
 *
 * Static initializers are all zeros. The words used as futexes are marked; see libc-glue/posix/.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/sched.h>

struct pthread;
typedef struct pthread *pthread_t;

#define PTHREAD_SCOPE_PROCESS   0
#define PTHREAD_SCOPE_SYSTEM    1
#define PTHREAD_INHERIT_SCHED   1
#define PTHREAD_EXPLICIT_SCHED  2
#define PTHREAD_CREATE_DETACHED 0
#define PTHREAD_CREATE_JOINABLE 1
#define PTHREAD_STACK_MIN       16384

typedef struct {
    void *stack_address; /* NULL: allocated */
    size_t stack_size;
    size_t guard_size;
    int detach_state;
    struct sched_param schedparam;
    uint64_t affinity; /* CPUs, one bit each; 0 = all */
} pthread_attr_t;

#define PTHREAD_MUTEX_NORMAL     0
#define PTHREAD_MUTEX_RECURSIVE  1
#define PTHREAD_MUTEX_ERRORCHECK 2
#define PTHREAD_MUTEX_DEFAULT    PTHREAD_MUTEX_NORMAL

typedef struct {
    uint32_t state; /* futex: LOCK_WORD_* of tarn/abi.h */
    uint32_t owner; /* tid of the holder, for recursive and error-checking mutexes */
    uint32_t depth; /* recursive acquisitions beyond the first */
    uint32_t type;
} pthread_mutex_t;
#define _PTHREAD_MUTEX_INITIALIZER     \
    {                                  \
        0, 0, 0, PTHREAD_MUTEX_DEFAULT \
    }
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP \
    {                                          \
        0, 0, 0, PTHREAD_MUTEX_RECURSIVE       \
    }

typedef struct {
    int type;
} pthread_mutexattr_t;

typedef struct {
    uint32_t sequence; /* futex: incremented by every signal */
    uint32_t waiters;
    uint32_t clock; /* CLOCK_* of timed waits; 0 = CLOCK_REALTIME */
} pthread_cond_t;
#define _PTHREAD_COND_INITIALIZER \
    {                             \
        0, 0, 0                   \
    }

typedef struct {
    uint32_t clock;
} pthread_condattr_t;

typedef uint32_t pthread_key_t;

typedef struct {
    uint32_t state; /* futex: 0 not run, 1 done, otherwise running: LOCK_WORD_* of tarn/abi.h */
} pthread_once_t;
#define _PTHREAD_ONCE_INIT \
    {                      \
        0                  \
    }

typedef struct {
    uint32_t count;      /* threads to wait for */
    uint32_t arrived;    /* in this round */
    uint32_t generation; /* futex: number of finished rounds */
    uint32_t lock;
} pthread_barrier_t;
typedef struct {
    int reserved;
} pthread_barrierattr_t;

typedef uint32_t pthread_spinlock_t;

typedef struct {
    uint32_t readers; /* futex: number of readers, or LOCK_WORD_* of tarn/abi.h while held by a writer */
    uint32_t writers_waiting;
    uint32_t waiters;
} pthread_rwlock_t;
#define _PTHREAD_RWLOCK_INITIALIZER \
    {                               \
        0, 0, 0                     \
    }
typedef struct {
    int reserved;
} pthread_rwlockattr_t;

/* Extensions like those of Linux, except that a CPU set is one word. */
int pthread_setaffinity_mask_np(pthread_t thread, uint64_t cpus);
int pthread_attr_setaffinity_mask_np(pthread_attr_t *attr, uint64_t cpus);
