/*
 * head_cut.h - removes the oldest packets of a trace that is being written, and copies packets out of it.
 *
 * The kept packets of one stream after another are copied into a hidden file, which then replaces the stream
 * by rename: every name always has a whole file. The copy goes on in small steps between two packets of the
 * pull, because a guest whose pull stands still discards events. Each stream then begins with the packet that
 * was being written at one time, and nothing before counts as lost.
 */
#pragma once

#include <tools/tarn/source/pull_writer.h>

struct head_cut {
    bool is_active;
    uint64_t time;
    uint32_t cpu;                /* whose stream is rewritten */
    int fd;                      /* its new file; -1: not yet created */
    uint64_t from, copied, base; /* packets; events */
    uint64_t removed_bytes;      /* by all cuts */
    unsigned count;              /* cuts that are complete */
};

/* Streams are cut at TIME (ticks) by the following steps. There is no other cut in progress. */
void head_cut_begin(struct head_cut *cut, uint64_t time);
/* Copies at most about BYTES. On false, FAIL says why; the cut has ended, and every stream is as it was
 * before or cut completely. */
bool head_cut_step(struct head_cut *cut, struct trace_writer *writer, uint64_t bytes, struct fail *fail);
/* Gives up the cut and frees what it has taken of the disk. */
void head_cut_drop(struct head_cut *cut, const struct trace_writer *writer);

/* Returns the place in its file of the last packet of CPU's stream that begins at or before TIME, or 0. */
uint64_t stream_find(const struct trace_writer *writer, uint32_t cpu, uint64_t time);
/* Returns how many bytes all streams keep if they are cut at TIME; 0: have now. */
uint64_t bytes_kept(const struct trace_writer *writer, uint64_t time);

/* Copies COUNT packets of CPU's stream from the place FROM on to the offset TO of a file. Subtracts BASE from
 * their `events_discarded`. On false, errno is set. */
bool stream_copy(const struct trace_writer *writer, uint32_t cpu, uint64_t from, uint64_t count, int fd,
                 uint64_t to, uint64_t base);
