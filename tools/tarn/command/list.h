/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/command/list.h - what the two files of `tarn list` share: list.c and list_slices.c. */
#ifndef TARN_LIST_H
#define TARN_LIST_H

#include <tools/tarn/print/print.h>
#include <tools/tarn/read/losses.h>
#include <tools/tarn/read/slices.h>

struct list {
    struct filter filter;
    enum print_style style;
    enum print_time time;
    uint64_t limit, tail;
    bool has_numbers; /* each line begins with its event's place in the whole trace */
    const char *directory;
};

/* One pass over the events of SLICE; prints those wanted after the first SKIP, or (no PRINTER) only counts.
 */
uint64_t list_walk(const struct list *list, const struct trace *trace, const struct slice *slice,
                   struct reporter *reporter, struct printer *printer, uint64_t skip);

/* Prints all slices in order, working on several at once. Losses of each packet are reported once. PRINTED:
 * how many events. */
bool list_slices(const struct list *list, const struct trace *trace, const struct slices *slices,
                 struct losses *losses, uint64_t *printed, struct fail *fail);

#endif
