/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc-glue/posix/file.h - the table of open files, for the calls that work on them.
 */
#ifndef LIBC_GLUE_FILE_H
#define LIBC_GLUE_FILE_H

#include "call.h"
#include "server.h"

#include <sys/types.h>
#include <tarn/file_kind.h>

#define FILES_MAX 256

/* An open file; several descriptors may share it. All but `references` is fixed while it is open. */
struct file {
    uint32_t references; /* descriptors, and calls that are using it; under table lock */
    enum file_kind kind;
    cap_t server;
    uint32_t flags; /* O_* of opening */
    uint64_t handle;
};

/* A descriptor for a new open file, the lowest from `from` on; or -EMFILE, and the handle is closed. */
int install_file(enum file_kind kind, uint64_t handle, uint32_t flags, bool close_on_exec, int from);
/* Keeps the file open until put_file; NULL: no such descriptor. */
struct file *get_file(int fd);
void put_file(struct file *file);

/* Visits the descriptors from `fd` on that a child inherits; the next one or -1. */
int next_inherited(int fd, struct startup_fd *entry);

/* Whole transfers with a server; bytes or a negative errno. */
int64_t read_file(struct file *file, void *buffer, size_t size, uint64_t offset);
int64_t write_file(struct file *file, const void *buffer, size_t size, uint64_t offset);
int64_t receive_bytes(struct file *file, void *buffer, size_t size, uint64_t flags, uint64_t *from);
int64_t send_bytes(struct file *file, const void *buffer, size_t size, uint64_t flags);

/* posix/path.c: an absolute path in a window at an offset; its span, or a negative errno. */
#define PATH_PLACE_1 0u
#define PATH_PLACE_2 4096u
int64_t put_path(struct window *window, uint64_t offset, const char *path, uint64_t *span);
/* One request about one path. */
int64_t call_path(uint64_t label, const char *path, uint64_t a, uint64_t b);
struct stat;
void fill_stat(struct stat *out, const uint64_t word[4]);

#endif
