/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * port/trace_where.h (x86_64) - where logging code finds info page and ring, as operands of instructions. A
 * source that defines TRACE_SCRATCH uses those of trace/event/bench.c, by as many instructions.
 */
#ifndef PORT_TRACE_WHERE_H
#define PORT_TRACE_WHERE_H

#include <tarn/abi.h>
#include <tarn/thread_block.h>

/* PORT_TRACE_RING_WORD: where the ring's address is, PORT_TRACE_RING_AT in operand 1. */
#ifdef TRACE_SCRATCH
#define PORT_TRACE_INFO_AT   "0x140000"
#define PORT_TRACE_LOAD_RING "movq 0x140ff8, %[ring]"
#define PORT_TRACE_RING_WORD "%c1"
#define PORT_TRACE_RING_AT   USER_TRACE_SCRATCH_LAST
_Static_assert(USER_TRACE_SCRATCH == 0x140000 && USER_TRACE_SCRATCH_LAST == 0x140ff8, "written out here");
#else
#define PORT_TRACE_INFO_AT   "0x100000" /* of programs */
#define PORT_TRACE_LOAD_RING "movq %%gs:8, %[ring]"
#define PORT_TRACE_RING_WORD "%%gs:%c1"
#define PORT_TRACE_RING_AT   THREAD_BLOCK_RING
_Static_assert(USER_TRACE_INFO == 0x100000 && THREAD_BLOCK_RING == 8, "written out here");
#endif

#endif
