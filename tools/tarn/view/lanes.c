/* lanes.c - lanes, exact or from the index; see lanes.h. */
#include <math.h>
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

/* Gives a lane to each that is wanted. Returns them by number. */
static struct lane **choose(struct lanes *lanes, const bool *wanted, uint32_t count, bool are_cpus)
{
    struct lane **chosen = alloc_zero(count + 1, sizeof(struct lane *));
    for (uint32_t i = 0, left = LANES_MAX; i < count && left > 0; i++) {
        if (wanted != NULL && !wanted[i])
            continue;
        chosen[i] = &lanes->all[lanes->count++];
        chosen[i]->number = i;
        chosen[i]->is_cpu = are_cpus;
        left--;
    }
    return chosen;
}

void lanes_ask(struct lanes *lanes, const struct view *view, const bool *cpus, const bool *threads,
               const bool *marked)
{
    lanes->type_count = view->trace.schema.event_count;
    lanes->counts = alloc_zero(lanes->type_count + 1, sizeof(lanes->counts[0]));
    for (uint32_t i = 0; i < lanes->type_count; i++)
        if (marked != NULL && marked[i])
            lanes->counts[i] = alloc_zero(lanes->width, sizeof(double));
    lanes->cpu_count = lanes_cpu_count(view);
    lanes->thread_count = index_thread_count(&view->index);
    lanes->all = alloc_zero(2 * LANES_MAX, sizeof(lanes->all[0]));
    lanes->cpus = choose(lanes, cpus, lanes->cpu_count, true);
    lanes->threads = choose(lanes, threads, lanes->thread_count, false);
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

void lanes_free(struct lanes *lanes)
{
    for (struct lane *lane = lanes->all; lane < lanes->all + lanes->count; lane++) {
        for (uint32_t row = 0; row <= lane->depth; row++)
            free(lane->rows[row].out.bytes);
        free(lane->flags.bytes);
    }
    for (uint32_t i = 0; i < lanes->type_count; i++)
        free(lanes->counts[i]);
    free(lanes->all);
    free(lanes->cpus);
    free(lanes->threads);
    free(lanes->counts);
    free(lanes->arrows.bytes);
    free(lanes->waits.bytes);
}

static bool is_alike(const struct lane_box *a, const struct lane_box *b)
{
    return a->what == b->what && a->kind == b->kind && a->detail == b->detail;
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
    buffer_add(&boxes->out, &box, sizeof(box));
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

static void add_dust(struct boxes *boxes, const struct lane_box *box, uint64_t pixel)
{
    if (boxes->narrow_boxes.merged != 0 &&
        (box->begin - boxes->narrow_boxes.begin >= pixel || box->begin - boxes->narrow_boxes.end >= pixel))
        put_dust(boxes);
    if (boxes->narrow_boxes.merged == 0)
        boxes->narrow_boxes.begin = box->begin;
    boxes->narrow_boxes.end = box->end;
    boxes->narrow_boxes.merged += box->merged;
    add_kind(boxes, box);
}

static void put_last(struct boxes *boxes, uint64_t pixel)
{
    if (boxes->last.merged == 0)
        return;
    if (boxes->last.end - boxes->last.begin < pixel) {
        add_dust(boxes, &boxes->last, pixel);
    } else {
        put_dust(boxes);
        buffer_add(&boxes->out, &boxes->last, sizeof(boxes->last));
    }
    boxes->last.merged = 0;
}

void boxes_add(struct boxes *boxes, const struct lane_box *box, uint64_t pixel)
{
    if (box->end <= box->begin)
        return;
    if (boxes->last.merged != 0 && boxes->last.end == box->begin && is_alike(&boxes->last, box)) {
        boxes->last.end = box->end;
        return;
    }
    put_last(boxes, pixel);
    boxes->last = *box;
    boxes->last.merged = 1;
}

void boxes_close(struct boxes *boxes, uint64_t pixel)
{
    put_last(boxes, pixel);
    put_dust(boxes);
}
