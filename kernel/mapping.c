/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/mapping.c - a treap of mappings. Interface: mapping.h. Expected depth is logarithmic whatever the
 * order of insertion, so the recursion is shallow enough for a kernel stack.
 */
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

/* Splits a tree into what starts below `address` and the rest. */
static void split(struct mapping *root, uint64_t address, struct mapping **left, struct mapping **right)
{
    if (!root) {
        *left = *right = NULL;
    } else if (root->start < address) {
        *left = root;
        split(root->right, address, &root->right, right);
    } else {
        *right = root;
        split(root->left, address, left, &root->left);
    }
}

static struct mapping *merge(struct mapping *left, struct mapping *right)
{
    if (!left || !right)
        return left ? left : right;
    if (left->weight > right->weight) {
        left->right = merge(left->right, right);
        return left;
    }
    right->left = merge(left, right->left);
    return right;
}

void mapping_insert(struct mapping **root, struct mapping *node)
{
    static _Atomic uint32_t seed = 0x9e3779b9;
    uint32_t weight = atomic_fetch_add_explicit(&seed, 0x9e3779b9, memory_order_relaxed);
    weight ^= weight >> 15;
    node->weight = weight * 0x85ebca6b; /* spread enough to balance, and the same in every run */

    struct mapping **link = root;
    while (*link && (*link)->weight >= node->weight)
        link = node->start < (*link)->start ? &(*link)->left : &(*link)->right;
    split(*link, node->start, &node->left, &node->right);
    *link = node;
}

void mapping_remove(struct mapping **root, struct mapping *node)
{
    struct mapping **link = root;
    while (*link != node)
        link = node->start < (*link)->start ? &(*link)->left : &(*link)->right;
    *link = merge(node->left, node->right);
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
