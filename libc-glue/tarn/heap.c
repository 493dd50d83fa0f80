/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap.c - malloc and its family: newlib's allocator with entry points that log events, and count themselves
 * in the thread's table.
 *
 * These entry points are linked before newlib's own. newlib's internal allocations (stdio buffers) call its
 * inner functions and are neither logged nor counted.
 */
#include <malloc.h>
#include <reent.h>
#include <stdint.h>
#include <stdlib.h>
#include <tarn/routine.h>
#include <trace/libc.h>

/* `old` is for realloc, `extra` the count of calloc or the alignment of memalign. */
static inline __attribute__((always_inline)) void *allocate(enum trace_heap_routine routine, void *old,
                                                            size_t extra, size_t size)
{
    switch (routine) {
    case TRACE_HEAP_CALLOC:
        return _calloc_r(_REENT, extra, size);
    case TRACE_HEAP_REALLOC:
        return _realloc_r(_REENT, old, size);
    case TRACE_HEAP_MEMALIGN:
        return _memalign_r(_REENT, extra, size);
    case TRACE_HEAP_FREE:
        _free_r(_REENT, old);
        return NULL;
    default:
        return _malloc_r(_REENT, size);
    }
}

static __attribute__((noinline, cold)) void *heap_observed(enum trace_heap_routine routine, void *old,
                                                           size_t extra, size_t size)
{
    if (routines_are_counted())
        routine_enter(routine);
    if (old)
        trace_libc_free((uint64_t)old);
    void *block = allocate(routine, old, extra, size);
    if (routine != TRACE_HEAP_FREE)
        trace_libc_malloc((uint64_t)block, routine == TRACE_HEAP_CALLOC ? extra * size : size);
    if (routines_are_counted())
        routine_leave();
    return block;
}

static inline __attribute__((always_inline)) void *run(enum trace_heap_routine routine, void *old,
                                                       size_t extra, size_t size)
{
    return ALL_ROUTINES_OR(TRACE_CLASS_LIBC) ? heap_observed(routine, old, extra, size)
                                             : allocate(routine, old, extra, size);
}

void *malloc(size_t size)
{
    return run(TRACE_HEAP_MALLOC, NULL, 0, size);
}

void free(void *block)
{
    if (block)
        run(TRACE_HEAP_FREE, block, 0, 0);
}

void *calloc(size_t count, size_t size)
{
    return run(TRACE_HEAP_CALLOC, NULL, count, size);
}

void *realloc(void *old, size_t size)
{
    return run(TRACE_HEAP_REALLOC, old, 0, size);
}

void *memalign(size_t alignment, size_t size)
{
    return run(TRACE_HEAP_MEMALIGN, NULL, alignment, size);
}
