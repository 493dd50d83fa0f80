/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/gen/hash.c - computes a schema's UUID: SHA-1 (FIPS 180-4) of its canonical text, cut and marked as an
 * RFC 4122 version 5 UUID.
 *
 * The canonical text is the events' part of the metadata: the UUID changes when the layout of bytes changes,
 * not when a description does.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

struct sha1 {
    uint32_t state[5];
    uint64_t bytes;
    uint8_t block[64];
};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static void mix_block(struct sha1 *s)
{
    uint32_t w[80], a = s->state[0], b = s->state[1], c = s->state[2], d = s->state[3], e = s->state[4];
    for (unsigned i = 0; i < 16; i++)
        w[i] = (uint32_t)s->block[4 * i] << 24 | s->block[4 * i + 1] << 16 | s->block[4 * i + 2] << 8 |
               s->block[4 * i + 3];
    for (unsigned i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (unsigned i = 0; i < 80; i++) {
        uint32_t f, k;
        if (i < 20)
            f = (b & c) | (~b & d), k = 0x5a827999;
        else if (i < 40)
            f = b ^ c ^ d, k = 0x6ed9eba1;
        else if (i < 60)
            f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
        else
            f = b ^ c ^ d, k = 0xca62c1d6;
        uint32_t t = rotate(a, 5) + f + e + k + w[i];
        e = d, d = c, c = rotate(b, 30), b = a, a = t;
    }
    s->state[0] += a, s->state[1] += b, s->state[2] += c, s->state[3] += d, s->state[4] += e;
}

static void add_bytes(struct sha1 *s, const void *data, size_t count)
{
    for (const uint8_t *p = data; count--; p++) {
        s->block[s->bytes++ % 64] = *p;
        if (s->bytes % 64 == 0)
            mix_block(s);
    }
}

static void finish_sha1(struct sha1 *s, uint8_t digest[20])
{
    uint64_t bits = s->bytes * 8;
    add_bytes(s, "\x80", 1);
    while (s->bytes % 64 != 56)
        add_bytes(s, "", 1);
    for (int i = 7; i >= 0; i--)
        add_bytes(s, &(uint8_t){bits >> (8 * i)}, 1);
    for (unsigned i = 0; i < 20; i++)
        digest[i] = s->state[i / 4] >> (24 - 8 * (i % 4));
}

void hash_schema(struct schema *schema)
{
    char *text;
    size_t length;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        abort();
    emit_events_tsdl(memory, schema);
    fclose(memory);
    struct sha1 s = {.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
    uint8_t digest[20];
    add_bytes(&s, text, length);
    finish_sha1(&s, digest);
    memcpy(schema->uuid, digest, 16);
    schema->uuid[6] = (schema->uuid[6] & 0x0f) | 0x50;
    schema->uuid[8] = (schema->uuid[8] & 0x3f) | 0x80;
    free(text);
}

void format_uuid(char out[37], const uint8_t uuid[16])
{
    for (unsigned i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        snprintf(out, 3, "%02x", uuid[i]);
        out += 2;
    }
}
