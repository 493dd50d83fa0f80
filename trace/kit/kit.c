/* trace/kit/kit.c - the trace in another kernel; see kit.h. */
#include <trace/events.h> /* generated */
#include <trace/format/metadata.h>
#include <trace/kit/kit.h>
#include <trace/ring/ring.h>

#define PAGE            4096
#define METADATA_VALUES 512 /* bytes for the values of the template's placeholders */
#define HEARTBEAT_TICKS (1ull << 30)

struct trace_info trace_kit_info __attribute__((aligned(PAGE)));
char *trace_kit_buffers[TRACE_CPUS_MAX];

static char metadata[TRACE_METADATA_TEMPLATE_BYTES + METADATA_VALUES] __attribute__((aligned(PAGE)));
/* Readers look at the start of every page. */
static union {
    struct trace_store store;
    char bytes[sizeof(struct trace_store) + (TRACE_CPUS_MAX + 1) * sizeof(struct trace_extent)];
} place __attribute__((aligned(PAGE)));
static uint64_t heartbeats[TRACE_CPUS_MAX]; /* when each CPU logged its last one; its own */

static uint64_t physical_of(const struct trace_kit_setup *setup, const void *address)
{
    return setup->physical ? setup->physical(address) : (uint64_t)(uintptr_t)address;
}

static bool is_power_of_two(uint64_t value)
{
    return value && !(value & (value - 1));
}

static const char *check_setup(const struct trace_kit_setup *setup)
{
    if (setup->cpu_count == 0 || setup->cpu_count > TRACE_CPUS_MAX)
        return "cpu_count is not 1 to TRACE_CPUS_MAX";
    if (!is_power_of_two(setup->buffer_bytes) || setup->buffer_bytes < TRACE_BUFFER_BYTES_MIN ||
        setup->buffer_bytes > TRACE_BUFFER_BYTES_MAX)
        return "buffer_bytes is no power of two from TRACE_BUFFER_BYTES_MIN to TRACE_BUFFER_BYTES_MAX";
    if (!is_power_of_two(setup->buffer_count) || setup->buffer_count < 2 ||
        setup->buffer_count > TRACE_RING_BYTES_MAX / setup->buffer_bytes)
        return "buffer_count is no power of two from 2, or the ring is larger than TRACE_RING_BYTES_MAX";
    if (setup->mode != TRACE_MODE_FLIGHT && setup->mode != TRACE_MODE_ONCE)
        return "mode is neither TRACE_MODE_FLIGHT nor TRACE_MODE_ONCE: nothing here consumes buffers";
    if (setup->clock_hz == 0 || setup->boot_id == 0)
        return "clock_hz or boot_id is 0";
    for (uint32_t cpu = 0; cpu < setup->cpu_count; cpu++)
        if (!setup->rings[cpu] || (uintptr_t)setup->rings[cpu] % PAGE)
            return "a ring's memory is missing, or not page aligned";
    return 0;
}

static void fill_info(const struct trace_kit_setup *setup)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    struct trace_info *info = &trace_kit_info;
    trace_info_begin(info, setup->cpu_count, setup->mode, setup->buffer_bytes, setup->buffer_count, uuid);
    info->clock_hz = setup->clock_hz;
    info->clock_offset_ns = setup->clock_offset_ns;
    for (unsigned i = 0; i < TRACE_CLASS_COUNT; i++)
        info->switches[i] = ~0ull;
}

/* Returns the bytes of the text; more than there is space for if it was cut. */
static uint64_t make_metadata(const struct trace_kit_setup *setup)
{
    const struct trace_metadata_values values = {
        .byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be",
        .hostname = setup->sysname,
        .sysname = setup->sysname,
        .architecture = setup->machine,
        .cpu_count = setup->cpu_count,
        .clock_hz = setup->clock_hz,
        .clock_offset_ns = setup->clock_offset_ns,
    };
    return trace_metadata_expand(metadata, sizeof(metadata), trace_metadata_template,
                                 trace_metadata_template_size, &values);
}

