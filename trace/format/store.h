/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/format/store.h - where the trace lies in physical memory, for readers from outside: of a memory dump,
 * of a stopped machine, of memory that host and guest share; and for the kernel that comes after a reset.
 *
 * A store is a contiguous block of page frames that begins with struct trace_store. It is found by looking at
 * the first words of every frame of RAM, so nobody needs symbols, page tables or the kernel's image. It names
 * the frames of every processor's window (layout.h) and of the texts that belong to the trace, and repeats
 * what stands in the info page, which a reset and a reload destroy. All in the byte order of the machine; the
 * magic tells which.
 *
 * The kernel changes a store seldom (a ring grows, an application registers events, a panic): it makes
 * `changes` odd, changes, computes the checksum, makes it even. Who reads a live store copies it, and then
 * looks whether `changes` is even and what it was.
 *
 * What the rings hold is not covered by the checksum: packets are validated as everywhere (FORMAT.md), and
 * the index of a ring is only a hint after a crash.
 */
#ifndef TRACE_STORE_H
#define TRACE_STORE_H

#include <stdint.h>
#include <trace/format/layout.h>

#define TRACE_STORE_MAGIC     0x5461726e53746f72ull /* "TarnStor" */
#define TRACE_STORE_VERSION   1u
#define TRACE_STORE_BYTES_MAX (1u << 20)

enum trace_extent_kind {
    TRACE_EXTENT_WINDOW = 1, /* pages of processor `number`'s window; offset: bytes from the window's start */
    TRACE_EXTENT_METADATA =
        2, /* TSDL text of application class `number`; offset: bytes from the text's start */
};

/* A piece of physical memory. */
struct trace_extent {
    uint64_t physical; /* address; page aligned for windows */
    uint64_t offset;
    uint64_t bytes;
    uint32_t kind;   /* enum trace_extent_kind */
    uint32_t number; /* processor or class */
};

enum trace_store_end {                          /* how the system that wrote it ended */
                       TRACE_STORE_RUNNING = 0, /* it did not say: it runs, or was reset */
                       TRACE_STORE_PANIC = 1,
                       TRACE_STORE_SHUTDOWN = 2, /* in order */
};

struct trace_store {
    uint64_t magic;
    uint64_t self;    /* physical address of this: a copy somewhere else is not the store */
    uint64_t changes; /* odd while it is being changed */
    uint32_t version;
    uint32_t checksum; /* CRC-32C of the first `bytes` bytes, taken with this field and `changes` 0 */
    uint32_t bytes;    /* of the store: this and the extents */
    uint32_t extent_count;
    uint64_t boot_id; /* differs from boot to boot */
    uint64_t info;    /* physical address of the info page, for who reads a running system */
    /* As in the info page and HELLO (wire.h). */
    uint32_t cpu_count;
    uint32_t generation;
    uint32_t mode;
    uint32_t end; /* enum trace_store_end */
    uint64_t buffer_bytes, buffer_count;
    uint64_t clock_hz;
    int64_t clock_offset_ns;
    uint8_t uuid[16];
    char machine[16]; /* "x86_64", "ppc64"; NUL padded */
    char reason[128]; /* why it ended: the first line of a panic; NUL padded */
    struct trace_extent extents[];
};

#endif
