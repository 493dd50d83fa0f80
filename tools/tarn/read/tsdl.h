/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tsdl.h - metadata to event layouts, for schema.c.
 *
 * Metadata are TSDL (CTF 1.8) as trace/gen writes them: a frame that is the same in every trace, but for the
 * values of strings and placeholders, with the environment in it; then events. This program's own template of
 * metadata is the frame, so that a trace with another layout of packets is refused.
 */
#ifndef TARN_TSDL_H
#define TARN_TSDL_H

#include <tools/tarn/read/schema.h>

#define TSDL_BYTES_MAX (16u << 20)

/* Fills in the byte order, the UUID, the clock, the environment and the events. The arena has the texts, also
 * after failure. */
bool tsdl_parse(struct schema *schema, const char *text, size_t length, struct fail *fail);

#endif
