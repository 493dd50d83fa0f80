/* SPDX-License-Identifier: BSD-2-Clause */
/* boxes.c - rows of boxes; see lanes.h. */
#include <tools/tarn/view/lanes.h>

static bool is_alike(const struct lane_box *a, const struct lane_box *b)
{
    return a->what == b->what && a->kind == b->kind && a->detail == b->detail;
}

void boxes_open(struct boxes *boxes, struct buffer *out, uint64_t pixel)
{
    memset(boxes, 0, sizeof(*boxes));
    boxes->out = out;
    boxes->pixel = pixel;
}

static void put_dust(struct boxes *boxes)
{
    struct lane_box box;
    uint32_t longest = 0;

    if (boxes->narrow_boxes.merged == 0)
        return;
    for (uint32_t i = 1; i < boxes->kind_count; i++)
        if (boxes->kinds[i].ticks > boxes->kinds[longest].ticks)
            longest = i;
    box = boxes->kinds[longest].box;
    box.begin = boxes->narrow_boxes.begin;
    box.end = boxes->narrow_boxes.end;
    box.merged = boxes->narrow_boxes.merged;
    buffer_add(boxes->out, &box, sizeof(box));
    boxes->narrow_boxes.merged = 0;
    boxes->kind_count = 0;
}

/* If there are too many kinds, the one with the least time is dropped. */
static void add_kind(struct boxes *boxes, const struct lane_box *box)
{
    uint64_t ticks = box->end - box->begin;
    uint32_t least = 0;

    for (uint32_t i = 0; i < boxes->kind_count; i++) {
        if (is_alike(&boxes->kinds[i].box, box)) {
            boxes->kinds[i].ticks += ticks;
            return;
        }
        if (boxes->kinds[i].ticks < boxes->kinds[least].ticks)
            least = i;
    }
    if (boxes->kind_count < BOXES_KINDS)
        least = boxes->kind_count++;
    else if (boxes->kinds[least].ticks >= ticks)
        return;
    boxes->kinds[least].box = *box;
    boxes->kinds[least].ticks = ticks;
}

static void add_dust(struct boxes *boxes, const struct lane_box *box)
{
    if (boxes->narrow_boxes.merged != 0 && (box->begin - boxes->narrow_boxes.begin >= boxes->pixel ||
                                            box->begin - boxes->narrow_boxes.end >= boxes->pixel))
        put_dust(boxes);
    if (boxes->narrow_boxes.merged == 0)
        boxes->narrow_boxes.begin = box->begin;
    boxes->narrow_boxes.end = box->end;
    boxes->narrow_boxes.merged += box->merged;
    add_kind(boxes, box);
}

static void put_last(struct boxes *boxes)
{
    if (boxes->last.merged == 0)
        return;
    if (boxes->last.end - boxes->last.begin < boxes->pixel) {
        add_dust(boxes, &boxes->last);
    } else {
        put_dust(boxes);
        buffer_add(boxes->out, &boxes->last, sizeof(boxes->last));
    }
    boxes->last.merged = 0;
}

void boxes_add(struct boxes *boxes, const struct lane_box *box)
{
    if (box->end <= box->begin)
        return;
    if (boxes->last.merged != 0 && boxes->last.end == box->begin && is_alike(&boxes->last, box)) {
        boxes->last.end = box->end;
        return;
    }
    put_last(boxes);
    boxes->last = *box;
    boxes->last.merged = 1;
}

void boxes_close(struct boxes *boxes)
{
    put_last(boxes);
    put_dust(boxes);
}
