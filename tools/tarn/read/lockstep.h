/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/read/lockstep.h - one processor's events in two traces of the same run, side by side, up to the
 * first difference.
 *
 * Packets are matched by number: what one trace has before the first packet of the other is passed over, and
 * so is what it has after the other's last event. Between the two, every packet and event must be there in
 * both, with the same time and the same values. Types and fields are matched by name, so traces of two
 * versions of the schema, or in two byte orders, can be compared.
 */
#ifndef TARN_LOCKSTEP_H
#define TARN_LOCKSTEP_H

#include <tools/tarn/read/filter.h>

/* Which events of B's schema have the same layout: their bytes can be compared. */
struct lockstep_types {
    const struct event_type **same; /* by the index of A's type; NULL: compare field by field */
};

struct lockstep_side {
    const struct trace *trace;
    const struct filter *filter;
    const struct stream *stream; /* NULL: the trace has nothing of this processor */
    struct cursor cursor;        /* at the differing event */
    bool has_event;
    uint64_t first_packet; /* its number */
    uint64_t before;       /* events in front of the first packet that both have */
    uint64_t after;        /* events behind the last that both have */
};

enum lockstep_difference {
    LOCKSTEP_ALIKE,
    LOCKSTEP_EVENT,   /* another event, time or value */
    LOCKSTEP_PACKETS, /* packets that one side lacks: those from its cursor's on are there */
};

struct lockstep {
    uint32_t cpu;
    const struct lockstep_types *types;
    struct lockstep_side sides[2];
    uint64_t alike;        /* events that both have */
    uint64_t first_packet; /* that both have: its number, if `is_joint` */
    bool is_joint;
    enum lockstep_difference difference;
    uint64_t ticks;   /* of the difference: of the event that comes first */
    unsigned lacking; /* LOCKSTEP_PACKETS: the side that lacks them */
};

void lockstep_types_open(struct lockstep_types *types, const struct schema *a, const struct schema *b);
void lockstep_types_close(struct lockstep_types *types);

/* The caller has set all up to `stream` in both sides, `cpu` and `types`. What comes after BOUND need
 * not be found. Cursors report to REPORTERS. */
void lockstep_walk(struct lockstep *pair, uint64_t bound, struct reporter *const reporters[2]);
void lockstep_close(struct lockstep *pair);

/* The next event that the side's filter wants. */
bool lockstep_next(struct lockstep_side *side);

/* Has FIELD of EVENT the same value in OTHER, which is of a type with the same name? */
bool lockstep_same_field(const struct field *field, const struct event *event, const struct event *other);

#endif
