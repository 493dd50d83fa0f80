/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/fs/directory.h - the entries of one directory: a list in order of making and a hash by name.
 * Locking: the caller holds the lock of the node that the directory is part of.
 */
#ifndef SERVERS_FS_DIRECTORY_H
#define SERVERS_FS_DIRECTORY_H

#include "node.h"

struct dir_entry *directory_find(struct directory *directory, const char *name, uint32_t length);
/* Takes a reference to the node. 0 or -ENOMEM; the name must be free. */
int directory_add(struct directory *directory, const char *name, uint32_t length, struct node *node);
/* The reference that the entry held goes to the caller. */
struct node *directory_remove(struct directory *directory, struct dir_entry *entry);

#endif
