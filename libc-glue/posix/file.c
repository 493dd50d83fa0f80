/*
 * file.c - the table of open files; reading and writing files of all kinds.
 *
 * A descriptor refers to a struct file, which names a server's handle. Offsets are kept by the servers, so
 * that processes that inherit a file share its offset; descriptors made by dup share the struct.
 *
 * Locking: table.lock covers descriptors and reference counts. It is never held during a request to a server.
 * A call that uses a file holds a reference, so that a concurrent close takes effect only after it.
 */
#include "file.h"

#include <fcntl.h>
#include <servers/protocol/console.h>
#include <servers/protocol/fs.h>
#include <servers/protocol/net.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct lock lock;
    struct file *descriptor[FILES_MAX];
    bool close_on_exec[FILES_MAX];
    struct file file[FILES_MAX]; /* unused if it has no references */
} table;

static cap_t server_of(enum file_kind kind)
{
    switch (kind) {
    case FILE_CONSOLE:
        return SLOT_CONSOLE;
    case FILE_FS:
    case FILE_PIPE:
        return SLOT_FS;
    case FILE_SOCKET:
        return SLOT_NET;
    default:
        return 0;
    }
}

/* ---- the table ------------------------------------------------------------------------------------- */

static int64_t close_handle(enum file_kind kind, uint64_t handle)
{
    if (kind == FILE_SOCKET)
        return call_server(SLOT_NET, NET_CLOSE, handle, 0, 0, 0);
    if (kind == FILE_FS || kind == FILE_PIPE)
        return call_server(SLOT_FS, FS_CLOSE, handle, 0, 0, 0);
    return 0;
}

static struct file *new_file_locked(void)
{
    for (int i = 0; i < FILES_MAX; i++)
        if (!table.file[i].references)
            return &table.file[i];
    return NULL;
}

static int free_descriptor_locked(int from)
{
    for (int fd = from; fd < FILES_MAX; fd++)
        if (!table.descriptor[fd])
            return fd;
    return -EMFILE;
}

static void set_descriptor_locked(int fd, struct file *file, bool close_on_exec)
{
    file->references++;
    table.descriptor[fd] = file;
    table.close_on_exec[fd] = close_on_exec;
}

int install_file(enum file_kind kind, uint64_t handle, uint32_t flags, bool close_on_exec, int from)
{
    lock_acquire(&table.lock);
    struct file *file = new_file_locked();
    int fd = file ? free_descriptor_locked(from) : -EMFILE;
    if (fd >= 0) {
        *file = (struct file){.kind = kind, .server = server_of(kind), .handle = handle, .flags = flags};
        set_descriptor_locked(fd, file, close_on_exec);
    }
    lock_release(&table.lock);
    if (fd < 0)
        close_handle(kind, handle);
    return fd;
}

struct file *get_file(int fd)
{
    struct file *file = NULL;
    lock_acquire(&table.lock);
    if (fd >= 0 && fd < FILES_MAX && (file = table.descriptor[fd]))
        file->references++;
    lock_release(&table.lock);
    return file;
}

void put_file(struct file *file)
{
    lock_acquire(&table.lock);
    struct file last = *file;
    file->references--;
    lock_release(&table.lock);
    if (last.references == 1)
        close_handle(last.kind, last.handle);
}

/* Passes the descriptor's reference to the caller. */
static struct file *clear_descriptor(int fd)
{
    struct file *file = NULL;
    lock_acquire(&table.lock);
    if (fd >= 0 && fd < FILES_MAX) {
        file = table.descriptor[fd];
        table.descriptor[fd] = NULL;
    }
    lock_release(&table.lock);
    return file;
}

int next_inherited(int fd, struct startup_fd *entry)
{
    lock_acquire(&table.lock);
    while (fd < FILES_MAX && (!table.descriptor[fd] || table.close_on_exec[fd]))
        fd++;
    if (fd < FILES_MAX) {
        const struct file *file = table.descriptor[fd];
        *entry = (struct startup_fd){.fd = fd,
                                     .kind = file->kind,
                                     .server = file->server,
                                     .flags = file->flags,
                                     .handle = file->handle};
    }
    lock_release(&table.lock);
    return fd < FILES_MAX ? fd : -1;
}

