/* arch/ppc64/user/thread.S - the first and the last instructions of a thread of libc-glue. */
#include <tarn/syscall.h>

#define FRAME_BYTES 32

    .abiversion 2
    .text

/* r3 = the thread, r12 = this address; continues in run_thread (libc-glue/tarn/thread.c). */
    .globl arch_thread_entry
    .type arch_thread_entry, @function
arch_thread_entry:
    addis %r2, %r12, (.TOC. - arch_thread_entry)@ha
    addi %r2, %r2, (.TOC. - arch_thread_entry)@l
    .localentry arch_thread_entry, . - arch_thread_entry
    clrrdi %r1, %r1, 4
    li %r0, 0
    stdu %r0, -FRAME_BYTES(%r1)
    bl run_thread
    nop
    trap
    .size arch_thread_entry, . - arch_thread_entry

/* arch_thread_leave(space, address, size): unmaps the stack that it runs on and ends the thread. */
    .globl arch_thread_leave
    .type arch_thread_leave, @function
arch_thread_leave:
    li %r0, SYS_space_unmap
    sc
    li %r0, SYS_thread_exit
    sc
    trap
    .size arch_thread_leave, . - arch_thread_leave

    .section .note.GNU-stack, "", @progbits
