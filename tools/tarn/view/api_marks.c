/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_marks.c - /api/marks?from=&to=&width=&events=INDEXES: where chosen events are in a range.
 *
 * {from, to, width, counts: [of each event type], marks: [{event, pixels: [count]}]}. The first counts are
 * exact.
 */
#include <stdlib.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/index_walk.h>
#include <tools/tarn/view/lanes.h>

#define WALK_BUDGET 300000u /* events read to find single ones in blocks wider than a pixel */

struct mark {
    uint32_t type;
    double *pixels;
};

struct marker {
    struct cover_visitor cover;
    struct node_visitor node;
    const struct view *view;
    struct range range;
    struct mark *marks;
    uint32_t count;
    uint32_t *places; /* marks by type, or UINT32_MAX */
    uint64_t *counts; /* by type */
};

/* Adds COUNT events, evenly distributed over a time. */
static void add_events(const struct marker *marker, uint32_t type, uint64_t begin, uint64_t end,
                       uint64_t count)
{
    const struct range *range = &marker->range;
    double pixel = (double)(range->to_ticks - range->from_ticks) / range->width;
    uint32_t place = marker->places[type];
    struct spread spread;

    marker->counts[type] += count;
    if (place == UINT32_MAX)
        return;
    spread = spread_over(begin, end, range->from_ticks, pixel, range->width);
    for (uint32_t i = spread.first; i <= spread.last; i++)
        marker->marks[place].pixels[i] += (double)count * spread_share(&spread, i);
}

static void visit_events(struct node_visitor *visitor, uint32_t type, uint64_t count)
{
    const struct marker *marker = OUTER(visitor, struct marker, node);

    add_events(marker, type, marker->cover.begin, marker->cover.end, count);
}

static bool visit_node(struct cover_visitor *cover, struct buffer_reader node)
{
    struct marker *marker = (struct marker *)cover;

    return node_visit(&marker->node, node, marker->view->trace.stream_count,
                      marker->view->trace.schema.event_count);
}

static bool walk_part(struct cover_visitor *cover, struct fail *fail)
{
    const struct marker *marker = (struct marker *)cover;
    struct walk walk;
    struct cursor *cursor;

    walk_open(&walk, &marker->view->trace, &marker->view->index,
              index_find_time(&marker->view->index, cover->begin));
    while ((cursor = walk_next(&walk)) != NULL && cursor->ticks < cover->end)
        if (cursor->ticks >= cover->begin)
            add_events(marker, cursor->event.type->index, cursor->ticks, cursor->ticks, 1);
    walk_close(&walk);
    return true;
}

static bool find_marks(struct marker *marker, struct fail *fail)
{
    const struct index *index = &marker->view->index;
    uint64_t from = marker->range.from_ticks, to = marker->range.to_ticks;
    uint64_t grain = (to - from) / marker->range.width;
    bool is_exact = index_events_in(index, from, to) <= LANES_EXACT;

    return cover_range(&marker->cover, index, from, to, grain ? grain : 1,
                       is_exact ? UINT64_MAX : WALK_BUDGET, fail);
}

static void add_mark(const struct marker *marker, const struct mark *mark, struct json *json)
{
    json_add(json, "{event:%u pixels:[", mark->type);
    for (uint32_t i = 0; i < marker->range.width; i++)
        json_number(json, (uint64_t)(mark->pixels[i] + 0.999));
    json_add(json, "]}");
}

bool api_marks(struct view *view, const struct request *request, struct json *json, struct fail *fail)
{
    struct marker marker = {
        .cover = {.node = visit_node, .walk = walk_part}, .node = {.events = visit_events}, .view = view};
    unsigned types = view->trace.schema.event_count;
    bool *wanted, ok = true;

    if (!request_range(view, request, &marker.range, fail))
        return false;
    wanted = request_set(request, "events", types, false, &marker.count);
    marker.marks = alloc_zero(marker.count + 1, sizeof(marker.marks[0]));
    marker.places = alloc_zero(types + 1, sizeof(marker.places[0]));
    marker.counts = alloc_zero(types + 1, sizeof(marker.counts[0]));
    for (uint32_t type = 0, place = 0; type < types; type++) {
        marker.places[type] = wanted[type] ? place : UINT32_MAX;
        if (wanted[type])
            marker.marks[place++] =
                (struct mark){.type = type, .pixels = alloc_zero(marker.range.width, sizeof(double))};
    }
    if (marker.range.from_ticks < marker.range.to_ticks)
        ok = find_marks(&marker, fail);
    json_add(json, "from:%lu to:%lu width:%u counts:[", marker.range.from, marker.range.to,
             marker.range.width);
    for (uint32_t type = 0; type < types; type++)
        json_number(json, marker.counts[type]);
    json_add(json, "] marks:[");
    for (uint32_t i = 0; i < marker.count; i++) {
        if (ok)
            add_mark(&marker, &marker.marks[i], json);
        free(marker.marks[i].pixels);
    }
    json_add(json, "]");
    free(marker.marks);
    free(marker.places);
    free(marker.counts);
    free(wanted);
    return ok;
}
