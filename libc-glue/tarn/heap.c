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

#define OBSERVED __attribute__((noinline, cold))

static void begin(enum trace_heap_routine routine)
{
    if (routines_are_counted())
        routine_enter(routine);
}

static void *end(void *block)
{
    if (routines_are_counted())
        routine_leave();
    return block;
}

static OBSERVED void *malloc_observed(size_t size)
{
    begin(TRACE_HEAP_MALLOC);
    void *block = _malloc_r(_REENT, size);
    trace_libc_malloc((uint64_t)block, size);
    return end(block);
}

static OBSERVED void free_observed(void *block)
{
    begin(TRACE_HEAP_FREE);
    trace_libc_free((uint64_t)block);
    _free_r(_REENT, block);
    end(NULL);
}

static OBSERVED void *calloc_observed(size_t count, size_t size)
{
    begin(TRACE_HEAP_CALLOC);
    void *block = _calloc_r(_REENT, count, size);
    trace_libc_malloc((uint64_t)block, count * size);
    return end(block);
}

static OBSERVED void *realloc_observed(void *old, size_t size)
{
    begin(TRACE_HEAP_REALLOC);
    if (old)
        trace_libc_free((uint64_t)old);
    void *block = _realloc_r(_REENT, old, size);
    trace_libc_malloc((uint64_t)block, size);
    return end(block);
}

static OBSERVED void *memalign_observed(size_t alignment, size_t size)
{
    begin(TRACE_HEAP_MEMALIGN);
    void *block = _memalign_r(_REENT, alignment, size);
    trace_libc_malloc((uint64_t)block, size);
    return end(block);
}

void *malloc(size_t size)
{
    return ALL_ROUTINES_OR(TRACE_CLASS_LIBC) ? malloc_observed(size) : _malloc_r(_REENT, size);
}

void free(void *block)
{
    if (!block)
        return;
    if (ALL_ROUTINES_OR(TRACE_CLASS_LIBC))
        free_observed(block);
    else
        _free_r(_REENT, block);
}

void *calloc(size_t count, size_t size)
{
    return ALL_ROUTINES_OR(TRACE_CLASS_LIBC) ? calloc_observed(count, size) : _calloc_r(_REENT, count, size);
}

void *realloc(void *old, size_t size)
{
    return ALL_ROUTINES_OR(TRACE_CLASS_LIBC) ? realloc_observed(old, size) : _realloc_r(_REENT, old, size);
}

void *memalign(size_t alignment, size_t size)
{
    return ALL_ROUTINES_OR(TRACE_CLASS_LIBC) ? memalign_observed(alignment, size)
                                             : _memalign_r(_REENT, alignment, size);
}
