/*
 * out.h - reads and writes files; fast text output: a large buffer, and number formatting that cannot overrun
 * it.
 *
 * A caller reserves space for what it writes next (out_reserve), writes through plain pointers with put_*
 * functions, which return the new end, and passes the end back (out_commit).
 *
 * Writing to a file that was deleted or replaced succeeds, but nobody can find the result. A caller that
 * reports a file as complete calls output_is_there first.
 */
#pragma once

#include <string.h>
#include <tools/tarn/tarn.h>

/* Returns a regular file of at most MOST bytes, with a NUL behind its SIZE bytes; the caller frees it. NAME
 * is relative to DIRECTORY_FD. NULL: errno; EINVAL: not a regular file, EFBIG: too large. */
char *file_read(int directory_fd, const char *name, size_t most, size_t *size);

/* Reads SIZE bytes. False: there are fewer, or errno. */
bool file_read_at(int fd, void *bytes, size_t size, uint64_t offset);
/* Writes all SIZE bytes. On false, errno is set and never 0. */
bool output_write(int fd, const void *bytes, size_t size);
/* Writes the file NAME of a directory. On false, errno is set. */
bool output_write_file(int directory_fd, const char *name, const void *bytes, size_t size);
/* Whether PATH still names the open file or directory. On false, errno is set. */
bool output_is_there(int fd, const char *path);
/* Closes the file. Returns whether all data was written
 * and PATH still names the file; on false, errno is set. */
bool output_close(int fd, const char *path);

struct out {
    int fd;
    char *bytes;
    size_t used, size;
    /* a write failed: closed pipe, full disk; errno of that */
    bool failed;
    int error;
    /* called before each write, may wait until it is this output's turn; NULL: write at once */
    void (*before_write)(struct out *out);
    void *owner;
};

/* SIZE 0: a default that fits the caches */
void out_open(struct out *out, int fd, size_t size);
bool out_flush(struct out *out);
bool out_close(struct out *out); /* on false, errno is set */
/* Closes the file, too. Returns whether PATH then names all that was written; on false, errno is set. */
bool out_close_file(struct out *out, const char *path);
char *out_reserve(struct out *out, size_t needed);

static inline void out_commit(struct out *out, char *end)
{
    out->used = (size_t)(end - out->bytes);
}

/* the most bytes that a put_ function writes for one number */
#define PUT_NUMBER_MAX 24

extern const char digit_pairs[200];

static inline char *put_bytes(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

static inline char *put_string(char *at, const char *text)
{
    return put_bytes(at, text, strlen(text));
}

static inline unsigned decimal_digits(uint64_t value)
{
    /* clang-format off */
    static const uint64_t powers[20] = {
        0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000,
        100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000,
        100000000000000000, 1000000000000000000, 10000000000000000000u};
    /* clang-format on */
    unsigned guess = (unsigned)(64 - __builtin_clzll(value | 1)) * 1233 >> 12;
    return guess + (value >= powers[guess]);
}

/* Writes exactly DIGITS digits, padded with zeros. */
static inline char *put_padded(char *at, uint64_t value, unsigned digits)
{
    char *end = at + digits;
    for (at = end; digits >= 2; digits -= 2, value /= 100) {
        at -= 2;
        memcpy(at, digit_pairs + value % 100 * 2, 2);
    }
    if (digits != 0)
        at[-1] = (char)('0' + value % 10);
    return end;
}

static inline char *put_nine_digits(char *at, uint32_t value)
{
    const uint32_t high = value / 100000, low = value % 100000;
    memcpy(at, digit_pairs + high / 100 * 2, 2);
    memcpy(at + 2, digit_pairs + high % 100 * 2, 2);
    memcpy(at + 4, digit_pairs + low / 1000 * 2, 2);
    memcpy(at + 6, digit_pairs + low / 10 % 100 * 2, 2);
    at[8] = (char)('0' + low % 10);
    return at + 9;
}

static inline char *put_unsigned(char *at, uint64_t value)
{
    if (value < 10) {
        *at = (char)('0' + value);
        return at + 1;
    }
    if (value < 100) {
        memcpy(at, digit_pairs + value * 2, 2);
        return at + 2;
    }
    return put_padded(at, value, decimal_digits(value));
}

static inline char *put_signed(char *at, int64_t value)
{
    if (value < 0) {
        *at++ = '-';
        return put_unsigned(at, -(uint64_t)value);
    }
    return put_unsigned(at, (uint64_t)value);
}

/* DIGITS is hex_lower or hex_upper. */
extern const char hex_lower[17], hex_upper[17];

static inline char *put_hex(char *at, uint64_t value, const char *digits)
{
    unsigned nibbles = (unsigned)(67 - __builtin_clzll(value | 1)) / 4;
    *at++ = '0';
    *at++ = 'x';
    for (unsigned i = nibbles; i-- > 0; value >>= 4)
        at[i] = digits[value & 15];
    return at + nibbles;
}
