/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/futex.h - waiting for a word of user memory to change. Everything but this is system calls: futex.c.
 */
#ifndef KERNEL_FUTEX_H
#define KERNEL_FUTEX_H

void futex_init(void); /* boot processor, once */

#endif
