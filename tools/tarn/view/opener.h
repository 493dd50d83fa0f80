/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/opener.h - a wish of the page for the thread that has the terminal: `tarn goto` at an event
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

/* From any thread; sends the process SIGCHLD, which its main thread waits for. False: one is open. */
bool opener_ask(struct opener *opener, uint64_t event, struct fail *fail);
/* For the main thread: whether there is a wish, which is open then until opener_close. */
bool opener_take(struct opener *opener, uint64_t *event);
void opener_close(struct opener *opener);

#endif
