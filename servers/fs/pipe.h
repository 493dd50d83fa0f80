/*
 * pipe.h - pipes: a byte ring, requests that wait for it, and poll watches.
 *
 * A request that cannot be served yet is saved in the pipe (client, span, reply capability); the reply is
 * sent when the other end acts. A waiter whose client has ended is dropped, and no byte is lost.
 */
#pragma once

#include <servers/lib/server.h>

enum pipe_end { PIPE_READ, PIPE_WRITE };

struct pipe;
struct pipe *pipe_create(void); /* no end is open yet; NULL: out of memory */
void pipe_destroy(struct pipe *pipe);
void pipe_open_end(struct pipe *pipe, enum pipe_end end);
void pipe_close_end(struct pipe *pipe, enum pipe_end end);

/* Handle FS_READ, FS_WRITE and SERVER_POLL. Return bytes, -errno, or SERVER_LATER. */
int64_t pipe_read(struct pipe *pipe, const struct server_request *request, bool wait);
int64_t pipe_write(struct pipe *pipe, const struct server_request *request, bool wait);

int64_t pipe_poll(struct pipe *pipe, enum pipe_end end, struct server_request *request);

/* Drops the client's watches of `handle` and, if `exiting`, its waiting requests, too. */
void pipe_forget(struct pipe *pipe, uint32_t client, uint64_t handle, bool exiting);
