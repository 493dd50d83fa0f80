/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boxes.h - a row of boxes in order of time, merging those that are narrower than a pixel.
 *
 * Adjacent boxes with the same content become one. Boxes narrower than a pixel are collected until they fill
 * one, and then become a box of the kind that has most of the time.
 */
#ifndef TARN_BOXES_H
#define TARN_BOXES_H

#include <tools/tarn/view/lanes.h>

#define BOXES_KINDS 8u /* that compete for a pixel */

struct boxes {
    struct buffer *out;
    uint64_t pixel;               /* ticks */
    struct lane_box last;         /* may still grow; merged is 0: none */
    struct lane_box narrow_boxes; /* the collected small boxes: begin, end and number; merged is 0: none */
    struct {
        struct lane_box box;
        uint64_t ticks;
    } kinds[BOXES_KINDS]; /* the kinds in `narrow_boxes` */
    uint32_t kind_count;
};

void boxes_open(struct boxes *boxes, struct buffer *out, uint64_t pixel);
/* it must not begin before the end of the last one */
void boxes_add(struct boxes *boxes, const struct lane_box *box);
void boxes_close(struct boxes *boxes);

#endif
