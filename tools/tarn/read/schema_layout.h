/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema_layout.h - computes the offsets of declared fields, and checks the packet layout against
 * trace/format/format.h. Used by schema.c.
 */
#ifndef TARN_SCHEMA_LAYOUT_H
#define TARN_SCHEMA_LAYOUT_H

#include <tools/tarn/read/schema.h>

bool schema_check_envelope(const struct tsdl *tsdl, struct fail *fail);
unsigned schema_count_fields(const struct tsdl_type *type); /* NULL: 0 */
/* Lays out the fields of TYPE, a struct, from bit START into FIELDS, which has capacity for all of them.
 * Returns the end in bits, counting those before START, or 0 on failure; messages call the struct OWNER. */
uint64_t schema_lay_out(struct schema *schema, const struct tsdl_type *type, uint64_t start,
                        struct field *fields, const char *owner, struct fail *fail);
bool field_is_variable(const struct field *field);

#endif
