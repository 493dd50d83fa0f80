/* arch/thread.h - the registers of a thread that its frame does not hold: floating point, thread pointer. */
#pragma once

#include <arch/frame.h>

struct thread;
struct arch_thread; /* <port/thread.h> */

/* struct thread begins with `struct arch_frame frame; struct arch_thread arch;`, so that the switch can be
 * inline before struct thread is defined. */
static inline struct arch_thread *arch_thread_of(struct thread *thread)
{
    return (struct arch_thread *)((uint8_t *)thread + sizeof(struct arch_frame));
}

/* frame and block_user are set already. */
void arch_thread_init(struct thread *thread, uint64_t tls);
/* Switches floating point, thread pointer and thread-block register on this CPU. Either may be the idle
 * thread. The caller switches the address space and cpu->current. Inline, because IPC pays for it. */
static inline void arch_thread_switch(struct thread *prev, struct thread *next);

#include <port/thread.h>
