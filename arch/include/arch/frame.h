/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/frame.h - the registers of a thread that is not running.
 *
 * struct arch_frame is the first member of struct thread: the entry code saves there, the exit code restores
 * from there. It holds IPC messages; <port/frame.h> has inline accessors because IPC depends on their speed.
 */
#ifndef ARCH_FRAME_H
#define ARCH_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

struct arch_frame;

static inline uint64_t frame_ip(const struct arch_frame *frame);
static inline uint64_t frame_sp(const struct arch_frame *frame);
static inline void frame_set_result(struct arch_frame *frame, int64_t result);
/* Whether the thread is in a system call: then frame_ip is the call's return address. Otherwise it was
 * interrupted, or has not run. */
static inline bool frame_is_syscall(const struct arch_frame *frame);
/* Makes the thread repeat its system call when it returns to user mode, after a fault. */
static inline void frame_restart_syscall(struct arch_frame *frame);
/* Sets up the first entry of a new thread: all other registers are zero. */
static inline void frame_init(struct arch_frame *frame, uint64_t entry, uint64_t stack, uint64_t arg);

/* Message registers: label and all six words are always transferred. */
static inline uint64_t frame_label(const struct arch_frame *frame);
static inline void frame_set_label(struct arch_frame *frame, uint64_t label);
static inline void frame_set_word(struct arch_frame *frame, unsigned i, uint64_t value);
static inline void frame_copy_message(struct arch_frame *to,
                                      const struct arch_frame *from); /* label + words */
static inline uint64_t frame_caps(const struct arch_frame *frame);    /* ipc_message.cap as memory holds it */
static inline void frame_set_caps(struct arch_frame *frame, uint64_t caps);
static inline uint64_t frame_deadline(const struct arch_frame *frame);
static inline void frame_set_badge(struct arch_frame *frame, uint64_t badge);

#include <port/frame.h>
#endif
