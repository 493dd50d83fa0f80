/*
 * mapping.c - a balanced tree of mappings. Interface: space.h; balancing: base/tree.h.
 *
 * Each mapping knows the extent of its subtree and the largest gap in it. So the search for a gap skips
 * subtrees without one, and many small gaps cost no visit each.
 */
#include <kernel/space/space.h>

static struct mapping *mapping_of(struct tree_node *node)
{
    return node ? tree_object(node, struct mapping, node) : NULL;
}

struct mapping *mapping_find(struct tree_node *root, uint64_t address)
{
    struct mapping *best = NULL;
    while (root) {
        struct mapping *mapping = mapping_of(root);
        if (address < mapping->end) {
            best = mapping;
            root = root->left;
        } else {
            root = root->right;
        }
    }
    return best;
}

static void at_least(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

static void summarize(struct tree_node *node)
{
    struct mapping *mapping = mapping_of(node);
    const struct mapping *left = mapping_of(node->left), *right = mapping_of(node->right);
    mapping->first = left ? left->first : mapping->start;
    mapping->last = right ? right->last : mapping->end;
    mapping->hole = 0;
    if (left) {
        at_least(&mapping->hole, left->hole);
        at_least(&mapping->hole, mapping->start - left->last);
    }
    if (right) {
        at_least(&mapping->hole, right->hole);
        at_least(&mapping->hole, right->first - mapping->end);
    }
}

/* To the mapping that begins at `start`, or to its place. */
static void go_to(struct tree_path *path, struct tree_node **root, uint64_t start)
{
    tree_begin(path, root);
    for (struct tree_node *at; (at = tree_here(path)) && mapping_of(at)->start != start;)
        tree_down(path, start < mapping_of(at)->start);
}

void mapping_insert(struct tree_node **root, struct mapping *mapping)
{
    struct tree_path path;
    go_to(&path, root, mapping->start);
    tree_insert(&path, &mapping->node, summarize);
}

void mapping_remove(struct tree_node **root, struct mapping *mapping)
{
    struct tree_path path;
    go_to(&path, root, mapping->start);
    tree_remove(&path, summarize);
}

void mapping_end_at(struct tree_node **root, struct mapping *mapping, uint64_t end)
{
    struct tree_path path;
    mapping->end = end;
    go_to(&path, root, mapping->start);
    tree_changed(&path, summarize);
}

struct mapping *mapping_take_any(struct tree_node **root)
{
    return mapping_of(tree_take_any(root));
}

/* Returns whether there may be a gap of `size` at or above `low`, in or below this subtree. It may be wrong
 * if `low` is inside the subtree; that costs one descent. */
static bool may_have_hole(const struct mapping *mapping, uint64_t low, uint64_t size)
{
    return mapping->last > low &&
           (mapping->hole >= size || (mapping->first > low && mapping->first - low >= size));
}

uint64_t mapping_find_gap(struct tree_node *root, uint64_t from, uint64_t limit, uint64_t size)
{
    const struct mapping *up[TREE_DEPTH_MAX]; /* their right subtrees are still to be searched */
    unsigned depth = 0;
    uint64_t low = from - TARN_PAGE_SIZE; /* the gap begins here or above */
    if (size > limit - from)
        return 0;
    for (const struct mapping *mapping = mapping_of(root); mapping || depth > 0;) {
        for (; mapping && may_have_hole(mapping, low, size + 2 * TARN_PAGE_SIZE);
             mapping = mapping_of(mapping->node.left))
            up[depth++] = mapping;
        if (mapping)
            at_least(&low, mapping->last);
        if (depth == 0)
            break;
        mapping = up[--depth];
        if (mapping->start > low && mapping->start - low >= size + 2 * TARN_PAGE_SIZE)
            break;
        at_least(&low, mapping->end);
        mapping = mapping_of(mapping->node.right);
    }
    low += TARN_PAGE_SIZE;
    return low < limit && size <= limit - low ? low : 0;
}
