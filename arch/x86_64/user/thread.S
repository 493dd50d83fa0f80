/* arch/x86_64/user/thread.S - the first and the last instructions of a thread of libc-glue. */
#include <tarn/syscall.h>

    .text

/* rdi = the thread; continues in run_thread (libc-glue/tarn/thread.c). */
    .globl arch_thread_entry
    .type arch_thread_entry, @function
arch_thread_entry:
    xorl %ebp, %ebp
    andq $-16, %rsp
    call run_thread
    ud2
    .size arch_thread_entry, . - arch_thread_entry

/* arch_thread_leave(space, address, size): unmaps the stack that it runs on and ends the thread. */
    .globl arch_thread_leave
    .type arch_thread_leave, @function
arch_thread_leave:
    movl $SYS_space_unmap, %eax
    syscall
    movl $SYS_thread_exit, %eax
    syscall
    ud2
    .size arch_thread_leave, . - arch_thread_leave

    .section .note.GNU-stack, "", @progbits
