/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc-glue/posix/call.h - how a POSIX call begins and ends.
 *
 *     int close(int fd)
 *     {
 *         enter_call(TRACE_LIBC_CLOSE, fd, 0);
 *         return leave_call(TRACE_LIBC_CLOSE, do_close(fd));
 *     }
 *
 * Inner functions return a result >= 0 or a negative errno; leave_call makes errno and -1 of the latter.
 */
#ifndef LIBC_GLUE_CALL_H
#define LIBC_GLUE_CALL_H

#include "../tarn/internal.h"

#include <errno.h>
#include <tarn/errno_of.h>
#include <trace/libc.h>

static inline void enter_call(enum trace_libc_libc_call call, uint64_t a, uint64_t b)
{
    if (TRACE_ON_LIBC()) /* here too: the thread's number is not free */
        trace_libc_entry(call, thread_id(), a, b);
}

/* The path that the call under way is about. */
static inline void name_path(enum trace_libc_libc_call call, const char *path)
{
    if (TRACE_ON_LIBC())
        trace_libc_path(call, thread_id(), path);
}

/* For calls that return their error instead of setting errno (pthreads). */
static inline int64_t leave_plain(enum trace_libc_libc_call call, int64_t result)
{
    if (TRACE_ON_LIBC())
        trace_libc_exit(call, thread_id(), result);
    return result;
}

static inline int64_t leave_call(enum trace_libc_libc_call call, int64_t result)
{
    leave_plain(call, result);
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

#endif
