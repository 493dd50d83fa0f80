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
                          : cap_give(CAP_MEMORY, memory_new(MEMORY_ZERO, whole_pages(size)), RIGHT_ALL);
}

int64_t sys_memory_create_paged(uint64_t size, struct endpoint *pager)
{
    if (bad_size(size))
        return -E_BAD_ARGUMENT;
    struct memory *memory = memory_new(MEMORY_PAGED, whole_pages(size));
    if (memory) {
        endpoint_get(pager);
        memory->pager = pager;
    }
    return cap_give(CAP_MEMORY, memory, RIGHT_ALL);
}

int64_t sys_memory_create_contiguous(cap_t device, uint64_t size)
{
    int error = driver_check(device);
    if (error)
        return error;
    if (bad_size(size) || size > FRAME_SIZE << FRAME_ORDER_MAX)
        return -E_BAD_ARGUMENT;
    return cap_give(CAP_MEMORY, memory_new_contiguous(whole_pages(size)), RIGHT_ALL & ~RIGHT_EXECUTE);
}

int64_t sys_memory_physical(cap_t device, struct memory *memory, uint64_t offset)
{
    int error = driver_check(device);
    if (error)
        return error;
    spin_lock(&memory->lock);
    paddr_t frame = memory_frame(memory, offset, false);
    spin_unlock(&memory->lock);
    return frame == FRAME_NONE ? -E_NOT_FOUND : (int64_t)(frame + offset % FRAME_SIZE);
}

int64_t sys_memory_size(struct memory *memory)
{
    spin_lock(&memory->lock);
    int64_t size = (int64_t)memory->size;
    spin_unlock(&memory->lock);
    return size;
}

int64_t sys_memory_resize(struct memory *memory, uint64_t size)
{
    return bad_size(size) ? -E_BAD_ARGUMENT : memory_resize(memory, whole_pages(size));
}

/* ---- Pagers ---- */

int64_t sys_memory_supply(struct memory *target, uint64_t offset, struct memory *source,
                          uint64_t source_offset, uint64_t size)
{
    uint64_t done = 0;
    int error = 0;
    if (bad_size(size) || size > SUPPLY_MAX || offset % FRAME_SIZE || source_offset % FRAME_SIZE ||
        size % FRAME_SIZE)
        return -E_BAD_ARGUMENT;
    if (target->kind != MEMORY_PAGED || source->kind != MEMORY_ZERO || target == source)
        return -E_BAD_TYPE;
    while (!error && done < size) {
        error = memory_supply(target, offset + done, source, source_offset + done);
        if (!error)
            done += FRAME_SIZE;
    }
    return done ? (int64_t)done : error;
}
