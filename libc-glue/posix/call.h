/*
 * call.h - what each POSIX call does first and last: logs events, and counts itself in the thread's table.
 *
 *     int rmdir(const char *path)
 *     {
 *         return (int)LIBC_PATH_CALL(RMDIR, path, path, 0, call_path(FS_RMDIR, path, 0, 0));
 *     }
 *
 * Inner functions return a result >= 0 or a negative errno; leave_call turns the latter into errno and -1. A
 * call with more steps uses enter_call and leave_call itself.
 */
#pragma once

#include "../tarn/internal.h"

#include <errno.h>
#include <tarn/errno_of.h>
#include <tarn/routine.h>
#include <trace/libc.h>

/* They log and count; calls share them, so that a program that is traced touches few pages of code for it. */
void log_call_entry(enum trace_libc_libc_call call, uint64_t a, uint64_t b);
void log_call_exit(enum trace_libc_libc_call call, int64_t result);
void log_call_path(enum trace_libc_libc_call call, const char *path);

static inline void enter_call(enum trace_libc_libc_call call, uint64_t a, uint64_t b)
{
    if (ALL_ROUTINES_OR(TRACE_CLASS_LIBC))
        log_call_entry(call, a, b);
}

/* Logs the path argument of the current call. */
static inline void name_path(enum trace_libc_libc_call call, const char *path)
{
    if (TRACE_ON_LIBC())
        log_call_path(call, path);
}

/* For calls that return their error instead of setting errno (pthreads). */
static inline int64_t leave_plain(enum trace_libc_libc_call call, int64_t result)
{
    if (ALL_ROUTINES_OR(TRACE_CLASS_LIBC))
        log_call_exit(call, result);
    return result;
}

/* Turns a negative errno into errno and -1. */
static inline int64_t set_errno(int64_t result)
{
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

static inline int64_t leave_call(enum trace_libc_libc_call call, int64_t result)
{
    return set_errno(leave_plain(call, result));
}

/* Logs the entry with two arguments, evaluates `result`, and leaves. */
#define LIBC_CALL(NAME, a, b, result) \
    (enter_call(TRACE_LIBC_##NAME, (uint64_t)(a), (uint64_t)(b)), leave_call(TRACE_LIBC_##NAME, result))
#define LIBC_PATH_CALL(NAME, path, a, b, result)                                                      \
    (enter_call(TRACE_LIBC_##NAME, (uint64_t)(a), (uint64_t)(b)), name_path(TRACE_LIBC_##NAME, path), \
     leave_call(TRACE_LIBC_##NAME, result))
