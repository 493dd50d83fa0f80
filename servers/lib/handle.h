/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handle.h - the handles by which clients name a server's objects.
 *
 * The table of a client is created with its first handle and freed when the client ends. Each handle holds a
 * reference to its object. The server defines the three names at the end.
 */
#ifndef SERVERS_LIB_HANDLE_H
#define SERVERS_LIB_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The first member of the objects that handles name. */
struct handle_object {
    atomic_uint references; /* of handles and others */
};

/* Returns the handle, which takes a reference of its own, or -errno. */
int64_t handle_add(uint32_t client, void *object);
void *handle_get(uint32_t client, uint64_t handle); /* returns a reference, or NULL */
void handle_put(void *object);                      /* drops a reference */
int64_t handle_close(uint32_t client, uint64_t handle);
/* These two are the server's `inherit` and `client_exit`. */
int64_t handle_inherit(uint32_t parent, uint32_t child, uint64_t *handles, uint32_t count);
void handle_close_client(uint32_t client);
uint64_t handle_count(void); /* statistics only */

extern const uint32_t handles_max;     /* per client */
void handle_object_free(void *object); /* the last reference was dropped */
/* A handle was closed, or its client is `exiting`; the handle's reference is dropped after that. */
void handle_object_closed(void *object, uint32_t client, uint64_t handle, bool exiting);

#endif
