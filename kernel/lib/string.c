/* string.c - the memory functions that freestanding C needs. They copy and fill words where they can. */
#include <kernel/kernel.h>

#define SET_TURN 256 /* bytes per turn of memset, which mostly fills whole pages */

typedef uint64_t __attribute__((may_alias, aligned(1))) word_t;

void *memcpy(void *to, const void *from, size_t size)
{
    char *d = to;
    const char *s = from;
    for (; size >= 32; size -= 32, d += 32, s += 32) {
        word_t a = ((const word_t *)s)[0], b = ((const word_t *)s)[1];
        word_t c = ((const word_t *)s)[2], e = ((const word_t *)s)[3];
        ((word_t *)d)[0] = a;
        ((word_t *)d)[1] = b;
        ((word_t *)d)[2] = c;
        ((word_t *)d)[3] = e;
    }
    for (; size >= 8; size -= 8, d += 8, s += 8)
        *(word_t *)d = *(const word_t *)s;
    while (size--)
        *d++ = *s++;
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    char *d = to;
    const char *s = from;
    if (d <= s || d >= s + size)
        return memcpy(to, from, size);
    while (size--)
        d[size] = s[size];
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    char *d = to;
    word_t word = (uint8_t)byte * 0x0101010101010101ull;
    for (; size >= SET_TURN; size -= SET_TURN, d += SET_TURN) {
#pragma GCC unroll 32
        for (unsigned i = 0; i < SET_TURN / sizeof(word_t); i++)
            ((word_t *)d)[i] = word;
    }
    for (; size >= 32; size -= 32, d += 32) {
        ((word_t *)d)[0] = word;
        ((word_t *)d)[1] = word;
        ((word_t *)d)[2] = word;
        ((word_t *)d)[3] = word;
    }
    while (size--)
        *d++ = (char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const uint8_t *x = a, *y = b;
    for (size_t i = 0; i < size; i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

size_t strlen(const char *s)
{
    size_t length = 0;
    while (s[length])
        length++;
    return length;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (uint8_t)*a - (uint8_t)*b;
}
