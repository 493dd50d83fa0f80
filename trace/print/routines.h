/* trace/print/routines.h - names of routines (trace/format/routine.h). Programs, and `tarn`. */
#pragma once

#include <trace/format/routine.h>
#include <trace/print/words.h>

#define TRACE_ROUTINE_NAME_BYTES 64

/* "syscall", "fault", "out": of a kind. */
const char *trace_routine_kind_name(enum trace_routine_kind kind);
/* "syscall ipc_call", "out sleeping": of a row's key, without its context. Names of arguments come from the
 * fields of the events that `find` finds. Returns `name`. */
const char *trace_routine_name(uint64_t key, trace_find_info *find, char name[TRACE_ROUTINE_NAME_BYTES]);

/* Routines of programs that have names, in the order of their numbers, as routine_names returns them. */
struct trace_routine_names {
    const struct trace_routine *list;
    uint32_t count;
};
/* NULL: it has none. */
const struct trace_routine *trace_routine_find(const struct trace_routine_names *names, uint32_t context);
/* Of a routine of a program: "read()" of a POSIX call, "serve fs_read", "parse", "sort 0x4012f0" of a
 * function, "routine 1540" if the name is not known. Returns `name`. */
const char *trace_context_name(uint32_t context, const struct trace_routine_names *names,
                               trace_find_info *find, char name[TRACE_ROUTINE_NAME_BYTES]);
/* Of a row without its context: trace_routine_name(), or, of a row of the program, trace_context_name(). */
const char *trace_row_name(uint64_t key, const struct trace_routine_names *names, trace_find_info *find,
                           char name[TRACE_ROUTINE_NAME_BYTES]);
