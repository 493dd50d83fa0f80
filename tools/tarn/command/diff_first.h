/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_first.h - `tarn diff --first`: diff_first.c finds the first difference of two traces,
 * diff_first_print.c prints it. */
#ifndef TARN_DIFF_FIRST_H
#define TARN_DIFF_FIRST_H

#include <tools/tarn/command/diff.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/read/lockstep.h>

struct diff_first {
    const struct diff *diff;
    const struct run *runs[2];
    struct lockstep_types types;
    struct lockstep *pairs; /* one per CPU with events in either trace, sorted by CPU */
    unsigned count;
    uint64_t alike;                 /* events that both traces have, on all CPUs */
    const struct lockstep *differs; /* the CPU with the first difference; NULL: none */
};

bool diff_first_print(const struct diff_first *first, struct fail *fail);

#endif
