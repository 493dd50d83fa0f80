/* dma.c - contiguous memory in fixed slots of the address space (dma.h). */
#include <servers/virtio/dma.h>
#include <string.h>
#include <tarn/syscall.h>

#define DMA_SLOTS (DMA_REGION_BYTES / DMA_SLOT_BYTES)

static struct dma_slot {
    uint64_t size; /* 0: free */
    uint64_t physical;
} slots[DMA_SLOTS];

static cap_t owner;

void dma_open(cap_t device)
{
    owner = device;
}

static bool map_slot(struct dma *dma, uint32_t slot, uint64_t size)
{
    int64_t memory = sys_memory_create_contiguous(owner, size);
    if (memory < 0)
        return false;
    int64_t physical = sys_memory_physical(owner, (cap_t)memory, 0);
    int64_t address = sys_space_map(SLOT_SPACE, (cap_t)memory, DMA_REGION + slot * DMA_SLOT_BYTES, size, 0,
                                    MAP_READ | MAP_WRITE | MAP_FIXED);
    if (physical < 0 || address < 0) {
        sys_cap_close((cap_t)memory);
        return false;
    }
    *dma = (struct dma){(char *)(uintptr_t)address, size, (uint64_t)physical, (cap_t)memory};
    slots[slot] = (struct dma_slot){size, (uint64_t)physical};
    return true;
}

bool dma_allocate(struct dma *dma, uint64_t size)
{
    size = (size + TARN_PAGE_SIZE - 1) & ~(TARN_PAGE_SIZE - 1);
    if (size > DMA_SLOT_BYTES)
        return false;
    for (uint32_t slot = 0; slot < DMA_SLOTS; slot++)
        if (slots[slot].size == 0)
            return map_slot(dma, slot, size);
    return false;
}

void dma_free(struct dma *dma)
{
    slots[((uint64_t)(uintptr_t)dma->address - DMA_REGION) / DMA_SLOT_BYTES].size = 0;
    sys_space_unmap(SLOT_SPACE, (uint64_t)(uintptr_t)dma->address, dma->size);
    sys_cap_close(dma->memory);
    memset(dma, 0, sizeof(*dma));
}

bool dma_physical(const void *bytes, uint64_t size, uint64_t *physical)
{
    uint64_t offset = (uint64_t)(uintptr_t)bytes - DMA_REGION, slot = offset / DMA_SLOT_BYTES;
    offset %= DMA_SLOT_BYTES;
    if (slot >= DMA_SLOTS || offset >= slots[slot].size || size > slots[slot].size - offset)
        return false;
    *physical = slots[slot].physical + offset;
    return true;
}
