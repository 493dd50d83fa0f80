/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/event/schema.h - an application's own events, made by evgen --app.
 *
 * A program calls trace_register_schema(&trace_schema_NAME) once. The kernel hands out a class number (the
 * same one to everybody who registers the same hash), keeps the text for the trace's metadata, and from then
 * on the program's trace_NAME_* functions log. Unregistered, they cost a test and do nothing.
 *
 * There are 16 classes. One whose programs have all ended stays, because its events may still be in the
 * trace, until the rings start over (TRACE_OP_CLEAR, TRACE_OP_SET_GEOMETRY).
 */
#ifndef TRACE_EVENT_SCHEMA_H
#define TRACE_EVENT_SCHEMA_H

#include <stdint.h>

#define TRACE_SCHEMA_TEXT_MAX 16384u

struct trace_schema {
    uint32_t *class_number;
    uint8_t uuid[16]; /* hash of the events: their wire layout */
    uint32_t size;    /* of the text, without its NUL */
    const char *text; /* a line "class NAME", then TSDL; @MINOR@ stands for class << 16 | minor */
};

/* 0, or a negative error; -E_NO_SLOT: all classes are taken. User programs only (trace/event/register.c). */
int trace_register_schema(const struct trace_schema *schema);

#endif
