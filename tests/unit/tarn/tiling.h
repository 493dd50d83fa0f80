/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/tiling.h - checks what the model promises about segments and activities, as an observer of
 * it.
 *
 * Segments of a thread tile its life; those in which threads run, and the time counted as lost, tile the time
 * of each processor; each activity is left once, innermost first, and its times fit the segments.
 */
#ifndef TESTS_TILING_H
#define TESTS_TILING_H

#include <tools/tarn/model/model.h>

struct tiling_thread {
    uint64_t end, ran, total; /* of its segments: end of the last, time that it ran, all */
    uint32_t depth;           /* activities entered and not left */
    bool is_known, has_ended;
};

struct tiling_cpu {
    uint64_t begin, end, ran; /* of segments that ran there */
    uint64_t gaps;            /* between them */
};

struct tiling {
    struct model_observer observer;
    struct model *model;
    struct tiling_thread *threads; /* by number */
    uint32_t thread_capacity;
    struct tiling_cpu *cpus; /* by rank */
    uint64_t segments, unknown, entered, left, cut, unseen, wakeups, switches, calls, calls_ended;
    uint64_t checksum; /* of all calls of the observer; a walk that was saved and restored has the same */
    bool was_restored; /* the model is another than that of the beginning */
    unsigned problems;
    char problem[256]; /* the first */
};

void tiling_open(struct tiling *tiling, struct model *model);
/* After model_finish. True: all promises were kept. */
bool tiling_check(struct tiling *tiling);
void tiling_close(struct tiling *tiling);

#endif
