/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/syscall.h - what the port's system call entry and the handlers agree on.
 *
 * The port saves the user registers in current->frame, checks the number, and calls syscall_table[number]
 * with the six argument registers. While syscall_watched (profile.h) is not 0 it calls syscall_traced
 * instead. A result other than SYSCALL_NO_RESULT it puts into the frame of the thread *that entered*; then it
 * calls kernel_leave() if need_resched is set, and restores the registers of what is current by then.
 */
#ifndef KERNEL_SYSCALL_H
#define KERNEL_SYSCALL_H

#include <arch/cpu.h> /* SYSCALL_NO_RESULT, syscall_traced */
#include <stddef.h>
#include <stdint.h>

struct thread;
/* A thread that blocked in something traced runs again. */
void thread_trace_resumed(struct thread *thread);

/* Copies that bring in pages which only a pager has: 0, -E_BAD_ADDRESS, or SYSCALL_NO_RESULT: the thread now
 * waits for its pager and will make its call again. Whatever is not 0 must be returned at once, before
 * anything was changed. */
int64_t user_read(void *to, const void *user_from, uint64_t size);
int64_t user_write(void *user_to, const void *from, uint64_t size);
int64_t user_read_word(uint32_t *value, const uint32_t *user_from);
int64_t user_read_string(char *text, const char *user_from, size_t size); /* cut to fit, the rest zeroed */
int64_t user_read_name(char name[16], const char *user_from);             /* up to 16 bytes, cut and padded */

#endif
