/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/ring/scratch.c - the functions of the logging path once more, for a program that measures its events'
 * cost in a ring that nobody reads (trace/event/bench.c). */
#define TRACE_SCRATCH
#include "tail.c"
