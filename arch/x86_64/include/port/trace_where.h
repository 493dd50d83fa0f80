/* port/trace_where.h (x86_64) - where logging code finds info page and ring, as operands of instructions. */
#pragma once

#include <tarn/abi.h>
#include <tarn/thread_block.h>

#define PORT_TRACE_INFO_AT   "0x100000" /* of programs */
#define PORT_TRACE_LOAD_RING "movq %%gs:8, %[ring]"
_Static_assert(USER_TRACE_INFO == 0x100000 && THREAD_BLOCK_RING == 8, "written out here");
