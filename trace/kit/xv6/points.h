/*
 * points.h (xv6) - trace points whose arguments must be put together. Every other trace point is a call of
 * the generated <trace/CLASS.h> in xv6's own files. Include it after xv6's headers.
 */
#pragma once

#include <trace/cache.h>
#include <trace/exception.h>
#include <trace/fs.h>
#include <trace/irq.h>
#include <trace/kit/kit.h>
#include <trace/process.h>
#include <trace/syscall.h>

struct cpu;
struct proc;

void trace_begin(void);     /* on CPU 0, before anything is logged */
void trace_statedump(void); /* names of interrupts, lock classes and the kernel */
/* This CPU switches from one process to another; 0: its scheduler. The locks of both are held. */
void trace_switch(struct proc *prev, struct proc *next);
void trace_ready(struct proc *p);                         /* it becomes RUNNABLE; its lock is held */
void trace_fork(struct proc *parent, struct proc *child); /* parent: 0 for the first process */
#define TRACE_TIMER_IRQ 1024 /* the PLIC's are below; its 0: another CPU has taken the interrupt */
void trace_interrupt(int irq);

/* A wait for a lock. */
struct trace_wait {
    uint64 times;           /* that it was tried, or slept for */
    uint64 since;           /* ticks */
    int holder, holder_cpu; /* process and CPU that had it then; -1: unknown */
};
/* One of both is known of the holder; 0: not. */
void trace_wait_begins(struct trace_wait *wait, struct cpu *cpu, int pid);
void trace_wait_ends(const struct trace_wait *wait, void *lock, char *name);
