/* port/trace.h (host tests) - tracing is off. tests/unit/trace tests the logging path. */
#pragma once

static inline const struct trace_info *arch_trace_info(void)
{
    static const struct trace_info info;
    return &info;
}
static inline bool arch_trace_enabled(unsigned class_number)
{
    return false;
}
static inline bool arch_trace_event_enabled(unsigned class_number, unsigned minor)
{
    return false;
}
static inline uint64_t arch_trace_clock(void)
{
    return 0;
}
static inline char *arch_trace_ring(void)
{
    return 0;
}
static inline bool arch_trace_same_ring(const char *ring)
{
    return true;
}
static inline uint64_t arch_trace_index(uint64_t *index)
{
    return *index;
}
static inline bool arch_trace_swap(uint64_t *index, uint64_t old, uint64_t next)
{
    return false;
}
static inline uint64_t arch_trace_header(uint32_t id_length, uint64_t time)
{
    return 0;
}
static inline uint32_t arch_trace_cpu(const char *ring)
{
    return 0;
}
static inline void arch_trace_context(const char *ring, struct trace_context *context)
{
}
