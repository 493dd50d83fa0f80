/*
 * mapping.h - the mappings of a space, ordered by address in a balanced tree (base/tree.h).
 *
 * A pure data structure without locks and references. The space's lock protects it (space.c).
 */
#pragma once

#include <base/tree.h>
#include <stdint.h>

struct mapping;

/* The mapping that contains `address`, else the first one above it; NULL: none. */
struct mapping *mapping_find(struct tree_node *root, uint64_t address);
void mapping_insert(struct tree_node **root, struct mapping *mapping); /* must not overlap another */
void mapping_remove(struct tree_node **root, struct mapping *mapping);
void mapping_end_at(struct tree_node **root, struct mapping *mapping,
                    uint64_t end); /* shortens it to `end` */
/* As tree_take_any(). */
struct mapping *mapping_take_any(struct tree_node **root);
/* The lowest address >= `from` with `size` free bytes below `limit`; 0: none. Leaves a free page at each
 * end, so that overruns fault. Takes a few descents of the tree, however many gaps are too small. */
uint64_t mapping_find_gap(struct tree_node *root, uint64_t from, uint64_t limit, uint64_t size);
