/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * port/trace_where.h (ppc64) - where logging code finds info page and ring, as text of instructions. A source
 * that defines TRACE_SCRATCH uses those of trace/event/bench.c, by as many instructions.
 */
#ifndef PORT_TRACE_WHERE_H
#define PORT_TRACE_WHERE_H

#include <tarn/abi.h>
#include <tarn/thread_block.h>

/* PORT_TRACE_INFO_HIGH: the upper half of the info page's address in programs; the lower one is 0. */
#ifdef TARN_KERNEL
#define PORT_TRACE_LOAD_RING(to) "ld " to ", 8(13)"
_Static_assert(THREAD_BLOCK_RING == 8, "written out here");
#elif defined(TRACE_SCRATCH)
#define PORT_TRACE_INFO_HIGH     "0x14"
#define PORT_TRACE_LOAD_RING(to) "lis " to ", 0x15"
_Static_assert(USER_TRACE_SCRATCH == 0x14 << 16 && USER_TRACE_SCRATCH_RING == 0x15 << 16, "written out here");
#else
#define PORT_TRACE_INFO_HIGH     "0x10"
#define PORT_TRACE_LOAD_RING(to) "mfspr " to ", 259"
_Static_assert(USER_TRACE_INFO == 0x10 << 16, "written out here");
#endif

#endif
