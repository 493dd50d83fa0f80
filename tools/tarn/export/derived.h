/* SPDX-License-Identifier: BSD-2-Clause */
/* derived.h - additional columns of event tables: fields in ticks, converted to nanoseconds. */
#ifndef TARN_DERIVED_H
#define TARN_DERIVED_H

#include <tools/tarn/export/export.h>

#define DERIVED_MAX 4u /* per event */

struct derived {
    const struct field *field;
    const char *column;
};

/* Fills COLUMNS; returns their number. */
unsigned derived_columns(const struct event_type *type, struct derived columns[DERIVED_MAX]);

#endif
