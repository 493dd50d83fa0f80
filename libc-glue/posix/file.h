/* SPDX-License-Identifier: BSD-2-Clause */
/* file.h - the table of open files, for the calls that use it. */
#ifndef LIBC_GLUE_FILE_H
#define LIBC_GLUE_FILE_H

#include "call.h"
#include "server.h"

#include <sys/types.h>
#include <tarn/file_kind.h>

#define FILES_MAX 256

/* An open file, possibly shared by several descriptors. Constant while open, except `references`. */
struct file {
    uint32_t references; /* descriptors and running calls; under the table's lock */
    enum file_kind kind;
    cap_t server;
    uint32_t flags; /* O_* flags of open */
    uint64_t handle;
};

/* Makes a descriptor, the lowest free one >= `from`, for a new open file. On failure closes the handle and
 * returns -EMFILE. */
int install_file(enum file_kind kind, uint64_t handle, uint32_t flags, bool close_on_exec, int from);
/* Takes a reference, to be dropped by put_file. Returns NULL if there is no such descriptor. */
struct file *get_file(int fd);
void put_file(struct file *file);

/* Iterates over the descriptors >= `fd` that a child inherits. Returns the next one or -1. */
int next_inherited(int fd, struct startup_fd *entry);

/* Transfers of any size. Return the number of bytes or a negative errno. */
int64_t read_file(struct file *file, void *buffer, size_t size, uint64_t offset);
int64_t write_file(struct file *file, const void *buffer, size_t size, uint64_t offset);
int64_t receive_bytes(struct file *file, void *buffer, size_t size, uint64_t flags, uint64_t *from);
int64_t send_bytes(struct file *file, const void *buffer, size_t size, uint64_t flags);

/* posix/path.c: writes an absolute path into a shared buffer
 * and stores its span. Returns 0 or a negative errno. */
#define PATH_PLACE_1 0u
#define PATH_PLACE_2 4096u
int64_t put_path(struct shared_buffer *shared, uint64_t offset, const char *path, uint64_t *span);
int64_t call_path(uint64_t label, const char *path, uint64_t a, uint64_t b);
struct stat;
void fill_stat(struct stat *out, const uint64_t word[4]);

#endif
