/*
 * trace/event/previous.h - the trace of the system that ran before a reset, for programs that may read the
 * trace.
 *
 * It is mapped and read like the current rings, with trace_salvage_range() and trace_packet_salvage() of
 * trace/ring/read.h. While it is mapped its memory stays, even if the trace is dropped.
 */
#pragma once

#include <stddef.h>
#include <tarn/abi.h>
#include <trace/format/store.h>
#include <trace/ring/read.h>

struct trace_previous {
    const char *rings[TRACE_CPUS_MAX];
    struct trace_info info; /* only what readers of rings need */
    struct trace_store store;
};

/* Reads the store, without mapping rings. 0; -E_NOT_FOUND: there is none; or another error. */
int trace_previous_read_store(cap_t trace, struct trace_previous *previous);
int trace_previous_open(cap_t trace, struct trace_previous *previous); /* the same, and maps the rings */
void trace_previous_close(struct trace_previous *previous);
struct trace_reader trace_previous_ring(const struct trace_previous *previous, uint32_t cpu);
/* Reads a part of its metadata (enum trace_metadata_part), up to `size` bytes. Bytes, or an error. */
int64_t trace_previous_metadata(cap_t trace, uint32_t part, void *buffer, size_t size);
/* Reads the first `size` bytes of a CPU's tables of counters. Bytes, or an error; -E_NOT_FOUND: no such CPU.
 */
int64_t trace_previous_tables(cap_t trace, uint32_t cpu, void *buffer, size_t size);
