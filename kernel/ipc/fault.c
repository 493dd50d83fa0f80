/*
 * fault.c - page faults and exceptions of user mode.
 *
 * space_fault (space_fault.c) resolves faults that the kernel can resolve alone. For others the thread sends
 * a message, and waits for the reply like a caller: to the memory object's pager (IPC_LABEL_PAGE), or to its
 * space's fault handler (IPC_LABEL_FAULT). The reply makes it retry or ends it (reply.c). Without pager and
 * handler the space is killed, with a line in the log. endpoint.c or ipc_fast.c sends the message.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/span.h>
#include <kernel/ipc/endpoint.h>
#include <kernel/ipc/ipc.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <trace/exception.h>
#include <trace/fault.h>

static const char *reason_name(uint32_t reason)
{
    static const char *const names[] = {
        [FAULT_PAGE] = "page fault",       [FAULT_ILLEGAL] = "illegal instruction",
        [FAULT_ARITHMETIC] = "arithmetic", [FAULT_BREAKPOINT] = "breakpoint",
        [FAULT_PROTECTION] = "protection", [FAULT_ALIGNMENT] = "alignment"};
    return reason < sizeof names / sizeof names[0] && names[reason] ? names[reason] : "fault";
}

/* Nobody can handle the fault. Kills the space and logs why; returns true. In a dying space, ends only the
 * thread, at once: it might fault many more times before space_kill reaches it. */
static bool kill_faulter(struct thread *self, uint32_t reason, uint64_t address, uint64_t ip)
{
    if (!space_kill(self->space, -(int32_t)reason)) {
        thread_kill(self);
        return false;
    }
    log_line("%s/%u of pid %u killed: %s at %#lx, ip %#lx", self->block->name, self->tid, self->space->pid,
             reason_name(reason), address, ip);
    return true;
}

/* Returns a reference, or NULL. */
static struct endpoint *get_fault_handler(struct space *space)
{
    spin_lock(&space->lock);
    struct endpoint *handler = space->fault_handler;
    if (handler)
        endpoint_get(handler);
    spin_unlock(&space->lock);
    return handler;
}

/* Returns false if there is no handler. */
static bool ask_handler(struct thread *self, uint32_t reason, uint64_t address, uint64_t ip, uint32_t access)
{
    uint64_t words[IPC_WORDS] = {reason, address, ip, access, self->tid, self->space->pid};
    ipc_prepare_fault(self, IPC_LABEL_FAULT, words);
    if (ipc_send_fault_fast(self, &self->space->fault_handler))
        return true;
    struct endpoint *handler = get_fault_handler(self->space);
    if (handler) {
        int error = ipc_send_fault(handler);
        endpoint_put(handler);
        if (!error)
            return true;
    }
    return false;
}

bool fault_ask_pager(const struct fault_request *request, uint64_t since, bool direct)
{
    struct thread *self = current_thread();
    uint64_t words[IPC_WORDS] = {request->object_number, request->object_offset, request->access, self->tid,
                                 self->space->pid};
    self->fault_kind = TRACE_FAULT_PAGER;
    self->fault_since = since;
    self->fault_address = request->address;
    ipc_prepare_fault(self, IPC_LABEL_PAGE, words);
    struct endpoint *pager = request->pager;
    bool sent = (direct && ipc_send_fault_fast(self, &pager)) || ipc_send_fault(pager) == 0;
    endpoint_put(pager);
    return sent;
}

/* ---- Entries ---- */

/* Whether the thread waits now for a pager, for memory, or for its space's handler. */
static bool wait_for_help(struct thread *self, const struct fault_request *request, enum fault_result result,
                          uint64_t ip, uint64_t since)
{
    if (result == FAULT_ASK_PAGER && fault_ask_pager(request, since, true))
        return true;
    if (result == FAULT_NO_MEMORY && scarce_wait(self)) {
        trace_fault_exit(request->address, arch_clock() - since, TRACE_FAULT_BAD, self->tid);
        return true;
    }
    self->fault_kind = TRACE_FAULT_HANDLER;
    self->fault_since = since;
    self->fault_address = request->address;
    return ask_handler(self, FAULT_PAGE, request->address, ip, request->access);
}

/* The kernel alone could not resolve the fault. */
static void hand_on(struct thread *self, const struct fault_request *request, enum fault_result result,
                    uint64_t ip, uint64_t since)
{
    SPAN_OBSERVED(FAULT, fault_waits(self));
    if (wait_for_help(self, request, result, ip, since)) {
        arch_switched();
        return;
    }
    if (kill_faulter(self, FAULT_PAGE, request->address, ip) && result == FAULT_NO_MEMORY)
        log_line("out of memory: %lu of %lu frames free", frame_count_free(), frame_count_total());
    SPAN_OBSERVED(FAULT, fault_ended(self, request, TRACE_FAULT_BAD, since, false));
}

bool handle_page_fault(uint64_t address, uint32_t access, uint64_t ip, bool from_kernel)
{
    struct thread *self = current_thread();
    struct fault_request request = {.address = address, .access = access};
    explore_enters_kernel();
    const uint64_t since = arch_clock();
    SPAN_OBSERVED(FAULT, fault_begun(self, &request, ip, from_kernel));
    enum fault_result result =
        request.address < USER_END ? space_fault(self->space, &request) : FAULT_REFUSED;
    if (__builtin_expect(result != FAULT_RESOLVED, 0) && !from_kernel) {
        hand_on(self, &request, result, ip, since);
        return true;
    }
    if (result == FAULT_ASK_PAGER) /* stops the copy; user_copy.c asks the pager */
        endpoint_put(request.pager);
    SPAN_OBSERVED(FAULT,
                  fault_ended(self, &request, result == FAULT_RESOLVED ? request.kind : TRACE_FAULT_BAD,
                              since, from_kernel));
    return result == FAULT_RESOLVED;
}

void handle_exception(uint32_t vector, uint32_t reason, uint64_t code, uint64_t ip)
{
    struct thread *self = current_thread();
    explore_enters_kernel();
    SPAN_OBSERVED(EXCEPTION, exception_begun(self, vector, code, ip));
    self->fault_kind = vector;
    self->fault_since = 0;
    if (!ask_handler(self, reason, ip, ip, 0)) {
        kill_faulter(self, reason, ip, ip);
        SPAN_END(EXCEPTION, trace_exception_exit(vector, 2));
    }
}
