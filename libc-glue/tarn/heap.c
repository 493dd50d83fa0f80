/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap.c - malloc and its family: newlib's allocator with entry points that log events.
 *
 * These entry points are linked before newlib's own. newlib's internal allocations (stdio buffers) call its
 * inner functions and are not logged.
 */
#include <malloc.h>
#include <reent.h>
#include <stdint.h>
#include <stdlib.h>
#include <trace/libc.h>

void *malloc(size_t size)
{
    void *block = _malloc_r(_REENT, size);
    trace_libc_malloc((uint64_t)block, size);
    return block;
}

void free(void *block)
{
    if (!block)
        return;
    trace_libc_free((uint64_t)block);
    _free_r(_REENT, block);
}

void *calloc(size_t count, size_t size)
{
    void *block = _calloc_r(_REENT, count, size);
    trace_libc_malloc((uint64_t)block, count * size);
    return block;
}

void *realloc(void *old, size_t size)
{
    if (old)
        trace_libc_free((uint64_t)old);
    void *block = _realloc_r(_REENT, old, size);
    trace_libc_malloc((uint64_t)block, size);
    return block;
}

void *memalign(size_t alignment, size_t size)
{
    void *block = _memalign_r(_REENT, alignment, size);
    trace_libc_malloc((uint64_t)block, size);
    return block;
}
