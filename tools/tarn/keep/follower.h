/*
 * follower.h - reads the events of a trace that this process writes, each once and in order of time.
 *
 * It looks for triggers and for statedumps. Packets that arrive are in the page cache, so it reads the files
 * like any other reader (read/order.h), from where it stopped. The trace may lose its oldest packets
 * meanwhile: places are counted in packets since the start of the pull.
 */
#pragma once

#include <tools/tarn/keep/trigger.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/read/order.h>
#include <tools/tarn/source/pull_writer.h>

struct follower_place {
    uint64_t packet; /* bytes of the stream before it, since the start of the pull */
    uint64_t event;  /* offset in it, or 0 */
};

struct follower {
    const struct trace_writer *writer;
    struct triggers *triggers;
    /* TRIGGER has fired at CURSOR's event; BEGIN: of the event, or of the interval. */
    void (*on_trigger)(void *context, struct trigger *trigger, const struct cursor *cursor, uint64_t begin);
    void *context;
    uint64_t until; /* ticks: events before have been read, unless they arrived later */
    /* the last complete statedump, in ticks; end 0: none yet */
    uint64_t dump_begin, dump_end;
    /* private */
    struct reporter reporter;
    bool is_open;
    struct trace trace;
    struct names names; /* of all schemas so far */
    bool has_names;
    struct printer printer;
    struct out out;
    struct follower_place places[WIRE_CPUS_MAX];
    const struct event_type *begin_type, *end_type; /* of a statedump */
    uint64_t begun;                                 /* when the statedump in progress began; 0: none */
    bool has_complained;
};

/* Reads the events before TIME (ticks). */
bool follower_read(struct follower *follower, uint64_t time, struct fail *fail);
/* Returns the event as `tarn list` prints it, without its time; valid until the next call. For on_trigger. */
const char *follower_text(struct follower *follower, const struct cursor *cursor);
/* Closes the files, which were replaced: as long as they are open, they take space on the disk. */
void follower_release(struct follower *follower);
void follower_close(struct follower *follower);
