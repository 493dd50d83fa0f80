/* SPDX-License-Identifier: BSD-2-Clause */
/* port/frame.h (host tests) - a trap frame that a test can read. */
#ifndef PORT_FRAME_H
#define PORT_FRAME_H

struct arch_frame {
    uint64_t ip, sp, arg, label, word[IPC_WORDS], caps, deadline, badge;
    int64_t result;
};

static inline uint64_t frame_ip(const struct arch_frame *frame)
{
    return frame->ip;
}
static inline uint64_t frame_sp(const struct arch_frame *frame)
{
    return frame->sp;
}
static inline bool frame_is_syscall(const struct arch_frame *frame)
{
    return frame->ip != 0;
}
static inline void frame_set_result(struct arch_frame *frame, int64_t result)
{
    frame->result = result;
}
static inline void frame_restart_syscall(struct arch_frame *frame)
{
    frame->ip -= 1;
}
static inline void frame_init(struct arch_frame *frame, uint64_t entry, uint64_t stack, uint64_t arg)
{
    *frame = (struct arch_frame){.ip = entry, .sp = stack, .arg = arg};
}
static inline uint64_t frame_label(const struct arch_frame *frame)
{
    return frame->label;
}
static inline void frame_set_label(struct arch_frame *frame, uint64_t label)
{
    frame->label = label;
}
static inline void frame_set_word(struct arch_frame *frame, unsigned i, uint64_t value)
{
    frame->word[i] = value;
}
static inline void frame_copy_message(struct arch_frame *to, const struct arch_frame *from)
{
    to->label = from->label;
    for (unsigned i = 0; i < IPC_WORDS; i++)
        to->word[i] = from->word[i];
}
static inline uint64_t frame_caps(const struct arch_frame *frame)
{
    return frame->caps;
}
static inline void frame_set_caps(struct arch_frame *frame, uint64_t caps)
{
    frame->caps = caps;
}
static inline uint64_t frame_deadline(const struct arch_frame *frame)
{
    return frame->deadline;
}
static inline void frame_set_badge(struct arch_frame *frame, uint64_t badge)
{
    frame->badge = badge;
}
#endif
