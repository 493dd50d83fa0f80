/*
 * fault_fast.c - sends a fault's message to a thread that waits for it on this CPU, as fast as a call
 * (ipc_fast.c).
 */
#include <kernel/ipc/endpoint.h>
#include <kernel/ipc/ipc.h>
#include <kernel/ipc/ipc_fast.h>
#include <tarn/error.h>
#include <trace/ipc.h>

bool ipc_send_fault_fast(struct thread *self, struct endpoint **where)
{
    struct cpu *cpu = this_cpu();
    struct endpoint *endpoint = __atomic_load_n(where, __ATOMIC_RELAXED);
    if (!endpoint || !spin_try_lock(&endpoint->lock))
        return false;
    struct list *link = endpoint->receivers.next;
    struct thread *server = list_object(link, struct thread, link);
    /* `endpoint` may be stale, but it is still an endpoint (slab.h), so locking it was safe. If `*where`
     * still holds it under its lock, it is alive: its reference is dropped after `*where` changes, and the
     * last put takes the lock. */
    if (__atomic_load_n(where, __ATOMIC_RELAXED) != endpoint || link == &endpoint->receivers ||
        !can_run_here(cpu, server) || TRACE_ON_IPC()) {
        spin_unlock(&endpoint->lock);
        return false;
    }
    list_remove(link);
    take_over(cpu, server);
    ipc_put_fault_message(self, server);
    begin_wait(self, THREAD_BLOCKED_FAULT, &self->reply_lock);
    spin_unlock_fenced(&endpoint->lock);
    if (is_killed(self))
        thread_abort_wait(self, -E_CANCELED);
    switch_to_partner(cpu, self, server);
    return true;
}
