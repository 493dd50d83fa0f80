/* SPDX-License-Identifier: BSD-2-Clause */
/* lanes.c - lanes, exact or from the index; see lanes.h. */
#include <math.h>
#include <stdlib.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/lanes.h>

uint32_t lanes_cpu(const struct view *view, uint32_t rank)
{
    const struct trace *trace = &view->trace;

    if (rank < trace->stream_count)
        return trace->streams[rank].cpu;
    for (uint32_t cpu = 0, left = rank - trace->stream_count;; cpu++)
        if (trace_find_cpu(trace, cpu) == trace->stream_count && left-- == 0)
            return cpu;
}

static struct lane *choose(const bool *wanted, uint32_t count, bool are_cpus, uint32_t *chosen)
{
    struct lane *lanes;

    *chosen = 0;
    for (uint32_t i = 0; i < count; i++)
        *chosen += wanted == NULL || wanted[i];
    if (*chosen > LANES_MAX)
        *chosen = LANES_MAX;
    lanes = alloc_zero(*chosen + 1, sizeof(*lanes));
    for (uint32_t i = 0, place = 0; i < count && place < *chosen; i++)
        if (wanted == NULL || wanted[i])
            lanes[place++] = (struct lane){.number = i, .is_cpu = are_cpus};
    return lanes;
}

void lanes_ask(struct lanes *lanes, const struct view *view, const bool *cpus, const bool *threads,
               const bool *marked)
{
    lanes->type_count = view->trace.schema.event_count;
    lanes->counts = alloc_zero(lanes->type_count + 1, sizeof(lanes->counts[0]));
    for (uint32_t i = 0; i < lanes->type_count; i++)
        if (marked != NULL && marked[i])
            lanes->counts[i] = alloc_zero(lanes->width, sizeof(double));
    lanes->cpus = choose(cpus, lanes_cpu_count(view), true, &lanes->cpu_count);
    lanes->threads = choose(threads, index_thread_count(&view->index), false, &lanes->thread_count);
}

uint32_t *lanes_places(const struct lanes *lanes, uint32_t count)
{
    uint32_t *places = alloc_zero(count + 1, sizeof(*places));

    memset(places, 0xff, (count + 1) * sizeof(*places));
    for (uint32_t i = 0; i < lanes->thread_count; i++)
        if (lanes->threads[i].number < count)
            places[lanes->threads[i].number] = i;
    return places;
}

void lanes_count(struct lanes *lanes, uint32_t type, uint64_t begin, uint64_t end, uint64_t events)
{
    double pixel = (double)(lanes->to - lanes->from) / lanes->width;
    uint32_t first = (uint32_t)fmin((double)(begin - lanes->from) / pixel, lanes->width - 1);
    uint32_t last = (uint32_t)fmin((double)(end - lanes->from) / pixel, lanes->width - 1);

    for (uint32_t i = first; lanes->counts[type] != NULL && i <= last; i++)
        lanes->counts[type][i] += (double)events / (last - first + 1);
}

void lanes_find(struct lanes *lanes, const struct view *view)
{
    lanes->is_exact = index_events_in(&view->index, lanes->from, lanes->to) <= LANES_EXACT;
    if (lanes->from >= lanes->to)
        return;
    if (lanes->is_exact)
        lanes_walk(lanes, view);
    else
        lanes_sum(lanes, view);
}

static void free_lanes(struct lane *lanes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(lanes[i].boxes.bytes);
        for (uint32_t depth = 0; depth < lanes[i].depth; depth++)
            free(lanes[i].calls[depth].bytes);
        free(lanes[i].flags.bytes);
    }
    free(lanes);
}

void lanes_free(struct lanes *lanes)
{
    free_lanes(lanes->cpus, lanes->cpu_count);
    free_lanes(lanes->threads, lanes->thread_count);
    for (uint32_t i = 0; i < lanes->type_count; i++)
        free(lanes->counts[i]);
    free(lanes->counts);
    free(lanes->arrows.bytes);
    free(lanes->waits.bytes);
}

/* ---- rows of boxes --------------------------------------------------------------------------------- */

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
