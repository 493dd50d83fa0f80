/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/trace/statedump.c - logs existing processes, threads, lock classes, ..., so that a trace explains
 * its numbers.
 *
 * Walks the kernel's lists under their own locks. Objects that begin or end meanwhile log their own events; a
 * reader that uses both gets the correct state.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/ipc/irq.h>
#include <kernel/sched/thread.h>
#include <kernel/sched/traced_state.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <tarn/abi.h>
#include <trace/state.h>

/* The kernel's own executable, as process 0, with its file name as the path. */
static void dump_kernel(void)
{
    extern const char kernel_start[], kernel_end[]; /* kernel.ld */
    extern const uint8_t build_id_note[], build_id_note_end[];
    const uint64_t head = 3 * sizeof(uint32_t) + sizeof("GNU"); /* of an ELF note */
    uint64_t build_id[2] = {0};
    if ((uint64_t)build_id_note_end - (uint64_t)build_id_note >= head + sizeof(build_id))
        trace_build_id(build_id_note + head, build_id);
    trace_state_image(0, (uint64_t)kernel_start, (uint64_t)kernel_end - (uint64_t)kernel_start, build_id[0],
                      build_id[1], "tarn.elf");
}

static void dump_space(struct space *space)
{
    spin_lock(&space->lock);
    trace_state_process(space->pid, space->parent_pid, space->thread_count, space->name);
    if (space->executable_path[0])
        trace_state_image(space->pid, space->executable_base, space->executable_size, space->build_id[0],
                          space->build_id[1], space->executable_path);
    spin_unlock(&space->lock);
}

/* LTTng's numbers for states of threads. */
static uint32_t status_of(enum thread_state state)
{
    enum { WAITS_FOR_CPU = 2, WAITS = 5, DEAD = 7 };
    if (state == THREAD_RUNNING || state == THREAD_READY)
        return WAITS_FOR_CPU;
    return state == THREAD_DEAD ? DEAD : WAITS;
}

static void dump_thread(struct thread *thread, void *context)
{
    static const char no_name[TRACE_NAME_BYTES];
    struct cpu *cpu = atomic_load_explicit(&thread->cpu, memory_order_relaxed);
    const struct space *space = thread->space;
    enum thread_state state = atomic_load_explicit(&thread->state, memory_order_relaxed);
    trace_state_thread(thread->tid, space ? space->pid : 0, space ? space->parent_pid : 0, status_of(state),
                       thread->block ? thread->block->name : no_name, traced_state(state),
                       (uint16_t)thread->priority, cpu ? (uint16_t)cpu->index : 0);
}

static void dump_irq(uint32_t number, const char *name, void *context)
{
    trace_state_irq(number, name);
}

static void dump_lock_class(struct lock_class *class, void *context)
{
    lock_class_log(class);
}

void trace_statedump(void)
{
    static uint64_t count;
    if (!TRACE_ON_STATE())
        return;
    uint64_t number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED); /* relaxed: only a number */
    __atomic_store_n(&trace_info_page.statedumps, (uint32_t)number, __ATOMIC_RELAXED);
    trace_state_begin(number);
    dump_kernel();
    for (struct space *space = space_next(NULL), *next; space; space = next) {
        dump_space(space);
        next = space_next(space);
        space_put(space);
    }
    thread_for_each(dump_thread, NULL);
    lock_class_for_each(dump_lock_class, NULL);
    irq_for_each(dump_irq, NULL);
    profile_statedump();
    trace_limits_statedump();
    counters_statedump();
    trace_state_end(number);
}
