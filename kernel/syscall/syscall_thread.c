/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall_thread.c - system calls on threads. thread.c, wait.c and sched.c implement them. */
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/sched.h>

/* Drop the reference with thread_put. */
static int get_thread(cap_t slot, uint32_t rights, struct thread **thread)
{
    void *object;
    int error = cap_get(current_thread()->space, slot, CAP_THREAD, rights, &object);
    *thread = object;
    return error;
}

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

int64_t sys_thread_create(cap_t space_slot, const struct thread_config *user_config)
{
    struct thread_config config;
    int64_t error = user_read(&config, user_config, sizeof config);
    if (error || (error = check_config(&config)))
        return error;
    struct space *own = current_thread()->space;
    void *space;
    if ((error = cap_get(own, space_slot, CAP_SPACE, RIGHT_MANAGE, &space)))
        return error;
    int failure;
    struct thread *thread = thread_new(space, &config, &failure);
    object_put(CAP_SPACE, space);
    if (!thread)
        return failure;
    int64_t slot = cap_insert(own, CAP_THREAD, thread, RIGHT_ALL, 0);
    if (slot < 0) { /* nobody could resume it */
        thread_kill(thread);
        thread_put(thread);
    }
    return slot;
}

static inline __attribute__((always_inline)) int64_t manage_thread(cap_t slot,
                                                                   void (*function)(struct thread *thread))
{
    struct thread *thread;
    int error = get_thread(slot, RIGHT_MANAGE, &thread);
    if (error)
        return error;
    function(thread);
    thread_put(thread);
    return 0;
}

int64_t sys_thread_resume(cap_t slot)
{
    return manage_thread(slot, thread_resume);
}

int64_t sys_thread_suspend(cap_t slot)
{
    return manage_thread(slot, thread_suspend);
}

int64_t sys_thread_kill(cap_t slot)
{
    return manage_thread(slot, thread_kill);
}

int64_t sys_thread_exit(void)
{
    thread_kill(current_thread());
    return 0; /* nobody sees it */
}

int64_t sys_thread_cancel(cap_t slot)
{
    struct thread *thread;
    int error = get_thread(slot, RIGHT_MANAGE, &thread);
    if (error)
        return error;
    bool waited = thread_abort_wait(thread, -E_CANCELED);
    thread_put(thread);
    return waited ? 0 : -E_AGAIN;
}

int64_t sys_thread_set_priority(cap_t slot, uint32_t priority)
{
    struct thread *thread;
    if (priority >= TARN_PRIORITIES)
        return -E_BAD_ARGUMENT;
    if (priority > current_thread()->priority)
        return -E_BAD_RIGHT;
    int error = get_thread(slot, RIGHT_MANAGE, &thread);
    if (error)
        return error;
    sched_set_priority(thread, priority);
    thread_put(thread);
    return 0;
}

int64_t sys_thread_set_affinity(cap_t slot, uint64_t cpus)
{
    struct thread *thread;
    if (!affinity_possible(cpus))
        return -E_BAD_ARGUMENT;
    int error = get_thread(slot, RIGHT_MANAGE, &thread);
    if (error)
        return error;
    sched_set_affinity(thread, cpus);
    thread_put(thread);
    return 0;
}

int64_t sys_thread_set_name(cap_t slot, const char *user_name)
{
    char name[TARN_NAME_BYTES];
    int64_t error = user_read_name(name, user_name);
    if (error)
        return error;
    struct thread *thread;
    if ((error = get_thread(slot, RIGHT_MANAGE, &thread)))
        return error;
    spin_lock(&thread->lock);
    bool alive = atomic_load(&thread->state) != THREAD_DEAD;
    if (alive) { /* the block belongs to the thread until it is dead */
        memcpy(thread->block->name, name, sizeof name);
        trace_sched_rename(thread->tid, thread->block->pid, name);
    }
    spin_unlock(&thread->lock);
    thread_put(thread);
    return alive ? 0 : -E_DEAD;
}

int64_t sys_thread_info(cap_t slot)
{
    struct thread *thread;
    int error = get_thread(slot, 0, &thread);
    if (error)
        return error;
    int64_t tid = thread->tid;
    thread_put(thread);
    return tid;
}
