/*
 * trace_port.h (example) - the kit's port for a program of Linux, whose CPUs are the host's. A template:
 * replace the three bodies; <port/trace.h> has their contracts.
 */
#pragma once

#include <sched.h>
#include <time.h>

#define EXAMPLE_CLOCK_HZ 1000000000u

extern __thread uint32_t example_thread;

static inline uint64_t trace_port_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * EXAMPLE_CLOCK_HZ + (uint64_t)now.tv_nsec;
}

static inline uint64_t trace_port_cpu(void)
{
    return (uint64_t)sched_getcpu();
}

/* A program knows only itself. A kernel reads its table of what runs where. */
static inline void trace_port_context(uint32_t cpu, struct trace_context *context)
{
    *context = (struct trace_context){.pid = 1, .tid = example_thread, .name = "example"};
}
