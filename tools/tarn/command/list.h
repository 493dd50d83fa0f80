/* SPDX-License-Identifier: BSD-2-Clause */
/* list.h - shared declarations of `tarn list`: list.c and list_slices.c. */
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
    bool has_numbers; /* each line begins with its event's number in the whole trace */
    const char *directory;
};

/* Walks over the events of SLICE and prints those that match, except the first SKIP. Without a PRINTER it
 * only counts. Returns the number of matching events. */
uint64_t list_walk(const struct list *list, const struct trace *trace, const struct slice *slice,
                   struct reporter *reporter, struct printer *printer, uint64_t skip);

/* Prints all slices in order, several in parallel, and sets PRINTED to the number of events. Reports the
 * losses of each packet once. */
bool list_slices(const struct list *list, const struct trace *trace, const struct slices *slices,
                 struct losses *losses, uint64_t *printed, struct fail *fail);

#endif
