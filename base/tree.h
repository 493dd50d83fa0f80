/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base/tree.h - a balanced tree (Adelson-Velsky and Landis, 1962) whose nodes lie inside the caller's
 * objects.
 *
 * A program chooses what its objects are called or where they lie, in which order they come and go, and it
 * can time look-ups. A hash can be steered then, and so can a tree that balances itself by chance, even with
 * secret chances: who times look-ups learns the depth of each node and keeps only those that make a long
 * path. Here no choice makes the tree deeper than TREE_DEPTH_MAX, and nothing recurses.
 *
 * The caller knows the order, so it goes down by itself:
 *
 *     struct tree_path path;
 *     tree_begin(&path, &root);
 *     for (struct tree_node *at; (at = tree_here(&path));)
 *         tree_down(&path, key < key_of(at));
 *     tree_insert(&path, &object->node, NULL);
 *
 * A look-up needs no path: it follows left and right. Locking is the caller's.
 */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_DEPTH_MAX 52u /* of a balanced tree of 2^35 nodes */

struct tree_node {
    struct tree_node *left, *right;
    uint32_t height; /* of the tree below, this node included */
};

#define tree_object(at, type, member) ((type *)((char *)(at)-offsetof(type, member)))

/* The pointers from the root down to a place: a node's, or an empty one. */
struct tree_path {
    struct tree_node **link[TREE_DEPTH_MAX + 1];
    unsigned length;
};

/* Works out anew what an object says of all the nodes below its own; both subtrees are up to date. */
typedef void tree_summarize(struct tree_node *node);

void tree_begin(struct tree_path *path, struct tree_node **root);
void tree_down(struct tree_path *path, bool left);

static inline struct tree_node *tree_here(const struct tree_path *path)
{
    return *path->link[path->length - 1];
}

/* Each takes a path and uses it up; `summarize` is NULL where objects say nothing of those below. */
void tree_insert(struct tree_path *path, struct tree_node *node,
                 tree_summarize *summarize);                          /* at an empty place */
void tree_remove(struct tree_path *path, tree_summarize *summarize);  /* the node there */
void tree_changed(struct tree_path *path, tree_summarize *summarize); /* what the node there says of itself */

/* Some node, taken out; NULL: there is none. The tree loses its order: take all of it, and do nothing else.
 * Linear in the nodes that it takes in the end. */
struct tree_node *tree_take_any(struct tree_node **root);

#endif
