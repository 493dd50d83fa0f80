/* SPDX-License-Identifier: BSD-2-Clause */
/* utime.h - newlib's <utime.h>, with the types that it expects to be defined. */
#ifndef LIBC_GLUE_UTIME_H
#define LIBC_GLUE_UTIME_H

#include <sys/types.h>

#include_next <utime.h> /* after the types */

#endif
