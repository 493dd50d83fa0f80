/*
 * draw.h - the lanes as a picture: title, time axis, a row per marked event type, a lane per CPU, a lane per
 * chosen thread with its nested calls, legend.
 */
#pragma once

#include <tools/tarn/view/lanes.h>

#define DRAW_SIDE_MAX 16384u /* pixels */

struct draw_options {
    const char *file;  /* PNG, or SVG by its name */
    uint64_t from, to; /* nanoseconds since the start */
    uint32_t width, height;
    /* number of the busiest threads to show, if there is space; UINT64_MAX: as many as fit */
    uint64_t threads;
    const char *tids;  /* or these threads; NULL: the busiest */
    const char *marks; /* patterns of event names; NULL: none */
    bool is_dark;
};

/* The view's lock is held. */
bool draw_picture(const struct view *view, const struct draw_options *options, struct fail *fail);
