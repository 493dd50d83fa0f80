/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/fs/pipe.h - bytes from writers to readers, and those who wait for them.
 *
 * A request that cannot be served now is saved in the pipe (client, span, reply capability) and answered when
 * the other side acts. A waiter whose client is gone answers nobody and is dropped without losing a byte.
 */
#ifndef SERVERS_FS_PIPE_H
#define SERVERS_FS_PIPE_H

#include <stdbool.h>
#include <stdint.h>

enum pipe_end { PIPE_READ, PIPE_WRITE };

struct pipe;
struct pipe *pipe_create(void); /* no end is open; NULL: no memory */
void pipe_destroy(struct pipe *pipe);
void pipe_open_end(struct pipe *pipe, enum pipe_end end);
void pipe_close_end(struct pipe *pipe, enum pipe_end end);

/* Bytes, or -errno, or SERVER_LATER: the answer will come through server_answer. */
int64_t pipe_read(struct pipe *pipe, uint32_t client, uint64_t span, bool wait);
int64_t pipe_write(struct pipe *pipe, uint32_t client, uint64_t span, bool wait);

/* SERVER_POLL_* that hold now. If none is wanted now and `notification` is not 0, keeps it (and owns it) to
 * signal `bits` once. *kept tells. wanted = 0 forgets the watch of (client, handle, token). */
struct pipe_watch {
    struct pipe_watch *next;
    uint32_t client;
    uint64_t handle, token, bits;
    uint32_t wanted, notification;
    enum pipe_end end;
};
int64_t pipe_poll(struct pipe *pipe, const struct pipe_watch *watch, bool *kept);

/* Drops what the client left: watches of `handle`, and with `exiting` its waiting requests too. */
void pipe_forget(struct pipe *pipe, uint32_t client, uint64_t handle, bool exiting);

#endif