void init_files(const struct startup *startup)
{
    for (uint64_t i = 0; i < startup->fd_count; i++) {
        const struct startup_fd *entry = &startup->fds[i];
        if (entry->fd >= 0 && entry->fd < FILES_MAX && !table.descriptor[entry->fd])
            install_file(entry->kind, entry->handle, entry->flags, false, entry->fd);
    }
    if (startup->fd_count)
        return;
    /* Servers inherit no files: they use the console if it exists, otherwise the kernel log. */
    enum file_kind kind = slot_is_filled(SLOT_CONSOLE) ? FILE_CONSOLE : FILE_DEBUG;
    install_file(kind, 0, O_RDWR, false, 0);
    install_file(kind, 0, O_RDWR, false, 1);
    install_file(kind, 0, O_RDWR, false, 2);
}

/* ---- reading and writing --------------------------------------------------------------------------- */

/* `argument`: the offset of a file, the NET_* flags of a socket. */
static int64_t transfer_piece(const struct file *file, bool writes, uint64_t span, uint64_t argument)
{
    switch (file->kind) {
    case FILE_CONSOLE:
        return writes ? call_server(SLOT_CONSOLE, CONSOLE_WRITE, span, 0, 0, 0)
                      : call_server(SLOT_CONSOLE, CONSOLE_READ, span,
                                    file->flags & O_NONBLOCK ? CONSOLE_NO_WAIT : 0, 0, 0);
    case FILE_SOCKET:
        return call_server(SLOT_NET, writes ? NET_SEND : NET_RECEIVE, file->handle, span, argument, 0);
    default:
        return call_server(SLOT_FS, writes ? FS_WRITE : FS_READ, file->handle, span, argument, 0);
    }
}

/* Only files are read further after a full buffer; other kinds might block although data have been read. */
int64_t transfer_bytes(const struct file *file, bool writes, void *buffer, size_t size, uint64_t argument)
{
    struct shared_buffer shared;
    size_t part;
    int64_t count = borrow_buffer(file->server, &shared), done = 0;
    if (count < 0)
        return count;
    do {
        part = buffer_part(size - (size_t)done);
        if (writes)
            memcpy(shared.base, (char *)buffer + done, part);
        count = transfer_piece(file, writes, buffer_span(&shared, 0, part), argument);
        if (count <= 0)
            break;
        if (!writes)
            memcpy((char *)buffer + done, shared.base, (size_t)count);
        done += count;
        if (file->kind == FILE_FS && argument != FS_HERE)
            argument += (uint64_t)count;
    } while ((size_t)done < size && (writes || (file->kind == FILE_FS && (size_t)count == part)));
    return_buffer(&shared);
    return done ? done : count;
}

static int64_t transfer_file(const struct file *file, bool writes, void *buffer, size_t size, uint64_t offset)
{
    if ((file->flags & O_ACCMODE) == (writes ? O_RDONLY : O_WRONLY))
        return -EBADF;
    switch (file->kind) {
    case FILE_SOCKET:
        return transfer_bytes(file, writes, buffer, size, 0);
    case FILE_DEBUG:
        return writes ? errno_of(sys_debug_write(buffer, size)) : 0;
    case FILE_NULL:
        return writes ? (int64_t)size : 0;
    default:
        return size ? transfer_bytes(file, writes, buffer, size, offset) : 0;
    }
}

static int64_t transfer(int fd, bool writes, void *buffer, size_t size, uint64_t offset)
{
    return WITH_FILE(fd, file, transfer_file(file, writes, buffer, size, offset));
}

ssize_t read(int fd, void *buffer, size_t size)
{
    return LIBC_CALL(READ, fd, size, transfer(fd, false, buffer, size, FS_HERE));
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    return LIBC_CALL(WRITE, fd, size, transfer(fd, true, (void *)buffer, size, FS_HERE));
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    return LIBC_CALL(READ, fd, size,
                     offset < 0 ? -EINVAL : transfer(fd, false, buffer, size, (uint64_t)offset));
}

ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
    return LIBC_CALL(WRITE, fd, size,
                     offset < 0 ? -EINVAL : transfer(fd, true, (void *)buffer, size, (uint64_t)offset));
}

