/* SPDX-License-Identifier: BSD-2-Clause */
/* call_tree.c - call chains as a tree of functions; see call_tree.h. */
#include <string.h>
#include <tools/tarn/relation/call_tree.h>

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

void call_tree_add(struct call_tree *tree, struct call_function *const *chain, size_t count,
                   const struct sums *weight)
{
    struct call_node *node = NULL;
    uint64_t parent = 0;

    for (size_t i = 0; i < count; i++) {
        struct map_entry *entry;

        node = map_at(&tree->nodes, parent, (uint64_t)(uintptr_t)chain[i], 0);
        entry = OUTER(node, struct map_entry, value);
        node->function = chain[i];
        node->parent = parent;
        sums_add(&node->total, weight);
        parent = entry->index + 1;
    }
    if (node != NULL)
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
