/* directory.c - reads directories (<dirent.h>), a buffer of entries at a time. */
#include "file.h"

#include <dirent.h>
#include <fcntl.h>
#include <servers/protocol/fs.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES_BYTES 4096

/* For one thread at a time, as in POSIX. */
struct DIR {
    int fd;
    uint32_t next, end; /* range of unread entries in the buffer */
    struct dirent entry;
    char buffer[ENTRIES_BYTES] __attribute__((aligned(8)));
};

DIR *opendir(const char *path)
{
    enter_call(TRACE_LIBC_OPENDIR, (uint64_t)path, 0);
    name_path(TRACE_LIBC_OPENDIR, path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !directory)
        close(fd);
    leave_call(TRACE_LIBC_OPENDIR, directory ? fd : -errno);
    return directory;
}

DIR *fdopendir(int fd)
{
    DIR *directory = malloc(sizeof(*directory));
    if (directory) {
        directory->fd = fd;
        directory->next = directory->end = 0;
    }
    return directory;
}

/* Returns the number of bytes read, 0 at the end, or a negative errno. */
static int64_t fill_buffer(DIR *directory)
{
    struct shared_buffer shared;
    struct file *file = get_file(directory->fd);
    if (!file)
        return -EBADF;
    int64_t result = file->kind == FILE_FS ? borrow_buffer(SLOT_FS, &shared) : -ENOTDIR;
    if (result >= 0) {
        uint64_t span = buffer_span(&shared, 0, ENTRIES_BYTES);
        result = call_server(SLOT_FS, FS_READDIR, file->handle, span, 0, 0);
        if (result > 0)
            memcpy(directory->buffer, shared.base, (size_t)result);
        return_buffer(&shared);
    }
    put_file(file);
    directory->next = 0;
    directory->end = result > 0 ? (uint32_t)result : 0;
    return result;
}

struct dirent *readdir(DIR *directory)
{
    enter_call(TRACE_LIBC_READDIR, (uint64_t)directory->fd, 0);
    int64_t result = 1;
    if (directory->next >= directory->end)
        result = fill_buffer(directory);
    if (leave_call(TRACE_LIBC_READDIR, result) <= 0)
        return NULL;
    const struct fs_dirent *found = (const void *)(directory->buffer + directory->next);
    directory->next += found->length;
    directory->entry.d_ino = (ino_t)found->file;
    directory->entry.d_type = found->type;
    memcpy(directory->entry.d_name, found->name, found->name_length);
    directory->entry.d_name[found->name_length] = '\0';
    return &directory->entry;
}

void rewinddir(DIR *directory)
{
    enter_call(TRACE_LIBC_REWINDDIR, (uint64_t)directory->fd, 0);
    directory->next = directory->end = 0;
    leave_call(TRACE_LIBC_REWINDDIR, lseek(directory->fd, 0, SEEK_SET) < 0 ? -errno : 0);
}

int dirfd(DIR *directory)
{
    return directory->fd;
}

int closedir(DIR *directory)
{
    enter_call(TRACE_LIBC_CLOSEDIR, (uint64_t)directory->fd, 0);
    int result = close(directory->fd);
    free(directory);
    return (int)leave_call(TRACE_LIBC_CLOSEDIR, result < 0 ? -errno : 0);
}
