/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/match.h - which events a list or a search wants.
 *
 * From the parameters events= (indexes of types), threads= (tids), cpus= (ranks), text= (a part of the
 * event's name, of who runs, or of any field's text, whatever the case; a number: any field's value) and
 * field=NAME value=TEXT.
 */
#ifndef TARN_MATCH_H
#define TARN_MATCH_H

#include <tools/tarn/view/api.h>

struct match {
    const struct trace *trace;
    bool *types, *cpus;
    bool all; /* nothing is asked for */
    const char *tids, *text, *field, *value;
    bool *named; /* by type: its name has the text */
    bool has_number;
    uint64_t number; /* the text as one */
};

void match_open(struct match *match, const struct view *view, const struct request *request);
void match_close(struct match *match);
bool match_event(const struct match *match, const struct cursor *cursor);

/* Adds the text of one field to TEXT, as `tarn list` prints it but without quotes and escapes. */
void field_text(const struct field *field, const struct event *event, struct buffer *text);

#endif
