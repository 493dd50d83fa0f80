/* directory.c - the entries of one directory. Interface and locking: directory.h. */
#include "directory.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Any total order does. Shorter names come first. */
static int compare_name(const struct dir_entry *entry, const char *name, uint32_t length)
{
    return entry->length != length ? (int)length - (int)entry->length : memcmp(name, entry->name, length);
}

static struct dir_entry *by_name(struct tree_node *node)
{
    return tree_object(node, struct dir_entry, by_name);
}

static struct dir_entry *by_position(struct tree_node *node)
{
    return tree_object(node, struct dir_entry, by_position);
}

struct dir_entry *directory_find(struct directory *directory, const char *name, uint32_t length)
{
    for (struct tree_node *at = directory->names; at;) {
        int order = compare_name(by_name(at), name, length);
        if (order == 0)
            return by_name(at);
        at = order < 0 ? at->left : at->right;
    }
    return NULL;
}

struct dir_entry *directory_next(struct directory *directory, uint64_t position)
{
    struct dir_entry *best = NULL;
    for (struct tree_node *at = directory->positions; at;) {
        bool enough = by_position(at)->position >= position;
        if (enough)
            best = by_position(at);
        at = enough ? at->left : at->right;
    }
    return best;
}

/* Descends to the entry, or to where it belongs. */
static void go_to_name(struct tree_path *path, struct directory *directory, const struct dir_entry *entry)
{
    tree_begin(path, &directory->names);
    for (struct tree_node *at; (at = tree_here(path)) && at != &entry->by_name;)
        tree_down(path, compare_name(by_name(at), entry->name, entry->length) < 0);
}

static void go_to_position(struct tree_path *path, struct directory *directory, const struct dir_entry *entry)
{
    tree_begin(path, &directory->positions);
    for (struct tree_node *at; (at = tree_here(path)) && at != &entry->by_position;)
        tree_down(path, entry->position < by_position(at)->position);
}

int directory_add(struct directory *directory, const char *name, uint32_t length, struct node *node)
{
    struct tree_path path;
    struct dir_entry *entry = malloc(sizeof(*entry) + length);
    if (!entry)
        return -ENOMEM;
    *entry = (struct dir_entry){
        .position = directory->next_position++,
        .node = node,
        .length = (uint8_t)length,
    };
    memcpy(entry->name, name, length);
    go_to_name(&path, directory, entry);
    tree_insert(&path, &entry->by_name, NULL);
    go_to_position(&path, directory, entry);
    tree_insert(&path, &entry->by_position, NULL);
    directory->entry_count++;
    node_get(node);
    return 0;
}

struct node *directory_remove(struct directory *directory, struct dir_entry *entry)
{
    struct tree_path path;
    go_to_name(&path, directory, entry);
    tree_remove(&path, NULL);
    go_to_position(&path, directory, entry);
    tree_remove(&path, NULL);
    directory->entry_count--;
    struct node *node = entry->node;
    free(entry);
    return node;
}
