/* seek.c - calls on open files that transfer no data. */
#include "file.h"

#include <fcntl.h>
#include <servers/protocol/fs.h>
#include <unistd.h>

/* Makes a request about the file of a descriptor. Returns
 * `otherwise` if the file system does not own the file. */
static int64_t call_descriptor(int fd, uint64_t label, uint64_t a, uint64_t b, int64_t otherwise)
{
    return WITH_FILE(fd, file,
                     file->kind == FILE_FS ? call_server(SLOT_FS, label, file->handle, a, b, 0) : otherwise);
}

off_t lseek(int fd, off_t offset, int whence)
{
    return LIBC_CALL(LSEEK, fd, offset,
                     call_descriptor(fd, FS_SEEK, (uint64_t)offset, (uint64_t)whence, -ESPIPE));
}

int ftruncate(int fd, off_t size)
{
    return (int)LIBC_CALL(FTRUNCATE, fd, size,
                          size < 0 ? -EINVAL : call_descriptor(fd, FS_FTRUNCATE, (uint64_t)size, 0, -EINVAL));
}

/* Files are in memory, so there is nothing to write back. */
int fsync(int fd)
{
    return (int)LIBC_CALL(FSYNC, fd, 0, WITH_FILE(fd, file, 0));
}

int fdatasync(int fd)
{
    return fsync(fd);
}
