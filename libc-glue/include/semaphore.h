/* semaphore.h - counting semaphores of one process; libc-glue/posix/semaphore.c. */
#pragma once

#include <stdint.h>
#include <time.h>

typedef struct {
    uint32_t value; /* futex */
    uint32_t waiters;
} sem_t;

#define SEM_VALUE_MAX 0x7fffffff

int sem_init(sem_t *semaphore, int shared, unsigned value);
int sem_destroy(sem_t *semaphore);
int sem_post(sem_t *semaphore);
int sem_wait(sem_t *semaphore);
int sem_trywait(sem_t *semaphore);
int sem_timedwait(sem_t *semaphore, const struct timespec *until);
int sem_getvalue(sem_t *semaphore, int *value);
