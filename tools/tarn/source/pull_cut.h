/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/source/pull_cut.h - finds the first event of a pulled packet that does not decode.
 *
 * Any program can write into the system's buffers, and so log an event with an undeclared id, with a length
 * that does not fit its fields, or with a time outside its packet. No reader of the trace gets past such an
 * event, so pull_writer.c ends the packet before it.
 */
#ifndef TARN_PULL_CUT_H
#define TARN_PULL_CUT_H

#include <tools/tarn/read/decode.h>

struct packet_events {
    uint64_t events;      /* that decode, the end event included */
    size_t bytes;         /* from the packet's start to the end of the last of them */
    uint64_t time;        /* of the last of them */
    enum anomaly anomaly; /* of the event behind them; NONE: the whole content decodes */
    uint32_t id;          /* of that event */
    uint64_t lost;        /* that event and those behind it */
    bool lost_is_least;   /* some lengths are wrong: there may be more than `lost` */
};

/* Walks the events of PACKET, whose header is sound and whose content has CONTENT bytes. */
struct packet_events packet_walk(const struct schema *schema, const uint8_t *packet, size_t content);

#endif
