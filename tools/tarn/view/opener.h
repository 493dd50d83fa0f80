/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opener.h - passes a request of the page to the thread that has the terminal: `tarn goto` at an event
 * (`tarn view --goto`). One at a time.
 */
#ifndef TARN_OPENER_H
#define TARN_OPENER_H

#include <pthread.h>
#include <tools/tarn/tarn.h>

struct opener {
    pthread_mutex_t mutex; /* for what follows */
    enum { OPENER_FREE, OPENER_WANTED, OPENER_OPEN } state;
    uint64_t event;
};
#define OPENER                             \
    {                                      \
        .mutex = PTHREAD_MUTEX_INITIALIZER \
    }

/* Callable from any thread; sends the process SIGCHLD, for
 * which its main thread waits. False: one is already open. */
bool opener_ask(struct opener *opener, uint64_t event, struct fail *fail);
/* For the main thread: takes a request, if any, which is open until opener_close. */
bool opener_take(struct opener *opener, uint64_t *event);
void opener_close(struct opener *opener);

#endif
