/* SPDX-License-Identifier: BSD-2-Clause */
/* runtime.h - the system functions that fs uses for the contents of files and for shared buffers;
 * memory_host.c plays the kernel. */
#ifndef TARN_RUNTIME_H
#define TARN_RUNTIME_H

#include <stdint.h>
#include <tarn/abi.h>
#include <tarn/error.h>

int64_t sys_memory_create(uint64_t size);
int64_t sys_memory_resize(cap_t memory, uint64_t size);
int64_t sys_space_map(cap_t space, cap_t memory, uint64_t address, uint64_t size, uint64_t offset,
                      uint32_t flags);
int64_t sys_space_unmap(cap_t space, uint64_t address, uint64_t size);
int64_t sys_memory_read(cap_t memory, uint64_t offset, void *buffer, uint64_t size);
int memory_write_all(cap_t memory, uint64_t offset, const void *bytes, uint64_t size);
int64_t sys_cap_copy(cap_t from, cap_t slot, cap_t target, uint32_t rights, uint64_t badge);
int64_t sys_cap_close(cap_t slot);
int64_t sys_system_read(uint32_t kind, uint64_t index, void *buffer, uint64_t size);

static inline uint64_t round_to_pages(uint64_t size)
{
    return (size + TARN_PAGE_SIZE - 1) & ~(uint64_t)(TARN_PAGE_SIZE - 1);
}

#endif
