/*
 * drain.h - marks in the trace what a pull's thread does, so that readers can leave it out (`tarn
 * --without-drain`).
 *
 * A round in which packets are sent is marked by trace_drain_begin and trace_drain_end. A round that sends
 * nothing logs nothing, so an idle pull does not feed itself. The last drain_end says that the thread no
 * longer drains; from its first drain_begin to that, everything that it does is the drain's.
 *
 * A struct drain belongs to one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drain {
    bool is_marked;          /* this round has logged its begin */
    bool has_begun;          /* any round has */
    uint64_t packets, bytes; /* sent in this round */
};

/* Before a packet of CPU is sent. */
void drain_begin(struct drain *drain, uint32_t cpu);
void drain_count(struct drain *drain, size_t bytes); /* one packet was sent */
/* Ends the round, or, with IS_LAST, all rounds. */
void drain_end(struct drain *drain, bool is_last);
