/* SPDX-License-Identifier: BSD-2-Clause */
/* stdatomic.h - newlib's <stdatomic.h>, with the types that it expects to be defined. */
#ifndef LIBC_GLUE_STDATOMIC_H
#define LIBC_GLUE_STDATOMIC_H

#include <stdint.h>

#include_next <stdatomic.h> /* after the types */

#endif
