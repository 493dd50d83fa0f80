/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pipe.c - the ring of a pipe, its waiting requests and poll watches. Interface: pipe.h.
 *
 * Locking: pipe->lock covers the whole pipe and is an innermost lock. Replies and signals are sent while it
 * is held; they never block.
 *
 * After every change, pump() moves as many bytes as possible from waiting writers to the ring and from the
 * ring to waiting readers, then signals the watches whose condition has become true.
 */
#include "pipe.h"
#include "notify.h"
#include <errno.h>
#include <pthread.h>
#include <servers/lib/server.h>
#include <servers/protocol/fs.h>
#include <stdlib.h>
#include <string.h>

struct waiter {
    struct waiter *next;
    uint32_t client;
    cap_t reply;
    uint64_t span;
    uint32_t done; /* writers: bytes already in the ring */
};

struct queue {
    struct waiter *first, *last;
};

struct pipe {
    pthread_mutex_t lock;
    /* covered by `lock`: */
    uint32_t head, count; /* index of the oldest byte; number of bytes */
    uint32_t ends[2];     /* number of open files of each end */
    char *ring;           /* allocated by the first write */
    struct queue waiting[2];
    struct pipe_watch *watches;
};

/* ---- the ring -------------------------------------------------------------------------------------- */

static uint32_t ring_put(struct pipe *pipe, const char *bytes, uint32_t size)
{
    uint32_t room = FS_PIPE_BYTES - pipe->count;
    uint32_t total = size < room ? size : room;
    for (uint32_t done = 0, part; done < total; done += part) {
        uint32_t tail = (pipe->head + pipe->count) % FS_PIPE_BYTES;
        part = total - done < FS_PIPE_BYTES - tail ? total - done : FS_PIPE_BYTES - tail;
        memcpy(pipe->ring + tail, bytes + done, part);
        pipe->count += part;
    }
    return total;
}

/* Copies without removing, so that no data are lost if the reader has ended. */
static uint32_t ring_peek(const struct pipe *pipe, char *bytes, uint32_t size)
{
    uint32_t total = size < pipe->count ? size : pipe->count;
    uint32_t first = FS_PIPE_BYTES - pipe->head;
    if (first > total)
        first = total;
    memcpy(bytes, pipe->ring + pipe->head, first);
    memcpy(bytes + first, pipe->ring, total - first);
    return total;
}

static void ring_drop(struct pipe *pipe, uint32_t size)
{
    pipe->head = (pipe->head + size) % FS_PIPE_BYTES;
    pipe->count -= size;
}

/* ---- waiting requests ------------------------------------------------------------------------------ */

static void queue_pop(struct queue *queue)
{
    struct waiter *waiter = queue->first;
    queue->first = waiter->next;
    if (!queue->first)
        queue->last = NULL;
    free(waiter);
}

static int64_t wait_in_queue(struct pipe *pipe, enum pipe_end end, uint32_t client, uint64_t span,
                             uint32_t done)
{
    struct waiter *waiter = malloc(sizeof(*waiter));
    cap_t reply = waiter ? server_save_reply() : 0;
    if (!reply) {
        free(waiter);
        return done ? (int64_t)done : -ENOMEM;
    }
    *waiter = (struct waiter){.client = client, .reply = reply, .span = span, .done = done};
    struct queue *queue = &pipe->waiting[end];
    *(queue->last ? &queue->last->next : &queue->first) = waiter;
    queue->last = waiter;
    return SERVER_LATER;
}

static void answer_all(struct pipe *pipe, enum pipe_end end, int64_t result)
{
    while (pipe->waiting[end].first) {
        struct waiter *waiter = pipe->waiting[end].first;
        server_answer(waiter->reply, waiter->done ? (int64_t)waiter->done : result, NULL, 0);
        queue_pop(&pipe->waiting[end]);
    }
}

/* Whether a waiting writer can make progress. Small writes are atomic: all or nothing. */
static bool fits(const struct pipe *pipe, uint32_t size, uint32_t done)
{
    uint32_t room = FS_PIPE_BYTES - pipe->count;
    return size <= FS_PIPE_ATOMIC && done == 0 ? room >= size : room > 0;
}

