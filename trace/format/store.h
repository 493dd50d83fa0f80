/*
 * trace/format/store.h - records where the trace lies in physical memory: for readers of a memory dump, of a
 * stopped machine or of shared memory, and for the kernel that boots after a reset.
 *
 * A store is a contiguous block of page frames that begins with struct trace_store. Readers find it by the
 * first words of every frame of RAM. Everything is in the byte order of the machine; the magic shows which.
 * There may be two: age 0 is the running system's, age 1 the previous system's, whose frames the running
 * one keeps (kernel/trace/README.md).
 *
 * The kernel changes a store rarely: it makes `changes` odd, changes the store, computes the checksum, makes
 * `changes` even. A reader of a live store copies it, and then checks that `changes` is even and was the same
 * before.
 *
 * The checksum does not cover the rings. Packets have their own (FORMAT.md, "After a reset").
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <trace/format/crc.h>
#include <trace/format/layout.h>

#define TRACE_STORE_MAGIC     0x5461726e53746f72ull /* "TarnStor" */
#define TRACE_STORE_VERSION   3u
#define TRACE_STORE_BYTES_MAX (64u << 10)
#define TRACE_STORE_PLACES    2u /* where a kernel may put its store, see kernel/trace/store.c */

enum trace_extent_kind {
    TRACE_EXTENT_RING = 1,     /* pages of CPU `number`'s tables and ring; offset: from the ring's start */
    TRACE_EXTENT_METADATA = 2, /* part `number` of the metadata; may be empty; offset: from its start */
};

enum trace_metadata_part {
    TRACE_METADATA_TEXT,        /* TSDL of everything */
    TRACE_METADATA_DESCRIPTORS, /* of applications: struct trace_app_entry (print/app_schema.h) */
    TRACE_METADATA_PARTS
};

/* A piece of physical memory. Pieces of one kind and number do not overlap, and are sorted by offset. */
struct trace_extent {
    uint64_t physical; /* address, page aligned */
    uint64_t offset;   /* bytes, page aligned */
    uint64_t bytes;    /* whole pages in a ring; metadata ends with its last byte */
    uint32_t kind;     /* enum trace_extent_kind */
    uint32_t number;   /* CPU, or enum trace_metadata_part */
};

enum trace_store_end {
    TRACE_STORE_RUNNING = 0, /* unknown: it runs, or was reset */
    TRACE_STORE_PANIC = 1,
    TRACE_STORE_SHUTDOWN = 2, /* in order */
};

#define TRACE_STORE_REASON_BYTES 128u

/* Packets of a dead system's rings, as the next kernel found them. */
struct trace_store_kept {
    uint32_t packets;  /* present, including the open ones */
    uint32_t unsummed; /* of these, without a checksum: validated only when read */
    uint32_t damaged;  /* with a wrong checksum; removed, so not among `packets` */
    uint32_t reserved;
};

struct trace_store {
    uint64_t magic;
    uint64_t self;    /* physical address of this struct: a copy elsewhere is not the store */
    uint64_t changes; /* odd while it is being changed */
    uint32_t version;
    uint32_t checksum; /* trace_store_checksum() */
    uint32_t bytes;    /* of the store: this struct and the extents */
    uint32_t extent_count;
    uint64_t boot_id; /* differs from boot to boot; never 0 */
    uint64_t info;    /* physical address of the info page, for readers of a running system */
    uint32_t cpu_count;
    uint32_t generation;
    uint32_t mode;
    uint32_t end; /* enum trace_store_end */
    uint64_t buffer_bytes, buffer_count;
    uint64_t clock_hz;
    int64_t clock_offset_ns;
    uint8_t uuid[16];
    char machine[16];                      /* "x86_64", "ppc64"; NUL padded */
    char reason[TRACE_STORE_REASON_BYTES]; /* why it ended: the first line of a panic; NUL padded */
    uint32_t age;                          /* 0: of the system that runs or died last, 1: of the one before */
    uint32_t metadata_bytes;               /* of the text */
    struct trace_store_kept kept;          /* set by the next kernel; 0 before */
    struct trace_extent extents[];
};
/* of the other byte order, for trace_swap() */
#define TRACE_STORE_LAYOUT  "88844448844448888tttttttttt444444"
#define TRACE_EXTENT_LAYOUT "88844"
_Static_assert(sizeof(struct trace_store) == 288 && sizeof(struct trace_extent) == 32, "no padding");

#define TRACE_STORE_EXTENTS_MAX \
    ((TRACE_STORE_BYTES_MAX - sizeof(struct trace_store)) / sizeof(struct trace_extent))

/* CRC-32C of the store's first `bytes` bytes, at least its header, computed with `checksum` and `changes` 0.
 */
static inline uint32_t trace_store_checksum(const void *store, size_t bytes)
{
    static const uint8_t zeros[8];
    const uint8_t *at = store;
    uint32_t crc = trace_crc_add(~0u, at, offsetof(struct trace_store, changes));
    crc = trace_crc_add(crc, zeros, sizeof(uint64_t));
    crc = trace_crc_add(crc, at + offsetof(struct trace_store, version), sizeof(uint32_t));
    crc = trace_crc_add(crc, zeros, sizeof(uint32_t));
    return ~trace_crc_add(crc, at + offsetof(struct trace_store, bytes),
                          bytes - offsetof(struct trace_store, bytes));
}

/* The store's owner changes it between these two. */
static inline void trace_store_begin_change(struct trace_store *store)
{
    __atomic_store_n(&store->changes, store->changes | 1, __ATOMIC_RELAXED);
    /* a reader of any part of the change sees the odd number; pairs with a reader's fence between its copy
     * and its second check of the number */
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void trace_store_end_change(struct trace_store *store)
{
    store->checksum = trace_store_checksum(store, store->bytes);
    /* release: pairs with a reader's acquire of an even number, before its copy */
    __atomic_store_n(&store->changes, store->changes + 1, __ATOMIC_RELEASE);
}

/* The system ends. REASON: its first line counts. */
static inline void trace_store_set_end(struct trace_store *store, enum trace_store_end end,
                                       const char *reason)
{
    trace_store_begin_change(store);
    store->end = end;
    for (unsigned i = 0; i + 1 < TRACE_STORE_REASON_BYTES && reason[i] && reason[i] != '\n'; i++)
        store->reason[i] = reason[i];
    trace_store_end_change(store);
}
