/* SPDX-License-Identifier: BSD-2-Clause */
/* user/bin/trace_list.h - what `trace` prints of the events that the buffers hold. Both return an exit
 * status. */
#ifndef USER_BIN_TRACE_LIST_H
#define USER_BIN_TRACE_LIST_H

#include <stdint.h>
#include <user/bin/trace_rings.h>

/* Where the rings are that are printed. */
struct ring_source {
    const struct trace_info *info;
    struct trace_reader (*ring_of)(uint32_t cpu);
    /* The packets that there may be, the open one last; false: none. */
    bool (*range)(const struct trace_reader *ring, uint64_t *first, uint64_t *last);
    /* As copy_packet(). */
    bool (*copy)(const struct trace_reader *ring, uint64_t number, void *copy,
                 struct ring_findings *findings);
};

int print_counts(void); /* events and words, by class and event */
int print_last(uint64_t count,
               uint64_t classes); /* the last events of the classes in a mask, in order of time */
int print_last_of(const struct ring_source *source, uint64_t count, uint64_t classes);

#endif
