/* internal.h - what the files of the lower layer share with each other and with the POSIX layer. */
#pragma once

#include <arch/runtime.h>
#include <pthread.h>
#include <sys/reent.h>
#include <tarn/runtime.h>
#include <trace/event/lock_tables.h>

#define KEYS_MAX 64

/* A lock that this thread acquired at a known time: tarn/lock_trace.c. */
struct lock_note {
    const void *lock; /* NULL: unused */
    uint64_t since;   /* ticks */
    uint64_t site;    /* return address, outside of the locks' own functions */
    enum tarn_lock_class lock_class;
    struct lock_sample sample; /* stands for 0 acquisitions: it was not sampled, but had to wait */
};
#define LOCK_NOTES 4u

/* A thread. It writes its fields itself; `state` decides which thread frees it (posix/pthread.c). */
struct pthread {
    void *(*routine)(void *);
    void *argument;
    void *result;
    uint32_t state; /* futex: enum pthread_state */
    cap_t slot;     /* capability of the thread */
    char *mapping;  /* guard page, stack, thread-local variables; NULL for the first thread */
    uint64_t mapping_size;
    uint64_t stack_low, stack_high;
    const void *specific[KEYS_MAX];
    struct lock_note lock_notes[LOCK_NOTES];
    uint32_t next_lock_note;
    uint32_t read_notes; /* notes for read-write locks held for reading */
    uint32_t tid;        /* 0 until it runs; atomic, read by joining threads */
    uint32_t random;     /* which acquisitions are sampled */
};

/* tarn/lock_trace.c: a random number below `bound`. */
uint32_t draw_below(struct pthread *thread, uint32_t bound);
/* tarn/thread.c: the lower half of pthreads */
void init_first_thread(const struct startup *startup);
extern _Thread_local struct pthread *this_thread __attribute__((tls_model("local-exec")));
static inline struct pthread *current_thread(void)
{
    return this_thread;
}
/* Makes a suspended thread; sys_thread_resume starts it. Returns 0 or -E_*. */
int create_thread(struct pthread *thread, const pthread_attr_t *attr);
/* Ends the calling thread and frees its stack and variables. */
void exit_thread(char *mapping, uint64_t size) __attribute__((noreturn));
/* called by arch_thread_entry */
void run_thread(struct pthread *thread) __attribute__((noreturn));
void end_pthread(struct pthread *thread, void *result) __attribute__((noreturn)); /* posix/pthread.c */

/* tarn/lock.c. Acquire returns 0, -E_TIMEOUT or -E_CANCELED; with TARN_FOREVER always 0. */
int lock_word_acquire(uint32_t *word, uint64_t deadline);
bool lock_word_try_acquire(uint32_t *word);
void lock_word_release(uint32_t *word);

/* posix/file.c */
void init_files(const struct startup *startup);
/* posix/path.c */
void init_working_directory(const char *path);
/* posix/process.c */
/* with the status of a process killed by this signal */
void end_process(int signal) __attribute__((noreturn));
