/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/fs/directory.h - the entries of one directory, by name and in the order of making: no choice of
 * names makes a look-up long (base/tree.h).
 * Locking: the caller holds the lock of the node that the directory is part of.
 */
#ifndef SERVERS_FS_DIRECTORY_H
#define SERVERS_FS_DIRECTORY_H

#include "node.h"

struct dir_entry *directory_find(struct directory *directory, const char *name, uint32_t length);
/* The first entry, in the order of making, at this position or behind it; NULL: none. */
struct dir_entry *directory_next(struct directory *directory, uint64_t position);
/* Takes a reference to the node. 0 or -ENOMEM; the name must be free. */
int directory_add(struct directory *directory, const char *name, uint32_t length, struct node *node);
/* The reference that the entry held goes to the caller. */
struct node *directory_remove(struct directory *directory, struct dir_entry *entry);

#endif
