/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/call_tree.h - call chains with weights, as a tree of functions.
 *
 * For profile.c and flame.c. Functions are told apart by name and image. Sums of a node: `self` is what was
 * in it, `total` what was in it and in all below it.
 */
#ifndef TARN_CALL_TREE_H
#define TARN_CALL_TREE_H

#include <tools/tarn/answer/map.h>

/* FNV-1a. */
#define HASH_SEED 0xcbf29ce484222325ull
static inline uint64_t hash_more(const char *text, uint64_t hash)
{
    while (*text != '\0')
        hash = (hash ^ (uint8_t)*text++) * 0x100000001b3ull;
    return hash;
}
static inline uint64_t hash_text(const char *text)
{
    return hash_more(text, HASH_SEED);
}

struct sums {
    uint64_t samples, ns, instructions;
};

struct call_function {
    const char *name, *image;
    bool is_kernel;
    struct sums self, total; /* total: once for each chain, however often it is in it */
    uint64_t stamp;          /* of the chain that it was counted for last */
};

struct call_node {
    const struct call_function *function; /* NULL: the root */
    struct call_node *first, *next;       /* child; sibling */
    struct sums self, total;
};

struct call_tree {
    struct map functions; /* struct call_function by hashes of name and image */
    struct map nodes;     /* struct call_node by parent and function */
    struct call_node root;
    uint64_t stamp;
};

void call_tree_open(struct call_tree *tree);
void call_tree_close(struct call_tree *tree);
/* The function of that name; NAME and IMAGE are copied. */
struct call_function *call_tree_function(struct call_tree *tree, const char *name, const char *image,
                                         bool is_kernel);
/* A chain, its outermost function first. */
void call_tree_add(struct call_tree *tree, struct call_function *const *chain, size_t count,
                   const struct sums *weight);
/* Counts a chain for its functions alone. */
void call_tree_count(struct call_tree *tree, struct call_function *const *chain, size_t count,
                     const struct sums *weight);

static inline void sums_add(struct sums *into, const struct sums *from)
{
    into->samples += from->samples;
    into->ns += from->ns;
    into->instructions += from->instructions;
}

/* What samples stand for. */
enum weight { WEIGHT_TIME, WEIGHT_SAMPLES, WEIGHT_INSTRUCTIONS };
static inline uint64_t sums_weight(const struct sums *sums, enum weight weight)
{
    return weight == WEIGHT_TIME ? sums->ns : weight == WEIGHT_SAMPLES ? sums->samples : sums->instructions;
}

/* Sorts the children of all nodes, the heaviest first. */
void call_tree_sort(struct call_tree *tree, enum weight weight);

#endif
