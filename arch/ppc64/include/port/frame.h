/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * port/frame.h (ppc64) - user registers as entry.S saves them, and the place of a message in them.
 *
 *   r4 label   r5..r10 words   r11 caps   r12 deadline, on return badge
 *   r3 capability, on return the result   r0 number of the call
 *
 * `interrupted` says which registers the exit must load. 0: as after a system call (CTR, XER and other
 * registers that a function call loses are lost). -1: all, after an exception or interrupt, for a call that
 * is repeated, and for a thread that has not run. Entries by exception set it, the exit that loads all
 * registers clears it.
 *
 * msr is the MSR of user mode. User mode cannot change it, so entries do not store it: only the kernel writes
 * here (MSR_FP).
 */
#ifndef PORT_FRAME_H
#define PORT_FRAME_H

#include <stddef.h>

struct arch_frame {
    uint64_t gpr[32];
    uint64_t nip, msr, lr;
    int32_t interrupted; /* loaded together with cr */
    uint32_t cr;
    uint64_t ctr, xer; /* only if interrupted */
};
_Static_assert(sizeof(struct arch_frame) % 16 == 0, "struct arch_thread follows");

#define FRAME_MSR_NEW       0x800000000000d032ull /* MSR_USER of ppc64.h */
#define FRAME_SYSCALL_BYTES 4u                    /* length of an instruction */

/* Numbers of gpr[]. */
enum frame_register {
    FRAME_R_STACK = 1,
    FRAME_R_RESULT = 3,
    FRAME_R_ARGUMENTS = 3,
    FRAME_R_LABEL = 4,
    FRAME_R_WORDS = 5,
    FRAME_R_CAPS = FRAME_R_WORDS + IPC_WORDS,
    FRAME_R_DEADLINE,
    FRAME_R_BADGE = FRAME_R_DEADLINE,
    FRAME_R_ENTRY = 12, /* the ABI requires a function's address there */
};

static inline uint64_t frame_ip(const struct arch_frame *frame)
{
    return frame->nip;
}

static inline uint64_t frame_sp(const struct arch_frame *frame)
{
    return frame->gpr[FRAME_R_STACK];
}

static inline bool frame_is_syscall(const struct arch_frame *frame)
{
    return !frame->interrupted;
}

static inline void frame_set_result(struct arch_frame *frame, int64_t result)
{
    frame->gpr[FRAME_R_RESULT] = (uint64_t)result;
}

static inline int64_t frame_result(const struct arch_frame *frame)
{
    return (int64_t)frame->gpr[FRAME_R_RESULT];
}

static inline uint64_t frame_argument(const struct arch_frame *frame, unsigned i)
{
    return frame->gpr[FRAME_R_ARGUMENTS + i];
}

/* The entry stored the number and the arguments, and only a result replaces r3. The number is restored only
 * with all registers. */
static inline void frame_restart_syscall(struct arch_frame *frame)
{
    frame->nip -= FRAME_SYSCALL_BYTES;
    frame->interrupted = -1;
}

static inline void frame_init(struct arch_frame *frame, uint64_t entry, uint64_t stack, uint64_t arg)
{
    *frame = (struct arch_frame){.nip = entry, .msr = FRAME_MSR_NEW, .interrupted = -1};
    frame->gpr[FRAME_R_STACK] = stack;
    frame->gpr[FRAME_R_ARGUMENTS] = arg;
    frame->gpr[FRAME_R_ENTRY] = entry;
}

static inline uint64_t frame_label(const struct arch_frame *frame)
{
    return frame->gpr[FRAME_R_LABEL];
}

static inline void frame_set_label(struct arch_frame *frame, uint64_t label)
{
    frame->gpr[FRAME_R_LABEL] = label;
}

static inline void frame_set_word(struct arch_frame *frame, unsigned i, uint64_t value)
{
    frame->gpr[FRAME_R_WORDS + i] = value;
}

static inline void frame_copy_message(struct arch_frame *to, const struct arch_frame *from)
{
    uint64_t r4 = from->gpr[4], r5 = from->gpr[5], r6 = from->gpr[6], r7 = from->gpr[7], r8 = from->gpr[8],
             r9 = from->gpr[9], r10 = from->gpr[10];
    to->gpr[4] = r4;
    to->gpr[5] = r5;
    to->gpr[6] = r6;
    to->gpr[7] = r7;
    to->gpr[8] = r8;
    to->gpr[9] = r9;
    to->gpr[10] = r10;
}

static inline uint64_t frame_caps(const struct arch_frame *frame)
{
    return frame->gpr[FRAME_R_CAPS];
}

static inline void frame_set_caps(struct arch_frame *frame, uint64_t caps)
{
    frame->gpr[FRAME_R_CAPS] = caps;
}

static inline uint64_t frame_deadline(const struct arch_frame *frame)
{
    return frame->gpr[FRAME_R_DEADLINE];
}

static inline void frame_set_badge(struct arch_frame *frame, uint64_t badge)
{
    frame->gpr[FRAME_R_BADGE] = badge;
}

#endif
