/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/mapping.c - a balanced tree of mappings (Adelson-Velsky and Landis, 1962). Interface: mapping.h.
 *
 * A program chooses where its mappings lie and in which order they come and go, and it can time them. A tree
 * that balances itself by chance would not do, not even with secret chances: who times look-ups learns the
 * depth of each node and keeps only those that make a long path. Here no choice makes the tree deeper than
 * MAPPING_DEPTH_MAX, and nothing recurses: a path from the root lies in an array of that size.
 */
#include <kernel/kernel.h>
#include <kernel/mapping.h>
#include <kernel/space.h>

struct mapping *mapping_find(struct mapping *root, uint64_t address)
{
    struct mapping *best = NULL;
    while (root) {
        if (address < root->end) {
            best = root;
            root = root->left;
        } else {
            root = root->right;
        }
    }
    return best;
}

/* The pointers from the root down to a place in the tree. */
struct path {
    struct mapping **link[MAPPING_DEPTH_MAX + 1];
    unsigned length;
};

static void walk(struct path *path, struct mapping **link)
{
    assert(path->length <= MAPPING_DEPTH_MAX);
    path->link[path->length++] = link;
}

static uint32_t height(const struct mapping *node)
{
    return node ? node->height : 0;
}

static void update(struct mapping *node)
{
    uint32_t left = height(node->left), right = height(node->right);
    node->height = (left > right ? left : right) + 1;
}

static void rotate_left(struct mapping **link)
{
    struct mapping *node = *link, *up = node->right;
    node->right = up->left;
    up->left = node;
    *link = up;
    update(node);
    update(up);
}

static void rotate_right(struct mapping **link)
{
    struct mapping *node = *link, *up = node->left;
    node->left = up->right;
    up->right = node;
    *link = up;
    update(node);
    update(up);
}

/* Subtrees differ in height by two at most, by one when this returns. */
static void balance(struct mapping **link)
{
    struct mapping *node = *link;
    uint32_t left = height(node->left), right = height(node->right);
    if (left > right + 1) {
        if (height(node->left->right) > height(node->left->left))
            rotate_left(&node->left);
        rotate_right(link);
    } else if (right > left + 1) {
        if (height(node->right->left) > height(node->right->right))
            rotate_right(&node->right);
        rotate_left(link);
    } else {
        update(node);
    }
}

/* From the end of a path up to the root, or to where nothing changes any more. */
static void balance_path(struct path *path)
{
    while (path->length > 0) {
        struct mapping **link = path->link[--path->length];
        uint32_t before = (*link)->height;
        balance(link);
        if ((*link)->height == before)
            return;
    }
}

void mapping_insert(struct mapping **root, struct mapping *node)
{
    struct path path = {.length = 0};
    struct mapping **link = root;
    while (*link) {
        walk(&path, link);
        link = node->start < (*link)->start ? &(*link)->left : &(*link)->right;
    }
    node->left = node->right = NULL;
    node->height = 1;
    *link = node;
    balance_path(&path);
}

/* A node with two children changes places with its successor, the leftmost to its right. */
static struct mapping **swap_with_next(struct path *path, struct mapping **place)
{
    struct mapping *node = *place, **link = &node->right;
    unsigned below = path->length + 1; /* the first place in the path behind the node's own */
    walk(path, place);
    while ((*link)->left) {
        walk(path, link);
        link = &(*link)->left;
    }
    struct mapping *next = *link, *orphan = next->right;
    next->left = node->left;
    next->height = node->height;
    *place = next;
    if (link == &node->right) {
        link = &next->right;
    } else {
        next->right = node->right;
        path->link[below] = &next->right;
    }
    *link = node;
    node->left = NULL;
    node->right = orphan;
    return link;
}

void mapping_remove(struct mapping **root, struct mapping *node)
{
    struct path path = {.length = 0};
    struct mapping **link = root;
    while (*link != node) {
        walk(&path, link);
        link = node->start < (*link)->start ? &(*link)->left : &(*link)->right;
    }
    if (node->left && node->right)
        link = swap_with_next(&path, link);
    *link = node->left ? node->left : node->right;
    balance_path(&path);
}

struct mapping *mapping_take_any(struct mapping **root)
{
    struct mapping *node = *root;
    while (node && node->left) { /* turns the tree into a list to the right, a node at a time */
        struct mapping *up = node->left;
        node->left = up->right;
        up->right = node;
        node = up;
    }
    *root = node ? node->right : NULL;
    return node;
}

uint64_t mapping_find_gap(struct mapping *root, uint64_t from, uint64_t limit, uint64_t size)
{
    uint64_t start = from;
    while (start < limit && size <= limit - start) {
        struct mapping *next = mapping_find(root, start - TARN_PAGE_SIZE);
        if (!next || (next->start >= start && next->start - start >= size + TARN_PAGE_SIZE))
            return start;
        start = next->end + TARN_PAGE_SIZE;
    }
    return 0;
}
