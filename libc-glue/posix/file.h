/* file.h - the table of open files, for the calls that use it. */
#pragma once

#include "call.h"

#include <sys/types.h>
#include <tarn/file_kind.h>
#include <tarn/server.h>

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
/* The value of an expression with the `file` of this descriptor; -EBADF if there is no such descriptor. */
#define WITH_FILE(fd, file, expression)                   \
    ({                                                    \
        struct file *file = get_file(fd);                 \
        int64_t with_file = file ? (expression) : -EBADF; \
        if (file)                                         \
            put_file(file);                               \
        with_file;                                        \
    })

/* Iterates over the descriptors >= `fd` that a child inherits. Returns the next one or -1. */
int next_inherited(int fd, struct startup_fd *entry);

/* Reads into or writes from `buffer`, of any size. `argument`: the offset of a file (FS_HERE: its position),
 * the NET_* flags of a socket. Returns the number of bytes or a negative errno. */
int64_t transfer_bytes(const struct file *file, bool writes, void *buffer, size_t size, uint64_t argument);
