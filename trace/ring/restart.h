/*
 * trace/ring/restart.h - the discipline of writers that the kernel restarts.
 *
 * Each call site of a log function has a *block*: a sequence of instructions in a section of its own. It
 * reads index, clock and limits, stores the event behind the index, and advances the index by one store,
 * which commits the event. It leaves its inputs unchanged, so it can begin again before that store.
 *
 * The kernel makes it atomic. Whatever enters the kernel from inside a block (interrupt, exception, NMI) sets
 * the interrupted address back to the block's start before anything else logs (kernel/trace/restart.h). So
 * the block that stores an index has read it, and the clock, since the CPU's last event, and an unfinished
 * block leaves no trace: its words lie beyond the index. After Bershad, Redell and Ellis, "Fast Mutual
 * Exclusion for Uniprocessors" (ASPLOS 1992): one CPU writes each ring.
 *
 * A block *asks the kernel* by a trap if the event would be later than the time limit or beyond the bound
 * (restart.c); the kernel then makes space and restarts the block, or counts the event as discarded and lets
 * the block end.
 *
 * Order between CPUs. All stores of the event come before the store of the index (on weakly ordered machines
 * by a barrier in the block): a reader that has loaded the index with acquire sees complete events below it.
 * A reader that sees a byte of a new lap also sees that the index is in that lap, because the packet change
 * stores the index before it overwrites anything.
 *
 * A block's place. Each block fills a cell of TRACE_CELL_BYTES, aligned to its size, so that the kernel finds
 * a block's start by masking an address. At the start of a cell lies a jump to the sequence. The sequence
 * ends at the cell's end with a jump of ARCH_TRACE_EXIT_BYTES to behind the trace point: there the event is
 * committed, or given up.
 *
 * The port's macros (<port/trace_block.h>) make the text of the asm statements:
 *
 *     ARCH_TRACE_BLOCK(name, words, half, stores, inputs...)
 *                                           its value: the time that it stored, 32 bits; none if stores copy
 *     ARCH_TRACE_COPY_BLOCK                 the same, whose value is the time also if stores copy
 *     TRACE_PUT_64(offset, field)           stores a field, TRACE_IN_64(field) is its input; also 32, 16, 8
 *     TRACE_PUT_NAME, TRACE_IN_NAME         a name of TRACE_NAME_BYTES, by its address
 *     TRACE_PUT_FAR_64, TRACE_IN_FAR_64     a field that finds no register on a machine with few
 *     TRACE_PUT_ZERO_64(offset)             padding
 */
#pragma once

#define TRACE_CELL_BYTES 256

/* Makes the compiler compute or move a value here, if it is not constant. */
#define TRACE_BEHIND_SITE(value)                \
    do {                                        \
        if (!__builtin_constant_p(value))       \
            __asm__ volatile("" : "+r"(value)); \
    } while (0)

#include <port/trace_block.h>

/* Logs `count` words, at least one, from `source`. */
void trace_log_block(uint32_t id, const uint64_t *source, uint64_t count);

/* The kernel's part, restart.c. */

/* A block on this CPU asks. True: it may begin again. False: the event was counted as discarded. */
bool trace_ring_make_space(void);
/* Whether this CPU's ring is being changed: an event of an interrupt would be lost. */
bool trace_ring_is_busy(void);
