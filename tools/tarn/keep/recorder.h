/*
 * recorder.h - a pull that keeps the last minutes or bytes, and saves what surrounds triggers.
 *
 * It runs between two packets of the pull, in the same thread. source/head_cut.h removes the oldest packets;
 * trigger.h judges events, saved.h copies parts. Without --keep and --save-on nothing of it runs.
 */
#pragma once

#include <tools/tarn/options.h>
#include <tools/tarn/source/pull_writer.h>

struct recorder;

/* The options; the context is the recorder. */
#define RECORDER_OPTIONS 6u
extern const struct command_option recorder_options[RECORDER_OPTIONS + 1];

struct recorder *recorder_new(void);
bool recorder_is_on(const struct recorder *recorder);
/* Whether the options fit together. */
bool recorder_check(const struct recorder *recorder, struct fail *fail);
/* For a pull that writes to WRITER. HAS_REQUESTS: the guest can be asked for statedumps. */
bool recorder_open(struct recorder *recorder, struct trace_writer *writer, bool has_requests, bool quiet,
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
void recorder_free(struct recorder *recorder);
