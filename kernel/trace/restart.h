/*
 * kernel/trace/restart.h - how the kernel makes blocks of restartable logging atomic (trace/ring/restart.h).
 *
 * A port calls trace_restart() at each entry of the kernel from a place that may be in a block, before
 * anything is logged, and trace_asked() for the trap by which a block asks for space.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>
#include <trace/ring/ring.h>

extern const char trace_text[], trace_text_end[]; /* the kernel's blocks; kernel.ld */

/* A program that has other code there only confuses itself. */
static inline bool trace_is_in_block(uint64_t ip)
{
    return ip - USER_TRACE_TEXT < USER_TRACE_TEXT_END - USER_TRACE_TEXT ||
           ip - (uint64_t)trace_text < (uint64_t)(trace_text_end - trace_text);
}

/* The address at which code that was interrupted at `ip` continues: the start of its block, if it was in one
 * and has not committed its event. Changes nothing else. */
uint64_t trace_restart(uint64_t ip);

/* The block at `ip` asks for space. Returns where it continues: at its start, or at its end without its
 * event. */
uint64_t trace_asked(uint64_t ip);
