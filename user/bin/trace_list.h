/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_list.h - prints events in the rings, for `trace`. Functions return an exit status. */
#ifndef USER_BIN_TRACE_LIST_H
#define USER_BIN_TRACE_LIST_H

#include <stdint.h>
#include <user/bin/trace_rings.h>

struct ring_source {
    const struct trace_info *info;
    struct trace_reader (*ring_of)(uint32_t cpu);
    /* The range of packets, including the open one. False: none. */
    bool (*range)(const struct trace_reader *ring, uint64_t *first, uint64_t *last);
    /* Like copy_packet(). */
    bool (*copy)(const struct trace_reader *ring, uint64_t number, void *copy,
                 struct ring_findings *findings);
};

int print_counts(void);
/* Prints the newest `count` events of the classes in the mask, in order of time. */
int print_last(uint64_t count, uint64_t classes);
int print_last_of(const struct ring_source *source, uint64_t count, uint64_t classes);

#endif
