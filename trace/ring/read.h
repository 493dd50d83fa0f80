/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/read.h - the reading side of a ring: which packets are there, and copying one out.
 *
 * Used by the trace server, the kernel's dump and the unit tests. A reader holds nobody up and is held up by
 * nobody: it looks, copies, and looks again whether it was overwritten meanwhile. Nothing read from a ring is
 * believed before it is checked; every place is masked by the info page.
 */
#ifndef TRACE_RING_READ_H
#define TRACE_RING_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/layout.h>

enum trace_packet_state {
    TRACE_PACKET_WHOLE,      /* closed, every word committed */
    TRACE_PACKET_OPEN,       /* writers are in it, or it does not exist yet */
    TRACE_PACKET_INCOMPLETE, /* closed, but a writer has not committed: not yet, or he never will */
    TRACE_PACKET_GONE,       /* overwritten, consumed, or never readable: its header is another's, or a late
                                writer of an earlier packet may have stored over it */
};

/* One ring, as its reader sees it. */
struct trace_reader {
    const struct trace_info *info;
    const char *window;
    uint32_t cpu;
    uint64_t latest;   /* no event is later, in ticks; 0: what the clock says. Of a dead system ~0 */
    uint64_t geometry; /* as it was when the reader began: trace_geometry_word() */
};

/* Bytes of a buffer as they are now. */
static inline uint64_t trace_buffer_bytes(const struct trace_info *info)
{
    return trace_geometry_words(trace_geometry_of(info)) * 8;
}

static inline struct trace_reader trace_reader_open(const struct trace_info *info, const char *window,
                                                    uint32_t cpu, uint64_t latest)
{
    return (struct trace_reader){info, window, cpu, latest, trace_geometry_of(info)};
}

/* Bytes of a buffer: what trace_packet_copy() and the others write. */
static inline uint64_t trace_reader_bytes(const struct trace_reader *reader)
{
    return trace_geometry_words(reader->geometry) * 8;
}

static inline uint64_t trace_reader_buffers(const struct trace_reader *reader)
{
    return trace_geometry_buffers(reader->geometry);
}

/* False: the rings were cleared or resized since the reader began. What was read before the call is as old as
 * its answer. */
bool trace_reader_is_current(const struct trace_reader *reader);

/* Number of the packet that is being written; of a full ring, that will be once there is room. */
uint64_t trace_reader_head(const struct trace_reader *reader);
/* Words that are reserved for events in the packet that is being written. 0: it holds none, and nothing is
 * lost with it. */
uint64_t trace_open_words(const struct trace_reader *reader);
/* Number of the oldest packet that was not overwritten. */
uint64_t trace_reader_oldest(const struct trace_reader *reader);
/* Number of the oldest packet that no consumer has taken; up to the head, which is not closed yet. */
uint64_t trace_reader_tail(const struct trace_reader *reader);
/* Events that found no room and words never committed, as the control page tells. */
uint64_t trace_reader_discarded(const struct trace_reader *reader);
uint64_t trace_reader_torn(const struct trace_reader *reader);

/* Where packet `number` lies, or another that has its buffer. */
const struct trace_packet *trace_packet_at(const struct trace_reader *reader, uint64_t number);
enum trace_packet_state trace_packet_state(const struct trace_reader *reader, uint64_t number);
/* Copies packet `number`, a whole buffer, to `copy`. WHOLE: it is good. INCOMPLETE: try again; who has waited
 * long enough calls trace_packet_cut. Otherwise `copy` holds nothing of use. */
enum trace_packet_state trace_packet_copy(const struct trace_reader *reader, uint64_t number, void *copy);
/* Makes a readable packet of an incomplete copy: content ends before the first event that was not written,
 * flags say TRACE_PACKET_CUT. False: not even header and context are there. */
bool trace_packet_cut(const struct trace_reader *reader, uint64_t number, void *copy);

/* Copies the open packet as far as it is written, and closes the copy: for whoever cannot flush, as when the
 * next buffer is not free. Made whole by an end event and a filler; what is doubtful is cut. False: none is
 * open, there is nothing in it yet, or a late writer may have stored over it. */
bool trace_packet_snapshot(const struct trace_reader *reader, void *copy);

/* For the rings of a system that is dead, where nobody writes any more and the control page is only a hint.
 * The packets that there may be: [*first, *last], the last one perhaps open; false: there are none. */
bool trace_salvage_range(const struct trace_reader *reader, uint64_t *first, uint64_t *last);
/* As trace_reader_discarded(); 0 if the control page is not to be believed. */
uint64_t trace_salvage_discarded(const struct trace_reader *reader);
/* Copies what is good of packet `number`, closed or open, and makes it whole; flags say TRACE_PACKET_CUT if
 * something is missing. False: nothing is good. */
bool trace_packet_salvage(const struct trace_reader *reader, uint64_t number, void *copy);

/* Walks the events of a copy. Starts with trace_walk_begin; each trace_walk_next gives the next event and its
 * full time. False: the content ends, or what follows is no event (`broken`). */
struct trace_walk {
    const char *packet;
    uint64_t position, limit; /* words */
    uint64_t time;            /* of the last event */
    uint64_t end;             /* no event is later; ~0: unknown */
    bool broken;
};
void trace_walk_begin(struct trace_walk *walk, const void *packet, uint64_t words, uint64_t end);
const struct trace_header *trace_walk_next(struct trace_walk *walk);

#endif
