/* SPDX-License-Identifier: BSD-2-Clause */
/* content_end.c - see content_end.h. */
#include <endian.h>
#include <string.h>
#include <tools/tarn/source/content_end.h>
#include <trace/format/format.h>

static void put_header(uint8_t *at, bool is_little, uint32_t minor, uint64_t words, uint64_t time)
{
    const uint64_t id = TRACE_ID(TRACE_CLASS_TRACE, minor), stamp = (uint32_t)time;
    const uint64_t word =
        is_little ? htole64(stamp << 32 | words << 22 | id) : htobe64(id << 42 | words << 32 | stamp);

    memcpy(at, &word, sizeof(word));
}

size_t put_content_end(uint8_t *at, bool is_little, uint64_t rest, uint64_t time)
{
    put_header(at, is_little, TRACE_MINOR_END, 1, time);
    if (rest == 0)
        return 8;
    put_header(at + 8, is_little, TRACE_MINOR_FILLER, rest <= TRACE_LENGTH_MAX ? rest : 0, time);
    return CONTENT_END_BYTES;
}
