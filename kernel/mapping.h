/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/mapping.h - the mappings of a space, ordered by address: a balanced tree.
 *
 * Pure data structure: no locks, no references. The space's lock covers it (space.c).
 */
#ifndef KERNEL_MAPPING_H
#define KERNEL_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

struct mapping;

#define MAPPING_DEPTH_MAX 52u /* of a balanced tree of 2^35 nodes: a page each */

/* The mapping that holds `address`, or the first one behind it; NULL: none. */
struct mapping *mapping_find(struct mapping *root, uint64_t address);
void mapping_insert(struct mapping **root, struct mapping *node); /* overlaps nothing */
void mapping_remove(struct mapping **root, struct mapping *node);
/* Some node, taken out; NULL: there is none. The tree loses its order: take all of it, and do nothing else.
 * Linear in the nodes that it takes in the end. */
struct mapping *mapping_take_any(struct mapping **root);
/* Lowest address >= from where `size` bytes are free below `limit`; 0: none. Leaves a free page at either
 * end, so that running over an end faults. */
uint64_t mapping_find_gap(struct mapping *root, uint64_t from, uint64_t limit, uint64_t size);

#endif
