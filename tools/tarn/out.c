/* out.c - files and buffered output; see out.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tools/tarn/out.h>
#include <unistd.h>

#define OUT_BYTES (256u << 10) /* fits the second-level cache */

const char hex_lower[17] = "0123456789abcdef", hex_upper[17] = "0123456789ABCDEF";
const char digit_pairs[200] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940"
    "4142434445464748495051525354555657585960616263646566676869707172737475767778798081"
    "828384858687888990919293949596979899";

char *file_read(int directory_fd, const char *name, size_t most, size_t *size)
{
    /* a FIFO must not block here */
    int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = EINVAL;
    struct stat status;
    char *text = NULL;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        *size = (size_t)status.st_size;
        error = *size > most ? EFBIG : EIO;
    }
    if (error == EIO) {
        text = alloc_zero(1, *size + 1);
        error = file_read_at(fd, text, *size, 0) ? 0 : EIO;
    }
    close(fd);
    if (error == 0)
        return text;
    free(text);
    errno = error;
    return NULL;
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

void out_open(struct out *out, int fd, size_t size)
{
    memset(out, 0, sizeof(*out));
    out->fd = fd;
    out->size = size ? size : OUT_BYTES;
    out->bytes = alloc_zero(1, out->size);
}

bool out_flush(struct out *out)
{
    if (out->before_write != NULL && out->used > 0)
        out->before_write(out);
    if (!out->failed && !output_write(out->fd, out->bytes, out->used)) {
        out->failed = true;
        out->error = errno;
    }
    out->used = 0;
    return !out->failed;
}

char *out_reserve(struct out *out, size_t needed)
{
    if (out->size - out->used < needed) {
        out_flush(out);
        if (out->size < needed) {
            out->size = needed;
            out->bytes = alloc_more(out->bytes, needed, 1);
        }
    }
    return out->bytes + out->used;
}

bool out_close(struct out *out)
{
    bool ok = out_flush(out);
    free(out->bytes);
    out->bytes = NULL;
    errno = out->error;
    return ok;
}

bool out_close_file(struct out *out, const char *path)
{
    bool is_written = out_close(out);
    int error = errno;
    bool is_there = output_close(out->fd, path);
    if (!is_written)
        errno = error;
    return is_written && is_there;
}
