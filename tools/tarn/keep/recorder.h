/*
 * recorder.h - a pull that keeps the last minutes or bytes, and saves what surrounds triggers.
 *
 * It runs between two packets of the pull, in the same thread. keep.h decides when the oldest packets go,
 * source/head_cut.h removes them; follower.h reads the events for trigger.h, saved.h copies parts. Without
 * --keep and
 * --save-on nothing of it runs.
 */
#pragma once

#include <tools/tarn/keep/follower.h>
#include <tools/tarn/keep/keep.h>
#include <tools/tarn/keep/saved.h>
#include <tools/tarn/options.h>

struct recorder {
    /* options */
    struct keep_amount amount;
    struct triggers triggers;
    double before, after; /* seconds; negative: not given */
    uint64_t most;
    const char *place;
    bool quiet;
    /* while a pull runs */
    struct trace_writer *writer;
    char *own_place;
    struct keep keep;
    struct statedumps dumps;
    struct head_cut cut;
    struct follower follower;
    struct saved saved;
    double read_at, packet_at; /* when the events were read, when the last packet arrived */
    uint64_t read_packets;     /* packets that had arrived then */
    uint64_t arrived;          /* bytes of packets, at the last step of a cut */
    double retry_at;           /* no cut before */
    bool has_failed;           /* the last cut has failed, and this was reported */
    bool has_requests;         /* the source is a link */
    bool is_broken;            /* the trace cannot be read: triggers do not work */
};

/* The options; the context is a struct recorder. */
#define RECORDER_OPTIONS 6u
extern const struct command_option recorder_options[RECORDER_OPTIONS + 1];

void recorder_set_defaults(struct recorder *recorder);
static inline bool recorder_is_on(const struct recorder *recorder)
{
    return recorder->amount.seconds > 0 || recorder->amount.bytes > 0 || recorder->triggers.count > 0;
}
/* Whether the options fit together. */
bool recorder_check(const struct recorder *recorder, struct fail *fail);
/* For a pull that writes to WRITER. HAS_REQUESTS: the guest can be asked for statedumps. */
bool recorder_open(struct recorder *recorder, struct trace_writer *writer, bool has_requests,
                   struct fail *fail);
/* After a packet was written, or when none came for a while. */
void recorder_step(struct recorder *recorder, bool has_packet);
/* Whether a statedump is to be requested. Then the caller requests it, and calls recorder_asked. */
bool recorder_wants_dump(const struct recorder *recorder);
void recorder_asked(struct recorder *recorder);
void recorder_on_reply(struct recorder *recorder, int32_t status);
void recorder_on_break(struct recorder *recorder); /* of the link */
/* Gives up a cut in progress; false: there was none. */
bool recorder_stop_cut(struct recorder *recorder);
/* Reads the last events and saves the parts that wait. */
void recorder_finish(struct recorder *recorder);
/* To stderr. Returns false if a part could not be saved. */
bool recorder_summarize(const struct recorder *recorder);
void recorder_close(struct recorder *recorder);
