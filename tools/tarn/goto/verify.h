/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/verify.h - checks whether a run is the one of a trace. */
#ifndef TARN_GOTO_VERIFY_H
#define TARN_GOTO_VERIFY_H

#include <tools/tarn/read/decode.h>
#include <tools/tarn/source/memory.h>

/* The first event that differs, or why no event of a CPU could be compared. */
struct difference {
    bool found;
    bool is_apart; /* the run's ring of CPU `cpu` and the trace share no packet; their packet numbers: */
    uint32_t cpu;
    uint64_t trace_first, trace_last, run_first, run_last;
    uint64_t compared; /* events that agree */
    uint64_t ticks;
    const struct stream *stream;
    uint64_t packet_at; /* in the stream's file */
    uint64_t offset;    /* in the packet */
    uint8_t *bytes;     /* the run's packet */
};

/* Compares the rings in MEMORY with the trace's packets, event by event. */
bool verify_rings(struct difference *difference, const struct trace *trace, struct memory *memory,
                  struct fail *fail);
/* Prints both sides to standard error. */
void difference_print(const struct difference *difference, const struct trace *trace);
void difference_free(struct difference *difference);

#endif
