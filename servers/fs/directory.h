/*
 * directory.h - the entries of one directory, in two search trees: by name and by age. The trees are balanced
 * (base/tree.h), so no choice of names makes a look-up slow.
 *
 * Locking: the caller holds the lock of the directory's node.
 */
#pragma once

#include "node.h"

struct dir_entry *directory_find(struct directory *directory, const char *name, uint32_t length);
/* Returns the oldest entry at or after this position, or NULL. */
struct dir_entry *directory_next(struct directory *directory, uint64_t position);
/* Takes a reference to the node. Returns 0 or -ENOMEM. The name must be unused. */
int directory_add(struct directory *directory, const char *name, uint32_t length, struct node *node);
/* Passes the entry's reference to the caller. */
struct node *directory_remove(struct directory *directory, struct dir_entry *entry);
