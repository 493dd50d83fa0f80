/* trace/format/crc.h - CRC-32C (Castagnoli, reflected, start and end inverted), bit by bit, for small data.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TRACE_CRC_POLYNOMIAL 0x82f63b78u /* bit-reversed */

/* Continues `crc`. Begin with ~0; invert the final result. */
static inline uint32_t trace_crc_add(uint32_t crc, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (; size > 0; size--) {
        crc ^= *at++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? TRACE_CRC_POLYNOMIAL : 0);
    }
    return crc;
}
