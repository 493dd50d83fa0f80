/*
 * port/trace_block_host.h (x86_64 Linux) - lets Linux restart blocks of <port/trace_block.h>.
 *
 * A block is a critical section of rseq(2). It stores the address of its descriptor into the thread's struct
 * rseq; the section begins with the next instruction and ends behind the index store. If the thread is
 * preempted, migrates or gets a signal in between, Linux continues it at the section's abort address, which
 * must follow a signature. That address lies before the block's begin: it begins again. Nothing ends the
 * section, because Linux ignores a descriptor whose section the thread has left.
 *
 * No instruction may lie between that store and the section: a signal there would make Linux forget the
 * descriptor.
 */
#pragma once

#include <sys/rseq.h>

/* 7: the descriptor, 8: the section's begin, 3: (trace_block.h) its end, 6: where it is aborted. */
#define PORT_HOST_SECTION                                 \
    ".pushsection .data.rel.ro.rseq, \"aw\", @progbits\n" \
    ".balign 32\n"                                        \
    "7:\t.long 0, 0\n\t"                                  \
    ".quad 8b, 3f - 8b, 6b\n"                             \
    ".popsection\n\t"

#define PORT_HOST_ABORT                                                                              \
    ".byte 0x0f, 0xb9, 0x3d\n\t" /* an invalid instruction with the signature as its displacement */ \
    ".long 0x53053053\n"                                                                             \
    "6:\t"
_Static_assert(RSEQ_SIG == 0x53053053, "written out in PORT_HOST_ABORT");

#define PORT_TRACE_INFO "host_info+%c[mask](%%rip)"
/* Not UD2, as in programs of Tarn: a signal takes several times as long as making space. A function may keep
 * data in the 128 bytes below its stack. */
#define PORT_TRACE_ASK            \
    "leaq -128(%%rsp), %%rsp\n\t" \
    "call port_host_ask\n\t" PORT_HOST_ABORT
#define PORT_TRACE_RING                     \
    "movq host_area(%%rip), %%rax\n\t"      \
    "leaq host_rings(%%rip), %[ring]\n\t"   \
    "leaq 7f(%%rip), %[place]\n\t"          \
    "movq %[place], %%fs:8(%%rax)\n"        \
    "8:\tmovl %%fs:4(%%rax), %k[place]\n\t" \
    "movq (%[ring],%[place],8), %[ring]\n\t" PORT_HOST_SECTION
_Static_assert(offsetof(struct rseq, rseq_cs) == 8 && offsetof(struct rseq, cpu_id) == 4,
               "written out in PORT_TRACE_RING");
