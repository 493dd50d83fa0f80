/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/export/derived.h - columns of an event's table that have a field of ticks in nanoseconds. */
#ifndef TARN_DERIVED_H
#define TARN_DERIVED_H

#include <tools/tarn/export/export.h>

#define DERIVED_MAX 4u /* of an event */

struct derived {
    const struct field *field;
    const char *column;
};

/* Fills COLUMNS; returns how many. */
unsigned derived_columns(const struct event_type *type, struct derived columns[DERIVED_MAX]);

#endif
