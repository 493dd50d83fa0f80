/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pull_cut.h - finds the first event of a pulled packet that does not decode.
 *
 * Any program can write into the system's buffers, and so log an event with an undeclared id, a length that
 * does not fit its fields, or a time outside its packet. No reader gets past such an event, so pull_writer.c
 * ends the packet before it.
 */
#ifndef TARN_PULL_CUT_H
#define TARN_PULL_CUT_H

#include <tools/tarn/read/decode.h>

struct packet_events {
    uint64_t events;      /* that decode, including the end event */
    size_t bytes;         /* from the packet's start to the end of the last good event */
    uint64_t time;        /* of the last good event */
    enum anomaly anomaly; /* of the first bad event; NONE: all of it decodes */
    uint32_t id;          /* of the bad event */
};

/* Walks the events of PACKET, whose header is valid and whose content has CONTENT bytes. */
struct packet_events packet_walk(const struct schema *schema, const uint8_t *packet, size_t content);

#endif
