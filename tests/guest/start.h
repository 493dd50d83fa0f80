/* SPDX-License-Identifier: BSD-2-Clause */
/* start.h - starts a thread, without which a test would wait for ever. */
#ifndef USER_TEST_START_H
#define USER_TEST_START_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static inline void start_thread(pthread_t *thread, void *(*work)(void *), void *argument)
{
    if (pthread_create(thread, NULL, work, argument) != 0) {
        printf("Bail out! no thread\n");
        exit(2);
    }
}

#endif
