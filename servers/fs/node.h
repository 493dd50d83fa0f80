/*
 * node.h - files and directories as objects, independent of their names.
 *
 * A node lives as long as a name, an open file or a running operation holds a reference. `lock` covers its
 * contents and is held for one operation. A thread holds the locks of two nodes only while it holds the
 * tree's topology_lock (tree.c), so nodes need no lock order.
 */
#pragma once

#include <base/tree.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum node_kind { NODE_FILE, NODE_DIRECTORY, NODE_PIPE, NODE_NULL, NODE_ZERO };

struct pipe;

struct dir_entry {
    struct tree_node by_name, by_position;
    uint64_t position; /* grows from entry to entry; readdir continues from here */
    struct node *node; /* a reference */
    uint8_t length;
    char name[];
};

struct directory {
    /* not counted: a directory with entries is never removed. NULL: this directory was removed */
    struct node *parent;
    struct tree_node *names, *positions;
    uint32_t entry_count;
    uint64_t next_position;
};

/* The bytes of a file. Those that were never written are zero. */
struct storage {
    uint32_t memory;   /* capability of the memory object; 0: none yet */
    bool lent;         /* may be mapped by programs that run it: a write first copies it */
    bool shared;       /* may be written to through a shared mapping */
    uint64_t capacity; /* bytes of the memory object */
};

#define FILE_SIZE_MAX (1ull << 32)

struct node {
    atomic_uint references;
    enum node_kind kind; /* this field and the next two never change */
    mode_t mode;         /* S_IFMT and permissions */
    uint64_t number;
    pthread_mutex_t lock;
    /* covered by `lock`: */
    uint32_t links;
    uint64_t modified; /* nanoseconds since boot */
    uint64_t size;     /* files */
    uint64_t version;  /* files: incremented by every change */
    /* of an unchanged file of the boot archive: what programs that run it may do
     * (servers/protocol/authority.def) */
    uint32_t authority;
    union {
        struct storage storage;     /* files */
        struct directory directory; /* directories */
        struct pipe *pipe;          /* pipes; has its own lock */
    };
};

struct node *node_create(enum node_kind kind, mode_t mode); /* one reference; NULL: out of memory */
void node_get(struct node *node);
void node_put(struct node *node);
void node_attributes(struct node *node, uint64_t word[4]); /* as servers/protocol/fs.h has them */

/* For files and devices. Return bytes or -errno. With `append`, *offset is first set to the end of file. */
int64_t node_read(struct node *node, uint64_t offset, void *buffer, uint64_t size);
int64_t node_write(struct node *node, uint64_t *offset, const void *buffer, uint64_t size, int append);
int node_truncate(struct node *node, uint64_t size);

/* Says what programs that run the file may do. Only for the boot archive: every change drops it. */
void node_label(struct node *node, uint32_t authority);

/* For files, with the lock held. Return 0 or -errno, and in *capability a new one, which the caller closes:
 * for the current contents, which later writes do not change; or for the file's own memory, shared from now
 * on. */
int node_executable(struct node *node, uint32_t *capability);
int node_share(struct node *node, uint32_t *capability);

/* Totals of the whole file system. */
struct node_totals {
    _Atomic uint64_t bytes, files, directories;
};
extern struct node_totals node_totals;

uint64_t now_ns(void);
