/* objects.c - system calls on threads, spaces and memory objects: what sched/, space/ and ipc/ do, with
 * checks. */
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/endpoint.h>
#include <kernel/ipc/notification.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/memory.h>
#include <kernel/space/space.h>
#include <kernel/syscall/machine.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/process.h>
#include <trace/sched.h>

/* ---- Threads ---- */

static bool affinity_possible(uint64_t affinity)
{
    return affinity & atomic_load(&sched_online_cpus);
}

static int check_config(const struct thread_config *config)
{
    if (config->priority >= TARN_PRIORITIES || config->flags != 0)
        return -E_BAD_ARGUMENT;
    if (config->priority > current_thread()->priority)
        return -E_BAD_RIGHT;
    return config->affinity == 0 || affinity_possible(config->affinity) ? 0 : -E_BAD_ARGUMENT;
}

int64_t sys_thread_create(struct space *space, const struct thread_config *user_config)
{
    struct thread_config config;
    int64_t error = user_read(&config, user_config, sizeof config);
    if (error || (error = check_config(&config)))
        return error;
    int failure;
    struct thread *thread = thread_new(space, &config, &failure);
    if (!thread)
        return failure;
    int64_t slot = cap_insert(&current_thread()->space->caps, 0, CAP_THREAD, thread, RIGHT_ALL, 0);
    if (slot < 0) { /* nobody could resume it */
        thread_kill(thread);
        thread_put(thread);
    }
    return slot;
}

int64_t sys_thread_kill(struct thread *thread)
{
    thread_kill(thread);
    return 0;
}

int64_t sys_thread_exit(void)
{
    thread_kill(current_thread());
    return 0; /* nobody sees it */
}

int64_t sys_thread_cancel(struct thread *thread)
{
    return thread_abort_wait(thread, -E_CANCELED) ? 0 : -E_AGAIN;
}

int64_t sys_thread_set_priority(struct thread *thread, uint32_t priority)
{
    if (priority >= TARN_PRIORITIES)
        return -E_BAD_ARGUMENT;
    if (priority > current_thread()->priority)
        return -E_BAD_RIGHT;
    sched_set_priority(thread, priority);
    return 0;
}

int64_t sys_thread_set_affinity(struct thread *thread, uint64_t cpus)
{
    if (!affinity_possible(cpus))
        return -E_BAD_ARGUMENT;
    sched_set_affinity(thread, cpus);
    return 0;
}

int64_t sys_thread_set_name(struct thread *thread, const char *user_name)
{
    char name[TARN_NAME_BYTES];
    int64_t error = user_read_name(name, user_name);
    if (error)
        return error;
    spin_lock(&thread->lock);
    bool alive = atomic_load(&thread->state) != THREAD_DEAD;
    if (alive) { /* the block belongs to the thread until it is dead */
        memcpy(thread->block->name, name, sizeof name);
        trace_sched_rename(thread->tid, thread->block->pid, name);
    }
    spin_unlock(&thread->lock);
    return alive ? 0 : -E_DEAD;
}

/* ---- Spaces ---- */

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
    if (space->dying) /* end_watch() has dropped, or will drop, the current one */
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

/* The dead space's memory is freed: informs the watcher. */
static void end_watch(struct space *space)
{
    spin_lock(&space->lock);
    struct notification *watcher = space->watcher;
    struct endpoint *handler = space->fault_handler;
    uint64_t bits = space->watcher_bits;
    space->watcher = NULL;
    space->fault_handler = NULL;
    space->returned = true;
    spin_unlock(&space->lock);
    if (handler)
        endpoint_put(handler);
    if (watcher) {
        notification_signal(watcher, bits);
        notification_put(watcher);
    }
}
SPACE_END(2_watcher, end_watch);

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
    int64_t result = cap_get_any(&current_thread()->space->caps, memory_slot, CAP_MEMORY, 0, &memory);
    if (result)
        return result;
    uint32_t allowed = cap_meta_rights(memory.meta) & (MAP_READ | MAP_WRITE | MAP_EXECUTE);
    result = is_too_much(space, memory.object, size)
                 ? -E_NO_MEMORY
                 : space_map(space, memory.object, address, size, offset, flags, allowed);
    memory_put(memory.object);
    return result;
}

/* ---- Memory objects ---- */

static bool bad_size(uint64_t size)
{
    return size == 0 || size > MEMORY_SIZE_MAX;
}

int64_t sys_memory_create(uint64_t size)
{
    return bad_size(size) ? -E_BAD_ARGUMENT : cap_give(CAP_MEMORY, memory_new(MEMORY_ZERO, size), RIGHT_ALL);
}

int64_t sys_memory_create_paged(uint64_t size, struct endpoint *pager)
{
    if (bad_size(size))
        return -E_BAD_ARGUMENT;
    struct memory *memory = memory_new(MEMORY_PAGED, size);
    if (memory) {
        endpoint_get(pager);
        memory->pager = pager;
    }
    return cap_give(CAP_MEMORY, memory, RIGHT_ALL);
}

int64_t sys_memory_create_contiguous(cap_t device, uint64_t size)
{
    unsigned order = 0;
    int error = driver_check(device);
    if (error)
        return error;
    if (size == 0 || size > FRAME_SIZE << FRAME_ORDER_MAX)
        return -E_BAD_ARGUMENT;
    while (FRAME_SIZE << order < size)
        order++;
    const paddr_t base = frame_alloc_order(order);
    if (base == FRAME_NONE)
        return -E_NO_MEMORY;
    memset(phys_to_virt(base), 0, FRAME_SIZE << order);
    struct memory *memory = memory_new_at(MEMORY_CONTIGUOUS, base, FRAME_SIZE << order);
    if (!memory)
        frame_free_order(base, order);
    return cap_give(CAP_MEMORY, memory, RIGHT_ALL & ~RIGHT_EXECUTE);
}

int64_t sys_memory_physical(cap_t device, struct memory *memory, uint64_t offset)
{
    int error = driver_check(device);
    if (error)
        return error;
    const paddr_t frame = memory_peek(memory, offset);
    return frame == FRAME_NONE ? -E_NOT_FOUND : (int64_t)(frame + offset % FRAME_SIZE);
}

int64_t sys_memory_size(struct memory *memory)
{
    spin_lock(&memory->lock);
    int64_t size = (int64_t)memory->size;
    spin_unlock(&memory->lock);
    return size;
}
