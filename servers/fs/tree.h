/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/fs/tree.h - names: walking paths, making and removing entries.
 *
 * Paths are absolute and end with a NUL. All give 0 or -errno; a node that comes out is a reference.
 */
#ifndef SERVERS_FS_TREE_H
#define SERVERS_FS_TREE_H

#include "node.h"
#include <stddef.h>

int tree_init(void);
int tree_find(const char *path, struct node **node);
/* O_CREAT and O_EXCL of `flags` count. *created tells whether it is new. */
int tree_open(const char *path, int flags, mode_t mode, struct node **node, int *created);
int tree_make(const char *path, enum node_kind kind, mode_t mode); /* -EEXIST if the name is taken */
int tree_unlink(const char *path);
int tree_rmdir(const char *path);
int tree_link(const char *from, const char *to);
int tree_rename(const char *from, const char *to);
/* The path without ".", ".." and doubled slashes; its length. */
int tree_real_path(const char *path, char *real, size_t size, int must_be_directory);
/* Fills struct fs_dirent from *position on, and moves it; bytes, 0 at the end, -EINVAL if not even one fits.
 */
int64_t tree_read_directory(struct node *node, uint64_t *position, void *buffer, uint64_t size);

#endif
