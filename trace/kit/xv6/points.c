/* points.c (xv6) - see points.h. */
/* xv6's headers need this order. */
/* clang-format off */
#include "types.h"
#include "param.h"
#include "memlayout.h"
#include "riscv.h"
#include "spinlock.h"
#include "proc.h"
#include "defs.h"
#include "points.h"
/* clang-format on */
#include <trace/lock.h>
#include <trace/sched.h>
#include <trace/state.h>

#define BUFFER_BYTES TRACE_BUFFER_BYTES_DEFAULT
#define BUFFERS      128 /* of each CPU: 8 MiB */
#define CHAIN_MAX    8
#define CLASSES_MAX  64
#define RTC          0x101000L /* virt's: ns since 1970, in two words */

extern struct cpu cpus[];
extern char etext[], build_id[];
static char rings[TRACE_CPUS][TRACE_KIT_RING_BYTES(BUFFER_BYTES, BUFFERS)] __attribute__((aligned(4096)));
static char *lock_classes[CLASSES_MAX]; // names; the last ones are 0
static const char nobody[TRACE_NAME_BYTES] = "scheduler";

// Paging is off, so the clock of the day can be read.
void trace_begin(void)
{
    volatile uint32 *rtc = (volatile uint32 *)RTC;
    uint64 wall = rtc[0]; // latches the other word
    wall |= (uint64)rtc[1] << 32;
    char *memory[TRACE_CPUS];
    for (int i = 0; i < TRACE_CPUS; i++)
        memory[i] = rings[i];
    const struct trace_kit_setup setup = {
        .sysname = "xv6",
        .machine = "riscv64",
        .cpu_count = TRACE_CPUS,
        .mode = TRACE_MODE_FLIGHT,
        .buffer_bytes = BUFFER_BYTES,
        .buffer_count = BUFFERS,
        .rings = memory,
        .clock_hz = TRACE_PORT_CLOCK_HZ,
        .boot_id = wall | 1,
        .mask = ~0ul,
        .clock_offset_ns = wall - trace_port_clock() * (1000000000 / TRACE_PORT_CLOCK_HZ),
    };
    const char *wrong = trace_kit_start(&setup);
    if (wrong)
        panic((char *)wrong);
}

// Without locks: a process that is gone meanwhile has an old name, which is still 16 bytes.
void trace_port_context(uint32 cpu, struct trace_context *context)
{
    struct proc *p = cpus[cpu].proc;
    context->pid = context->tid = p ? p->pid : 0;
    memmove(context->name, p ? p->name : nobody, TRACE_NAME_BYTES);
}

static int state_of(struct proc *p)
{
    return p == 0 || p->state == RUNNABLE ? TRACE_SCHED_READY
           : p->state == ZOMBIE           ? TRACE_SCHED_DEAD
                                          : TRACE_SCHED_SLEEPING;
}

void trace_switch(struct proc *prev, struct proc *next)
{
    int from = prev ? prev->pid : 0, to = next ? next->pid : 0;
    trace_sched_switch(prev ? prev->name : nobody, from, state_of(prev), 0, next ? next->name : nobody, to, 0,
                       from, to);
    mycpu()->proc = next; // contexts name it from here on; xv6 sets it, too
    if (prev && prev->state == ZOMBIE) {
        trace_sched_process_exit(prev->name, from, 0, from);
        trace_process_exit(from, prev->xstate);
    }
}

void trace_ready(struct proc *p)
{
    trace_sched_wakeup(p->name, p->pid, 0, 0);
}

void trace_fork(struct proc *parent, struct proc *child)
{
    int pid = parent ? parent->pid : 0;
    trace_process_create(child->pid, pid);
    trace_sched_process_fork(parent ? parent->name : nobody, pid, pid, child->name, child->pid, child->pid);
}

// The number of the class of locks with that name, which is constant. A new one is logged.
static uint32 class_of(char *name)
{
    for (uint32 i = 0; i < CLASSES_MAX - 1; i++) {
        char *known = __atomic_load_n(&lock_classes[i], __ATOMIC_RELAXED);
        if (known == 0 && __atomic_compare_exchange_n(&lock_classes[i], &known, name, 0, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {
            trace_state_lock_class(i, 0, TRACE_STATE_LOCK, name);
            return i;
        }
        if (strncmp(known, name, TRACE_NAME_BYTES) == 0)
            return i;
    }
    return CLASSES_MAX - 1;
}

// Return addresses, by frame pointers; each stack is a page.
static uint32 call_chain(uint64 *chain)
{
    uint64 *frame = __builtin_frame_address(0);
    uint64 page = PGROUNDDOWN((uint64)frame);
    uint32 depth = 0;
    while (depth < CHAIN_MAX && PGROUNDDOWN((uint64)(frame - 2)) == page) {
        uint64 caller = frame[-1], *outer = (uint64 *)frame[-2];
        if (caller < KERNBASE || caller >= (uint64)etext)
            break;
        chain[depth++] = caller;
        if (outer <= frame)
            break;
        frame = outer;
    }
    return depth;
}

void trace_wait_begins(struct trace_wait *wait, struct cpu *cpu, int pid)
{
    struct proc *p = cpu ? cpu->proc : 0;
    wait->since = trace_port_clock();
    wait->holder = pid ? pid : p ? p->pid : -1;
    wait->holder_cpu = cpu ? cpu - cpus : -1;
}

void trace_wait_ends(const struct trace_wait *wait, void *lock, char *name)
{
    uint64 chain[CHAIN_MAX];
    uint32 class = class_of(name), depth = call_chain(chain);
    trace_lock_contended((uint64)lock, trace_port_clock() - wait->since, wait->times, class, 0, wait->holder,
                         wait->holder, wait->holder_cpu, 0, depth, chain);
}

/* Numbers and names of interrupts. */
static const struct {
    int irq;
    char name[TRACE_NAME_BYTES];
} irqs[] = {{UART0_IRQ, "uart"}, {VIRTIO0_IRQ, "virtio_disk"}, {TRACE_TIMER_IRQ, "timer"}, {0, "none"}};

void trace_interrupt(int irq)
{
    int i = 0;
    while (irqs[i].irq && irqs[i].irq != irq)
        i++;
    trace_irq_handler_entry(irq, irqs[i].name, r_sepc());
}

static uint64 id_word(int at)
{
    uint64 word = 0;
    for (int i = 0; i < 8; i++)
        word = word << 8 | (uchar)build_id[16 + at + i]; // behind the note's header and "GNU"
    return word;
}

void trace_statedump(void)
{
    trace_state_begin(1);
    for (int i = 0; i < NELEM(irqs); i++)
        trace_state_irq(irqs[i].irq, irqs[i].name);
    for (uint32 i = 0; lock_classes[i]; i++)
        trace_state_lock_class(i, 0, TRACE_STATE_LOCK, lock_classes[i]);
    trace_state_image(0, KERNBASE, (uint64)etext - KERNBASE, id_word(0), id_word(8), "kernel");
    trace_state_end(1);
}
