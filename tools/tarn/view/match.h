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

/* What was found out of whoever ran last on a processor: mostly it still runs. */
struct match_runner {
    struct running running;
    bool is_wanted, has_text;
};

struct match {
    const struct trace *trace;
    bool *types, *cpus;
    bool all; /* nothing is asked for */
    const char *tids, *text, *field, *value;
    bool *named;                 /* by type: its name has the text */
    bool *may_have_text;         /* by type: that, or a field may have it */
    const struct field **fields; /* by type: the wanted field, or NULL */
    bool has_number, has_value;
    uint64_t number;              /* the text as one */
    uint64_t wanted;              /* the value as one, if has_value */
    struct match_runner *runners; /* by processor's rank */
};

void match_open(struct match *match, const struct view *view, const struct request *request);
void match_close(struct match *match);
bool match_event(struct match *match, const struct cursor *cursor);

/* Whether a label of the values of a field has a part like this. */
bool label_has_text(const struct field *field, const char *text);

/* Whether PART is in TEXT, whatever the case; quick in long ones. */
bool has_part(const char *text, size_t length, const char *part);

/* Adds the text of one field to TEXT, as `tarn list` prints it but without quotes and escapes. */
void field_text(const struct field *field, const struct event *event, struct buffer *text);

#endif
