/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscall_memory.c - system calls on memory objects. memory.c implements them; calls that copy are in
 * user_copy.c.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/endpoint.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/memory.h>
#include <kernel/space/space.h>
#include <kernel/syscall/machine.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

#define SUPPLY_MAX (1ull << 20) /* maximum per system call, because the kernel is not preempted */

static int get_memory(cap_t slot, uint32_t rights, struct memory **memory)
{
    void *object;
    int error = cap_get(current_thread()->space, slot, CAP_MEMORY, rights, &object);
    *memory = object;
    return error;
}

static int64_t insert_memory(struct memory *memory, uint32_t rights)
{
    if (!memory)
        return -E_NO_MEMORY;
    int64_t slot = cap_insert(current_thread()->space, CAP_MEMORY, memory, rights, 0);
    if (slot < 0)
        memory_put(memory);
    return slot;
}

static bool bad_size(uint64_t size)
{
    return size == 0 || size > MEMORY_SIZE_MAX;
}

static uint64_t whole_pages(uint64_t size)
{
    return (size + FRAME_SIZE - 1) & ~(FRAME_SIZE - 1);
}

int64_t sys_memory_create(uint64_t size)
{
    return bad_size(size) ? -E_BAD_ARGUMENT
                          : insert_memory(memory_new(MEMORY_ZERO, whole_pages(size)), RIGHT_ALL);
}

int64_t sys_memory_create_paged(uint64_t size, cap_t endpoint_slot)
{
    void *pager;
    if (bad_size(size))
        return -E_BAD_ARGUMENT;
    int error = cap_get(current_thread()->space, endpoint_slot, CAP_ENDPOINT, RIGHT_SEND, &pager);
    if (error)
        return error;
    struct memory *memory = memory_new(MEMORY_PAGED, whole_pages(size));
    if (memory)
        memory->pager = pager; /* keeps our reference */
    else
        endpoint_put(pager);
    return insert_memory(memory, RIGHT_ALL);
}

int64_t sys_memory_create_contiguous(cap_t device, uint64_t size)
{
    int error = driver_check(device);
    if (error)
        return error;
    if (bad_size(size) || size > FRAME_SIZE << FRAME_ORDER_MAX)
        return -E_BAD_ARGUMENT;
    return insert_memory(memory_new_contiguous(whole_pages(size)), RIGHT_ALL & ~RIGHT_EXECUTE);
}

int64_t sys_memory_physical(cap_t device, cap_t slot, uint64_t offset)
{
    struct memory *memory;
    int error = driver_check(device);
    if (error || (error = get_memory(slot, RIGHT_READ, &memory)))
        return error;
    spin_lock(&memory->lock);
    paddr_t frame = memory_frame(memory, offset, false);
    spin_unlock(&memory->lock);
    memory_put(memory);
    return frame == FRAME_NONE ? -E_NOT_FOUND : (int64_t)(frame + offset % FRAME_SIZE);
}

int64_t sys_memory_size(cap_t slot)
{
    struct memory *memory;
    int error = get_memory(slot, 0, &memory);
    if (error)
        return error;
    spin_lock(&memory->lock);
    int64_t size = (int64_t)memory->size;
    spin_unlock(&memory->lock);
    memory_put(memory);
    return size;
}

int64_t sys_memory_resize(cap_t slot, uint64_t size)
{
    struct memory *memory;
    if (bad_size(size))
        return -E_BAD_ARGUMENT;
    int error = get_memory(slot, RIGHT_WRITE, &memory);
    if (error)
        return error;
    error = memory_resize(memory, whole_pages(size));
    memory_put(memory);
    return error;
}

/* ---- Pagers ---- */

int64_t sys_memory_supply(cap_t slot, uint64_t offset, cap_t source_slot, uint64_t source_offset,
                          uint64_t size)
{
    struct memory *target, *source;
    if (bad_size(size) || size > SUPPLY_MAX || offset % FRAME_SIZE || source_offset % FRAME_SIZE ||
        size % FRAME_SIZE)
        return -E_BAD_ARGUMENT;
    int error = get_memory(slot, RIGHT_WRITE, &target);
    if (error)
        return error;
    if ((error = get_memory(source_slot, RIGHT_WRITE, &source))) {
        memory_put(target);
        return error;
    }
    uint64_t done = 0;
    if (target->kind != MEMORY_PAGED || source->kind != MEMORY_ZERO || target == source)
        error = -E_BAD_TYPE;
    while (!error && done < size) {
        error = memory_supply(target, offset + done, source, source_offset + done);
        if (!error)
            done += FRAME_SIZE;
    }
    memory_put(target);
    memory_put(source);
    return done ? (int64_t)done : error;
}
