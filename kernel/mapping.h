/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/mapping.h - the mappings of a space, ordered by address: a balanced tree (base/tree.h).
 *
 * Pure data structure: no locks, no references. The space's lock covers it (space.c).
 */
#ifndef KERNEL_MAPPING_H
#define KERNEL_MAPPING_H

#include <base/tree.h>
#include <stdint.h>

struct mapping;

/* The mapping that holds `address`, or the first one behind it; NULL: none. */
struct mapping *mapping_find(struct tree_node *root, uint64_t address);
void mapping_insert(struct tree_node **root, struct mapping *mapping); /* overlaps nothing */
void mapping_remove(struct tree_node **root, struct mapping *mapping);
void mapping_end_at(struct tree_node **root, struct mapping *mapping, uint64_t end); /* earlier than so far */
/* As tree_take_any(). */
struct mapping *mapping_take_any(struct tree_node **root);
/* Lowest address >= from where `size` bytes are free below `limit`; 0: none. Leaves a free page at either
 * end, so that running over an end faults. Takes a few ways down the tree, however many holes are too small.
 */
uint64_t mapping_find_gap(struct tree_node *root, uint64_t from, uint64_t limit, uint64_t size);

#endif
