/* port/ask.h (x86_64 Linux) - stores that depend on the CPU, for
 * tests/peers/ask.c. */
#pragma once

#include <arch/trace.h>
#include <signal.h>
#include <sys/rseq.h>
#include <trace/ring/restart.h>

/* Stores 0, if the thread runs on that CPU: no block that is running there has read the word before. */
static inline bool port_host_clear_on(uint32_t cpu, uint64_t *word)
{
    uint32_t done = 0;
    uint64_t descriptor;
    __asm__ volatile(".pushsection .data.rel.ro.rseq, \"aw\", @progbits\n"
                     ".balign 32\n"
                     "1:\t.long 0, 0\n\t"
                     ".quad 2f, 3f - 2f, 4f\n"
                     ".popsection\n\t"
                     "leaq 1b(%%rip), %[descriptor]\n\t"
                     "movq %[descriptor], %%fs:8(%[area])\n"
                     "2:\tcmpl %[cpu], %%fs:4(%[area])\n\t"
                     "jne 4f\n\t"
                     "movq $0, %[word]\n"
                     "3:\tmovl $1, %[done]\n\t"
                     "jmp 4f\n\t"
                     ".byte 0x0f, 0xb9, 0x3d\n\t"
                     ".long 0x53053053\n"
                     "4:"
                     : [done] "+r"(done), [descriptor] "=&r"(descriptor), [word] "+m"(*word)
                     : [area] "r"(host_area), [cpu] "r"(cpu)
                     : "cc", "memory");
    return done;
}
