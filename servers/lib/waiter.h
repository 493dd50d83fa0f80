/*
 * waiter.h - lists of requests that wait for their reply, oldest first. The caller locks them.
 *
 * A handler saves its request with waiter_save and returns the result. The code that can complete the
 * request later stores the reply's words in waiter->request.word and calls waiter_reply.
 */
#pragma once

#include <servers/lib/server.h>

struct waiter {
    struct waiter *next;
    cap_t reply;
    uint32_t done; /* free for the server: how much of the request is done */
    struct server_request request;
};

/* Appends a copy of the request. Returns SERVER_LATER, or -ENOMEM. */
int64_t waiter_save(struct waiter **list, const struct server_request *request, uint32_t done);
/* Replies to the waiter at *link and removes it. Returns false if its client no longer waits. */
bool waiter_reply(struct waiter **link, int64_t result);
bool waiter_reply_cap(struct waiter **link, cap_t capability); /* result 0; closes the capability */
void waiter_reply_all(struct waiter **list, int64_t result);
/* The client has ended: removes its waiters. */
void waiter_forget(struct waiter **list, uint32_t client);
