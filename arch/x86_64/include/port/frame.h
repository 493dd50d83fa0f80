/*
 * port/frame.h (x86_64) - user registers as entry.S saves them, and the place of a message in them.
 *
 *   rsi label   rdx r10 r8 r9 rbx r12 words   r13 caps   r14 deadline   rdi capability, on return badge
 *   rax number of the call, on return its result
 *
 * `interrupted` says how the thread entered. 0: by SYSCALL (rcx and r11 are lost, SYSRET returns). 1: by
 * exception or interrupt, or it has not run (every register counts, IRETQ returns).
 */
#pragma once

struct arch_frame {
    uint64_t rax, rdi, rsi, rdx, r10, r8, r9, rbx, r12, r13, r14, r15, rbp, rsp, rip, rflags;
    uint64_t rcx, r11; /* only if interrupted */
    uint64_t interrupted;
    uint64_t reserved; /* aligns the next struct to 16 */
};
_Static_assert(sizeof(struct arch_frame) % 16 == 0, "struct arch_thread follows");

#define FRAME_RFLAGS_NEW    0x202ull /* interrupts on */
#define FRAME_SYSCALL_BYTES 2u       /* length of the SYSCALL instruction */

#define FRAME_IP        rip
#define FRAME_STACK     rsp
#define FRAME_RESULT    rax
#define FRAME_ARGUMENTS rdi
#define FRAME_LABEL     rsi
#define FRAME_WORDS     rdx
#define FRAME_CAPS      r13
#define FRAME_DEADLINE  r14
#define FRAME_BADGE     rdi
_Static_assert(offsetof(struct arch_frame, r9) - offsetof(struct arch_frame, rdi) == 5 * 8, "six arguments");
_Static_assert(offsetof(struct arch_frame, r12) - offsetof(struct arch_frame, rdx) == (IPC_WORDS - 1) * 8,
               "words of a message are consecutive");

static inline bool frame_is_syscall(const struct arch_frame *frame)
{
    return !frame->interrupted;
}

/* rax still has the number: the entry stores it there, and only a result replaces it. */
static inline void frame_restart_syscall(struct arch_frame *frame)
{
    frame->rip -= FRAME_SYSCALL_BYTES;
}

/* IRETQ to a non-canonical address would fault in the kernel. Such an entry becomes 0, which faults in user
 * mode. */
static inline void frame_init(struct arch_frame *frame, uint64_t entry, uint64_t stack, uint64_t arg)
{
    *frame = (struct arch_frame){.rip = entry >> 47 ? 0 : entry,
                                 .rsp = stack,
                                 .rdi = arg,
                                 .rflags = FRAME_RFLAGS_NEW,
                                 .interrupted = 1};
}
