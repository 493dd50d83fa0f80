/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/aim.h - finds the event to go to, and where it will be in the guest's memory. */
#ifndef TARN_GOTO_AIM_H
#define TARN_GOTO_AIM_H

#include <tools/tarn/read/decode.h>

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
/* Returns how many words had been logged in its ring before it since boot. */
static inline uint64_t aim_words(const struct aim *aim)
{
    return aim->packet * (aim->buffer_bytes / 8) + aim->offset / 8;
}
/* Moves to the previous event of the same thread. */
bool aim_before(struct aim *aim, const struct trace *trace, struct fail *fail);
#define AIM_COPIES 16u /* copies of the emulator that the journeys in a run make, at most */
/* Returns guest times, in order, that part the trace's events about equally: ns since the machine's start. */
void aim_parts(const struct trace *trace, uint64_t times[AIM_COPIES]);
bool aim_last(struct aim *aim, const struct trace *trace, struct fail *fail);

#endif
