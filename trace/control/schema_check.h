/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/control/schema_check.h - checks that a text is what evgen --app writes. Freestanding, includes
 * nothing. */
#ifndef TRACE_CONTROL_SCHEMA_CHECK_H
#define TRACE_CONTROL_SCHEMA_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* Copies the class's name, NUL padded, to `name`; sets `*body` to the offset of the TSDL. False: reject the
 * text. */
bool trace_check_schema(const char *text, uint64_t size, char name[16], uint64_t *body);

#endif
