/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/net/dma.h - memory that devices read and write: contiguous, with known physical addresses.
 *
 * Every piece is mapped in a slot of one region, so its physical address is found by arithmetic. The server
 * has one thread, so there are no locks.
 */
#ifndef NET_DMA_H
#define NET_DMA_H

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
