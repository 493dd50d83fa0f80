/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/gen/model.h - the generator's model: classes, events, fields, enumerations, tables.
 *
 * parse.c reads the files of trace/schema into this model and rejects errors; each emit_ file writes one kind
 * of output without further checks; main.c calls them. A host program of the build: it never frees memory.
 */
#ifndef TRACE_GEN_MODEL_H
#define TRACE_GEN_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <trace/format/descriptor.h>
#include <trace/format/event_table.h>
#include <trace/format/format.h>
#include <trace/format/layout.h>
#include <trace/format/table.h>

#define FIELDS_MAX ((int)TRACE_DESCRIPTOR_FIELDS_MAX)

struct enum_value {
    char *name;
    uint64_t value;
};

struct enumeration {
    char *name;
    struct enum_value *values;
    unsigned count;
};

struct field {
    char *name;
    char *description;
    enum trace_field_kind kind;
    unsigned bytes;                        /* of one element; TRACE_NAME_BYTES for a comm; 1 for a string */
    unsigned offset;                       /* bytes, in the event's body */
    int count_field;                       /* TRACE_FIELD_ARRAY: index of the field with the count; else -1 */
    const struct enumeration *enumeration; /* or NULL */
};

struct event {
    char *name;
    char *full_name; /* in the metadata: CLASS_NAME, or the name after `as` */
    char *description;
    char *format;
    unsigned minor;
    int limit; /* declared `sampled` or `above`: its number in trace_limited or in the application; else -1 */
    char *above; /* declared so: name of the field; else NULL */
    unsigned line;
    struct field fields[FIELDS_MAX];
    unsigned field_count;
    unsigned fixed_bytes; /* all fields except a final string or array */
};

struct class
{
    char *name;
    char *description;
    const char *file;
    int number; /* -1: an application's, assigned at registration */
    bool is_detail;
    struct enumeration *enums;
    unsigned enum_count;
    struct event *events;
    unsigned event_count;
};

struct column {
    char *name, *description;
    char *unit; /* or "" */
    enum trace_column_kind kind;
    unsigned key_bytes; /* of the C argument of a key: 4 or 8 */
    bool is_hex;
    enum trace_key_owner owner;
    unsigned word, words;
};

struct table {
    char *name, *description;
    const char *file;
    unsigned line, number;
    unsigned rows, row_words;
    bool is_hashed;
    char *adds_name;         /* of the table that readers add to this one, or NULL */
    unsigned adds, adds_key; /* its index, and that of its key; set by finish_tables() */
    struct column columns[TRACE_TABLE_COLUMNS_MAX];
    unsigned column_count, key_count;
    unsigned offset; /* bytes, set by finish_tables() */
};

struct schema {
    struct class *classes; /* sorted by number; events sorted by minor */
    unsigned class_count;
    struct table *tables; /* sorted by number, which is the index */
    unsigned table_count;
    unsigned limited_count; /* types of events */
    uint8_t uuid[16];
};

/* A file of "NAME = NUMBER" lines that gives `enum X from "KEY"` its values. */
struct enum_source {
    const char *key;
    const char *file;
};

/* parse.c: adds one file's class to the schema; on an error prints a message and exits. */
void parse_file(struct schema *schema, const char *file, bool app, const struct enum_source *sources,
                unsigned source_count);
/* parse.c: checks across files; sorts. */
void finish_schema(struct schema *schema);
const struct field *tail_field(const struct event *event);
/* parse_table.c: the same for tables. */
void finish_tables(struct schema *schema);
/* Bytes to the end of the last one, where TRACE_TABLES_TAIL_WORDS words follow. */
uint64_t end_of_tables(const struct schema *schema);

/* hash.c: sets the schema's uuid, in the style of RFC 4122 version 5, from its canonical text. */
void hash_schema(struct schema *schema);
void format_uuid(char out[37], const uint8_t uuid[16]);

/* emit_descriptor.c */
struct trace_descriptor *make_descriptor(const struct class *class);
void emit_descriptor(FILE *out, const struct class *class); /* defines trace_descriptor_CLASS */
/* emit_tsdl.c; an application's class has the first number of those */
void emit_events_tsdl(FILE *out, const struct schema *schema);
void emit_metadata(FILE *out, const struct schema *schema);
/* emit_header.c */
void emit_class_header(FILE *out, const struct schema *schema, const struct class *class);
void emit_app_header(FILE *out, const struct schema *schema, const struct class *class);
/* emit_table.c */
void emit_table_header(FILE *out, const struct schema *schema);
void emit_table_source(FILE *out, const struct schema *schema);
/* emit_dummies.c */
void emit_dummies(FILE *out, const struct schema *schema);
void emit_app_dummies(FILE *out, const struct class *class, const char *header); /* in app/ */
/* emit_rows.c: all that is made from tables */
/* A comment; HAS_TEXT: with what the tables are. Nothing if there are none. */
void emit_tables_tsdl(FILE *out, const struct schema *schema, bool has_text);
void emit_tables_header(FILE *out, const struct schema *schema);
void emit_table_constants(FILE *out, const struct schema *schema);
void emit_table_list(FILE *out, const struct schema *schema);
void emit_tables_docs(FILE *out, const struct schema *schema);
/* emit_docs.c */
void emit_docs(FILE *out, const struct schema *schema);

/* main.c */
void *allocate(size_t bytes);
char *upper_case(const char *text);
void emit_c_string(FILE *out, const char *text, size_t length, const char *indent);
extern const char *const generated_note;

#endif
