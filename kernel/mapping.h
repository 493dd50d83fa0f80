/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/mapping.h - the mappings of a space, ordered by address: a treap (Seidel and Aragon, 1996).
 *
 * Pure data structure: no locks, no references. The space's lock covers it (space.c).
 */
#ifndef KERNEL_MAPPING_H
#define KERNEL_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

struct mapping;

/* The mapping that holds `address`, or the first one behind it; NULL: none. */
struct mapping *mapping_find(struct mapping *root, uint64_t address);
void mapping_insert(struct mapping **root, struct mapping *node); /* overlaps nothing */
void mapping_remove(struct mapping **root, struct mapping *node);
/* Lowest address >= from where `size` bytes are free below `limit`; 0: none. Leaves a free page at either
 * end, so that running over an end faults. */
uint64_t mapping_find_gap(struct mapping *root, uint64_t from, uint64_t limit, uint64_t size);

#endif
