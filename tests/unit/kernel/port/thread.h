/* port/thread.h (host tests) - no state besides the trap frame. */
#pragma once

struct arch_thread {
    int unused;
};
static inline void arch_thread_switch(struct thread *prev, struct thread *next)
{
}
