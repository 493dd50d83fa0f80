/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * amount.h - durations and sizes as options take them: 90s, 10m, 500us; 500M, 2G.
 *
 * Letters decide: m is minutes, M is 2^20 bytes. A number always has its unit.
 */
#ifndef TARN_AMOUNT_H
#define TARN_AMOUNT_H

#include <tools/tarn/options.h>

/* How much of a trace is kept; 0: no bound. At least one is given. */
struct keep_amount {
    double seconds; /* at least this */
    uint64_t bytes; /* at most this; stronger */
};

/* TEXT: a duration, a size, or both, separated by a comma. */
bool parse_keep(const char *text, struct keep_amount *amount, struct fail *fail);
/* A positive duration: ns, us, ms, s, m or h. */
bool parse_duration(const char *text, double *seconds, struct fail *fail);
/* The same for an option, whose place has a double. */
bool take_duration(void *context, const struct command_option *option, const char *value, struct fail *fail);

#endif