static bool pump_writers(struct pipe *pipe)
{
    bool moved = false;
    struct waiter *waiter;
    while ((waiter = pipe->waiting[PIPE_WRITE].first)) {
        uint32_t size = SERVER_SPAN_LENGTH(waiter->span);
        const char *bytes = server_span(waiter->client, waiter->span);
        if (bytes) {
            if (!fits(pipe, size, waiter->done))
                break;
            waiter->done += ring_put(pipe, bytes + waiter->done, size - waiter->done);
            moved = true;
            if (waiter->done < size)
                break;
        }
        server_answer(waiter->reply, bytes ? (int64_t)size : -EFAULT, NULL, 0);
        queue_pop(&pipe->waiting[PIPE_WRITE]);
    }
    return moved;
}

static bool pump_readers(struct pipe *pipe)
{
    bool moved = false;
    while (pipe->count && pipe->waiting[PIPE_READ].first) {
        struct waiter *waiter = pipe->waiting[PIPE_READ].first;
        char *bytes = server_span(waiter->client, waiter->span);
        uint32_t size = bytes ? ring_peek(pipe, bytes, SERVER_SPAN_LENGTH(waiter->span)) : 0;
        if (server_answer(waiter->reply, bytes ? (int64_t)size : -EFAULT, NULL, 0))
            ring_drop(pipe, size);
        queue_pop(&pipe->waiting[PIPE_READ]);
        moved = true;
    }
    return moved;
}

/* ---- watches --------------------------------------------------------------------------------------- */

static uint32_t poll_end(const struct pipe *pipe, enum pipe_end end)
{
    if (end == PIPE_READ)
        return (pipe->count || !pipe->ends[PIPE_WRITE] ? SERVER_POLL_READ : 0) |
               (!pipe->ends[PIPE_WRITE] ? SERVER_POLL_HANGUP : 0);
    return (FS_PIPE_BYTES - pipe->count >= FS_PIPE_ATOMIC || !pipe->ends[PIPE_READ] ? SERVER_POLL_WRITE : 0) |
           (!pipe->ends[PIPE_READ] ? SERVER_POLL_ERROR : 0);
}

static uint32_t poll_watch(const struct pipe *pipe, const struct pipe_watch *watch)
{
    return poll_end(pipe, watch->end) & (watch->wanted | SERVER_POLL_HANGUP | SERVER_POLL_ERROR);
}

static void watch_free(struct pipe_watch **link)
{
    struct pipe_watch *watch = *link;
    *link = watch->next;
    notify_close(watch->notification);
    free(watch);
}

static void ring_watches(struct pipe *pipe)
{
    for (struct pipe_watch **link = &pipe->watches; *link;) {
        if (poll_watch(pipe, *link)) {
            notify_signal((*link)->notification, (*link)->bits);
            watch_free(link);
        } else {
            link = &(*link)->next;
        }
    }
}

int64_t pipe_poll(struct pipe *pipe, const struct pipe_watch *wanted, bool *kept)
{
    *kept = false;
    pthread_mutex_lock(&pipe->lock);
    for (struct pipe_watch **link = &pipe->watches; *link;) {
        if ((*link)->client == wanted->client && (*link)->handle == wanted->handle &&
            (*link)->token == wanted->token)
            watch_free(link);
        else
            link = &(*link)->next;
    }
    int64_t result = wanted->wanted ? poll_watch(pipe, wanted) : 0;
    if (!result && wanted->wanted && wanted->notification) {
        struct pipe_watch *watch = malloc(sizeof(*watch));
        if (watch) {
            *watch = *wanted;
            watch->next = pipe->watches;
            pipe->watches = watch;
            *kept = true;
        } else {
            result = -ENOMEM;
        }
    }
    pthread_mutex_unlock(&pipe->lock);
    return result;
}

/* ---- the pipe -------------------------------------------------------------------------------------- */

/* The lock is held. */
static void pump(struct pipe *pipe)
{
    bool moved;
    do {
        moved = pump_writers(pipe);
        moved |= pump_readers(pipe);
    } while (moved);
    if (!pipe->ends[PIPE_WRITE] && !pipe->count)
        answer_all(pipe, PIPE_READ, 0);
    if (!pipe->ends[PIPE_READ])
        answer_all(pipe, PIPE_WRITE, -EPIPE);
    ring_watches(pipe);
}

