/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/export/export.h - a trace in the formats of other tools.
 *
 * A format is an answer without tables (answer/answer.h): it observes the model during one walk and writes
 * what it hears to `output`, which must not exist yet. Two kinds of format share what they write:
 *
 *   relations.h   tables of rows:    csv.c, sqlite.c
 *   tracks.h      a picture's lanes: chrome.c, perfetto.c
 *
 * A trace needs no export for readers of the Common Trace Format: its directory is one.
 */
#ifndef TARN_EXPORT_H
#define TARN_EXPORT_H

#include <tools/tarn/answer/answer.h>
#include <tools/tarn/answer/map.h>
#include <tools/tarn/out.h>

struct export_format {
    const char *name, *what;
    const char *suffix; /* of the output's name, where none is given */
    const struct answer_kind *kind;
};
extern const struct export_format export_formats[]; /* ended by a name of NULL */

extern const struct answer_kind csv_export, sqlite_export, chrome_export, perfetto_export;

/* A time in which a thread was in one state, on or for one processor. The model's segments end at every
 * change of activity, too. */
struct stretch {
    const struct model_thread *thread; /* NULL: none yet */
    enum model_state state;
    uint32_t cpu;   /* a stream's rank */
    bool is_asleep; /* model_is_asleep */
    uint64_t from, to;
};

/* What each format's state begins with. Writing goes on after a failure, which `fail` keeps. */
struct export
{
    struct answer answer;
    const char *output;
    struct fail fail;
    bool has_failed;
    char *room;             /* for a list of an event as text */
    struct slots stretches; /* by a thread's number: the one that goes on */
    void (*write_stretch)(struct export * export, const struct stretch *stretch);
};
#define EXPORT_OF(pointer, type) ((type *)(void *)(pointer))

/* For a kind's open, finish and close. Each stretch is written when it is over. */
void export_open(struct export *export,
                 void (*write_stretch)(struct export *export, const struct stretch *stretch));
void export_finish_stretches(struct export *export);
void export_close(struct export *export);
/* kind->set: the only option is "output". */
bool export_set(struct answer *answer, const char *option, const char *value, struct fail *fail);
/* The first failure counts. */
/* Writes what is left and closes; the export fails unless all of it can be found under PATH. NULL: it has
 * failed already. A second call does nothing. */
void export_close_file(struct export *export, struct out *out, const char *path);
void export_fail(struct export *export, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One value of a row or of an event. */
enum value_kind { VALUE_NULL, VALUE_SIGNED, VALUE_UNSIGNED, VALUE_HEX, VALUE_TEXT };
struct value {
    enum value_kind kind;
    uint64_t number;  /* of VALUE_SIGNED: the bits of an int64_t */
    const char *text; /* of VALUE_TEXT; not ended by a NUL */
    size_t length;
};

#define VALUE_NUMBER(n) ((struct value){VALUE_UNSIGNED, (n), NULL, 0})
struct value value_text(const char *text); /* NULL: VALUE_NULL */
/* An event's field: an enumeration's label where it has one; lists as JSON, in the one `room`. */
struct value value_of_field(struct export *export, const struct field *field, const struct event *event);

/* What an activity is called, as in "syscall ipc_call"; its kind's name stands in model_activity_names. */
struct activity_names {
    const struct field *labels[ACTIVITIES];
};
void activity_names_open(struct activity_names *names, const struct answer *answer);
const char *activity_name(const struct activity_names *names, const struct model_frame *frame,
                          char text[ANSWER_NAME_BYTES]);

#endif
