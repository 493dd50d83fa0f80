/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/thread.h - what a thread has beyond its frame: floating point, thread pointer.
 */
#ifndef ARCH_THREAD_H
#define ARCH_THREAD_H

#include <stdint.h>

struct thread;
struct arch_thread; /* <port/thread.h> */

/* Struct thread starts with `struct arch_frame frame; struct arch_thread arch;` (the port asserts it), so
 * that the switch can be inline before struct thread is known. frame and block_user are set already. */
void arch_thread_init(struct thread *thread, uint64_t tls);
/* prev leaves this processor, next comes: floating point, thread pointer, thread-block register. Both may be
 * the idle thread. Address space and cpu->current are the caller's business. Inline: IPC pays for it. */
static inline void arch_thread_switch(struct thread *prev, struct thread *next);

#include <port/thread.h>
#endif
