/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.c - page faults and exceptions of user mode.
 *
 * space_fault (space_fault.c) does what the kernel can do alone. For everything else the thread sends a
 * message, and waits for the reply like a caller: to the memory object's pager (IPC_LABEL_PAGE), or to its
 * space's fault handler (IPC_LABEL_FAULT). The reply makes it retry or ends it (reply.c). Without pager and
 * handler the space is killed, with a line in the log.
 */
#include <arch/clock.h>
#include <arch/user.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/entry_paths.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/explore/explore.h>
#include <kernel/ipc/endpoint.h>
#include <kernel/ipc/fault.h>
#include <kernel/ipc/ipc.h>
#include <kernel/kernel.h>
#include <kernel/memory/scarce.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space_exit.h>
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

/* Returns what trace_fault_exit() does, if the fault ended. */
static inline __attribute__((always_inline)) uint64_t hand_on(struct thread *self,
                                                              struct fault_request *request,
                                                              enum fault_result result, uint64_t ip,
                                                              uint64_t since)
{
    if (result == FAULT_ASK_PAGER && fault_ask_pager(request, since, true)) {
        arch_switched();
        return TRACE_NOT_LOGGED;
    }
    if (result == FAULT_NO_MEMORY && scarce_wait(self)) {
        trace_fault_exit(request->address, arch_clock() - since, TRACE_FAULT_BAD, self->tid);
        arch_switched();
        return TRACE_NOT_LOGGED;
    }
    self->fault_kind = TRACE_FAULT_HANDLER;
    self->fault_since = since;
    self->fault_address = request->address;
    if (ask_handler(self, FAULT_PAGE, request->address, ip, request->access)) {
        arch_switched();
        return TRACE_NOT_LOGGED;
    }
    if (kill_faulter(self, FAULT_PAGE, request->address, ip) && result == FAULT_NO_MEMORY)
        log_line("out of memory: %lu of %lu frames free", frame_count_free(), frame_count_total());
    return trace_fault_exit(request->address, arch_clock() - since, TRACE_FAULT_BAD, self->tid);
}

static inline enum fault_result resolve(struct thread *self, struct fault_request *request)
{
    return request->address < USER_END ? space_fault(self->space, request) : FAULT_REFUSED;
}

static __attribute__((noinline)) enum fault_result resolve_sampled(struct thread *self,
                                                                   struct fault_request *request)
{
    profile_open_window();
    enum fault_result result = resolve(self, request);
    profile_close_window();
    return result;
}

/* `logged`: what hand_on() returns. */
static inline __attribute__((always_inline)) bool handle_unresolved(struct thread *self,
                                                                    struct fault_request *request,
                                                                    enum fault_result result, uint64_t ip,
                                                                    uint64_t since, bool from_kernel,
                                                                    uint64_t *logged)
{
    if (from_kernel) { /* stops the copy; syscall.c asks the pager */
        if (result == FAULT_ASK_PAGER)
            endpoint_put(request->pager);
        *logged = trace_fault_exit(request->address, arch_clock() - since, TRACE_FAULT_BAD, self->tid);
        return false;
    }
    *logged = hand_on(self, request, result, ip, since);
    return true;
}

/* The fault will end, in routines, when the thread runs again. A copy of the kernel ends at once. */
static void await_end(struct thread *self, uint32_t kind, bool from_kernel)
{
    self->fault_kind = kind;
    if (!from_kernel)
        self->traced |= TRACED_FAULT;
}

static bool is_waiting(const struct thread *self)
{
    return self != current_thread() ||
           atomic_load_explicit(&self->state, memory_order_relaxed) != THREAD_RUNNING;
}

