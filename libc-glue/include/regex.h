/* SPDX-License-Identifier: BSD-2-Clause */
/* regex.h - newlib's <regex.h>, with the types that it expects to be defined. */
#ifndef LIBC_GLUE_REGEX_H
#define LIBC_GLUE_REGEX_H

#include <sys/types.h>

#include_next <regex.h> /* after the types */

#endif
