/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/fault_fast.c - a fault's message to a thread that waits for it on this CPU: as fast as a call
 * (ipc_fast.c), and for the same reasons.
 */
#include <kernel/endpoint.h>
#include <kernel/ipc.h>
#include <kernel/ipc_fast.h>
#include <tarn/error.h>
#include <trace/ipc.h>

bool ipc_send_fault_fast(struct thread *self, struct endpoint **where)
{
    struct cpu *cpu = this_cpu();
    struct endpoint *endpoint = __atomic_load_n(where, __ATOMIC_RELAXED);
    if (!endpoint || !spin_try_lock_unwatched(&endpoint->lock))
        return false;
    struct list *link = endpoint->receivers.next;
    struct thread *server = list_object(link, struct thread, link);
    /* The memory of endpoints keeps its type while we are in the kernel (slab.h), so a stale pointer could be
     * locked. If it is found again now, with the lock held, it is not stale: its reference is given back
     * after it has been replaced, and the last one takes the lock. */
    if (__atomic_load_n(where, __ATOMIC_RELAXED) != endpoint || link == &endpoint->receivers ||
        !can_run_here(cpu, server) || TRACE_ON_IPC()) {
        spin_unlock_unwatched(&endpoint->lock);
        return false;
    }
    list_remove(link);
    take_over(cpu, server);
    ipc_put_fault_message(self, server);
    begin_wait(self, THREAD_BLOCKED_FAULT, &self->answer_lock);
    spin_unlock_fenced(&endpoint->lock);
    if (is_killed(self))
        thread_abort_wait(self, -E_CANCELED);
    go_on_with(cpu, self, server, THREAD_BLOCKED_FAULT);
    return true;
}
