/*
 * match.h - selects events for a list or a search, and parts of the trace that may contain them.
 *
 * By the parameters events= (indexes of types), threads= (tids), cpus= (ranks), text= (a part of the event's
 * name, of the running thread's name, or of any field's text, case-insensitive; a number: the value of any
 * field).
 */
#pragma once

#include <tools/tarn/view/api.h>

/* Cached results for the last thread of a CPU, which usually still runs. */
struct match_runner {
    struct running running;
    bool is_wanted, has_text;
};

struct match {
    bool *types, *cpus;
    const char *tids, *text;
    bool *named;    /* by type: its name contains the text */
    bool *by_index; /* by type: its name or a label contains the text, or only decoding can tell */
    bool has_number;
    uint64_t number;              /* the text as a number */
    struct match_runner *runners; /* by rank */
};

void match_open(struct match *match, const struct view *view, const struct request *request);
void match_close(struct match *match);
bool match_event(struct match *match, const struct cursor *cursor);

/* Whether TEXT contains PART, case-insensitive; fast for long texts. */
bool has_part(const char *text, size_t length, const char *part);

/* Appends the value of a field to TEXT, as `tarn list` prints it, but without quotes and escapes. */
void field_text(const struct field *field, const struct event *event, struct buffer *text);

/*
 * The prefilter finds which parts of a trace may contain an event that a list or a search wants, without
 * decoding events. A part is a stride: the blocks from one checkpoint of the index to the next.
 *
 * The index has the event types and running threads of a stride. If types alone do not exclude a text or a
 * value, its bytes are searched in the packets, which is many times faster than a walk: strings and the
 * names of running threads are stored literally (a context event has the name at the start of each packet),
 * numbers in the trace's byte order. There are false positives, but no false negatives.
 */

struct prefilter {
    const struct view *view;
    const struct match *match;
    struct tally sum; /* of the stride */
    /* if there is a text: */
    uint8_t number[8];    /* the bytes contain the text, or this number without leading zeros */
    unsigned number_size; /* 0: no number */
    struct packet_buffer buffer;
};

/* The lock is held for reading until it is closed. */
void prefilter_open(struct prefilter *prefilter, const struct view *view, const struct match *match);
void prefilter_close(struct prefilter *prefilter);
bool prefilter_may_hold(struct prefilter *prefilter, size_t stride);
