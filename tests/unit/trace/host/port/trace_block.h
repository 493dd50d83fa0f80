/* tests/unit/trace/host/port/trace_block.h - this port has no blocks: its events are logged by cas.h. */
#pragma once
