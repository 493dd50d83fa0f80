/* SPDX-License-Identifier: BSD-2-Clause */
/* content_end.c - see content_end.h. */
#include <endian.h>
#include <string.h>
#include <tools/tarn/source/content_end.h>
#include <trace/format/format.h>

static void put_word(uint8_t *at, bool is_little, uint64_t word)
{
    word = is_little ? htole64(word) : htobe64(word);
    memcpy(at, &word, sizeof(word));
}

size_t put_content_end(uint8_t *at, bool is_little, uint64_t rest, uint64_t time)
{
    put_word(at, is_little, trace_end_word(is_little, time));
    if (rest == 0)
        return 8;
    put_word(at + 8, is_little, trace_filler_word(is_little, rest, time));
    return CONTENT_END_BYTES;
}
