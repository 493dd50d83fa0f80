/* SPDX-License-Identifier: BSD-2-Clause */
/* call_tree.c - call chains as a tree of functions; see call_tree.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/call_tree.h>

void call_tree_open(struct call_tree *tree, struct analysis *analysis)
{
    memset(tree, 0, sizeof(*tree));
    analysis_map(analysis, &tree->functions, sizeof(struct call_function));
    analysis_map(analysis, &tree->nodes, sizeof(struct call_node));
}

struct call_function *call_tree_function(struct call_tree *tree, const char *name, const char *executable,
                                         bool is_kernel)
{
    uint64_t hash = hash_text(hash_text(HASH_SEED, name), executable);
    uint64_t other = hash_text(hash_text(HASH_OTHER_SEED, executable), name);
    struct call_function *function = map_at(&tree->functions, hash, other, is_kernel);

    if (function->name == NULL) {
        function->name = arena_string(&tree->functions.arena, name, strlen(name));
        function->executable = arena_string(&tree->functions.arena, executable, strlen(executable));
        function->is_kernel = is_kernel;
    }
    return function;
}

static struct call_node *child_of(struct call_tree *tree, struct call_node *parent,
                                  const struct call_function *function)
{
    struct call_node *node =
        map_at(&tree->nodes, (uint64_t)(uintptr_t)parent, (uint64_t)(uintptr_t)function, 0);

    if (node->function == NULL) {
        node->function = function;
        node->next = parent->first;
        parent->first = node;
    }
    return node;
}

void call_tree_add(struct call_tree *tree, struct call_function *const *chain, size_t count,
                   const struct sums *weight)
{
    struct call_node *node = &tree->root;

    sums_add(&node->total, weight);
    for (size_t i = 0; i < count; i++) {
        node = child_of(tree, node, chain[i]);
        sums_add(&node->total, weight);
    }
    sums_add(&node->self, weight);
}

void call_tree_count(struct call_tree *tree, struct call_function *const *chain, size_t count,
                     const struct sums *weight)
{
    tree->stamp++;
    for (size_t i = 0; i < count; i++) {
        if (chain[i]->stamp != tree->stamp)
            sums_add(&chain[i]->total, weight);
        chain[i]->stamp = tree->stamp;
    }
    if (count > 0)
        sums_add(&chain[count - 1]->self, weight);
}

static int compare_nodes(const void *a, const void *b, void *weight)
{
    const struct call_node *left = *(struct call_node *const *)a, *right = *(struct call_node *const *)b;
    uint64_t heavy = sums_weight(&left->total, *(enum weight *)weight);
    uint64_t other = sums_weight(&right->total, *(enum weight *)weight);

    if (heavy != other)
        return heavy > other ? -1 : 1;
    return strcmp(left->function->name, right->function->name);
}

static void sort_children(struct call_node *node, enum weight weight)
{
    struct call_node **children, **link = &node->first;
    size_t count = 0;

    for (struct call_node *child = node->first; child != NULL; child = child->next)
        count++;
    if (count < 2)
        return;
    children = alloc_zero(count, sizeof(children[0]));
    count = 0;
    for (struct call_node *child = node->first; child != NULL; child = child->next)
        children[count++] = child;
    qsort_r(children, count, sizeof(children[0]), compare_nodes, &weight);
    for (size_t i = 0; i < count; i++) {
        *link = children[i];
        link = &children[i]->next;
    }
    *link = NULL;
    free(children);
}

void call_tree_sort(struct call_tree *tree, enum weight weight)
{
    sort_children(&tree->root, weight);
    for (size_t i = 0; i < tree->nodes.count; i++)
        sort_children((struct call_node *)(void *)tree->nodes.entries[i]->value, weight);
}
