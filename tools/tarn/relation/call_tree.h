/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_tree.h - weighted call chains, merged into a tree of functions.
 *
 * A function is identified by name and executable. In a node, `self` is the
 * weight of the function itself, `total` includes everything below it.
 */
#ifndef TARN_CALL_TREE_H
#define TARN_CALL_TREE_H

#include <tools/tarn/analysis/analysis.h>

struct sums {
    uint64_t samples, ns, instructions, counted;
};

struct call_function {
    const char *name, *executable;
    bool is_kernel;
    /* total: counts each chain once, even if it contains the function several times */
    struct sums self, total;
    uint64_t stamp; /* of the last chain counted */
};

struct call_node {
    const struct call_function *function; /* NULL: a new one */
    uint64_t parent;                      /* number of the node above it; 0: none */
    struct sums self, total;
};

struct call_tree {
    struct map functions; /* struct call_function by hashes of name and executable */
    struct map nodes;     /* struct call_node by parent's number and function; numbers begin with 1 */
    uint64_t stamp;
};

void call_tree_open(struct call_tree *tree, struct analysis *analysis);
/* Returns the function of that name, adding it if needed; copies NAME and EXECUTABLE. */
struct call_function *call_tree_function(struct call_tree *tree, const char *name, const char *executable,
                                         bool is_kernel);
/* Adds a chain, outermost function first. */
void call_tree_add(struct call_tree *tree, struct call_function *const *chain, size_t count,
                   const struct sums *weight);
/* Adds a chain to the functions only, not to the tree. */
void call_tree_count(struct call_tree *tree, struct call_function *const *chain, size_t count,
                     const struct sums *weight);

static inline void sums_add(struct sums *into, const struct sums *from)
{
    into->samples += from->samples;
    into->ns += from->ns;
    into->instructions += from->instructions;
    into->counted += from->counted;
}

#endif
