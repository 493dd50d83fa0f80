/*
 * client.h - what a server keeps of each client: the handles by which it names the server's objects, and the
 * memory that both have mapped, for bulk data. It is made with the first of them and freed when the client
 * ends.
 *
 * Any thread may call these. server_span (server.h) is here, too.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

/* The first member of the objects that handles name. */
struct handle_object {
    atomic_uint references; /* of handles and others */
};

/* The handles of a server. The functions are called without locks. */
struct handle_class {
    uint32_t max;               /* per client */
    void (*free)(void *object); /* the last reference was dropped */
    /* A handle was closed, or its client is `exiting`; the handle's reference is dropped after that. */
    void (*closed)(void *object, uint32_t client, uint64_t handle, bool exiting);
};

void clients_init(const struct handle_class *handles); /* NULL: the server has none */

/* Closes the client's handles and makes its buffers invalid. Returns true if there were none to reclaim
 * before. */
bool client_end(uint32_t client);

/* Returns the handle, which takes a reference of its own, or -errno. */
int64_t handle_add(uint32_t client, void *object);
void *handle_get(uint32_t client, uint64_t handle); /* returns a reference, or NULL */
void handle_put(void *object);                      /* drops a reference */
int64_t handle_close(uint32_t client, uint64_t handle);
/* Replaces the parent's handles by new ones of the child: all or none. Returns 0 or -errno; -ENOSYS: the
 * server has no handles. */
int64_t handles_inherit(uint32_t parent, uint32_t child, uint64_t *handles, uint32_t count);
uint64_t handle_count(void); /* statistics only */

/* Gives the client one more buffer. Returns its number, and its memory object in *memory, or -errno: -EMFILE:
 * the client has too many, -ENFILE: too few are left. */
int64_t buffer_attach(uint32_t client, cap_t *memory);
/* Unmaps the buffers of clients that have ended, one call for each run of adjacent ones. No request that
 * began before client_end may be in progress. */
void buffers_reclaim(void);
