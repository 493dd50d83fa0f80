/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/trace/host/port/trace_block.h - this port has no blocks: its events are logged by cas.h. */
#ifndef PORT_TRACE_BLOCK_H
#define PORT_TRACE_BLOCK_H
#endif
