/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/fixup.h - faults of the instructions that copy from and to user memory, for a port's user_copy.S and
 * trap.c. The port's kernel.ld puts .fixups between fixups_start and fixups_end.
 */
#ifndef ARCH_FIXUP_H
#define ARCH_FIXUP_H

#ifdef __ASSEMBLER__

/* A fault in [from, to) may bring the page in and run the instruction again, or goes on at `landing`. */
/* clang-format off */
#define FIXUP(from, to, landing) .pushsection .fixups, "a"; .quad from, to, landing; .popsection
/* clang-format on */

#else

#include <stdbool.h>
#include <stdint.h>

/* The kernel faulted at *ip on a user's address. False: no copy does that. True: it is dealt with, and the
 * kernel goes on at *ip. access: FAULT_ACCESS_*. User memory is out of reach of the kernel meanwhile. */
bool fix_user_copy(uint64_t *ip, uint64_t address, uint32_t access);

#endif

#endif
