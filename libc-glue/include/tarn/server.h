/*
 * tarn/server.h - requests to servers (servers/protocol/server.h), and shared buffers for their data;
 * libc-glue/posix/server.c.
 *
 * A request that transfers bytes borrows a shared buffer:
 *
 *     struct shared_buffer shared;
 *     int64_t result = borrow_buffer(SLOT_FS, &shared);
 *     if (result < 0) return result;
 *     memcpy(shared.base, ..., n);
 *     result = call_server(SLOT_FS, FS_WRITE, handle, buffer_span(&shared, 0, n), FS_HERE, 0);
 *     return_buffer(&shared);
 */
#pragma once

#include <servers/protocol/server.h>
#include <stddef.h>
#include <tarn/runtime.h>

struct shared_buffer {
    cap_t server;
    uint32_t place;  /* index in the pool */
    uint32_t number; /* the server's number for it */
    char *base;      /* SERVER_BUFFER_BYTES */
};

/* Returns 0 or a negative errno. If the process has borrowed all the buffers it may have, waits for one. If
 * the server refuses another one, waits at most a second for one of our own, then returns the server's error.
 */
int64_t borrow_buffer(cap_t server, struct shared_buffer *shared);
void return_buffer(struct shared_buffer *shared);

static inline uint64_t buffer_span(const struct shared_buffer *shared, uint64_t offset, uint64_t length)
{
    return SERVER_SPAN(shared->number, offset, length);
}

/* The number of the next bytes that fit in a buffer. */
static inline size_t buffer_part(size_t size)
{
    return size < SERVER_BUFFER_BYTES ? size : SERVER_BUFFER_BYTES;
}

/* Returns the server's result or a negative errno. The
 * message then holds the reply's words and capabilities. */
int64_t call_server_message(cap_t server, struct ipc_message *message);
/* For requests whose reply is only a result. */
int64_t call_server(cap_t server, uint64_t label, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/* Switches the machine off (SLOT_MACHINE), after traced has sent the rest of the trace: at most ten seconds
 * later. Returns only on an error: -E_*. */
int64_t power_off(uint32_t status);

/* How long every request of this process to a server may take, also those that POSIX calls make: then it
 * fails with ETIMEDOUT, and the server may still do it later. 0, as in a new program: without a limit.
 * Servers use it. */
void set_server_patience(uint64_t ns);
