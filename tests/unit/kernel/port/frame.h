/* SPDX-License-Identifier: BSD-2-Clause */
/* port/frame.h (host tests) - a trap frame that a test can read. */
#ifndef PORT_FRAME_H
#define PORT_FRAME_H

struct arch_frame {
    uint64_t ip, sp, arg, label, word[IPC_WORDS], caps, deadline, badge, result;
};

#define FRAME_IP        ip
#define FRAME_STACK     sp
#define FRAME_RESULT    result
#define FRAME_ARGUMENTS arg
#define FRAME_LABEL     label
#define FRAME_WORDS     word[0]
#define FRAME_CAPS      caps
#define FRAME_DEADLINE  deadline
#define FRAME_BADGE     badge

static inline bool frame_is_syscall(const struct arch_frame *frame)
{
    return frame->ip != 0;
}

static inline void frame_restart_syscall(struct arch_frame *frame)
{
    frame->ip -= 1;
}

static inline void frame_init(struct arch_frame *frame, uint64_t entry, uint64_t stack, uint64_t arg)
{
    *frame = (struct arch_frame){.ip = entry, .sp = stack, .arg = arg};
}

#endif
