/*
 * path.c - calls with paths, and the working directory.
 *
 * The file system expects absolute paths and resolves "." and ".." itself. /dev/null, /dev/tty and
 * /dev/console are handled here.
 */
#include "file.h"

#include <fcntl.h>
#include <servers/protocol/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utime.h>
#include <unistd.h>

static struct {
    struct lock lock;
    uint32_t length;
    char path[FS_PATH_MAX]; /* absolute; under lock */
} working = {.length = 1, .path = "/"};

void init_working_directory(const char *path)
{
    size_t length = path ? strnlen(path, FS_PATH_MAX) : 0;
    if (length == 0 || length >= FS_PATH_MAX || path[0] != '/')
        return;
    memcpy(working.path, path, length + 1);
    working.length = (uint32_t)length;
}

/* Writes the absolute path, without a NUL. Returns its length or a negative errno. */
static int64_t make_absolute(char *out, const char *path)
{
    size_t length = strnlen(path, FS_PATH_MAX), before = 0;
    if (!length)
        return -ENOENT;
    if (path[0] != '/') {
        lock_acquire(&working.lock);
        before = working.length;
        memcpy(out, working.path, before);
        lock_release(&working.lock);
        out[before++] = '/';
    }
    if (before + length > FS_PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(out + before, path, length);
    return (int64_t)(before + length);
}

static int64_t put_path(const struct shared_buffer *shared, uint64_t offset, const char *path, uint64_t *span)
{
    int64_t length = make_absolute(shared->base + offset, path);
    *span = buffer_span(shared, offset, length < 0 ? 0 : (uint64_t)length);
    return length;
}

/* Makes a request whose first word is the span of a path, and the second one that of another, unless NULL. */
static int64_t call_paths(struct ipc_message *message, const char *first, const char *second)
{
    struct shared_buffer shared;
    int64_t result = borrow_buffer(SLOT_FS, &shared);
    if (result < 0)
        return result;
    result = put_path(&shared, 0, first, &message->word[0]);
    if (result >= 0 && second)
        result = put_path(&shared, FS_PATH_MAX, second, &message->word[1]);
    if (result >= 0)
        result = call_server_message(SLOT_FS, message);
    return_buffer(&shared);
    return result;
}

static int64_t call_path(uint64_t label, const char *path, uint64_t a, uint64_t b)
{
    return call_paths(&(struct ipc_message){.label = label, .word = {0, a, b}}, path, NULL);
}

/* Stores the absolute path without "." and "..", as the file system sees it. Returns its length or a negative
 * errno. */
static int64_t resolve_path(const char *path, uint64_t flags, char resolved[FS_PATH_MAX])
{
    struct shared_buffer shared;
    uint64_t span;
    int64_t result = borrow_buffer(SLOT_FS, &shared);
    if (result < 0)
        return result;
    result = put_path(&shared, 0, path, &span);
    if (result >= 0)
        result = call_server(SLOT_FS, FS_REALPATH, span, buffer_span(&shared, FS_PATH_MAX, FS_PATH_MAX - 1),
                             flags, 0);
    if (result >= 0) {
        memcpy(resolved, shared.base + FS_PATH_MAX, (size_t)result);
        resolved[result] = '\0';
    }
    return_buffer(&shared);
    return result;
}

/* ---- open ------------------------------------------------------------------------------------------ */

static enum file_kind device_kind(const char *path)
{
    if (!strcmp(path, "/dev/null"))
        return FILE_NULL;
    if (!strcmp(path, "/dev/tty") || !strcmp(path, "/dev/console"))
        return FILE_CONSOLE;
    return FILE_NONE;
}

static int64_t open_path(const char *path, uint32_t flags, mode_t mode)
{
    enum file_kind kind = device_kind(path);
    int64_t handle = 0;
    if (kind == FILE_NONE) {
        kind = FILE_FS;
        handle = call_path(FS_OPEN, path, flags & ~(uint32_t)O_CLOEXEC, mode);
        if (handle < 0)
            return handle;
    }
    return install_file(kind, (uint64_t)handle, flags & ~(uint32_t)O_CLOEXEC, flags & O_CLOEXEC, 0);
}

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    return (int)LIBC_PATH_CALL(OPEN, path, flags, mode, open_path(path, (uint32_t)flags, mode));
}

int creat(const char *path, mode_t mode)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

/* ---- attributes ------------------------------------------------------------------------------------ */

static void fill_stat(struct stat *out, const uint64_t word[4])
{
    memset(out, 0, sizeof(*out));
    out->st_ino = (ino_t)word[0];
    out->st_size = (off_t)word[1];
    out->st_mode = (mode_t)(uint32_t)word[2];
    out->st_nlink = (nlink_t)(word[2] >> 32);
    int64_t changed = (int64_t)word[3] + clock_realtime_offset();
    out->st_mtim.tv_sec = changed / 1000000000;
    out->st_mtim.tv_nsec = changed % 1000000000;
    out->st_atim = out->st_ctim = out->st_mtim;
    out->st_blksize = 4096;
    out->st_blocks = (blkcnt_t)((word[1] + 511) / 512);
}

static void fill_device_stat(struct stat *out, mode_t type)
{
    const uint64_t word[4] = {0, 0, type | 0666 | 1ull << 32, 0};
    fill_stat(out, word);
}

