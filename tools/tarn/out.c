/* out.c - buffered output; see out.h. */
#include <errno.h>
#include <stdlib.h>
#include <tools/tarn/out.h>
#include <tools/tarn/output.h>
#include <unistd.h>

#define OUT_BYTES (256u << 10) /* fits the second-level cache */

const char hex_lower[17] = "0123456789abcdef", hex_upper[17] = "0123456789ABCDEF";
const char digit_pairs[200] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940"
    "4142434445464748495051525354555657585960616263646566676869707172737475767778798081"
    "828384858687888990919293949596979899";

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
    for (size_t done = 0; done < out->used && !out->failed;) {
        ssize_t put = write(out->fd, out->bytes + done, out->used - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            out->failed = true;
            out->error = errno;
        } else {
            done += (size_t)put;
        }
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
