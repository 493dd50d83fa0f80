/*
 * registers.h - accesses to device registers, mapped uncached: little-endian, in program order.
 *
 * On powerpc64 even uncached accesses are not ordered by themselves: a load may overtake a store to another
 * register, and release or acquire do not order memory against registers. Only a full fence does. So a
 * register store comes after all earlier accesses, and a register load before all later ones.
 */
#pragma once

#include <stdint.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define le16(x) __builtin_bswap16(x)
#define le32(x) __builtin_bswap32(x)
#define le64(x) __builtin_bswap64(x)
#else
#define le16(x) ((uint16_t)(x))
#define le32(x) ((uint32_t)(x))
#define le64(x) ((uint64_t)(x))
#endif

#define REGISTER_WIDTH(bits, convert)                                                               \
    static inline uint##bits##_t register_read##bits(const volatile uint##bits##_t *place)          \
    {                                                                                               \
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* earlier register stores take effect first */    \
        uint##bits##_t value = *place;                                                              \
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* later reads see newer values */                 \
        return convert(value);                                                                      \
    }                                                                                               \
    static inline void register_write##bits(volatile uint##bits##_t *place, uint##bits##_t value)   \
    {                                                                                               \
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* the device sees our earlier writes to memory */ \
        *place = convert(value);                                                                    \
    }

REGISTER_WIDTH(8, (uint8_t))
REGISTER_WIDTH(16, le16)
REGISTER_WIDTH(32, le32)

#undef REGISTER_WIDTH
