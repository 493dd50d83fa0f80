/* arch/ppc64/user/memory.c - memcpy and memmove instead of newlib's, which copy bytes unless both addresses
 * are aligned; network frames rarely are. The CPU accesses words at any address. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TURN 32 /* bytes; all are loaded before any is stored, so that ranges may overlap */

typedef uint64_t __attribute__((may_alias, aligned(1))) word_t;

static inline void copy_turn(char *to, const char *from)
{
    word_t a = ((const word_t *)from)[0], b = ((const word_t *)from)[1];
    word_t c = ((const word_t *)from)[2], d = ((const word_t *)from)[3];
    ((word_t *)to)[0] = a;
    ((word_t *)to)[1] = b;
    ((word_t *)to)[2] = c;
    ((word_t *)to)[3] = d;
}

/* Copies from the low end: correct if `to` is below `from`, or the ranges do not overlap. */
static inline void copy_up(char *to, const char *from, size_t size)
{
    for (; size >= TURN; size -= TURN, to += TURN, from += TURN)
        copy_turn(to, from);
    for (; size >= sizeof(word_t); size -= sizeof(word_t), to += sizeof(word_t), from += sizeof(word_t))
        *(word_t *)to = *(const word_t *)from;
    while (size--)
        *to++ = *from++;
}

static void copy_down(char *to, const char *from, size_t size)
{
    for (; size >= TURN; size -= TURN)
        copy_turn(to + size - TURN, from + size - TURN);
    for (; size >= sizeof(word_t); size -= sizeof(word_t))
        *(word_t *)(to + size - sizeof(word_t)) = *(const word_t *)(from + size - sizeof(word_t));
    while (size--)
        to[size] = from[size];
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    copy_up(to, from, size);
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    if ((uintptr_t)to - (uintptr_t)from >= size) /* below, or after the end */
        copy_up(to, from, size);
    else
        copy_down(to, from, size);
    return to;
}
