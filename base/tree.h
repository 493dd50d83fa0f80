/*
 * base/tree.h - a balanced tree (AVL: Adelson-Velsky and Landis, 1962) whose nodes lie in the caller's
 * objects.
 *
 * Why not a hash table or a randomized tree: programs choose the names or addresses of objects and the order
 * of operations, and can time look-ups. With that they can make hash chains long, and also a tree that
 * balances at random, even with secret random numbers: timing reveals the depth of each node, and the program
 * keeps only nodes on long paths. No choice makes this tree deeper than TREE_DEPTH_MAX, and nothing recurses.
 *
 * The caller knows the order, so it descends itself:
 *
 *     struct tree_path path;
 *     tree_begin(&path, &root);
 *     for (struct tree_node *at; (at = tree_here(&path));)
 *         tree_down(&path, key < the key of at);
 *     tree_insert(&path, &object->node, NULL);
 *
 * A look-up needs no path: it follows left and right. The caller locks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_DEPTH_MAX 52u /* of a balanced tree of 2^35 nodes */

struct tree_node {
    struct tree_node *left, *right;
    uint32_t height; /* of the subtree, including this node */
};

#define tree_object(at, type, member) ((type *)((char *)(at)-offsetof(type, member)))

/* The pointers from the root down to a place, with a node or empty. */
struct tree_path {
    struct tree_node **link[TREE_DEPTH_MAX + 1];
    unsigned length;
};

/* Recomputes an object's summary of its subtree; both child subtrees are up to date. */
typedef void tree_summarize(struct tree_node *node);

void tree_begin(struct tree_path *path, struct tree_node **root);
void tree_down(struct tree_path *path, bool left);

static inline struct tree_node *tree_here(const struct tree_path *path)
{
    return *path->link[path->length - 1];
}

/* Each consumes its path; `summarize` is NULL if objects have no summaries. */
void tree_insert(struct tree_path *path, struct tree_node *node,
                 tree_summarize *summarize);                         /* at an empty place */
void tree_remove(struct tree_path *path, tree_summarize *summarize); /* removes the node there */
/* the summary of the node there has changed */
void tree_changed(struct tree_path *path, tree_summarize *summarize);

/* Removes and returns some node; NULL: the tree is empty. Destroys the order: use it only to remove all
 * nodes. Removing all takes linear time. */
struct tree_node *tree_take_any(struct tree_node **root);