struct pipe *pipe_create(void)
{
    struct pipe *pipe = calloc(1, sizeof(*pipe));
    if (pipe)
        pthread_mutex_init(&pipe->lock, NULL);
    return pipe;
}

void pipe_destroy(struct pipe *pipe)
{
    if (!pipe)
        return;
    answer_all(pipe, PIPE_READ, -EBADF); /* requests of a client that closed its handle in another thread */
    answer_all(pipe, PIPE_WRITE, -EBADF);
    while (pipe->watches)
        watch_free(&pipe->watches);
    pthread_mutex_destroy(&pipe->lock);
    free(pipe->ring);
    free(pipe);
}

void pipe_open_end(struct pipe *pipe, enum pipe_end end)
{
    pthread_mutex_lock(&pipe->lock);
    pipe->ends[end]++;
    pthread_mutex_unlock(&pipe->lock);
}

void pipe_close_end(struct pipe *pipe, enum pipe_end end)
{
    pthread_mutex_lock(&pipe->lock);
    pipe->ends[end]--;
    pump(pipe);
    pthread_mutex_unlock(&pipe->lock);
}

int64_t pipe_read(struct pipe *pipe, uint32_t client, uint64_t span, bool wait)
{
    int64_t result;
    char *bytes = server_span(client, span);
    if (!bytes)
        return -EFAULT;
    if (SERVER_SPAN_LENGTH(span) == 0)
        return 0;
    pthread_mutex_lock(&pipe->lock);
    if (pipe->count) {
        uint32_t size = ring_peek(pipe, bytes, SERVER_SPAN_LENGTH(span));
        ring_drop(pipe, size);
        pump(pipe);
        result = size;
    } else if (!pipe->ends[PIPE_WRITE]) {
        result = 0;
    } else {
        result = wait ? wait_in_queue(pipe, PIPE_READ, client, span, 0) : -EAGAIN;
    }
    pthread_mutex_unlock(&pipe->lock);
    return result;
}

int64_t pipe_write(struct pipe *pipe, uint32_t client, uint64_t span, bool wait)
{
    int64_t result;
    uint32_t size = SERVER_SPAN_LENGTH(span), done = 0;
    const char *bytes = server_span(client, span);
    if (!bytes)
        return -EFAULT;
    pthread_mutex_lock(&pipe->lock);
    if (!pipe->ring && pipe->ends[PIPE_READ])
        pipe->ring = malloc(FS_PIPE_BYTES);
    if (!pipe->ends[PIPE_READ]) {
        result = -EPIPE;
    } else if (!pipe->ring) {
        result = -ENOMEM;
    } else {
        if (!pipe->waiting[PIPE_WRITE].first && fits(pipe, size, 0))
            done = ring_put(pipe, bytes, size);
        if (done == size)
            result = size;
        else if (wait)
            result = wait_in_queue(pipe, PIPE_WRITE, client, span, done);
        else
            result = done ? (int64_t)done : -EAGAIN;
        pump(pipe);
    }
    pthread_mutex_unlock(&pipe->lock);
    return result;
}

/* Removes the client's waiters from a queue. Their replies reach nobody. */
static void drop_waiters(struct queue *queue, uint32_t client)
{
    struct queue kept = {NULL, NULL};
    for (struct waiter *waiter = queue->first, *next; waiter; waiter = next) {
        next = waiter->next;
        waiter->next = NULL;
        if (waiter->client == client) {
            server_answer(waiter->reply, -EINTR, NULL, 0);
            free(waiter);
        } else {
            *(kept.last ? &kept.last->next : &kept.first) = waiter;
            kept.last = waiter;
        }
    }
    *queue = kept;
}

void pipe_forget(struct pipe *pipe, uint32_t client, uint64_t handle, bool exiting)
{
    pthread_mutex_lock(&pipe->lock);
    for (struct pipe_watch **link = &pipe->watches; *link;) {
        if ((*link)->client == client && (*link)->handle == handle)
            watch_free(link);
        else
            link = &(*link)->next;
    }
    if (exiting) {
        drop_waiters(&pipe->waiting[PIPE_READ], client);
        drop_waiters(&pipe->waiting[PIPE_WRITE], client);
        pump(pipe);
    }
    pthread_mutex_unlock(&pipe->lock);
}
