/*
 * kernel/trace/store.c - the store: records in physical memory where the trace lies (trace/format/store.h).
 *
 * The *places* for stores are the first two blocks of TRACE_STORE_BYTES_MAX in the middle of the largest
 * range of RAM that are not occupied, 1 MiB apart (README.md, "After a reset"). The rings and the metadata
 * follow as far as memory is free.
 *
 * Locking: trace_lock; a panic does without.
 */
#include <arch/boot.h>
#include <arch/clock.h>
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/trace/control.h>

#define PLACE_STEP (1ull << 20)

static struct trace_store *store;          /* NULL: none; constant after trace_store_init */
static paddr_t places[TRACE_STORE_PLACES]; /* constant after trace_store_find_places; 0: none */
static struct trace_extent *metadata_extents[TRACE_METADATA_PARTS]; /* under trace_lock */

/* ---- places --------------------------------------------------------------------------------------- */

static const struct boot_range *largest_range(void)
{
    const struct boot_range *largest = &boot_info.ram[0];
    for (uint32_t i = 1; i < boot_info.ram_count; i++)
        if (boot_info.ram[i].size > largest->size)
            largest = &boot_info.ram[i];
    return largest;
}

void trace_store_find_places(void)
{
    const struct boot_range *range = largest_range();
    paddr_t place = (range->base + range->size / 2) & ~(PLACE_STEP - 1);
    for (uint32_t count = 0; count < TRACE_STORE_PLACES; place += PLACE_STEP) {
        if (place + TRACE_STORE_BYTES_MAX > range->base + range->size)
            return;
        if (place >= range->base && place != 0 && !boot_is_occupied(place, TRACE_STORE_BYTES_MAX))
            places[count++] = place;
    }
}

paddr_t trace_store_place(uint32_t index)
{
    return places[index];
}

/* ---- changes -------------------------------------------------------------------------------------- */

static void copy_info(void)
{
    const struct trace_info *info = &trace_info_page;
    store->cpu_count = info->cpu_count;
    store->generation = info->generation;
    store->mode = info->mode;
    store->buffer_bytes = trace_buffer_bytes(info);
    store->buffer_count = trace_geometry_buffers(trace_geometry_of(info));
    store->clock_hz = info->clock_hz;
    store->clock_offset_ns = info->clock_offset_ns;
}

void trace_store_refresh(void)
{
    if (!store)
        return;
    trace_store_begin_change(store);
    copy_info();
    trace_store_end_change(store);
}

static bool join_last(uint32_t cpu, uint64_t offset, paddr_t physical, uint64_t bytes)
{
    for (uint32_t i = store->extent_count; i-- > 0;) {
        struct trace_extent *extent = &store->extents[i];
        if (extent->kind != TRACE_EXTENT_RING || extent->number != cpu)
            continue;
        if (extent->offset + extent->bytes != offset || extent->physical + extent->bytes != physical)
            return false;
        extent->bytes += bytes;
        return true;
    }
    return false;
}

static struct trace_extent *append(const struct trace_extent *extent)
{
    struct trace_extent *added = &store->extents[store->extent_count++];
    *added = *extent;
    store->bytes += (uint32_t)sizeof(*extent);
    return added;
}

bool trace_store_has_space(void)
{
    return !store || store->extent_count < TRACE_STORE_EXTENTS_MAX;
}

void trace_store_add_ring(uint32_t cpu, uint64_t offset, paddr_t physical, uint64_t bytes)
{
    if (!store)
        return;
    assert(trace_store_has_space());
    trace_store_begin_change(store);
    if (!join_last(cpu, offset, physical, bytes))
        append(&(struct trace_extent){physical, offset, bytes, TRACE_EXTENT_RING, cpu});
    trace_store_end_change(store);
}

void trace_store_set_metadata(uint32_t number, paddr_t physical, uint64_t bytes)
{
    struct trace_extent **extent = &metadata_extents[number];
    if (!store || (!*extent && (bytes == 0 || !trace_store_has_space())))
        return;
    trace_store_begin_change(store);
    if (!*extent)
        *extent = append(&(struct trace_extent){physical, 0, bytes, TRACE_EXTENT_METADATA, number});
    (*extent)->bytes = bytes;
    if (number == TRACE_METADATA_TEXT)
        store->metadata_bytes = (uint32_t)bytes;
    trace_store_end_change(store);
}

/* No other CPU runs, or soon none will. If a CPU died in the middle of a change, the number is odd. */
void trace_store_end(uint32_t end, const char *reason)
{
    if (!store || store->end != TRACE_STORE_RUNNING)
        return;
    trace_store_set_end(store, end, reason);
    for (uint32_t cpu = 0; cpu < trace_info_page.cpu_count; cpu++)
        trace_sum_ring(cpu, ~0ull);
}

/* ---- set-up --------------------------------------------------------------------------------------- */

static paddr_t choose_place(paddr_t taken)
{
    for (uint32_t i = 0; i < TRACE_STORE_PLACES; i++)
        if (places[i] && places[i] != taken)
            return places[i];
    return 0;
}

static uint64_t choose_boot_id(uint64_t other)
{
    uint64_t id = ((uint64_t)arch_wall_clock() << 32 ^ arch_clock()) | 1;
    return id == other ? id + 2 : id;
}

void trace_store_init(paddr_t taken, uint64_t other_id)
{
    paddr_t place = choose_place(taken);
    if (!place) {
        log_line("trace: no memory for the trace's store: nothing will be found after a crash");
        return;
    }
    store = phys_to_virt(place);
    memset(store, 0, TRACE_STORE_BYTES_MAX); /* whatever was there is not a store any more */
    trace_store_begin_change(store);
    store->self = place;
    store->version = TRACE_STORE_VERSION;
    store->bytes = sizeof(*store);
    store->boot_id = choose_boot_id(other_id);
    store->info = virt_to_phys(&trace_info_page);
    memcpy(store->uuid, trace_info_page.uuid, sizeof(store->uuid));
    memcpy(store->machine, ARCH_NAME, sizeof(ARCH_NAME));
    copy_info();
    trace_store_end_change(store);
}

void trace_store_publish(void)
{
    if (!store)
        return;
    trace_store_begin_change(store);
    copy_info();
    store->magic = TRACE_STORE_MAGIC;
    trace_store_end_change(store);
}
