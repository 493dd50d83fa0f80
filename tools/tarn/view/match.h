/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * match.h - selects events for a list or a search.
 *
 * By the parameters events= (indexes of types), threads= (tids), cpus= (ranks), text= (a part of the event's
 * name, of the running thread's name, or of any field's text, case-insensitive; a number: the value of any
 * field), and field=NAME value=TEXT.
 */
#ifndef TARN_MATCH_H
#define TARN_MATCH_H

#include <tools/tarn/view/api.h>

/* Cached results for the last thread of a CPU, which usually still runs. */
struct match_runner {
    struct running running;
    bool is_wanted, has_text;
};

struct match {
    const struct trace *trace;
    bool *types, *cpus;
    bool all; /* no restrictions */
    const char *tids, *text, *field, *value;
    bool *named;                 /* by type: its name contains the text */
    bool *may_have_text;         /* by type: its name or a field may contain the text */
    const struct field **fields; /* by type: the wanted field, or NULL */
    bool has_number, has_value;
    uint64_t number;              /* the text as a number */
    uint64_t wanted;              /* the value as a number, if has_value */
    struct match_runner *runners; /* by rank */
};

void match_open(struct match *match, const struct view *view, const struct request *request);
void match_close(struct match *match);
bool match_event(struct match *match, const struct cursor *cursor);

bool label_has_text(const struct field *field, const char *text);

/* Whether TEXT contains PART, case-insensitive; fast for long texts. */
bool has_part(const char *text, size_t length, const char *part);

/* Appends the value of a field to TEXT, as `tarn list` prints it, but without quotes and escapes. */
void field_text(const struct field *field, const struct event *event, struct buffer *text);

#endif