static int64_t stat_path(const char *path, struct stat *out)
{
    if (device_kind(path) != FILE_NONE) {
        fill_device_stat(out, S_IFCHR);
        return 0;
    }
    struct ipc_message message = {.label = FS_STAT};
    int64_t result = call_paths(&message, path, NULL);
    if (result >= 0)
        fill_stat(out, message.word);
    return result < 0 ? result : 0;
}

static int64_t stat_file(struct file *file, struct stat *out)
{
    if (file->kind != FILE_FS && file->kind != FILE_PIPE) {
        fill_device_stat(out, file->kind == FILE_SOCKET ? S_IFSOCK : S_IFCHR);
        return 0;
    }
    struct ipc_message message = {.label = FS_FSTAT, .word = {file->handle}};
    int64_t result = call_server_message(SLOT_FS, &message);
    if (result >= 0)
        fill_stat(out, message.word);
    return result < 0 ? result : 0;
}

int stat(const char *restrict path, struct stat *restrict out)
{
    return (int)LIBC_PATH_CALL(STAT, path, path, 0, stat_path(path, out));
}

int lstat(const char *restrict path, struct stat *restrict out);
int lstat(const char *restrict path, struct stat *restrict out) /* there are no symbolic links */
{
    return stat(path, out);
}

int fstat(int fd, struct stat *out)
{
    return (int)LIBC_CALL(FSTAT, fd, 0, WITH_FILE(fd, file, stat_file(file, out)));
}

/* There are no users: every existing file may be read and written. X_OK tests for any x bit. */
static int64_t access_path(const char *path, int mode)
{
    struct stat attributes;
    int64_t result = stat_path(path, &attributes);
    if (result < 0)
        return result;
    return (mode & X_OK) && !(attributes.st_mode & 0111) ? -EACCES : 0;
}

int access(const char *path, int mode)
{
    return (int)LIBC_PATH_CALL(ACCESS, path, path, mode, access_path(path, mode));
}

/* ---- creating, removing, renaming ------------------------------------------------------------------ */

int mkdir(const char *path, mode_t mode)
{
    return (int)LIBC_PATH_CALL(MKDIR, path, path, mode, call_path(FS_MKDIR, path, mode, 0));
}

int rmdir(const char *path)
{
    return (int)LIBC_PATH_CALL(RMDIR, path, path, 0, call_path(FS_RMDIR, path, 0, 0));
}

int unlink(const char *path)
{
    return (int)LIBC_PATH_CALL(UNLINK, path, path, 0, call_path(FS_UNLINK, path, 0, 0));
}

int rename(const char *from, const char *to)
{
    enter_call(TRACE_LIBC_RENAME, (uint64_t)from, (uint64_t)to);
    name_path(TRACE_LIBC_RENAME, from);
    name_path(TRACE_LIBC_RENAME, to);
    return (int)leave_call(TRACE_LIBC_RENAME,
                           call_paths(&(struct ipc_message){.label = FS_RENAME}, from, to));
}

int link(const char *from, const char *to)
{
    return (int)LIBC_PATH_CALL(LINK, to, from, to,
                               call_paths(&(struct ipc_message){.label = FS_LINK}, from, to));
}

int truncate(const char *path, off_t size)
{
    return (int)LIBC_PATH_CALL(TRUNCATE, path, path, size,
                               size < 0 ? -EINVAL : call_path(FS_TRUNCATE, path, (uint64_t)size, 0));
}

int utime(const char *path, const struct utimbuf *times);
int utime(const char *path, const struct utimbuf *times)
{
    int64_t ns = ~0ll;
    if (times)
        ns = (int64_t)times->modtime * 1000000000 - clock_realtime_offset();
    return (int)set_errno(call_path(FS_SET_TIME, path, (uint64_t)ns, 0));
}

/* ---- the working directory ------------------------------------------------------------------------- */

static int64_t change_directory(const char *path)
{
    char resolved[FS_PATH_MAX];
    int64_t length = resolve_path(path, FS_REALPATH_DIRECTORY, resolved);
    if (length < 0)
        return length;
    lock_acquire(&working.lock);
    memcpy(working.path, resolved, (size_t)length + 1);
    working.length = (uint32_t)length;
    lock_release(&working.lock);
    return 0;
}

int chdir(const char *path)
{
    return (int)LIBC_PATH_CALL(CHDIR, path, path, 0, change_directory(path));
}

char *getcwd(char *buffer, size_t size)
{
    enter_call(TRACE_LIBC_GETCWD, (uint64_t)buffer, size);
    bool own = !buffer;
    if (own)
        buffer = malloc(size = FS_PATH_MAX);
    int64_t result = buffer ? -ERANGE : -ENOMEM;
    lock_acquire(&working.lock);
    if (buffer && working.length < size) {
        memcpy(buffer, working.path, working.length + 1);
        result = working.length;
    }
    lock_release(&working.lock);
    return leave_call(TRACE_LIBC_GETCWD, result) < 0 ? NULL : buffer;
}

char *realpath(const char *restrict path, char *restrict out)
{
    char resolved[FS_PATH_MAX];
    int64_t length = resolve_path(path, 0, resolved);
    if (length >= 0 && !out && !(out = malloc(FS_PATH_MAX)))
        length = -ENOMEM;
    return set_errno(length) < 0 ? NULL : memcpy(out, resolved, (size_t)length + 1);
}
