/* port/mmu.h (host tests) - no memory is mapped. */
#pragma once

struct arch_space {
    int unused;
};

static inline void arch_space_switch(struct arch_space *space)
{
}
