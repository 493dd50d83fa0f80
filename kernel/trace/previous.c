/*
 * kernel/trace/previous.c - keeps the trace of the system that ran before a reset (README.md, "After a
 * reset").
 *
 * The kept frames (trace_kept_range) become memory objects, one per ring and per part of the metadata.
 * Programs with the right to read the trace map these and read them like the current rings. The frames are
 * freed when the trace was dropped and the last program has unmapped them.
 *
 * Locking: trace_lock.
 */
#include <arch/boot.h>
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/sched/thread.h>
#include <kernel/space/memory.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/trace.h>

#define SCARCE_PART 32 /* memory is scarce when less than this fraction is free */

static struct {
    struct trace_store *store;
    struct memory *rings[TRACE_CPUS_MAX], *metadata[TRACE_METADATA_PARTS];
} previous;

/* ---- find ----------------------------------------------------------------------------------------- */

static bool is_ram(paddr_t base, uint64_t size)
{
    for (uint32_t i = 0; i < boot_info.ram_count; i++) {
        const struct boot_range *range = &boot_info.ram[i];
        if (base >= range->base && size <= range->size && base - range->base <= range->size - size)
            return true;
    }
    return false;
}

static uint64_t kept_bytes(const struct trace_extent *extent)
{
    return (extent->bytes + FRAME_SIZE - 1) & ~(FRAME_SIZE - 1);
}

/* Whether an extent overlaps neither occupied memory nor a place for a store. */
static bool extent_is_free(const struct trace_extent *extent)
{
    uint64_t size = kept_bytes(extent);
    if (boot_is_occupied(extent->physical, size))
        return false;
    for (uint32_t i = 0; i < TRACE_STORE_PLACES; i++) {
        const paddr_t place = trace_store_place(i);
        if (place && place < extent->physical + size && extent->physical < place + TRACE_STORE_BYTES_MAX)
            return false;
    }
    return true;
}

/* NULL: nothing is wrong with the store. Its checksum vouches for the rest: no program can write there. */
static const char *find_fault(const struct trace_store *store, paddr_t place)
{
    if (store->self != place || store->version != TRACE_STORE_VERSION)
        return "it was written by another kernel";
    if (store->bytes < sizeof(*store) || store->bytes > TRACE_STORE_BYTES_MAX ||
        store->extent_count != (store->bytes - sizeof(*store)) / sizeof(struct trace_extent) ||
        store->cpu_count > TRACE_CPUS_MAX)
        return "its size is wrong";
    if (store->changes & 1)
        return "the system died while it changed the store";
    if (store->checksum != trace_store_checksum(store, store->bytes))
        return "its checksum is wrong";
    for (uint32_t i = 0; i < store->extent_count; i++) {
        if (!is_ram(store->extents[i].physical, kept_bytes(&store->extents[i])))
            return "it lists memory that does not exist";
        if (!extent_is_free(&store->extents[i]))
            return "this boot needed its memory";
    }
    return NULL;
}

void trace_previous_find(void)
{
    trace_store_find_places();
    for (uint32_t i = 0; i < TRACE_STORE_PLACES; i++) {
        paddr_t place = trace_store_place(i);
        struct trace_store *store = place ? phys_to_virt(place) : NULL;
        if (!store || store->magic != TRACE_STORE_MAGIC)
            continue;
        const char *fault = find_fault(store, place);
        if (fault) {
            log_line("trace: the previous trace is lost: %s", fault);
            if (TRACE_ON_TRACE())
                trace_trace_previous_lost(fault);
        } else if (!previous.store || store->age < previous.store->age)
            previous.store = store;
    }
}

bool trace_kept_range(uint32_t index, paddr_t *base, uint64_t *size)
{
    if (index < TRACE_STORE_PLACES) {
        *base = trace_store_place(index);
        *size = *base ? TRACE_STORE_BYTES_MAX : 0;
        return true;
    }
    index -= TRACE_STORE_PLACES;
    if (!previous.store || index >= previous.store->extent_count)
        return false;
    *base = previous.store->extents[index].physical;
    *size = kept_bytes(&previous.store->extents[index]);
    return true;
}

/* ---- keep ----------------------------------------------------------------------------------------- */

static struct memory **object_of(const struct trace_extent *extent)
{
    return extent->kind == TRACE_EXTENT_METADATA ? &previous.metadata[extent->number]
                                                 : &previous.rings[extent->number];
}

/* Gives the frames to the object. On failure the other frames stay allocated and unreachable. */
static int insert_extent(const struct trace_extent *extent)
{
    struct memory **object = object_of(extent);
    const struct trace_store *store = previous.store;
    uint64_t size = extent->kind == TRACE_EXTENT_METADATA
                        ? extent->bytes
                        : TRACE_BUFFERS_OFFSET + store->buffer_bytes * store->buffer_count;
    if (size == 0)
        return 0;
    if (!*object)
        *object = memory_new(MEMORY_ZERO, size);
    if (!*object)
        return -E_NO_MEMORY;
    int error = 0;
    spin_lock(&(*object)->lock);
    for (uint64_t at = 0; at < extent->bytes && !error; at += FRAME_SIZE) {
        if (extent->offset + at >= (*object)->size)
            frame_free(extent->physical + at); /* of a ring that was larger before */
        else
            error = memory_insert(*object, extent->offset + at, extent->physical + at);
    }
    spin_unlock(&(*object)->lock);
    return error;
}

