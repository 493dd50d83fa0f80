/*
 * dma.h - memory that devices read and write: contiguous, with known physical addresses.
 *
 * Every allocation is mapped in a slot of one region, so its physical address is found by arithmetic. No
 * locks: only one thread of a process may call these functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

#define DMA_SLOT_BYTES   0x400000ull /* largest allocation */
#define DMA_REGION       0x0000400000000000ull
#define DMA_REGION_BYTES (512 * DMA_SLOT_BYTES)

struct dma {
    char *address;
    uint64_t size, physical;
    cap_t memory;
};

void dma_open(cap_t device); /* first: the device that uses it; virtio_open does that */
bool dma_allocate(struct dma *dma, uint64_t size);
void dma_free(struct dma *dma); /* stays allocated while mapped elsewhere */
/* Stores the physical address of bytes inside one allocation. Returns false if they lie elsewhere. */
bool dma_physical(const void *bytes, uint64_t size, uint64_t *physical);
