/*
 * trace/print/merge.h - the events of all CPUs as one sequence, in order of time.
 *
 * The caller provides each CPU's packets, one after another: the kernel in place from the rings
 * (kernel/trace/newest.c), a program from copies (user/bin/trace_list.c).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/ring/read.h>

/* False: no more packets. */
typedef bool trace_next_packet(void *context, uint32_t cpu, struct trace_walk *walk);

struct trace_merge {
    trace_next_packet *next_packet;
    void *context;
    uint32_t cpu_count;
    struct {
        struct trace_walk walk;
        const struct trace_header *event; /* NULL: no more */
    } source[TRACE_CPUS_MAX];
};

struct trace_moment {
    const struct trace_header *event;
    uint64_t words; /* readable words, from it on */
    uint64_t time;
    uint32_t cpu;
};

void trace_merge_begin(struct trace_merge *merge, uint32_t cpu_count, trace_next_packet *next_packet,
                       void *context);
/* False: no more events. */
bool trace_merge_next(struct trace_merge *merge, struct trace_moment *moment);
