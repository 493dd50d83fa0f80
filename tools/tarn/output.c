/* output.c - files that a subcommand writes; see output.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tools/tarn/output.h>
#include <tools/tarn/tarn.h>
#include <unistd.h>

char *file_read(int directory_fd, const char *name, size_t most, size_t *size)
{
    /* a FIFO must not block here */
    int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;
    bool is_regular, is_read = false;
    struct stat status;
    char *text = NULL;
    if (fd < 0)
        return NULL;
    is_regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    errno = is_regular ? EFBIG : EINVAL;
    if (is_regular && (size_t)status.st_size <= most) {
        *size = (size_t)status.st_size;
        text = alloc_zero(1, *size + 1);
        errno = EIO;
        is_read = read(fd, text, *size) == (ssize_t)*size;
    }
    error = errno;
    close(fd);
    if (!is_read)
        free(text);
    errno = error;
    return is_read ? text : NULL;
}

bool file_read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

bool output_write(int fd, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = write(fd, (const char *)bytes + done, size - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put == 0)
            errno = ENOSPC;
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

bool output_write_file(int directory_fd, const char *name, const void *bytes, size_t size)
{
    int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool is_written = fd >= 0 && output_write(fd, bytes, size);
    int error = errno;
    if (fd >= 0 && close(fd) != 0 && is_written)
        return false;
    errno = error;
    return is_written;
}

bool output_is_there(int fd, const char *path)
{
    struct stat open_one, found;
    if (fstat(fd, &open_one) != 0 || stat(path, &found) != 0)
        return false;
    errno = ESTALE; /* PATH names another file */
    return open_one.st_dev == found.st_dev && open_one.st_ino == found.st_ino;
}

bool output_close(int fd, const char *path)
{
    bool is_there = output_is_there(fd, path);
    int error = errno;
    bool is_closed = close(fd) == 0;
    if (is_closed)
        errno = error;
    return is_there && is_closed;
}
