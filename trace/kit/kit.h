/*
 * trace/kit/kit.h - the trace in another kernel: start, upkeep, end.
 *
 * trace_kit_start() opens the rings, writes the metadata, and the store by which a reader of physical memory
 * finds both (trace/format/store.h). From then on the functions of <trace/CLASS.h> log, on every CPU, in
 * interrupt handlers and with any lock held: by compare-and-swap, without locks (trace/ring/cas.h).
 *
 * Freestanding, without allocation. The compiler may call memcpy, memset and its own library (libgcc).
 */
#pragma once

#include <stdint.h>
#include <trace/format/store.h>

/* Memory of a ring: page aligned, zeroed, contiguous in physical memory. */
#define TRACE_KIT_RING_BYTES(buffer_bytes, buffer_count) (4096 + (uint64_t)(buffer_bytes) * (buffer_count))

struct trace_kit_setup {
    const char *sysname;  /* the kernel's, one word: "xv6" */
    const char *machine;  /* of small letters, digits, _ and -, at most 15: "riscv64" */
    uint32_t cpu_count;   /* 1 to TRACE_CPUS_MAX: exactly those that will run */
    enum trace_mode mode; /* TRACE_MODE_FLIGHT, or TRACE_MODE_ONCE */
    /* Powers of two: a buffer's bytes from TRACE_BUFFER_BYTES_MIN to TRACE_BUFFER_BYTES_MAX, at least two
     * buffers in each ring. */
    uint64_t buffer_bytes, buffer_count;
    char *const *rings; /* TRACE_KIT_RING_BYTES for each CPU */
    uint64_t clock_hz;
    int64_t clock_offset_ns; /* wall time at tick 0, ns since 1970; 0: unknown */
    uint64_t boot_id;        /* another one in each boot, never 0: the wall clock, for example */
    uint64_t mask;           /* bit c: class c is logged */
    /* Physical address of the kernel's own memory. NULL: the same as the virtual address. */
    uint64_t (*physical)(const void *address);
};

/* NULL: the trace is on. Otherwise the setup's mistake; the trace stays off. */
const char *trace_kit_start(const struct trace_kit_setup *setup);
/* To be called on each CPU, also an idle one, from its timer interrupt, at least once in 2^30 ticks of the
 * clock. */
void trace_kit_tick(void);
/* Switches classes; other CPUs may still log an event that they have begun. */
void trace_kit_set_mask(uint64_t mask);
/* The system ends: in a panic, or in order. Readers of the memory show REASON, one line; the trace goes on.
 */
void trace_kit_end(enum trace_store_end end, const char *reason);
