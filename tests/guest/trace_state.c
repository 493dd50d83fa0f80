/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_state.c - a statedump lists what exists: processes, threads, programs, locks, interrupts. */
#include <string.h>

#include <tests/guest/trace_help.h>
#include <trace/state.h>

enum { BEGIN = 1, PROCESS, THREAD, EXECUTABLE, LOCK_CLASS, IRQ, END };

/* The event bodies of trace/schema/state.ev. */
struct process_body {
    uint32_t pid, parent_pid, threads, reserved;
    char name[TRACE_NAME_BYTES];
};
struct thread_body {
    uint32_t tid, pid, ppid, status;
    char name[TRACE_NAME_BYTES];
    uint32_t state;
    uint16_t prio, cpu;
};
struct executable_body {
    uint32_t pid, reserved;
    uint64_t base, size, build_id[2];
    char path[];
};
struct lock_class_body {
    uint32_t number, watch, kind, reserved;
    char name[];
};
struct named_body {
    uint32_t number, reserved;
    char name[];
};

static struct {
    uint64_t begun, ended, processes, threads, executables, irqs;
    bool init, self, thread, executable, trace_lock;
} seen;

static void note_state(void *context, uint32_t cpu, const struct trace_header *event, uint64_t time)
{
    const void *body = event + 1;
    const struct process_body *process = body;
    const struct thread_body *thread = body;
    const struct executable_body *executable = body;
    const struct lock_class_body *lock_class = body;
    const struct named_body *named = body;
    if (TRACE_ID_CLASS(event->id) != TRACE_CLASS_STATE)
        return;
    switch (TRACE_ID_MINOR(event->id)) {
    case BEGIN:
        seen.begun = *(const uint64_t *)body;
        break;
    case PROCESS:
        seen.processes++;
        seen.init |= process->pid == 1 && !strncmp(process->name, "init", TRACE_NAME_BYTES);
        seen.self |= process->pid == process_id() && process->threads == 1;
        break;
    case THREAD:
        seen.threads++;
        seen.thread |= thread->tid == thread_id() && thread->pid == process_id() && thread->state == 0;
        break;
    case EXECUTABLE:
        seen.executables++;
        seen.executable |= executable->pid == process_id() &&
                           !strcmp(executable->path, program_startup()->path) &&
                           executable->base == program_startup()->executable_base && executable->build_id[0];
        break;
    case LOCK_CLASS:
        seen.trace_lock |= !strcmp(lock_class->name, "trace") && lock_class->number;
        break;
    case IRQ:
        seen.irqs += named->name[0] != 0;
        break;
    case END:
        seen.ended = *(const uint64_t *)body;
        break;
    }
}

static void look(void)
{
    struct ring_findings findings;
    memset(&seen, 0, sizeof seen);
    check(visit_rings(note_state, NULL, &findings) && !findings.lost && !findings.cut,
          "the rings are complete");
}

int main(void)
{
    const uint64_t only_state = 1ull << TRACE_CLASS_STATE;
    control(TRACE_OP_SET_MASK, 0, 0);
    control(TRACE_OP_CLEAR, 0, 0);
    look();
    check(!seen.begun, "class off: no statedump");
    control(TRACE_OP_SET_MASK, only_state, 0);
    look();
    check(seen.begun && seen.begun == seen.ended, "enabling the trace logs a complete statedump");
    check(seen.processes >= 6 && seen.init && seen.self, "processes: the servers, init, this one");
    check(seen.threads > seen.processes && seen.thread, "threads: this one, running");
    check(seen.executables >= 6 && seen.executable,
          "programs: this one, with its path, address and build-id");
    check(seen.trace_lock, "tarn locks prints classes of locks");
    check(seen.irqs >= 1, "interrupts");
    uint64_t number = seen.begun;
    check(control(TRACE_OP_STATEDUMP, 0, 0) == 0, "a requested statedump");
    look();
    check(seen.begun == number + 1 && seen.ended == seen.begun, "logs another");
    return finish_tests();
}
