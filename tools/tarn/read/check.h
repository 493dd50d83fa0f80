/* SPDX-License-Identifier: BSD-2-Clause */
/* check.h - verifies every packet and event of a trace, and keeps what is wrong or lost. */
#ifndef TARN_CHECK_H
#define TARN_CHECK_H

#include <tools/tarn/read/decode.h>

struct findings {
    struct report *reports; /* stream by stream, then those of the whole trace */
    size_t count, size;
    uint64_t packets, events; /* that were read */
};

void trace_check(const struct trace *trace, struct findings *findings);
void findings_free(struct findings *findings);

#endif
