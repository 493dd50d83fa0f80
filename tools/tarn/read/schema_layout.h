/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/read/schema_layout.h - where the fields of declared structs lie, and whether those of a packet
 * lie where trace/format/format.h has them. For schema.c.
 */
#ifndef TARN_SCHEMA_LAYOUT_H
#define TARN_SCHEMA_LAYOUT_H

#include <tools/tarn/read/schema.h>

/* Headers and context of packets, and headers of events. */
bool schema_check_envelope(const struct tsdl *tsdl, struct fail *fail);
unsigned schema_count_fields(const struct tsdl_type *type); /* NULL: 0 */
/* Lays the fields of TYPE, a struct, out from bit START, into room for all of them. The number of bits with
 * those before START, or 0 after a failure; OWNER is who the message says has them. */
uint64_t schema_lay_out(struct schema *schema, const struct tsdl_type *type, uint64_t start,
                        struct field *fields, const char *owner, struct fail *fail);
bool field_is_variable(const struct field *field);

#endif
