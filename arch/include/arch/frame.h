/*
 * arch/frame.h - the registers of a thread that is not running.
 *
 * struct arch_frame is the first member of struct thread: the entry code saves there, the exit code restores
 * from there. It holds IPC messages; <port/frame.h> has inline accessors because IPC depends on their speed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>

struct arch_frame;

/* Whether the thread is in a system call: then frame_ip is the call's return address. Otherwise it was
 * interrupted, or has not run. */
static inline bool frame_is_syscall(const struct arch_frame *frame);
/* Makes the thread repeat its system call when it returns to user mode, after a fault. */
static inline void frame_restart_syscall(struct arch_frame *frame);
/* Sets up the first entry of a new thread: all other registers are zero. */
static inline void frame_init(struct arch_frame *frame, uint64_t entry, uint64_t stack, uint64_t arg);

/* Defines the above and struct arch_frame, and names the member for each use of a register: FRAME_IP,
 * FRAME_STACK, FRAME_RESULT, FRAME_ARGUMENTS (the first of six), FRAME_LABEL, FRAME_WORDS (the first),
 * FRAME_CAPS, FRAME_DEADLINE, FRAME_BADGE. */
#include <port/frame.h>

_Static_assert(offsetof(struct arch_frame, FRAME_WORDS) == offsetof(struct arch_frame, FRAME_LABEL) + 8,
               "label and words of a message are consecutive");

static inline uint64_t frame_ip(const struct arch_frame *frame)
{
    return frame->FRAME_IP;
}

static inline uint64_t frame_sp(const struct arch_frame *frame)
{
    return frame->FRAME_STACK;
}

static inline void frame_set_result(struct arch_frame *frame, int64_t result)
{
    frame->FRAME_RESULT = (uint64_t)result;
}

static inline int64_t frame_result(const struct arch_frame *frame)
{
    return (int64_t)frame->FRAME_RESULT;
}

static inline uint64_t frame_argument(const struct arch_frame *frame, unsigned i)
{
    return (&frame->FRAME_ARGUMENTS)[i];
}

/* ---- Message registers: label and all six words are always transferred ---- */

static inline uint64_t frame_label(const struct arch_frame *frame)
{
    return frame->FRAME_LABEL;
}

static inline void frame_set_label(struct arch_frame *frame, uint64_t label)
{
    frame->FRAME_LABEL = label;
}

static inline void frame_set_word(struct arch_frame *frame, unsigned i, uint64_t value)
{
    (&frame->FRAME_WORDS)[i] = value;
}

/* All loads come first: `to` and `from` might be the same for all that the compiler knows. */
static inline void frame_copy_message(struct arch_frame *to, const struct arch_frame *from)
{
    const uint64_t *source = &from->FRAME_LABEL;
    uint64_t *target = &to->FRAME_LABEL;
    uint64_t label = source[0], word0 = source[1], word1 = source[2], word2 = source[3], word3 = source[4],
             word4 = source[5], word5 = source[6];
    target[0] = label;
    target[1] = word0;
    target[2] = word1;
    target[3] = word2;
    target[4] = word3;
    target[5] = word4;
    target[6] = word5;
}

/* ipc_message.cap as memory holds it */
static inline uint64_t frame_caps(const struct arch_frame *frame)
{
    return frame->FRAME_CAPS;
}

static inline void frame_set_caps(struct arch_frame *frame, uint64_t caps)
{
    frame->FRAME_CAPS = caps;
}

static inline uint64_t frame_deadline(const struct arch_frame *frame)
{
    return frame->FRAME_DEADLINE;
}

static inline void frame_set_badge(struct arch_frame *frame, uint64_t badge)
{
    frame->FRAME_BADGE = badge;
}
