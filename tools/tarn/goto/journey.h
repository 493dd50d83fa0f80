/*
 * tools/tarn/goto/journey.h - runs a guest again up to an event.
 *
 *   1. It starts from the last copy before the event (emulator.h). It must know where the rings will be.
 *      Without a copy that has rings, the guest runs until they are in memory, and starts again.
 *   2. The runner stops right after the store that commits the event. On its way it makes
 *      copies, which part the trace's events equally (aim_parts).
 *   3. The machine stops at the next branch, and gdb's server starts. No other CPU has a turn meanwhile.
 */
#pragma once

#include <tools/tarn/goto/emulator.h>
#include <tools/tarn/read/decode.h>

/* The event to go to, and where it will be in the guest's memory. */
struct aim {
    const struct stream *stream;
    uint64_t number; /* of the event, as `tarn list --numbers` shows it */
    uint32_t tid;    /* of the thread that logged it */
    uint64_t ns;     /* its time since the machine's start */
    uint64_t packet; /* its packet's number */
    uint64_t buffer_bytes;
    uint64_t offset;   /* in the packet */
    uint8_t header[8]; /* as in memory */
};

/* TEXT: the event's number, or a time as for --from, which means the first event at or after it. */
bool aim_find(struct aim *aim, const struct trace *trace, const char *text, struct fail *fail);
/* Moves to the previous event of the same thread. */
bool aim_before(struct aim *aim, const struct trace *trace, struct fail *fail);
bool aim_last(struct aim *aim, const struct trace *trace, struct fail *fail);

enum journey_end {
    JOURNEY_THERE,  /* the machine is stopped where the event is committed */
    JOURNEY_MISSED, /* another event was committed instead, or the run ended earlier: it is another run */
    JOURNEY_FAILED, /* FAIL */
};

struct journey {
    struct emulator *emulator;
    const struct aim *aim;
    const struct trace *trace;
    double took; /* CPU time of the runner */
};

/* THERE: the recipe's emulator is stopped at the event. */
enum journey_end journey(struct journey *journey, struct fail *fail);
