/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_marks.c - /api/marks: where chosen events are in a range. Their number is exact. If there are few, it
 * returns the time of each, otherwise the number in each pixel.
 */
#include <stdlib.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/index_walk.h>
#include <tools/tarn/view/lanes.h>

#define TIMES_MAX   1000u   /* per event type */
#define WALK_BUDGET 300000u /* events read to find single ones in blocks wider than a pixel */

struct mark {
    uint32_t type;
    uint64_t count;
    bool has_times;
    struct buffer times; /* ticks */
    double *pixels;
};

struct marker {
    struct node_visitor visitor;
    const struct view *view;
    struct range range;
    struct mark *marks;
    uint32_t count;
    uint32_t *places;    /* marks by type, or UINT32_MAX */
    uint64_t begin, end; /* of the current piece */
};

static double pixel_of(const struct marker *marker, uint64_t ticks)
{
    return (double)(ticks - marker->range.from_ticks) * marker->range.width /
           (double)(marker->range.to_ticks - marker->range.from_ticks);
}

/* Spreads COUNT events evenly over a time. */
static void spread(const struct marker *marker, struct mark *mark, uint64_t begin, uint64_t end, double count)
{
    double from = pixel_of(marker, begin), to = pixel_of(marker, end);
    uint32_t first = from < marker->range.width - 1 ? (uint32_t)from : marker->range.width - 1;
    uint32_t last = to < marker->range.width - 1 ? (uint32_t)to : marker->range.width - 1;

    for (uint32_t i = first; i <= last; i++) {
        double left = i > from ? i : from, right = i + 1.0 < to ? i + 1.0 : to;

        mark->pixels[i] += first == last ? count : right > left ? count * (right - left) / (to - from) : 0;
    }
}

static void visit_events(struct node_visitor *visitor, uint32_t type, uint64_t count)
{
    const struct marker *marker = (struct marker *)visitor;
    struct mark *mark = marker->places[type] != UINT32_MAX ? &marker->marks[marker->places[type]] : NULL;

    if (mark == NULL)
        return;
    mark->count += count;
    mark->has_times = false;
    spread(marker, mark, marker->begin, marker->end, (double)count);
}

static void walk_piece(const struct marker *marker, const struct piece *piece)
{
    struct walk walk;
    struct cursor *cursor;

    walk_open(&walk, &marker->view->trace, &marker->view->index,
              index_find_time(&marker->view->index, piece->begin));
    while ((cursor = walk_next(&walk)) != NULL && cursor->ticks < piece->end) {
        uint32_t place = marker->places[cursor->event.type->index];
        struct mark *mark;

        if (place == UINT32_MAX || cursor->ticks < piece->begin)
            continue;
        mark = &marker->marks[place];
        mark->count++;
        spread(marker, mark, cursor->ticks, cursor->ticks, 1);
        if (mark->has_times)
            buffer_add(&mark->times, &cursor->ticks, sizeof(cursor->ticks));
        if (mark->count > TIMES_MAX)
            mark->has_times = false;
    }
    walk_close(&walk);
}

static bool find_marks(struct marker *marker, struct fail *fail)
{
    const struct index *index = &marker->view->index;
    uint64_t grain = (marker->range.to_ticks - marker->range.from_ticks) / marker->range.width;
    struct cover cover;
    bool fine = true;

    cover_range(&cover, index, marker->range.from_ticks, marker->range.to_ticks, grain ? grain : 1,
                index_events_in(index, marker->range.from_ticks, marker->range.to_ticks) <= LANES_EXACT
                    ? UINT64_MAX
                    : WALK_BUDGET);
    for (size_t i = 0; i < cover.count && fine; i++) {
        const struct piece *piece = &cover.pieces[i];

        marker->begin = piece->begin;
        marker->end = piece->end;
        if (piece->is_exact)
            walk_piece(marker, piece);
        else if (!node_visit(&marker->visitor, blob_array_get(&index->levels[piece->level], piece->node),
                             marker->view->trace.stream_count, marker->view->trace.schema.event_count))
            fine = fail_set(fail, "the index is damaged; remove its file");
    }
    cover_free(&cover);
    return fine;
}

static void add_mark(const struct marker *marker, const struct mark *mark, struct json *json)
{
    const uint64_t *times = (const uint64_t *)mark->times.bytes;

    json_open(json, '{');
    json_key_number(json, "event", mark->type);
    json_key_number(json, "count", mark->count);
    json_key_open(json, mark->has_times ? "times" : "pixels", '[');
    for (size_t i = 0; mark->has_times && i < mark->count; i++)
        json_number(json, view_ns(marker->view, times[i]));
    for (uint32_t i = 0; !mark->has_times && i < marker->range.width; i++)
        json_number(json, (uint64_t)(mark->pixels[i] + 0.999));
    json_close(json, ']');
    json_close(json, '}');
}

bool api_marks(struct view *view, const struct request *request, struct json *json, struct fail *fail)
{
    struct marker marker = {.visitor = {.events = visit_events}, .view = view};
    unsigned types = view->trace.schema.event_count;
    bool *wanted, fine = true;

    if (!request_range(view, request, &marker.range, fail))
        return false;
    wanted = request_set(request, "events", types, true, &marker.count);
    marker.marks = alloc_zero(marker.count + 1, sizeof(marker.marks[0]));
    marker.places = alloc_zero(types + 1, sizeof(marker.places[0]));
    for (uint32_t type = 0, place = 0; type < types; type++) {
        marker.places[type] = wanted[type] ? place : UINT32_MAX;
        if (wanted[type])
            marker.marks[place++] = (struct mark){
                .type = type, .has_times = true, .pixels = alloc_zero(marker.range.width, sizeof(double))};
    }
    if (marker.range.from_ticks < marker.range.to_ticks)
        fine = find_marks(&marker, fail);
    json_key_number(json, "from", marker.range.from);
    json_key_number(json, "to", marker.range.to);
    json_key_number(json, "width", marker.range.width);
    json_key_open(json, "marks", '[');
    for (uint32_t i = 0; i < marker.count; i++) {
        if (fine)
            add_mark(&marker, &marker.marks[i], json);
        free(marker.marks[i].times.bytes);
        free(marker.marks[i].pixels);
    }
    json_close(json, ']');
    free(marker.marks);
    free(marker.places);
    free(wanted);
    return fine;
}
