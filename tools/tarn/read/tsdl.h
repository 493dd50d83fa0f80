/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tsdl.h - first stage of metadata: TSDL text to declared types.
 *
 * Accepts the part of CTF 1.8's TSDL that trace/gen writes: decimal and hexadecimal integers, enumerations,
 * strings, fixed arrays, sequences, structs, type aliases, and the blocks trace, clock, env, stream and
 * event. Anything else is an error, reported with its line. schema.h turns the declarations into layouts.
 */
#ifndef TARN_TSDL_H
#define TARN_TSDL_H

#include <tools/tarn/tarn.h>

#define TSDL_BYTES_MAX (16u << 20)

enum tsdl_kind { TSDL_INTEGER, TSDL_ENUM, TSDL_STRING, TSDL_STRUCT, TSDL_ARRAY, TSDL_SEQUENCE };
enum tsdl_order { TSDL_NATIVE, TSDL_LITTLE, TSDL_BIG };

struct tsdl_label { /* a range of values of an enumeration; signed values are sign-extended */
    const char *name;
    uint64_t low, high;
    struct tsdl_label *next;
};

struct tsdl_field {
    const char *name;
    const struct tsdl_type *type;
    struct tsdl_field *next;
};

struct tsdl_type {
    enum tsdl_kind kind;
    uint64_t align; /* bits */
    /* integers; for an enumeration, its container's values */
    uint64_t bits;
    unsigned base; /* 10 or 16 */
    unsigned is_signed;
    unsigned is_text; /* has an encoding: an array of it is text */
    enum tsdl_order order;
    /* enumerations */
    const struct tsdl_label *labels;
    /* structs */
    const struct tsdl_field *fields;
    /* arrays and sequences */
    const struct tsdl_type *element;
    uint64_t count;
    const char *count_field;
};

struct tsdl_event {
    const char *name;
    uint64_t id, stream_id;
    const struct tsdl_type *fields; /* NULL: none declared */
    struct tsdl_event *next;
};

struct tsdl_env {
    const char *name;
    const char *text; /* numbers as text too */
    bool is_text;
    struct tsdl_env *next;
};

struct tsdl {
    struct arena arena;
    unsigned version[2];
    const char *uuid_text; /* NULL: none */
    uint8_t uuid[16];
    enum tsdl_order order;
    const struct tsdl_type *packet_header;
    const char *clock_name;
    uint64_t clock_freq;
    int64_t clock_offset_s;
    uint64_t clock_offset; /* ticks */
    uint64_t stream_id;    /* UINT64_MAX: no stream class */
    const struct tsdl_type *packet_context;
    const struct tsdl_type *event_header;
    struct tsdl_event *events; /* in metadata order */
    struct tsdl_env *env;
};

bool tsdl_parse(struct tsdl *tsdl, const char *text, size_t length, struct fail *fail);
void tsdl_free(struct tsdl *tsdl);
void format_uuid(const uint8_t uuid[16], char text[37]);

#endif
