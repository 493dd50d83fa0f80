/* port/frame.h (host tests) - nothing enters the kernel. */
#pragma once

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
