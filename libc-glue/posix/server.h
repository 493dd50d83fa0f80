/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server.h - requests to servers (servers/protocol/server.h), and shared buffers for their data.
 *
 * A request that transfers bytes borrows a shared buffer ("window"):
 *
 *     struct window window;
 *     int64_t result = borrow_window(SLOT_FS, &window);
 *     if (result < 0) return result;
 *     memcpy(window.base, ..., n);
 *     result = call_server(SLOT_FS, FS_WRITE, handle, window_span(&window, 0, n), FS_HERE, 0);
 *     return_window(&window);
 */
#ifndef LIBC_GLUE_SERVER_H
#define LIBC_GLUE_SERVER_H

#include <servers/protocol/server.h>
#include <tarn/runtime.h>

struct window {
    cap_t server;
    uint32_t place;  /* index in the pool */
    uint32_t number; /* the server's number for it */
    char *base;      /* SERVER_WINDOW_BYTES */
};

/* Returns 0 or a negative errno. If the process has borrowed all the buffers it may have, waits for one. If
 * the server refuses another one, waits at most a second for one of our own, then returns the server's error.
 */
int64_t borrow_window(cap_t server, struct window *window);
void return_window(struct window *window);

static inline uint64_t window_span(const struct window *window, uint64_t offset, uint64_t length)
{
    return SERVER_SPAN(window->number, offset, length);
}

/* Returns the server's result or a negative errno. The
 * message then holds the reply's words and capabilities. */
int64_t call_server_message(cap_t server, struct ipc_message *message);
/* For requests whose reply is only a result. */
int64_t call_server(cap_t server, uint64_t label, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

#endif
