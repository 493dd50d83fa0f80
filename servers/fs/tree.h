/*
 * tree.h - the name space: walks paths, makes and removes entries.
 *
 * Paths are absolute and NUL-terminated. Functions return 0 or -errno, unless stated otherwise; a returned
 * node is a reference.
 */
#pragma once

#include "node.h"
#include <stddef.h>

int tree_init(void);
int tree_find(const char *path, struct node **node);
/* Evaluates O_CREAT and O_EXCL of `flags`. *created tells whether the file is new. */
int tree_open(const char *path, int flags, mode_t mode, struct node **node, int *created);
int tree_make(const char *path, enum node_kind kind, mode_t mode); /* -EEXIST if the name exists */
int tree_unlink(const char *path);
int tree_rmdir(const char *path);
int tree_link(const char *from, const char *to);
int tree_rename(const char *from, const char *to);
/* Stores the path without ".", ".." and doubled slashes. Returns its length or -errno. */
int tree_real_path(const char *path, char *real, size_t size, int must_be_directory);
/* Fills `buffer` with struct fs_dirent records from *position on and advances it. Returns bytes, 0 at the
 * end, or -EINVAL if not even one record fits. */
int64_t tree_read_directory(struct node *node, uint64_t *position, void *buffer, uint64_t size);
