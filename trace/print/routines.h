/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/print/routines.h - names of routines (trace/format/profile.h). Kernel, programs, and `tarn`. */
#ifndef TRACE_ROUTINES_H
#define TRACE_ROUTINES_H

#include <trace/format/profile.h>
#include <trace/print/words.h>

#define TRACE_ROUTINE_NAME_BYTES 64

/* "syscall", "fault", "out": of a kind. */
const char *trace_routine_kind_name(enum trace_routine_kind kind);
/* "syscall ipc_call", "out sleeping": of a row's key, without its context. Names of arguments come from the
 * fields of the events that `find` finds. Returns `name`. */
const char *trace_routine_name(uint64_t key, trace_find_info *find, char name[TRACE_ROUTINE_NAME_BYTES]);

#endif
