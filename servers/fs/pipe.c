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
#include <errno.h>
#include <pthread.h>
#include <servers/lib/waiter.h>
#include <servers/lib/watch.h>
#include <servers/protocol/fs.h>
#include <stdlib.h>
#include <string.h>

struct pipe {
    pthread_mutex_t lock;
    /* covered by `lock`: */
    uint32_t head, count;      /* index of the oldest byte; number of bytes */
    uint32_t ends[2];          /* number of open files of each end */
    char *ring;                /* allocated by the first write */
    struct waiter *waiting[2]; /* writers' `done`: bytes already in the ring */
    struct watch *watches[2];
};

/* ---- the ring -------------------------------------------------------------------------------------- */

static uint32_t ring_put(struct pipe *pipe, const char *bytes, uint32_t size)
{
    uint32_t space = FS_PIPE_BYTES - pipe->count;
    uint32_t total = size < space ? size : space;
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

static int64_t wait_in_queue(struct pipe *pipe, enum pipe_end end, const struct server_request *request,
                             uint32_t done)
{
    int64_t result = waiter_save(&pipe->waiting[end], request, done);
    return result < 0 && result != SERVER_LATER && done ? (int64_t)done : result;
}

static void reply_all(struct pipe *pipe, enum pipe_end end, int64_t result)
{
    struct waiter **first = &pipe->waiting[end];
    while (*first)
        waiter_reply(first, (*first)->done ? (int64_t)(*first)->done : result);
}

/* Whether a waiting writer can make progress. Small writes are atomic: all or nothing. */
static bool fits(const struct pipe *pipe, uint32_t size, uint32_t done)
{
    uint32_t space = FS_PIPE_BYTES - pipe->count;
    return size <= FS_PIPE_ATOMIC && done == 0 ? space >= size : space > 0;
}

static bool pump_writers(struct pipe *pipe)
{
    bool moved = false;
    struct waiter **first = &pipe->waiting[PIPE_WRITE], *waiter;
    while ((waiter = *first)) {
        uint64_t span = waiter->request.word[1];
        uint32_t size = SERVER_SPAN_LENGTH(span);
        const char *bytes = server_span(waiter->request.client, span);
        if (bytes) {
            if (!fits(pipe, size, waiter->done))
                break;
            waiter->done += ring_put(pipe, bytes + waiter->done, size - waiter->done);
            moved = true;
            if (waiter->done < size)
                break;
        }
        waiter_reply(first, bytes ? (int64_t)size : -EFAULT);
    }
    return moved;
}

static bool pump_readers(struct pipe *pipe)
{
    bool moved = false;
    struct waiter **first = &pipe->waiting[PIPE_READ];
    while (pipe->count && *first) {
        uint64_t span = (*first)->request.word[1];
        char *bytes = server_span((*first)->request.client, span);
        uint32_t size = bytes ? ring_peek(pipe, bytes, SERVER_SPAN_LENGTH(span)) : 0;
        if (waiter_reply(first, bytes ? (int64_t)size : -EFAULT))
            ring_drop(pipe, size);
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

int64_t pipe_poll(struct pipe *pipe, enum pipe_end end, struct server_request *request)
{
    pthread_mutex_lock(&pipe->lock);
    int64_t result = watch_poll(&pipe->watches[end], request, poll_end(pipe, end));
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
        reply_all(pipe, PIPE_READ, 0);
    if (!pipe->ends[PIPE_READ])
        reply_all(pipe, PIPE_WRITE, -EPIPE);
    for (enum pipe_end end = PIPE_READ; end <= PIPE_WRITE; end++)
        watch_signal(&pipe->watches[end], poll_end(pipe, end));
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
    reply_all(pipe, PIPE_READ, -EBADF); /* requests of a client that closed its handle in another thread */
    reply_all(pipe, PIPE_WRITE, -EBADF);
    watch_free_all(&pipe->watches[PIPE_READ]);
    watch_free_all(&pipe->watches[PIPE_WRITE]);
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

int64_t pipe_read(struct pipe *pipe, const struct server_request *request, bool wait)
{
    int64_t result;
    uint64_t span = request->word[1];
    char *bytes = server_span(request->client, span);
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
        result = wait ? wait_in_queue(pipe, PIPE_READ, request, 0) : -EAGAIN;
    }
    pthread_mutex_unlock(&pipe->lock);
    return result;
}

int64_t pipe_write(struct pipe *pipe, const struct server_request *request, bool wait)
{
    int64_t result;
    uint32_t size = SERVER_SPAN_LENGTH(request->word[1]), done = 0;
    const char *bytes = server_span(request->client, request->word[1]);
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
        if (!pipe->waiting[PIPE_WRITE] && fits(pipe, size, 0))
            done = ring_put(pipe, bytes, size);
        if (done == size)
            result = size;
        else if (wait)
            result = wait_in_queue(pipe, PIPE_WRITE, request, done);
        else
            result = done ? (int64_t)done : -EAGAIN;
        pump(pipe);
    }
    pthread_mutex_unlock(&pipe->lock);
    return result;
}

void pipe_forget(struct pipe *pipe, uint32_t client, uint64_t handle, bool exiting)
{
    pthread_mutex_lock(&pipe->lock);
    for (enum pipe_end end = PIPE_READ; end <= PIPE_WRITE; end++) {
        watch_forget(&pipe->watches[end], client, handle);
        if (exiting)
            waiter_forget(&pipe->waiting[end], client);
    }
    if (exiting)
        pump(pipe);
    pthread_mutex_unlock(&pipe->lock);
}
