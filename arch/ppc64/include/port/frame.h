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
#pragma once

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

#define FRAME_IP        nip
#define FRAME_STACK     gpr[1]
#define FRAME_RESULT    gpr[3]
#define FRAME_ARGUMENTS gpr[3]
#define FRAME_LABEL     gpr[4]
#define FRAME_WORDS     gpr[5]
#define FRAME_CAPS      gpr[5 + IPC_WORDS]
#define FRAME_DEADLINE  gpr[12]
#define FRAME_BADGE     gpr[12]
#define FRAME_ENTRY     gpr[12] /* the ABI requires a function's address there */

static inline bool frame_is_syscall(const struct arch_frame *frame)
{
    return !frame->interrupted;
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
    frame->FRAME_STACK = stack;
    frame->FRAME_ARGUMENTS = arg;
    frame->FRAME_ENTRY = entry;
}
