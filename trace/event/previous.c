/* trace/event/previous.c - maps the trace of the system before; see previous.h. */
#include <tarn/syscall.h>
#include <trace/event/previous.h>

static uint64_t ring_bytes(const struct trace_previous *previous)
{
    return TRACE_BUFFERS_OFFSET + previous->store.buffer_bytes * previous->store.buffer_count;
}

int trace_previous_read_store(cap_t trace, struct trace_previous *previous)
{
    const struct trace_store *store = &previous->store;
    *previous = (struct trace_previous){0};
    int64_t result = sys_trace_previous(trace, &previous->store, sizeof(previous->store));
    if (result < 0)
        return (int)result;
    trace_info_begin(&previous->info, store->cpu_count, store->mode, store->buffer_bytes, store->buffer_count,
                     store->uuid);
    previous->info.generation = store->generation;
    previous->info.clock_hz = store->clock_hz;
    previous->info.clock_offset_ns = store->clock_offset_ns;
    return 0;
}

/* The mapping keeps the memory; the capability is no longer needed. */
static int map_window(cap_t trace, struct trace_previous *previous, uint32_t cpu)
{
    int64_t memory = sys_trace_previous_memory(trace, TRACE_EXTENT_RING, cpu);
    if (memory < 0)
        return (int)memory;
    int64_t address = sys_space_map(SLOT_SPACE, (cap_t)memory, 0, ring_bytes(previous), 0, MAP_READ);
    sys_cap_close((cap_t)memory);
    if (address < 0)
        return (int)address;
    previous->rings[cpu] = (const char *)(uintptr_t)address;
    return 0;
}

int trace_previous_open(cap_t trace, struct trace_previous *previous)
{
    int error = trace_previous_read_store(trace, previous);
    for (uint32_t cpu = 0; !error && cpu < previous->store.cpu_count; cpu++)
        error = map_window(trace, previous, cpu);
    if (error)
        trace_previous_close(previous);
    return error;
}

void trace_previous_close(struct trace_previous *previous)
{
    for (uint32_t cpu = 0; cpu < TRACE_CPUS_MAX; cpu++)
        if (previous->rings[cpu])
            sys_space_unmap(SLOT_SPACE, (uintptr_t)previous->rings[cpu], ring_bytes(previous));
    *previous = (struct trace_previous){0};
}

struct trace_reader trace_previous_ring(const struct trace_previous *previous, uint32_t cpu)
{
    return trace_reader_open(&previous->info, previous->rings[cpu], cpu, ~0ull);
}

static int64_t read_memory(int64_t memory, uint64_t offset, char *buffer, size_t size)
{
    int64_t got = 0;
    size_t at = 0;
    if (memory < 0)
        return memory;
    while (at < size && (got = sys_memory_read((cap_t)memory, offset + at, buffer + at, size - at)) > 0)
        at += (size_t)got;
    sys_cap_close((cap_t)memory);
    return got < 0 ? got : (int64_t)at;
}

int64_t trace_previous_metadata(cap_t trace, uint32_t part, void *buffer, size_t size)
{
    return read_memory(sys_trace_previous_memory(trace, TRACE_EXTENT_METADATA, part), 0, buffer, size);
}

int64_t trace_previous_tables(cap_t trace, uint32_t cpu, void *buffer, size_t size)
{
    return read_memory(sys_trace_previous_memory(trace, TRACE_EXTENT_RING, cpu), TRACE_TABLES_OFFSET, buffer,
                       size);
}