static void report_kept(const struct trace_store *store, uint64_t bytes)
{
    static const char *const ends[] = {"without a word", "by a panic: ", "in order: "};
    const struct trace_store_kept *kept = &store->kept;
    const uint32_t end = store->end <= TRACE_STORE_SHUTDOWN ? store->end : TRACE_STORE_RUNNING;
    char reason[TRACE_STORE_REASON_BYTES];
    memcpy(reason, store->reason, sizeof(reason));
    reason[sizeof(reason) - 1] = 0;
    log_line("trace: %u packets: %u damaged and removed; %u without a checksum",
             kept->packets + kept->damaged, kept->damaged, kept->unsummed);
    log_line("trace: %u KiB of the previous trace are kept; %u CPUs, ended %s%s", (unsigned)(bytes >> 10),
             store->cpu_count, ends[end], reason);
    if (TRACE_ON_TRACE())
        trace_trace_previous(end, kept->packets, kept->unsummed, kept->damaged, reason);
}

void trace_previous_keep(void)
{
    struct trace_store *store = previous.store;
    uint64_t bytes = 0;
    if (!store)
        return;
    for (uint32_t i = 0; i < store->extent_count; i++) {
        bytes += store->extents[i].bytes;
        if (insert_extent(&store->extents[i]))
            panic("trace: no memory for the tables of the previous trace");
    }
    trace_store_begin_change(store);
    store->kept = trace_sums_verify(store);
    trace_store_end_change(store);
    report_kept(store, bytes);
}

void trace_previous_increment_age(void)
{
    if (!previous.store)
        return;
    trace_store_begin_change(previous.store);
    previous.store->age++;
    trace_store_end_change(previous.store);
}

paddr_t trace_previous_place(uint64_t *boot_id)
{
    *boot_id = previous.store ? previous.store->boot_id : 0;
    return previous.store ? previous.store->self : 0;
}

/* ---- drop ----------------------------------------------------------------------------------------- */

int trace_previous_drop(uint32_t why)
{
    struct memory *rings[TRACE_CPUS_MAX], *metadata[TRACE_METADATA_PARTS];
    spin_lock(&trace_lock);
    struct trace_store *store = previous.store;
    memcpy(rings, previous.rings, sizeof(rings));
    memcpy(metadata, previous.metadata, sizeof(metadata));
    memset(&previous, 0, sizeof(previous));
    if (store)
        store->magic = 0; /* from now on its memory may be reused */
    /* a reader that sees the new contents also sees that the magic is gone; pairs with the fence in
     * guest_source.c */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    spin_unlock(&trace_lock);
    if (!store)
        return -E_NOT_FOUND;
    for (uint32_t cpu = 0; cpu < store->cpu_count; cpu++)
        memory_put(rings[cpu]);
    for (uint32_t part = 0; part < TRACE_METADATA_PARTS; part++)
        if (metadata[part])
            memory_put(metadata[part]);
    if (TRACE_ON_TRACE())
        trace_trace_previous_dropped(why == TRACE_TRACE_ASKED ? current_thread()->space->pid : 0, why);
    return 0;
}

void trace_previous_drop_if_scarce(void)
{
    /* relaxed: only a hint, trace_previous_drop checks again */
    if (!__atomic_load_n(&previous.store, __ATOMIC_RELAXED) ||
        frame_count_free() >= frame_count_total() / SCARCE_PART)
        return;
    if (!trace_previous_drop(TRACE_TRACE_SCARCE))
        log_line("trace: the previous trace was dropped: memory is scarce");
}

/* ---- read ----------------------------------------------------------------------------------------- */

int64_t sys_trace_previous(void *user_store, uint64_t size)
{
    struct trace_store copy;
    int64_t error = 0;
    spin_lock(&trace_lock);
    if (previous.store)
        memcpy(&copy, previous.store, sizeof(copy));
    else
        error = -E_NOT_FOUND;
    spin_unlock(&trace_lock);
    if (size > sizeof(copy))
        size = sizeof(copy);
    if (!error)
        error = user_write(user_store, &copy, size);
    return error ? error : (int64_t)size;
}

/* trace_lock held. */
static struct memory *find_object(uint32_t kind, uint32_t number)
{
    if (!previous.store)
        return NULL;
    if (kind == TRACE_EXTENT_METADATA)
        return number < TRACE_METADATA_PARTS ? previous.metadata[number] : NULL;
    return kind == TRACE_EXTENT_RING && number < previous.store->cpu_count ? previous.rings[number] : NULL;
}

int64_t sys_trace_previous_memory(uint32_t kind, uint32_t number)
{
    spin_lock(&trace_lock);
    struct memory *memory = find_object(kind, number);
    if (memory)
        memory_get(memory);
    spin_unlock(&trace_lock);
    return memory ? cap_give(CAP_MEMORY, memory, RIGHT_READ) : -E_NOT_FOUND;
}
