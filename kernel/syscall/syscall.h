/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscall.h - the contract between the port's system call entry and the handlers.
 *
 * The port saves the user registers in current->frame, checks the number, and calls syscall_table[number]
 * with the six argument registers, or syscall_traced while syscall_slow_path (profile.h) is not 0. It stores
 * the result, unless SYSCALL_NO_RESULT, in the frame of the thread *that entered*. Then it calls
 * kernel_exit() if need_resched is set, and restores the thread that is current by then.
 */
#ifndef KERNEL_SYSCALL_H
#define KERNEL_SYSCALL_H

#include <arch/cpu.h> /* SYSCALL_NO_RESULT, syscall_traced */
#include <stddef.h>
#include <stdint.h>

struct thread;
/* A thread that blocked in something traced runs again. */
void thread_trace_resumed(struct thread *thread);

/* User copies, which bring in pages that only a pager has. 0, -E_BAD_ADDRESS, or SYSCALL_NO_RESULT: the
 * thread waits for its pager and will repeat the system call. Return any result but 0 at once, before
 * anything has changed. */
int64_t user_read(void *to, const void *user_from, uint64_t size);
int64_t user_write(void *user_to, const void *from, uint64_t size);
int64_t user_read_word(uint32_t *value, const uint32_t *user_from);
int64_t user_read_string(char *text, const char *user_from,
                         size_t size);                        /* truncated to fit, the rest zeroed */
int64_t user_read_name(char name[16], const char *user_from); /* up to 16 bytes, truncated and padded */

#endif
