/* SPDX-License-Identifier: BSD-2-Clause */
/* port/mmu.h (host tests) - no memory is mapped. */
#ifndef PORT_MMU_H
#define PORT_MMU_H

struct arch_space {
    int unused;
};

static inline void arch_space_switch(struct arch_space *space)
{
}
#endif
