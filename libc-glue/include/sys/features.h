/*
 * sys/features.h - newlib's feature macros, and the optional parts of POSIX that Tarn has.
 *
 * newlib defines these only for systems that it knows; every newlib header includes this file first.
 */
#include_next <sys/features.h>
#pragma once

#ifndef __DYNAMIC_REENT__
#define __DYNAMIC_REENT__ /* errno, stdin, ... are per thread: __getreent() */
#endif
#define _READ_WRITE_RETURN_TYPE _ssize_t

#define _POSIX_THREADS                  1
#define _POSIX_THREAD_ATTR_STACKADDR    1
#define _POSIX_THREAD_ATTR_STACKSIZE    1
#define _POSIX_THREAD_SAFE_FUNCTIONS    1
#define _POSIX_TIMEOUTS                 1
#define _POSIX_TIMERS                   1
#define _POSIX_MONOTONIC_CLOCK          200112L
#define _POSIX_CLOCK_SELECTION          1
#define _POSIX_BARRIERS                 200112L
#define _POSIX_READER_WRITER_LOCKS      200112L
#define _POSIX_SPIN_LOCKS               200112L
#define _POSIX_SEMAPHORES               1
#define _POSIX_SPAWN                    1
#define _UNIX98_THREAD_MUTEX_ATTRIBUTES 1