/* ---- descriptors ----------------------------------------------------------------------------------- */

int close(int fd)
{
    enter_call(TRACE_LIBC_CLOSE, (uint64_t)fd, 0);
    struct file *file = clear_descriptor(fd);
    if (file)
        put_file(file);
    return (int)leave_call(TRACE_LIBC_CLOSE, file ? 0 : -EBADF);
}

static int64_t duplicate(struct file *file, int from, bool close_on_exec)
{
    lock_acquire(&table.lock);
    int copy = from >= 0 && from < FILES_MAX ? free_descriptor_locked(from) : -EINVAL;
    if (copy >= 0)
        set_descriptor_locked(copy, file, close_on_exec);
    lock_release(&table.lock);
    return copy;
}

static int64_t duplicate_to(struct file *file, int fd, int to)
{
    struct file *old = NULL;
    if (to < 0 || to >= FILES_MAX)
        return -EBADF;
    if (to != fd) {
        lock_acquire(&table.lock);
        old = table.descriptor[to];
        set_descriptor_locked(to, file, false);
        lock_release(&table.lock);
    }
    if (old)
        put_file(old);
    return to;
}

int dup(int fd)
{
    return (int)LIBC_CALL(DUP2, fd, ~0ull, WITH_FILE(fd, file, duplicate(file, 0, false)));
}

int dup2(int fd, int to)
{
    return (int)LIBC_CALL(DUP2, fd, to, WITH_FILE(fd, file, duplicate_to(file, fd, to)));
}

static int64_t make_pipe(int fds[2], uint32_t flags)
{
    struct ipc_message message = {.label = FS_PIPE, .word = {flags & O_NONBLOCK}};
    int64_t result = call_server_message(SLOT_FS, &message);
    if (result < 0)
        return result;
    bool close_on_exec = flags & O_CLOEXEC;
    uint32_t kept = flags & O_NONBLOCK;
    int from = install_file(FILE_PIPE, message.word[0], O_RDONLY | kept, close_on_exec, 0);
    int to = install_file(FILE_PIPE, message.word[1], O_WRONLY | kept, close_on_exec, 0);
    if (from < 0 || to < 0) {
        close(from);
        close(to);
        return -EMFILE;
    }
    fds[0] = from;
    fds[1] = to;
    return 0;
}

int pipe2(int fds[2], int flags)
{
    return (int)LIBC_CALL(PIPE, flags, 0, make_pipe(fds, (uint32_t)flags));
}

int pipe(int fds[2])
{
    return pipe2(fds, 0);
}

/* ---- flags ----------------------------------------------------------------------------------------- */

/* O_APPEND and O_NONBLOCK belong to the open file, so the server keeps them. `file->flags` is a copy of those
 * that this library tests. */
static int64_t set_flags(struct file *file, uint32_t flags)
{
    flags &= O_APPEND | O_NONBLOCK;
    int64_t result = 0;
    if (file->kind == FILE_FS || file->kind == FILE_PIPE)
        result = call_server(SLOT_FS, FS_SET_FLAGS, file->handle, flags, 0, 0);
    else if (file->kind == FILE_SOCKET)
        result = call_server(SLOT_NET, NET_SET_FLAGS, file->handle, flags & O_NONBLOCK, 0, 0);
    if (result >= 0)
        file->flags = (file->flags & ~(uint32_t)(O_APPEND | O_NONBLOCK)) | flags;
    return result;
}

static int64_t control_file(int fd, struct file *file, int command, int argument)
{
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return duplicate(file, argument, command == F_DUPFD_CLOEXEC);
    case F_GETFD:
        return table.close_on_exec[fd] ? FD_CLOEXEC : 0;
    case F_SETFD:
        table.close_on_exec[fd] = argument & FD_CLOEXEC;
        return 0;
    case F_GETFL:
        return file->flags;
    case F_SETFL:
        return set_flags(file, (uint32_t)argument);
    default:
        return -EINVAL;
    }
}

int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    int argument = va_arg(arguments, int);
    va_end(arguments);
    return (int)LIBC_CALL(FCNTL, fd, command, WITH_FILE(fd, file, control_file(fd, file, command, argument)));
}
