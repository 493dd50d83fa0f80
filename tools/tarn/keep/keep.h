/*
 * keep.h - decides when the head of a growing trace is cut, and where: at a statedump.
 *
 * Time: a trace of KEEP_TIMES the wanted length is cut to that length, and a little more, because a cut is
 * where a statedump begins. Bytes: a cut begins when the streams have five sixths of the limit, leaves at
 * most half, and is over before they have all. The new file of one stream then exists
 * beside the old one, so the disk never has more than one and a half times the allowed bytes: a cut that
 * keeps K and copies KEEP_PACE bytes for each that arrives ends after K / (KEEP_PACE - 1) have arrived.
 * With K = 1/2 and a pace of 8, the streams reach 0.905, and the copy 0.571.
 */
#pragma once

#include <tools/tarn/source/head_cut.h>

/* How much of a trace is kept; 0: no bound. At least one is given. */
struct keep_amount {
    double seconds; /* at least this */
    uint64_t bytes; /* at most this; stronger */
};

#define KEEP_PACE      8u /* bytes copied for each byte that arrives */
#define KEEP_TIMES     2u
#define KEEP_DUMP_PART 8u /* a statedump for this part of the bytes */
#define KEEP_DUMP_TIME 4u /* and for this part of the time */

/*
 * The statedumps that a pull has requested. A trace without its oldest packets needs one for the names in it.
 * So a pull requests them now and then, one at a time, and the head of the trace is cut where one begins.
 */
#define STATEDUMPS_MAX 64u

struct statedumps {
    /* Ticks before statedumps, oldest first: those that the guest has confirmed, and the one requested. */
    uint64_t begins[STATEDUMPS_MAX];
    unsigned count;
    bool is_asked;    /* the last one is not yet confirmed */
    bool is_possible; /* the source takes requests, and has refused none */
};

/* TIME: the end of the last packet. Not while one is asked for. */
void statedumps_ask(struct statedumps *dumps, uint64_t time);
/* The guest has replied. */
void statedumps_confirm(struct statedumps *dumps, bool is_done);
/* The link broke: no reply will come. */
void statedumps_forget(struct statedumps *dumps);
/* The confirmed ones are begins[0] to begins[n - 1]. */
static inline unsigned statedumps_known(const struct statedumps *dumps)
{
    return dumps->count - dumps->is_asked;
}

struct keep {
    uint64_t ticks; /* 0: no bound */
    uint64_t bytes; /* 0: no bound */
    /* when the latest statedump was requested */
    uint64_t dump_time, dump_bytes;
};

/* False: AMOUNT is too small for the guest's buffers. */
bool keep_open(struct keep *keep, const struct keep_amount *amount, const struct wire_hello *hello,
               struct fail *fail);
/* Whether another statedump is due; NOW: the end of the last packet, ARRIVED: bytes so far. */
bool keep_wants_dump(const struct keep *keep, uint64_t now, uint64_t arrived);
/* Whether a cut is due. Sets TIME to where, and IS_FORCED if the bytes demand it. */
bool keep_wants_cut(const struct keep *keep, const struct trace_writer *writer,
                    const struct statedumps *dumps, uint64_t now, uint64_t *time, bool *is_forced);
