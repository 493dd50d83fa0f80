/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lockstep.h - compares one CPU's events in two traces of the same run, up to the first difference.
 *
 * Packets are matched by number. Whatever one trace has before the first packet of the other, or after the
 * last event of the other, is skipped. In between, every packet and event must be in both, with the same
 * time and values. Types and fields are matched by name, so the traces may have different schema versions or
 * byte orders. Build-ids are not compared: two builds do the same as long as their events are the same.
 *
 * If only the order counts, neither times nor numbers nor packets are compared: only which events come, and
 * their texts and enumerations.
 */
#ifndef TARN_LOCKSTEP_H
#define TARN_LOCKSTEP_H

#include <tools/tarn/read/filter.h>

/* Event types that have the same layout in both schemas: their bytes can be compared. */
struct lockstep_types {
    const struct event_type **same; /* by the index of A's type; NULL: compare field by field */
};

struct lockstep_side {
    const struct trace *trace;
    const struct filter *filter;
    const struct stream *stream; /* NULL: the trace has no stream of this CPU */
    bool only_order;             /* the same on both sides */
    struct cursor cursor;        /* at the first different event */
    bool has_event;
    uint64_t first_packet; /* its packet number */
    uint64_t before;       /* events before the first common packet */
    uint64_t after;        /* events after the last common event */
};

enum lockstep_difference {
    LOCKSTEP_ALIKE,
    LOCKSTEP_EVENT,
    LOCKSTEP_PACKETS, /* packets missing on one side, which has those from its cursor on */
};

struct lockstep {
    uint32_t cpu;
    const struct lockstep_types *types;
    struct lockstep_side sides[2];
    uint64_t alike; /* common events */
    /* number of the first common packet, if `is_joint` */
    uint64_t first_packet;
    bool is_joint;
    enum lockstep_difference difference;
    uint64_t ticks;   /* of the difference: the earlier of the two events; A's if only the order counts */
    unsigned lacking; /* LOCKSTEP_PACKETS: the side without the packets */
};

void lockstep_types_open(struct lockstep_types *types, const struct schema *a, const struct schema *b);
void lockstep_types_close(struct lockstep_types *types);

/* Walks both sides to the first difference. The caller has set the fields up to `only_order` of both sides,
 * `cpu` and `types`. Differences after BOUND need not be found. Cursors report to REPORTERS. */
void lockstep_walk(struct lockstep *pair, uint64_t bound, struct reporter *const reporters[2]);
void lockstep_close(struct lockstep *pair);

/* Moves to the next event that passes the side's filter. */
bool lockstep_next(struct lockstep_side *side);

/* Whether FIELD has the same value in the events at which the sides are, of types with the same name, or is
 * not compared. */
bool lockstep_same_field(const struct lockstep *pair, const struct field *field);

#endif
