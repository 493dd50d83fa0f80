/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory_host.c - the kernel's memory objects over malloc, for tests of fs. Allocations have exactly the
 * object's size, so that the sanitizer sees every access beyond.
 */
#include "memory_host.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>

#undef MAP_PRIVATE /* from here on the host's */
#undef MAP_FIXED
#include <sys/mman.h>

#define SLOTS 4096u

struct memory {
    unsigned references;
    uint64_t size;
    char *bytes;
};

static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory *slots[SLOTS]; /* free ones are found, and references counted, under the lock */
uint64_t memory_limit = ~0ull;

static int64_t insert(struct memory *memory)
{
    pthread_mutex_lock(&slots_lock);
    cap_t slot = 1;
    while (slots[slot])
        slot++;
    slots[slot] = memory;
    memory->references++;
    pthread_mutex_unlock(&slots_lock);
    return slot;
}

int64_t sys_memory_create(uint64_t size)
{
    struct memory *memory = malloc(sizeof *memory);
    *memory = (struct memory){.size = size, .bytes = calloc(1, size)};
    return insert(memory);
}

int64_t sys_memory_resize(cap_t slot, uint64_t size)
{
    struct memory *memory = slots[slot];
    if (size == 0)
        return -E_BAD_ARGUMENT;
    memory->bytes = realloc(memory->bytes, size);
    if (size > memory->size)
        memset(memory->bytes + memory->size, 0, size - memory->size);
    memory->size = size;
    return 0;
}

/* A mapping shows its own zeroes: who maps memory here does not access it otherwise. */
int64_t sys_space_map(cap_t space, cap_t slot, uint64_t address, uint64_t size, uint64_t offset,
                      uint32_t flags)
{
    void *mapped = mmap((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return mapped == MAP_FAILED ? -E_NO_MEMORY : (int64_t)address;
}

int64_t sys_space_unmap(cap_t space, uint64_t address, uint64_t size)
{
    munmap((void *)(uintptr_t)address, size);
    return 0;
}

int64_t sys_memory_read(cap_t slot, uint64_t offset, void *buffer, uint64_t size)
{
    memcpy(buffer, slots[slot]->bytes + offset, size);
    return (int64_t)size;
}

int memory_write_all(cap_t slot, uint64_t offset, const void *bytes, uint64_t size)
{
    if (offset + size > memory_limit)
        return -E_NO_MEMORY;
    memcpy(slots[slot]->bytes + offset, bytes, size);
    return 0;
}

int64_t sys_cap_copy(cap_t from, cap_t slot, cap_t target, uint32_t rights, uint64_t badge)
{
    return insert(slots[slot]);
}

int64_t sys_cap_close(cap_t slot)
{
    pthread_mutex_lock(&slots_lock);
    struct memory *memory = slots[slot];
    slots[slot] = NULL;
    bool last = --memory->references == 0;
    pthread_mutex_unlock(&slots_lock);
    if (last) {
        free(memory->bytes);
        free(memory);
    }
    return 0;
}

int64_t sys_system_read(uint32_t kind, uint64_t index, void *buffer, uint64_t size)
{
    *(struct system_stats *)buffer = (struct system_stats){.frames_total = 1 << 20, .frames_free = 1 << 20};
    return 0;
}

unsigned memory_live(void)
{
    unsigned count = 0;
    for (unsigned i = 1; i < SLOTS; i++)
        count += slots[i] != NULL;
    return count;
}
