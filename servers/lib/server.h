/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/lib/server.h - the loop that every server runs, and what requests need: windows, late answers.
 *
 * A server fills a struct server and calls server_run: `threads` workers receive on one endpoint, each
 * request goes to `handle`, its result is the answer. SERVER_ATTACH and the protocol's checks are done here.
 *
 * When a client ends (SERVER_CLIENT_EXIT) the loop waits until no worker is still busy with a request of it
 * (worker_bury_client), takes its windows away, and only then calls `client_exit`: from there on
 * nothing of that client is under way except what the server itself saved, so a server needs no guard against
 * clients that die in the middle. See servers/README.md for a request's whole way.
 */
#ifndef SERVERS_LIB_SERVER_H
#define SERVERS_LIB_SERVER_H

#include <servers/protocol/server.h>
#include <stdbool.h>
#include <tarn/abi.h>
#include <tarn/errno_of.h> /* for results of system calls */

struct server_request {
    uint32_t client; /* its pid; 0 = init or proc */
    uint64_t label;
    uint64_t word[IPC_WORDS]; /* arguments; the handler leaves the answer's words here */
    cap_t received[IPC_CAPS]; /* whoever keeps one sets it to 0: the rest is closed after the handler */
    cap_t send[IPC_CAPS];     /* copies go with the answer */
    bool close_sent;          /* and ours are closed then */
};

#define SERVER_LATER INT64_MIN /* result of a handler that called server_save_reply */

struct server {
    const char *name;
    unsigned threads;
    int64_t (*handle)(struct server_request *request); /* result: >= 0, -errno or SERVER_LATER */
    void (*client_exit)(uint32_t client);              /* may be NULL */
    int64_t (*inherit)(uint32_t parent, uint32_t child, uint64_t *handles, uint32_t count); /* may be NULL */
    void (*notified)(uint64_t bits); /* the bound notification; may be NULL */
    cap_t notification;              /* bound to the first worker; 0: none */
};

_Noreturn void server_run(const struct server *server, cap_t endpoint);

/* The bytes that a span names in a window of the client; NULL if it may not. Valid until the worker's next
 * request, and never later than the client's end. */
void *server_span(uint32_t client, uint64_t span);

/* Copies a span that holds a path; length or -errno. The copy ends with a NUL and has none before. */
int64_t server_path(uint32_t client, uint64_t span, char *path, uint32_t size);

/* Answering later. The reply capability is used up in any case; false: the client no longer waits. */
cap_t server_save_reply(void); /* 0: no slot */
bool server_answer(cap_t reply, int64_t result, const uint64_t *words, unsigned count);
bool server_answer_cap(cap_t reply, int64_t result, cap_t capability); /* sends a copy of it */

/* What SERVER_CLIENT_EXIT does, for the server that learns it first: proc. */
void server_client_exit(uint32_t client);

/* A line on the kernel's log: for what the operator must see even if nothing else works. */
void server_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
