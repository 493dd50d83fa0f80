/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc-glue/posix/server.h - requests to servers (servers/protocol/server.h), and the windows for their data.
 *
 * A request that moves bytes borrows a window for its duration:
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
    uint32_t place;  /* in the server's table of windows */
    uint32_t number; /* the server's */
    char *base;      /* SERVER_WINDOW_BYTES */
};

/* 0 or a negative errno. When all of the process's windows are lent, waits for one. When the server refuses
 * another, waits a second for one of our own at most; then the server's error. */
int64_t borrow_window(cap_t server, struct window *window);
void return_window(struct window *window);

static inline uint64_t window_span(const struct window *window, uint64_t offset, uint64_t length)
{
    return SERVER_SPAN(window->number, offset, length);
}

/* The server's result, or a negative errno. The message keeps the answer's words and capabilities. */
int64_t call_server_message(cap_t server, struct ipc_message *message);
/* The same for requests whose answer is the result alone. */
int64_t call_server(cap_t server, uint64_t label, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

#endif
