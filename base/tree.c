/* base/tree.c - a balanced tree. Interface and rationale: tree.h. */
#include <base/tree.h>

void tree_begin(struct tree_path *path, struct tree_node **root)
{
    path->link[0] = root;
    path->length = 1;
}

static void walk(struct tree_path *path, struct tree_node **link)
{
    path->link[path->length++] = link;
}

void tree_down(struct tree_path *path, bool left)
{
    struct tree_node *node = tree_here(path);
    walk(path, left ? &node->left : &node->right);
}

static uint32_t height(const struct tree_node *node)
{
    return node ? node->height : 0;
}

static void update(struct tree_node *node, tree_summarize *summarize)
{
    uint32_t left = height(node->left), right = height(node->right);
    node->height = (left > right ? left : right) + 1;
    if (summarize)
        summarize(node);
}

static void rotate_left(struct tree_node **link, tree_summarize *summarize)
{
    struct tree_node *node = *link, *up = node->right;
    node->right = up->left;
    up->left = node;
    *link = up;
    update(node, summarize);
    update(up, summarize);
}

static void rotate_right(struct tree_node **link, tree_summarize *summarize)
{
    struct tree_node *node = *link, *up = node->left;
    node->left = up->right;
    up->right = node;
    *link = up;
    update(node, summarize);
    update(up, summarize);
}

/* Before, the heights of the subtrees differ by at most two; afterwards by at most one. */
static void balance(struct tree_node **link, tree_summarize *summarize)
{
    struct tree_node *node = *link;
    uint32_t left = height(node->left), right = height(node->right);
    if (left > right + 1) {
        if (height(node->left->right) > height(node->left->left))
            rotate_left(&node->left, summarize);
        rotate_right(link, summarize);
    } else if (right > left + 1) {
        if (height(node->right->left) > height(node->right->right))
            rotate_right(&node->right, summarize);
        rotate_left(link, summarize);
    } else {
        update(node, summarize);
    }
}

/* Rebalances from the end of a path up to the root, or until nothing changes. */
static void balance_path(struct tree_path *path, tree_summarize *summarize)
{
    while (path->length > 0) {
        struct tree_node **link = path->link[--path->length];
        uint32_t before = (*link)->height;
        balance(link, summarize);
        if ((*link)->height == before && !summarize)
            return;
    }
}

void tree_insert(struct tree_path *path, struct tree_node *node, tree_summarize *summarize)
{
    *node = (struct tree_node){.height = 0};
    *path->link[path->length - 1] = node;
    balance_path(path, summarize);
}

/* Exchanges the node at the path's end, which has two children, with the next one, the leftmost in its right
 * subtree. */
static void swap_with_next(struct tree_path *path)
{
    struct tree_node **place = path->link[path->length - 1], *node = *place;
    unsigned below = path->length; /* index in the path after the node's own place */
    walk(path, &node->right);
    while (tree_here(path)->left)
        walk(path, &tree_here(path)->left);
    struct tree_node *next = tree_here(path), *orphan = next->right;
    *next = *node;
    *place = next;
    path->link[below] = &next->right; /* the last one, if `next` is right below */
    *path->link[path->length - 1] = node;
    node->left = NULL;
    node->right = orphan;
}

void tree_remove(struct tree_path *path, tree_summarize *summarize)
{
    struct tree_node *node = tree_here(path);
    if (node->left && node->right)
        swap_with_next(path);
    struct tree_node **link = path->link[--path->length];
    *link = node->left ? node->left : node->right;
    balance_path(path, summarize);
}

void tree_changed(struct tree_path *path, tree_summarize *summarize)
{
    balance_path(path, summarize);
}

struct tree_node *tree_take_any(struct tree_node **root)
{
    struct tree_node *node = *root;
    while (node && node->left) { /* turns the tree into a list to the right, one node at a time */
        struct tree_node *up = node->left;
        node->left = up->right;
        up->right = node;
        node = up;
    }
    *root = node ? node->right : NULL;
    return node;
}
