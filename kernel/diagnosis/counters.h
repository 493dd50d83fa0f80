/*
 * counters.h - hardware counters in the trace: class counter.
 *
 * Up to COUNTER_SLOTS of the machine's counters (arch/counter.h) are bound to slots, by name: boot option
 * `trace.counters=NAME,...`, or at run time (TRACE_OP_BIND_COUNTERS). Then the class's events have their
 * counts, for each run of a thread, each system call, and intervals of programs. Nothing is virtualised: a
 * CPU reads its counters when it switches threads, and charges the difference to the old thread.
 *
 * While no slot is bound, the sites of the class are off whatever the mask says (trace/sites.c).
 *
 * A counter that wraps loses no count: each heartbeat of the trace reads it, several times a second.
 *
 * Locking: none. Each CPU uses only its own copy of the bindings.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

struct cpu;
struct thread;

void counters_init_cpu(struct cpu *cpu);
/* `packed`: for each slot a byte, slot 0 in the lowest: 1 + number of the counter; 0 ends the list.
 * -E_BAD_ARGUMENT, -E_NOT_FOUND. Hold no locks. */
int64_t counters_bind(uint64_t packed);
/* Grows when counters stop. */
extern _Atomic uint64_t counters_generation;
void counters_statedump(void);

/* `prev` has run on this CPU up to now, and has not been released yet. Only behind TRACE_ON_COUNTER(). */
void counters_switch(struct cpu *cpu, struct thread *prev);
void counters_beat(void); /* at each heartbeat */
/* The current thread enters or leaves a system call. Only behind TRACE_ON_COUNTER_SYSCALL(). */
void counters_enter(struct thread *self);
void counters_leave(struct thread *self, uint32_t number);
/* The current thread's counts. Returns the number of slots; 0: nothing is counted. */
uint32_t counters_own(uint64_t sums[COUNTER_SLOTS]);

/* system_read */
uint64_t counters_list(uint64_t index, struct system_counter *to, uint64_t capacity);
const char *counters_missing(void); /* why there are none; NULL: there are */
