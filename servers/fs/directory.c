/* SPDX-License-Identifier: BSD-2-Clause */
/* servers/fs/directory.c - entries of one directory. Interface and locking: directory.h. */
#include "directory.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_name(const char *name, uint32_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)name[i]) * 16777619u;
    return hash;
}

struct dir_entry *directory_find(struct directory *directory, const char *name, uint32_t length)
{
    if (!directory->bucket_count)
        return NULL;
    uint32_t hash = hash_name(name, length);
    struct dir_entry *entry = directory->buckets[hash & (directory->bucket_count - 1)];
    while (entry && !(entry->hash == hash && entry->length == length && !memcmp(entry->name, name, length)))
        entry = entry->chain;
    return entry;
}

static void chain_entry(struct directory *directory, struct dir_entry *entry)
{
    struct dir_entry **bucket = &directory->buckets[entry->hash & (directory->bucket_count - 1)];
    entry->chain = *bucket;
    *bucket = entry;
}

/* Twice the buckets; without memory the old ones go on, if there are any. */
static int grow_buckets(struct directory *directory)
{
    uint32_t count = directory->bucket_count ? directory->bucket_count * 2 : 8;
    struct dir_entry **buckets = calloc(count, sizeof(struct dir_entry *));
    if (!buckets)
        return directory->bucket_count ? 0 : -ENOMEM;
    free(directory->buckets);
    directory->buckets = buckets;
    directory->bucket_count = count;
    for (struct dir_entry *entry = directory->first; entry; entry = entry->next)
        chain_entry(directory, entry);
    return 0;
}

int directory_add(struct directory *directory, const char *name, uint32_t length, struct node *node)
{
    if (directory->entry_count >= directory->bucket_count && grow_buckets(directory))
        return -ENOMEM;
    struct dir_entry *entry = malloc(sizeof(*entry) + length);
    if (!entry)
        return -ENOMEM;
    *entry = (struct dir_entry){
        .previous = directory->last,
        .position = directory->next_position++,
        .node = node,
        .hash = hash_name(name, length),
        .length = (uint8_t)length,
    };
    memcpy(entry->name, name, length);
    *(directory->last ? &directory->last->next : &directory->first) = entry;
    directory->last = entry;
    directory->entry_count++;
    chain_entry(directory, entry);
    node_get(node);
    return 0;
}

struct node *directory_remove(struct directory *directory, struct dir_entry *entry)
{
    struct dir_entry **link = &directory->buckets[entry->hash & (directory->bucket_count - 1)];
    while (*link != entry)
        link = &(*link)->chain;
    *link = entry->chain;
    *(entry->previous ? &entry->previous->next : &directory->first) = entry->next;
    *(entry->next ? &entry->next->previous : &directory->last) = entry->previous;
    directory->entry_count--;
    struct node *node = entry->node;
    free(entry);
    return node;
}
