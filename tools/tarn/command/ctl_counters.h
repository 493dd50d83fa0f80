/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_counters.h - hardware counters of a guest, for `tarn ctl`. */
#ifndef TARN_CTL_COUNTERS_H
#define TARN_CTL_COUNTERS_H

#include <tools/tarn/source/source.h>

struct counter_list {
    uint32_t count;
    struct wire_counter counter[WIRE_COUNTERS_MAX];
};

/* Asks the guest. An error if it has no counters. */
bool counters_ask(struct source *source, struct counter_list *counters, struct fail *fail);
void counters_print_json(const struct counter_list *counters);

#endif
