/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/boxes.h - a row of boxes in order of time, of which none is narrower than a pixel without
 * need.
 *
 * Boxes that touch and say the same become one. Those narrower than a pixel are gathered until they fill one,
 * and then stand there as that kind which has most of the time in it.
 */
#ifndef TARN_BOXES_H
#define TARN_BOXES_H

#include <tools/tarn/view/lanes.h>

#define BOXES_KINDS 8u /* that compete for a pixel */

struct boxes {
    struct buffer *out;
    uint64_t pixel;       /* ticks */
    struct lane_box last; /* may still grow; merged is 0: none */
    struct lane_box dust; /* its begin, end and number; merged is 0: none */
    struct {
        struct lane_box box;
        uint64_t ticks;
    } kinds[BOXES_KINDS]; /* what the dust is made of */
    uint32_t kind_count;
};

void boxes_open(struct boxes *boxes, struct buffer *out, uint64_t pixel);
void boxes_add(struct boxes *boxes, const struct lane_box *box); /* begins where the last ended, or later */
void boxes_close(struct boxes *boxes);

#endif
