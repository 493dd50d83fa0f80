/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * port/frame.h (x86_64) - user registers as entry.S saves them, and the place of a message in them.
 *
 *   rsi label   rdx r10 r8 r9 rbx r12 words   r13 caps   r14 deadline   rdi capability, on return badge
 *   rax number of the call, on return its result
 *
 * `interrupted` says how the thread entered. 0: by SYSCALL (rcx and r11 are lost, SYSRET returns). 1: by
 * exception or interrupt, or it has not run (every register counts, IRETQ returns).
 */
#ifndef PORT_FRAME_H
#define PORT_FRAME_H

#include <stddef.h>

struct arch_frame {
    uint64_t rax, rdi, rsi, rdx, r10, r8, r9, rbx, r12, r13, r14, r15, rbp, rsp, rip, rflags;
    uint64_t rcx, r11; /* only if interrupted */
    uint64_t interrupted;
    uint64_t reserved; /* aligns the next struct to 16 */
};
_Static_assert(sizeof(struct arch_frame) % 16 == 0, "struct arch_thread follows");

#define FRAME_RFLAGS_NEW    0x202ull /* interrupts on */
#define FRAME_SYSCALL_BYTES 2u       /* length of the SYSCALL instruction */

static inline uint64_t frame_ip(const struct arch_frame *frame)
{
    return frame->rip;
}

static inline uint64_t frame_sp(const struct arch_frame *frame)
{
    return frame->rsp;
}

static inline bool frame_is_syscall(const struct arch_frame *frame)
{
    return !frame->interrupted;
}

static inline void frame_set_result(struct arch_frame *frame, int64_t result)
{
    frame->rax = (uint64_t)result;
}

static inline int64_t frame_result(const struct arch_frame *frame)
{
    return (int64_t)frame->rax;
}

/* Arguments are consecutive in the frame. */
_Static_assert(offsetof(struct arch_frame, r9) - offsetof(struct arch_frame, rdi) == 5 * 8, "six arguments");

static inline uint64_t frame_argument(const struct arch_frame *frame, unsigned i)
{
    return (&frame->rdi)[i];
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

static inline uint64_t frame_label(const struct arch_frame *frame)
{
    return frame->rsi;
}

static inline void frame_set_label(struct arch_frame *frame, uint64_t label)
{
    frame->rsi = label;
}

/* The words are consecutive in the frame, in the order of the message. */
_Static_assert(offsetof(struct arch_frame, r12) - offsetof(struct arch_frame, rdx) == (IPC_WORDS - 1) * 8,
               "words of a message are consecutive");

static inline void frame_set_word(struct arch_frame *frame, unsigned i, uint64_t value)
{
    (&frame->rdx)[i] = value;
}

static inline void frame_copy_message(struct arch_frame *to, const struct arch_frame *from)
{
    uint64_t rsi = from->rsi, rdx = from->rdx, r10 = from->r10, r8 = from->r8, r9 = from->r9, rbx = from->rbx,
             r12 = from->r12;
    to->rsi = rsi;
    to->rdx = rdx;
    to->r10 = r10;
    to->r8 = r8;
    to->r9 = r9;
    to->rbx = rbx;
    to->r12 = r12;
}

static inline uint64_t frame_caps(const struct arch_frame *frame)
{
    return frame->r13;
}

static inline void frame_set_caps(struct arch_frame *frame, uint64_t caps)
{
    frame->r13 = caps;
}

static inline uint64_t frame_deadline(const struct arch_frame *frame)
{
    return frame->r14;
}

static inline void frame_set_badge(struct arch_frame *frame, uint64_t badge)
{
    frame->rdi = badge;
}

#endif
