/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/draw.h - the picture as a PNG, from the same lanes that the page gets.
 *
 * From above: title, time axis, a lane for each processor, one for each chosen thread with its nested calls,
 * legend. Arrows for wake-ups and IPC and waits for locks lead from lane to lane; marked events are lines
 * through all of them. Colours are those of the page: README.md has the rule.
 */
#ifndef TARN_DRAW_H
#define TARN_DRAW_H

#include <tools/tarn/view/lanes.h>

#define DRAW_SIDE_MAX 16384u /* pixels */

struct draw_options {
    const char *file;
    uint64_t from, to; /* nanoseconds since the begin */
    uint32_t width, height;
    uint32_t
        threads; /* so many of the busiest are shown, if there is room; UINT32_MAX: as many as have room */
    const char *tids;  /* or these; NULL: the busiest */
    const char *marks; /* patterns of events' names; NULL: none */
    bool is_dark;
};

/* With the view's lock held. */
bool draw_png(const struct view *view, const struct draw_options *options, struct fail *fail);

#endif
