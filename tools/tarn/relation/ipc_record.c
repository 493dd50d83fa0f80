/* SPDX-License-Identifier: BSD-2-Clause */
/* ipc_record.c - records the segments of threads that may have worked on a call; see ipc_path.h. */
#include <stdlib.h>
#include <tools/tarn/relation/ipc_path.h>

#define PIECES_MAX (1u << 22) /* of 64 bytes each; any more are dropped */

static bool is_followed(const struct path *path, const struct model_thread *thread)
{
    return thread->number == path->request->client || map_find(&path->servers, thread->pid, 0, 0) != NULL;
}

static struct piece *add_piece(struct path *path, const struct model_thread *thread, uint64_t from,
                               uint64_t to)
{
    struct pieces *pieces = slots_at(&path->threads, thread->number);
    struct piece *piece;

    if (path->piece_count == PIECES_MAX)
        return NULL;
    path->piece_count++;
    pieces->items = array_grow(pieces->items, pieces->count, &pieces->size, sizeof(pieces->items[0]));
    piece = &pieces->items[pieces->count++];
    *piece = (struct piece){.from = from,
                            .to = to,
                            .serving = thread->serving != NULL ? thread->serving->id : 0,
                            .calling = thread->calling != NULL ? thread->calling->id : 0,
                            .cpu = (uint16_t)thread->cpu,
                            .state = (uint8_t)thread->state,
                            .activity = ACTIVITIES};
    return piece;
}

/* Skips a server's request activities: the activities inside say more. */
static void tell_activity(struct piece *piece, const struct model_thread *thread)
{
    uint32_t depth = thread->depth <= MODEL_DEPTH_MAX ? thread->depth : 0;

    while (depth > 0 && thread->frames[depth - 1].kind == ACTIVITY_REQUEST)
        depth--;
    if (depth > 0) {
        piece->activity = (uint8_t)thread->frames[depth - 1].kind;
        piece->detail = thread->frames[depth - 1].detail;
    }
}

/* If the thread was blocked before it became ready, notes the waker in that piece. */
static void tell_waker(struct path *path, const struct model_thread *thread, uint64_t from)
{
    struct pieces *pieces = slots_at(&path->threads, thread->number);
    struct piece *last = pieces->count != 0 ? &pieces->items[pieces->count - 1] : NULL;

    if (last != NULL && last->to == from && last->state != MODEL_READY && last->state != MODEL_RUNNING &&
        thread->waker != NULL)
        last->other = thread->waker;
}

static void on_delay(struct delays *delays, const struct model_thread *thread, const struct model_thread *by,
                     uint32_t cpu, uint64_t from, uint64_t to)
{
    struct path *path = delays->owner;
    struct piece *piece = is_followed(path, thread) ? add_piece(path, thread, from, to) : NULL;

    if (piece == NULL)
        return;
    piece->state = MODEL_READY;
    piece->cpu = (uint16_t)cpu;
    piece->other = by;
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct path *path = ANALYSIS_OF(self, struct path);
    struct piece *piece;

    if (thread->state == MODEL_READY && is_followed(path, thread))
        tell_waker(path, thread, from);
    delays_segment(&path->delays, thread, from, to);
    if (thread->state == MODEL_READY || !is_followed(path, thread))
        return;
    piece = add_piece(path, thread, from, to);
    if (piece != NULL)
        tell_activity(piece, thread);
}

/* The kind of a fault is known at its end. */
static void on_leave(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame, uint64_t end)
{
    struct path *path = ANALYSIS_OF(self, struct path);
    struct pieces *pieces;

    if (frame->kind != ACTIVITY_FAULT || !is_followed(path, thread))
        return;
    pieces = slots_at(&path->threads, thread->number);
    for (size_t i = pieces->count; i-- > 0 && pieces->items[i].from >= frame->begin;)
        if (pieces->items[i].activity == ACTIVITY_FAULT && pieces->items[i].detail == UINT32_MAX)
            pieces->items[i].detail = frame->detail;
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct path *path = ANALYSIS_OF(self, struct path);

    path->here = thread;
    delays_event(&path->delays, cursor);
}

static void on_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                    bool has_ended)
{
    struct path *path = ANALYSIS_OF(self, struct path);
    struct path_call *kept = map_at(&path->calls, call->id, 0, 0);

    kept->call = *call;
    if (call->replied == ticks && call->returned == 0 && !has_ended) {
        kept->replier = path->here;
        kept->replier_serving = path->here->serving != NULL ? path->here->serving->id : 0;
    }
}

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    return (a->from > b->from) - (a->from < b->from);
}

/* Delays are reported newest first. */
static void sort_pieces(struct path *path)
{
    for (uint32_t n = 0; n < path->threads.count; n++) {
        struct pieces *pieces = slots_at(&path->threads, n);

        if (pieces->count > 1)
            qsort(pieces->items, pieces->count, sizeof(pieces->items[0]), compare_pieces);
    }
}

bool path_record(struct path *path, struct model *model)
{
    const struct ipc_request *request = path->request;
    bool ok;

    path->analysis.model = model;
    path->delays.owner = path;
    path->delays.delayed = on_delay;
    delays_open(&path->delays, &path->analysis);
    path->analysis.observer.segment = on_segment;
    path->analysis.observer.leave = on_leave;
    path->analysis.observer.call = on_call;
    path->analysis.observer.event = on_event;
    /* includes the event that ends it */
    ok = analysis_walk(path->owner, model, request->called, request->returned + 1, &path->analysis.observer);
    sort_pieces(path);
    return ok;
}
