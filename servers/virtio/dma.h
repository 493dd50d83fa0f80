/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/virtio/dma.h - memory that devices read and write: contiguous, with known physical addresses.
 *
 * Every piece is mapped in a slot of one region, so its physical address is found by arithmetic. There are no
 * locks: one thread of a process calls these functions.
 */
#ifndef VIRTIO_DMA_H
#define VIRTIO_DMA_H

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

#define DMA_SLOT_BYTES 0x400000ull /* the largest piece */

struct dma {
    char *address;
    uint64_t size, physical;
    cap_t memory;
};

bool dma_allocate(struct dma *dma, uint64_t size);
void dma_free(struct dma *dma); /* whoever maps it elsewhere keeps it alive */
/* The physical address of bytes that lie in one piece; false if they lie elsewhere. */
bool dma_physical(const void *bytes, uint64_t size, uint64_t *physical);

#endif
