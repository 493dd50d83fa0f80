/* tests/unit/base/base_test.c - compares the balanced tree with arrays: contents, depth, summaries; and
 * sparse_next with a linear search. */
#include <base/sparse.h>
#include <base/tree.h>
#include <tests/tap.h>

struct object {
    uint64_t key;
    struct tree_node node;
    unsigned below; /* objects in the subtree, including this one */
};

static struct object *object_of(struct tree_node *node)
{
    return tree_object(node, struct object, node);
}

static void summarize(struct tree_node *node)
{
    object_of(node)->below = 1 + (node->left ? object_of(node->left)->below : 0) +
                             (node->right ? object_of(node->right)->below : 0);
}

static void go_to(struct tree_path *path, struct tree_node **root, uint64_t key)
{
    tree_begin(path, root);
    for (struct tree_node *at; (at = tree_here(path)) && object_of(at)->key != key;)
        tree_down(path, key < object_of(at)->key);
}

static unsigned depth_of(const struct tree_node *node)
{
    if (!node)
        return 0;
    unsigned left = depth_of(node->left), right = depth_of(node->right);
    return 1 + (left > right ? left : right);
}

/* Checks order, heights and sums, and that subtrees differ by at most one, so that no order of calls makes a
 * list of the tree; counts the nodes. */
static bool is_right(struct tree_node *node, uint64_t from, uint64_t to, unsigned *count)
{
    if (!node)
        return true;
    const struct object *object = object_of(node);
    unsigned left = 0, right = 0;
    int lean = (int)depth_of(node->left) - (int)depth_of(node->right);
    bool good = object->key >= from && object->key < to && node->height == depth_of(node) && lean >= -1 &&
                lean <= 1 && is_right(node->left, from, object->key, &left) &&
                is_right(node->right, object->key + 1, to, &right) && object->below == 1 + left + right;
    *count += 1 + left + right;
    return good;
}

static uint64_t pick(uint64_t limit)
{
    static uint64_t state = 88172645463325252ull; /* xorshift: the same in every run */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
}

static void test_tree(void)
{
    enum { OBJECTS = 300 };
    static struct object object[OBJECTS];
    static bool used[OBJECTS];
    struct tree_node *root = NULL;
    unsigned count = 0;
    bool good = true;
    for (int round = 0; round < 20000; round++) {
        unsigned i = (unsigned)pick(OBJECTS), found = 0;
        struct tree_path path;
        object[i].key = i;
        go_to(&path, &root, i);
        if (used[i])
            tree_remove(&path, summarize);
        else
            tree_insert(&path, &object[i].node, summarize);
        count += used[i] ? -1u : 1;
        used[i] = !used[i];
        good &= is_right(root, 0, UINT64_MAX, &found) && found == count;
    }
    check(good, "objects that come and go at random: in order, balanced, with the right sums");
    unsigned taken = 0;
    while (tree_take_any(&root))
        taken++;
    check(taken == count, "iteration returns each object once");
}

/* ---- sparse_next, compared with a linear search, for all ranges of random tables ---- */

#define WORDS 40u

static uint64_t search(const uint64_t *table, uint64_t at, uint64_t end)
{
    while (at < end && !table[at])
        at++;
    return at;
}

static unsigned count_differences(const uint64_t *table)
{
    unsigned differences = 0;
    for (uint64_t end = 0; end <= WORDS; end++)
        for (uint64_t at = 0; at <= end; at++)
            differences += sparse_next(table, at, end) != search(table, at, end);
    return differences;
}

static void test_sparse(void)
{
    uint64_t *table = calloc(WORDS, sizeof *table); /* on the heap: the sanitizer sees reads behind it */
    unsigned differences = count_differences(table);
    for (unsigned i = 0; i < WORDS; i++) {
        table[i] = 1ull << i;
        differences += count_differences(table);
        table[i] = 0;
    }
    check(differences == 0, "tables with one word, and an empty one");
    for (unsigned round = 0; round < 2000; round++) {
        for (unsigned i = 0; i < WORDS; i++)
            table[i] = rand() % (1 + (int)round % 30) == 0;
        differences += count_differences(table);
    }
    check(differences == 0, "random tables");
    free(table);
}

int main(void)
{
    test_tree();
    test_sparse();
    return finish_tests();
}
