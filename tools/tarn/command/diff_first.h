/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/command/diff_first.h - what the two files of `tarn diff --first` share: diff_first.c finds the
 * first difference of two traces, diff_first_print.c shows it. */
#ifndef TARN_DIFF_FIRST_H
#define TARN_DIFF_FIRST_H

#include <tools/tarn/command/diff.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/read/lockstep.h>

struct diff_first {
    const struct diff *diff;
    const struct run *runs[2];
    struct lockstep_types types;
    struct lockstep *pairs; /* one for each processor that either trace has events of, in order */
    unsigned count;
    uint64_t alike;                 /* events that both have, of all processors */
    const struct lockstep *differs; /* where the first difference is; NULL: nowhere */
};

bool diff_first_print(const struct diff_first *first, struct fail *fail);

#endif
