/* match.h - selects events for a list or a search by the parameters of /api/list, and parts of the trace that
 * may contain them. */
#pragma once

#include <tools/tarn/view/api.h>

/* Cached results for the last thread of a CPU, which usually still runs. */
struct match_runner {
    struct running running;
    bool is_wanted, has_text;
};

struct match {
    const struct view *view;
    bool *types, *cpus;
    const char *tids, *text;
    bool *named;    /* by type: its name contains the text */
    bool *by_index; /* by type: its name or a label contains the text, or only decoding can tell */
    bool has_number;
    uint64_t number;              /* the text as a number */
    struct match_runner *runners; /* by rank */
    struct tally sum;             /* of a stride */
    struct packet_buffer packet;
};

/* The lock is held for reading until it is closed. */
void match_open(struct match *match, const struct view *view, const struct request *request);
void match_close(struct match *match);
bool match_event(struct match *match, const struct cursor *cursor);

/* Whether a stride, the blocks from one checkpoint of the index to the next, may contain an event that is
 * wanted. */
bool match_in_stride(struct match *match, size_t stride);
