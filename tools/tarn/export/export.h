/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export.h - writes a trace in the formats of other tools.
 *
 * A format is an analysis without tables (analysis/analysis.h): it observes the model during one walk and
 * writes to `output`, which must not exist yet. There are two groups of formats:
 *
 *   relations.h   tables of rows: csv.c, sqlite.c
 *   tracks.h      lanes of a picture: chrome.c, perfetto.c
 *
 * Readers of the Common Trace Format need no export: the trace directory is in that format.
 */
#ifndef TARN_EXPORT_H
#define TARN_EXPORT_H

#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/map.h>
#include <tools/tarn/out.h>

struct export_format {
    const char *name, *what;
    const char *suffix; /* of the default output name */
    const struct analysis_kind *kind;
};
extern const struct export_format export_formats[]; /* ended by a NULL name */

extern const struct analysis_kind csv_export, sqlite_export, chrome_export, perfetto_export;

/* A time in which a thread was in one state, on one CPU. The
 * model's segments also end at every change of activity. */
struct stretch {
    const struct model_thread *thread; /* NULL: none yet */
    enum model_state state;
    uint32_t cpu;   /* rank of the stream */
    bool is_asleep; /* model_is_asleep */
    uint64_t from, to;
};

/* Each format's state begins with this. Writing continues after a failure, which `fail` keeps. */
struct export
{
    struct analysis analysis;
    const char *output;
    const struct losses *losses; /* complete at the end of the walk */
    struct fail fail;
    bool has_failed;
    char *list_text;        /* buffer for an event's list as text */
    struct slots stretches; /* by thread number: the current one */
    void (*write_stretch)(struct export * export, const struct stretch *stretch);
};
#define EXPORT_OF(pointer, type) ((type *)(void *)(pointer))

/* For a kind's open and finish. Each stretch is written when it is over. */
void export_open(struct export *export,
                 void (*write_stretch)(struct export *export, const struct stretch *stretch));
void export_finish_stretches(struct export *export);
/* Flushes and closes OUT. The export fails unless PATH then contains all of it. NULL: the export has failed
 * already. A second call does nothing. */
void export_close_file(struct export *export, struct out *out, const char *path);
/* Keeps only the first failure. */
void export_fail(struct export *export, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum value_kind { VALUE_NULL, VALUE_SIGNED, VALUE_UNSIGNED, VALUE_HEX, VALUE_TEXT };
struct value {
    enum value_kind kind;
    uint64_t number;  /* VALUE_SIGNED: the bits of an int64_t */
    const char *text; /* VALUE_TEXT; not NUL-terminated */
    size_t length;
};

#define VALUE_NUMBER(n) ((struct value){VALUE_UNSIGNED, (n), NULL, 0})
struct value value_text(const char *text); /* NULL: VALUE_NULL */
/* Returns the value of an event's field: for an enumeration its label, if any; for a list its JSON in
 * export->list_text, which the next call overwrites. */
struct value value_of_field(struct export *export, const struct field *field, const struct event *event);

/* Names of activities, such as "syscall ipc_call"; names of kinds are in model_activity_names. */
struct activity_names {
    const struct field *labels[ACTIVITIES];
};
void activity_names_open(struct activity_names *names, const struct analysis *analysis);
const char *activity_name(const struct activity_names *names, const struct model_frame *frame,
                          char text[ANALYSIS_NAME_BYTES]);

#endif
