/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/virtio/registers.h - registers of PCI devices, mapped uncached: little-endian whatever the
 * processor is, and accessed in the order of the program.
 *
 * On powerpc64 not even uncached accesses keep their order by themselves: a load may overtake a store to
 * another register, and no release or acquire orders memory against registers; only the full fence does. So a
 * store to a register comes after everything before it, and a load before everything behind it.
 */
#ifndef VIRTIO_REGISTERS_H
#define VIRTIO_REGISTERS_H

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

#define REGISTER_WIDTH(bits, convert)                                                                 \
    static inline uint##bits##_t register_read##bits(const volatile uint##bits##_t *place)            \
    {                                                                                                 \
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* earlier stores to registers take effect first */  \
        uint##bits##_t value = *place;                                                                \
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* what we read next is from after */                \
        return convert(value);                                                                        \
    }                                                                                                 \
    static inline void register_write##bits(volatile uint##bits##_t *place, uint##bits##_t value)     \
    {                                                                                                 \
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* the device sees what we wrote to memory before */ \
        *place = convert(value);                                                                      \
    }

REGISTER_WIDTH(8, (uint8_t))
REGISTER_WIDTH(16, le16)
REGISTER_WIDTH(32, le32)

#undef REGISTER_WIDTH
#endif
