/*
 * memory.c - maps memory and grows the heap.
 *
 * The heap is one contiguous range whose end sbrk moves. Address space is mapped in growing steps (page
 * frames are allocated on demand), so that newlib's malloc, which asks for single pages, rarely enters the
 * kernel. malloc: heap.c.
 */
#include "internal.h"

#include <errno.h>
#include <tarn/error.h>
#include <unistd.h>

#define HEAP_BASE     0x0000000100000000ull
#define HEAP_LIMIT    USER_MMAP_BASE
#define HEAP_STEP_MIN (256ull << 10)
#define HEAP_STEP_MAX (64ull << 20)

void *memory_map(cap_t memory, uint64_t size, uint32_t flags)
{
    int64_t address = sys_space_map(SLOT_SPACE, memory, 0, size, 0, flags);
    return address > 0 ? (void *)address : NULL;
}

/* The mapping keeps the memory object alive, so the slot is closed. */
void *memory_map_anonymous(uint64_t size)
{
    size = round_to_pages(size);
    int64_t memory = sys_memory_create(size);
    if (memory < 0)
        return NULL;
    void *address = memory_map((cap_t)memory, size, MAP_READ | MAP_WRITE);
    sys_cap_close((cap_t)memory);
    return address;
}

void memory_unmap(void *address, uint64_t size)
{
    size = round_to_pages(size);
    sys_space_unmap(SLOT_SPACE, (uint64_t)address, size);
}

int memory_write_all(cap_t memory, uint64_t offset, const void *bytes, uint64_t size)
{
    while (size > 0) {
        int64_t written = sys_memory_write(memory, offset, bytes, size);
        if (written <= 0)
            return written ? (int)written : -E_BAD_ARGUMENT; /* end of the object */
        offset += (uint64_t)written;
        bytes = (const char *)bytes + written;
        size -= (uint64_t)written;
    }
    return 0;
}

static struct {
    struct lock lock;
    uint64_t end;    /* end of the heap as sbrk reports it; under lock */
    uint64_t mapped; /* end of the mapped range; under lock */
} heap = {.end = HEAP_BASE, .mapped = HEAP_BASE};

static bool map_heap(uint64_t step)
{
    step = round_to_pages(step);
    int64_t memory = sys_memory_create(step);
    if (memory < 0)
        return false;
    int64_t address =
        sys_space_map(SLOT_SPACE, (cap_t)memory, heap.mapped, step, 0, MAP_READ | MAP_WRITE | MAP_FIXED);
    sys_cap_close((cap_t)memory);
    if (address < 0)
        return false;
    heap.mapped += step;
    return true;
}

/* Maps more than needed, if possible. */
static bool extend_heap(uint64_t need)
{
    uint64_t step = (heap.mapped - HEAP_BASE) / 2;
    if (step < HEAP_STEP_MIN)
        step = HEAP_STEP_MIN;
    if (step > HEAP_STEP_MAX)
        step = HEAP_STEP_MAX;
    return (step > need && map_heap(step)) || map_heap(need);
}

/* The heap never shrinks: newlib's calloc assumes that new heap memory is zero. */
void *sbrk(ptrdiff_t increment)
{
    void *old = (void *)-1;
    lock_acquire(&heap.lock);
    if (increment >= 0 && (uint64_t)increment <= HEAP_LIMIT - heap.end) {
        uint64_t end = heap.end + (uint64_t)increment;
        if (end <= heap.mapped || extend_heap(end - heap.mapped)) {
            old = (void *)heap.end;
            heap.end = end;
        }
    }
    lock_release(&heap.lock);
    if (old == (void *)-1)
        errno = ENOMEM;
    return old;
}
