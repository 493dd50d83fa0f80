/*
 * syscall_space.c - system calls on spaces, and on memory objects in spaces. space.c and space_exit.c
 * implement them.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/endpoint.h>
#include <kernel/ipc/notification.h>
#include <kernel/ipc/space_exit.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/process.h>

/* ---- Creation and death ---- */

int64_t sys_space_create(const char *user_name, uint32_t parent)
{
    char name[TARN_NAME_BYTES];
    int64_t error = user_read_name(name, user_name);
    if (error)
        return error;
    struct space *own = current_thread()->space;
    if (parent == 0 || !own->system) /* a fact for the trace, which a program may not invent */
        parent = own->pid;
    __atomic_store_n(&own->is_parent, true, __ATOMIC_RELAXED);
    bool by_init = own->creator_pid == 0;
    return cap_give(CAP_SPACE, space_new(name, own->pid, parent, by_init), RIGHT_ALL);
}

int64_t sys_space_kill(struct space *space, int32_t status)
{
    space_kill(space, status);
    return 0;
}

/* Watcher and fault handler are the creator's: a program has a capability to its own space, but can hide
 * neither its death nor its faults. */
int64_t sys_space_watch(struct space *space, struct notification *watcher, uint64_t bits)
{
    int64_t error = 0;
    if (bits == 0 || bits & ~NOTIFICATION_BITS)
        return -E_BAD_ARGUMENT;
    spin_lock(&space->lock);
    const bool dead = space->released;
    if (!dead && space->watcher) {
        error = -E_EXISTS;
    } else if (!dead) {
        notification_get(watcher);
        space->watcher = watcher;
        space->watcher_bits = bits;
    }
    spin_unlock(&space->lock);
    if (dead)
        notification_signal(watcher, bits);
    return error;
}

int64_t sys_space_set_fault_handler(struct space *space, struct endpoint *handler)
{
    int64_t error = 0;
    endpoint_get(handler);
    spin_lock(&space->lock);
    if (space->dying) /* space_finish has dropped, or will drop, the current one */
        error = -E_DEAD;
    else if (space->fault_handler)
        error = -E_EXISTS;
    else
        __atomic_store_n(&space->fault_handler, handler, __ATOMIC_RELEASE); /* ipc_send_fault_fast reads it */
    spin_unlock(&space->lock);
    if (error)
        endpoint_put(handler);
    return error;
}

int64_t sys_space_set_name(struct space *space, const char *user_name)
{
    char name[TARN_NAME_BYTES];
    int64_t error = user_read_name(name, user_name);
    if (error)
        return error;
    spin_lock(&space->lock);
    memcpy(space->name, name, sizeof name);
    spin_unlock(&space->lock);
    trace_process_rename(space->pid, name);
    return 0;
}

int64_t sys_space_info(struct space *space)
{
    spin_lock(&space->lock);
    int64_t result = space->released ? -E_DEAD : (int64_t)space->pid;
    spin_unlock(&space->lock);
    return result;
}

int64_t sys_space_status(struct space *space)
{
    spin_lock(&space->lock);
    int64_t result = space->dying ? (int64_t)(uint32_t)space->status : -E_BUSY;
    spin_unlock(&space->lock);
    return result;
}

/* ---- Mappings ---- */

_Static_assert(RIGHT_READ == MAP_READ && RIGHT_WRITE == MAP_WRITE && RIGHT_EXECUTE == MAP_EXECUTE,
               "same bits");

/* A server's mapping fails while memory is short: here the server can return an error to its client, but
 * not when it touches the memory. */
static bool is_too_much(const struct space *space, const struct memory *memory, uint64_t size)
{
    return space->system && space == current_thread()->space && memory->kind == MEMORY_ZERO &&
           __atomic_load_n(&memory->frames, __ATOMIC_RELAXED) == 0 && !frame_leaves_enough(size / FRAME_SIZE);
}

int64_t sys_space_map(struct space *space, cap_t memory_slot, uint64_t address, uint64_t size,
                      uint64_t offset, uint32_t flags)
{
    struct cap memory;
    int64_t result = cap_get_any(current_thread()->space, memory_slot, CAP_MEMORY, 0, &memory);
    if (result)
        return result;
    uint32_t allowed = cap_meta_rights(memory.meta) & (MAP_READ | MAP_WRITE | MAP_EXECUTE);
    result = is_too_much(space, memory.object, size)
                 ? -E_NO_MEMORY
                 : space_map(space, memory.object, address, size, offset, flags, allowed);
    memory_put(memory.object);
    return result;
}

int64_t sys_space_unmap(struct space *space, uint64_t address, uint64_t size)
{
    return space_unmap(space, address, size);
}

int64_t sys_space_protect(struct space *space, uint64_t address, uint64_t size, uint32_t flags)
{
    return space_protect(space, address, size, flags);
}