/* ---- the store ------------------------------------------------------------------------------------- */

static void write_store(const struct trace_kit_setup *setup, uint64_t metadata_bytes)
{
    struct trace_store *store = &place.store;
    struct trace_extent *extent = store->extents;
    trace_store_begin_change(store);
    store->self = physical_of(setup, store);
    store->version = TRACE_STORE_VERSION;
    store->boot_id = setup->boot_id;
    store->info = physical_of(setup, &trace_kit_info);
    store->cpu_count = setup->cpu_count;
    store->mode = setup->mode;
    store->buffer_bytes = setup->buffer_bytes;
    store->buffer_count = setup->buffer_count;
    store->clock_hz = setup->clock_hz;
    store->clock_offset_ns = setup->clock_offset_ns;
    for (unsigned i = 0; i < sizeof(store->uuid); i++)
        store->uuid[i] = trace_kit_info.uuid[i];
    for (unsigned i = 0; i + 1 < sizeof(store->machine) && setup->machine[i]; i++)
        store->machine[i] = setup->machine[i];
    for (uint32_t cpu = 0; cpu < setup->cpu_count; cpu++)
        *extent++ = (struct trace_extent){physical_of(setup, setup->rings[cpu]), TRACE_CONTROL_OFFSET,
                                          TRACE_KIT_RING_BYTES(setup->buffer_bytes, setup->buffer_count),
                                          TRACE_EXTENT_RING, cpu};
    *extent++ = (struct trace_extent){physical_of(setup, metadata), 0, metadata_bytes, TRACE_EXTENT_METADATA,
                                      TRACE_METADATA_TEXT};
    store->metadata_bytes = (uint32_t)metadata_bytes;
    store->extent_count = (uint32_t)(extent - store->extents);
    store->bytes = (uint32_t)((char *)extent - (char *)store);
    store->magic = TRACE_STORE_MAGIC;
    trace_store_end_change(store);
}

/* ---- the interface --------------------------------------------------------------------------------- */

const char *trace_kit_start(const struct trace_kit_setup *setup)
{
    const char *wrong = check_setup(setup);
    if (wrong)
        return wrong;
    fill_info(setup);
    const uint64_t metadata_bytes = make_metadata(setup);
    if (metadata_bytes > sizeof(metadata))
        return "sysname or machine is too long";
    for (uint32_t cpu = 0; cpu < setup->cpu_count; cpu++)
        trace_kit_buffers[cpu] = setup->rings[cpu] + (TRACE_BUFFERS_OFFSET - TRACE_CONTROL_OFFSET);
    for (uint32_t cpu = 0; cpu < setup->cpu_count; cpu++)
        trace_ring_open(trace_kit_buffers[cpu] - TRACE_BUFFERS_OFFSET, 0);
    write_store(setup, metadata_bytes);
    trace_kit_set_mask(setup->mask);
    return 0;
}

void trace_kit_tick(void)
{
    const uint64_t cpu = trace_port_cpu();
    const uint64_t now = arch_trace_clock();
    if (!trace_kit_info.mask || now - heartbeats[cpu] < HEARTBEAT_TICKS)
        return;
    heartbeats[cpu] = now;
    trace_ring_heartbeat();
}

void trace_kit_set_mask(uint64_t mask)
{
    /* release: a CPU that sees the mask sees the rings; without it, one that starts later does, as with all
     * memory that was written before it was started */
    __atomic_store_n(&trace_kit_info.mask, mask, __ATOMIC_RELEASE);
}

void trace_kit_end(enum trace_store_end end, const char *reason)
{
    struct trace_store *store = &place.store;
    if (store->magic != TRACE_STORE_MAGIC || store->end != TRACE_STORE_RUNNING)
        return;
    trace_store_set_end(store, end, reason);
}
