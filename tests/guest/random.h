/* random.h - random numbers of tests; they depend only on the seed. */
#pragma once

#include <stdint.h>

/* 31 bits. */
static inline uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

/* 64 bits, of a seed that is not 0. */
static inline uint64_t child_random(uint64_t *state)
{
    *state ^= *state << 13; /* Marsaglia's xorshift */
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
