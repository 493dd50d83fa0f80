/*
 * saved.h - saves parts of a trace that is being written: what surrounds a trigger.
 *
 * Each part is a directory of its own below one PLACE, and a trace of its own: the packets of all CPUs that
 * overlap its time, the metadata, and the file TRACE_SAVED_NAME with a line for each trigger. It is made
 * under a hidden name and renamed when it is complete. Parts that exist are never changed: numbers continue
 * after them.
 *
 * A trigger in the time of a part that is not yet saved joins it, and extends it, up to SAVED_SPANS_MAX times
 * the usual length.
 */
#pragma once

#include <tools/tarn/buffer.h>
#include <tools/tarn/source/pull_writer.h>

#define SAVED_SPANS_MAX  4u
#define SAVED_LINES_MAX  100u /* triggers described in a part; further ones are counted */
#define SAVED_NAME_BYTES 64u

/* A part that waits for the rest of its time, or for a statedump. */
struct part {
    uint64_t from, to; /* ticks */
    uint64_t trigger;  /* time of the first trigger */
    bool needs_dump;   /* none was in its time when it was triggered */
    unsigned triggers;
    char event[SAVED_NAME_BYTES]; /* of the first trigger */
    struct buffer lines;          /* for TRACE_SAVED_NAME */
};

struct saved {
    const struct trace_writer *writer;
    const char *place;      /* a directory, created for the first part */
    uint64_t before, after; /* ticks */
    uint64_t most;          /* parts of this pull */
    bool has_dumps;         /* the source can be asked for statedumps */
    struct part *parts;     /* oldest trigger first */
    size_t part_count, part_capacity;
    unsigned number;  /* of the last part; 0: the place was not yet read */
    uint64_t count;   /* parts that were saved */
    uint64_t skipped; /* triggers beyond `most` */
    uint64_t failed;  /* parts that could not be written */
};

struct saved_trigger {
    const char *text, *event; /* the trigger, and its event's name */
    uint64_t begin, ticks;    /* when what triggers began, and when it fired */
    int64_t ns;               /* the same as `ticks`, on the trace's clock */
};

/* DUMP_BEGIN: of the last statedump. Returns the part to describe the trigger in (saved_describe); NULL: it
 * needs no description. */
struct part *saved_add(struct saved *saved, const struct saved_trigger *trigger, uint64_t dump_begin);
/* EVENT: in words. */
void saved_describe(struct part *part, const struct saved_trigger *trigger, const char *event);
/* Saves the parts that are complete: the trace has everything before UNTIL, and the statedump from DUMP_BEGIN
 * to DUMP_END; and those that need packets before BEFORE, which are about to be removed. Reports each on
 * stderr, unless QUIET. */
void saved_write(struct saved *saved, uint64_t until, uint64_t dump_begin, uint64_t dump_end, uint64_t before,
                 bool quiet);
/* Returns the earliest time that a waiting part needs; UINT64_MAX: none waits. */
uint64_t saved_needs(const struct saved *saved);
bool saved_needs_dump(const struct saved *saved);
void saved_close(struct saved *saved);
