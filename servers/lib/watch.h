/* watch.h - the watches that SERVER_POLL leaves on an object. The caller locks them. */
#pragma once

#include <servers/lib/server.h>

#define WATCH_ALL_HANDLES UINT64_MAX

struct watch {
    struct watch *next;
    uint32_t client, wanted;
    uint64_t handle, token, bits;
    cap_t notification;
};

/* Handles SERVER_POLL for an object whose conditions are `ready` now. */
int64_t watch_poll(struct watch **list, struct server_request *request, uint32_t ready);
/* The object's conditions are now `ready`: signals and removes the watches that wait for one of them. */
void watch_signal(struct watch **list, uint32_t ready);
void watch_forget(struct watch **list, uint32_t client, uint64_t handle);
void watch_free_all(struct watch **list);