/* Apart, so that handle_watched() needs few registers that calls keep. */
static __attribute__((noinline)) bool hand_on_watched(struct thread *self, struct fault_request *request,
                                                      enum fault_result result, uint64_t ip, uint64_t since,
                                                      bool from_kernel)
{
    const bool counted = ROUTINES_ON();
    if (counted)
        await_end(self, TRACE_FAULT_BAD, from_kernel);
    uint64_t logged;
    const bool handled = handle_unresolved(self, request, result, ip, since, from_kernel, &logged);
    if (counted && !is_waiting(self)) /* else it ends when the thread runs again */
        routines_end_as(self, TRACE_ROUTINE_FAULT, TRACE_FAULT_BAD, routines_time(logged));
    return handled;
}

/* Nothing but routines is on. */
static __attribute__((noinline)) bool handle_counted(uint64_t address, uint32_t access, uint64_t ip,
                                                     bool from_kernel)
{
    struct thread *self = current_thread();
    const uint64_t since = arch_clock();
    const uint32_t depth = from_kernel ? routine_depth(&self->routines) : 0;
    struct fault_request request = {.address = address, .access = access};
    routine_begin(&self->routines, depth, trace_routine_key(TRACE_ROUTINE_FAULT, 0), since);
    const enum fault_result result = resolve(self, &request);
    if (__builtin_expect(result != FAULT_RESOLVED, 0))
        return hand_on_watched(self, &request, result, ip, since, from_kernel);
    self->routines.at[depth].key = trace_routine_key(TRACE_ROUTINE_FAULT, (uint16_t)request.kind);
    if (self->routine_table)
        routine_end(self, routine_rows_of(self->routine_table), &self->routines, depth, arch_clock());
    return true;
}

/* Faults are traced, or samples are taken. */
static __attribute__((noinline)) bool handle_watched(uint64_t address, uint32_t access, uint64_t ip,
                                                     bool from_kernel)
{
    struct thread *self = current_thread();
    const uint64_t since = arch_clock();
    struct fault_request request = {.address = address, .access = access};
    uint64_t logged = trace_fault_entry(address, ip, self->tid, access);
    if (ROUTINES_ON())
        routines_begin(self, from_kernel, TRACE_ROUTINE_FAULT, 0, routines_time(logged));
    enum fault_result result =
        profile_period && !from_kernel ? resolve_sampled(self, &request) : resolve(self, &request);
    if (__builtin_expect(result != FAULT_RESOLVED, 0))
        return hand_on_watched(self, &request, result, ip, since, from_kernel);
    const uint64_t now = arch_clock();
    logged = trace_fault_exit(request.address, now - since, request.kind, self->tid);
    if (ROUTINES_ON())
        routines_end_as(self, TRACE_ROUTINE_FAULT, request.kind, routines_time(logged));
    return true;
}

bool handle_page_fault(uint64_t address, uint32_t access, uint64_t ip, bool from_kernel)
{
    explore_enters_kernel();
    if (__builtin_expect(fault_watched, 0))
        return routines_alone && !TRACE_ON_FAULT() ? handle_counted(address, access, ip, from_kernel)
                                                   : handle_watched(address, access, ip, from_kernel);
    struct thread *self = current_thread();
    const uint64_t since = arch_clock();
    struct fault_request request = {.address = address, .access = access};
    enum fault_result result = resolve(self, &request);
    uint64_t ignored;
    return result == FAULT_RESOLVED ||
           handle_unresolved(self, &request, result, ip, since, from_kernel, &ignored);
}

void handle_exception(uint32_t vector, uint32_t reason, uint64_t code, uint64_t ip)
{
    struct thread *self = current_thread();
    explore_enters_kernel();
    uint64_t logged = trace_exception_entry(vector, self->tid, ip, code);
    if (ROUTINES_ON()) {
        routines_begin(self, false, TRACE_ROUTINE_EXCEPTION, vector, routines_time(logged));
        self->traced |= TRACED_FAULT;
    }
    self->fault_kind = vector;
    self->fault_since = 0;
    if (!ask_handler(self, reason, ip, ip, 0)) {
        kill_faulter(self, reason, ip, ip);
        logged = trace_exception_exit(vector, 2);
        if (ROUTINES_ON())
            routines_end(self, routines_time(logged));
    }
}
