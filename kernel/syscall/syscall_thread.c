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
    int64_t slot = cap_insert(current_thread()->space, CAP_THREAD, thread, RIGHT_ALL, 0);
    if (slot < 0) { /* nobody could resume it */
        thread_kill(thread);
        thread_put(thread);
    }
    return slot;
}

int64_t sys_thread_resume(struct thread *thread)
{
    thread_resume(thread);
    return 0;
}

int64_t sys_thread_suspend(struct thread *thread)
{
    thread_suspend(thread);
    return 0;
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

int64_t sys_thread_info(struct thread *thread)
{
    return thread->tid;
}
