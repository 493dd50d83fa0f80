/* arch/fixup.h - faults of the instructions that access user memory, for a port's user_copy.S and trap.c. The
 * port's kernel.ld puts .fixups between fixups_start and fixups_end. */
#pragma once

#ifdef __ASSEMBLER__

/* After a fault in [from, to) the kernel brings the page in and repeats the instruction, or continues at
 * `landing`. */
/* clang-format off */
#define FIXUP(from, to, landing) .pushsection .fixups, "a"; .quad from, to, landing; .popsection
/* clang-format on */

#else

#include <stdbool.h>
#include <stdint.h>

/* Handles a kernel fault at *ip on a user's address. False: *ip is not in a user copy. True: the kernel
 * continues at *ip. access: FAULT_ACCESS_*. Meanwhile the kernel cannot access user memory. */
bool fix_user_copy(uint64_t *ip, uint64_t address, uint32_t access);

#endif
