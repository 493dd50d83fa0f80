/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/control/schema_check.h - is this the text that evgen --app writes? Freestanding, includes nothing. */
#ifndef TRACE_CONTROL_SCHEMA_CHECK_H
#define TRACE_CONTROL_SCHEMA_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* Copies the class's name, NUL padded; TSDL begins `*body` bytes in. False: refuse the text. */
bool trace_check_schema(const char *text, uint64_t size, char name[16], uint64_t *body);

#endif
