/*
 * server.h - the request loop of all servers, access to shared buffers, and deferred replies.
 *
 * A server fills in a struct server and calls server_run: `threads` workers receive on one endpoint, pass
 * each request to `handle`, and send its result as the reply. The loop itself handles SERVER_ATTACH and the
 * other requests common to all servers. It also limits how long this server's own requests to other servers
 * take (SERVER_PATIENCE_NS).
 *
 * When a client ends (SERVER_CLIENT_EXIT), the loop waits until no worker is inside a request of that client
 * (drain_requests), closes its handles and revokes its shared buffers (client.h), and only then calls
 * `client_exit`. After that, the only
 * requests of the client that remain are those that the server itself saved, so handlers need no checks for a
 * client that dies in the middle. servers/README.md follows one request all the way.
 */
#pragma once

#include <servers/protocol/server.h>
#include <stdbool.h>
#include <tarn/abi.h>
#include <tarn/errno_of.h> /* converts results of system calls */

struct server_request {
    uint32_t client; /* its pid; 0 = init or proc */
    uint64_t label;
    uint64_t word[IPC_WORDS]; /* arguments on entry; the handler stores the words of the reply here */
    /* a handler that keeps one sets it to 0; the rest are closed after the handler */
    cap_t received[IPC_CAPS];
    cap_t send[IPC_CAPS]; /* capabilities to copy into the reply */
    bool close_sent;      /* close ours after that */
};

/* A server that has not replied to another one by then does not work. Long, because a busy host takes CPUs
 * away, and time in the debugger counts. */
#define SERVER_PATIENCE_NS 10000000000ull

#define SERVER_LATER INT64_MIN /* result of a handler that saved the reply */

struct server {
    const char *name;
    unsigned threads;
    int64_t (*handle)(struct server_request *request); /* returns >= 0, -errno or SERVER_LATER */
    void (*client_exit)(uint32_t client);              /* may be NULL */
    const struct handle_class *handles;                /* NULL: it has none */
    void (*notified)(uint64_t bits); /* called with the bits of `notification`; may be NULL */
    cap_t notification;              /* bound to the first worker; 0: none */
};

_Noreturn void server_run(const struct server *server, cap_t endpoint);
/* Starts a thread beside the workers: run(slot). `slot` is the result of a system call that makes an object.
 * Returns it, and panics if something failed. */
cap_t server_thread(int64_t slot, void *(*run)(void *), const char *what);

/* The address of a span in one of the client's shared buffers, or NULL if the span is invalid. Valid until
 * the worker's next request, and at most until the client ends. */
void *server_span(uint32_t client, uint64_t span);

/* Copies the path in a span and terminates it with a NUL. Returns its length or -errno; -EINVAL if it
 * contains a NUL. */
int64_t server_path(uint32_t client, uint64_t span, char *path, uint32_t size);

/* Deferred replies; waiter.h keeps the requests. server_reply_later sends a copy of `capability` (0: none),
 * consumes the reply capability in any case and returns false if the client no longer waits. */
cap_t server_save_reply(void); /* 0: no free slot */
bool server_reply_later(cap_t reply, int64_t result, const uint64_t word[IPC_WORDS], cap_t capability);

/* System calls for files that are also tested on the host. */
void server_signal(cap_t notification, uint64_t bits);
void server_close(cap_t capability);

/* Does what SERVER_CLIENT_EXIT does: 0 or -EAGAIN. Called by proc, which learns of exits first. */
int server_client_exit(uint32_t client, uint64_t deadline);
