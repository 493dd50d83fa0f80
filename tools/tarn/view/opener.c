/* SPDX-License-Identifier: BSD-2-Clause */
/* opener.c - passes a request from the page's threads to the main thread; see opener.h. */
#include <signal.h>
#include <tools/tarn/view/opener.h>
#include <unistd.h>

bool opener_ask(struct opener *opener, uint64_t event, struct fail *fail)
{
    pthread_mutex_lock(&opener->mutex);
    bool is_free = opener->state == OPENER_FREE;
    if (is_free) {
        opener->state = OPENER_WANTED;
        opener->event = event;
    }
    pthread_mutex_unlock(&opener->mutex);
    if (!is_free)
        return fail_set(fail, "gdb is open in the terminal of tarn view: quit it first");
    kill(getpid(), SIGCHLD);
    return true;
}

bool opener_take(struct opener *opener, uint64_t *event)
{
    pthread_mutex_lock(&opener->mutex);
    bool is_wanted = opener->state == OPENER_WANTED;
    if (is_wanted)
        opener->state = OPENER_OPEN;
    *event = opener->event;
    pthread_mutex_unlock(&opener->mutex);
    return is_wanted;
}

void opener_close(struct opener *opener)
{
    pthread_mutex_lock(&opener->mutex);
    opener->state = OPENER_FREE;
    pthread_mutex_unlock(&opener->mutex);
}
