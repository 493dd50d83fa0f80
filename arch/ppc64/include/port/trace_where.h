/* port/trace_where.h (ppc64) - where logging code finds info page and ring, as text of instructions. */
#pragma once

#include <tarn/abi.h>
#include <tarn/thread_block.h>

/* PORT_TRACE_INFO_HIGH: the upper half of the info page's address in programs; the lower one is 0. */
#ifdef TARN_KERNEL
#define PORT_TRACE_LOAD_RING(to) "ld " to ", 8(13)"
_Static_assert(THREAD_BLOCK_RING == 8, "written out here");
#else
#define PORT_TRACE_INFO_HIGH     "0x10"
#define PORT_TRACE_LOAD_RING(to) "mfspr " to ", 259"
_Static_assert(USER_TRACE_INFO == 0x10 << 16, "written out here");
#endif
