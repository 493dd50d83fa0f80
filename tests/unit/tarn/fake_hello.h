/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_hello.h - what a made-up guest says first. */
#ifndef TESTS_UNIT_TARN_FAKE_HELLO_H
#define TESTS_UNIT_TARN_FAKE_HELLO_H

#include <stdio.h>
#include <string.h>
#include <trace/format/wire.h>

static inline struct wire_hello fake_hello(const char *machine, bool big_endian, uint32_t cpu_count,
                                           uint32_t buffer_bytes, const uint8_t uuid[16])
{
    struct wire_hello hello = {.version = WIRE_VERSION,
                               .byte_order = big_endian ? 2 : 1,
                               .cpu_count = cpu_count,
                               .mode = 1,
                               .buffer_bytes = buffer_bytes,
                               .buffer_count = 16,
                               .clock_hz = 1000000000,
                               .mask = ~0ull,
                               .boot_id = 42};
    memcpy(hello.uuid, uuid, 16);
    snprintf(hello.machine, sizeof(hello.machine), "%s", machine);
    return hello;
}

#endif
