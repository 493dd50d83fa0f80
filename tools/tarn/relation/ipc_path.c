/* SPDX-License-Identifier: BSD-2-Clause */
/* ipc_path.c - builds the time line of a call from recorded segments; see ipc_path.h. */
#include <stdlib.h>
#include <tools/tarn/relation/ipc_path.h>

#define PATH_DEPTH 24u

static bool goes_on(const struct step *last, const struct step *step)
{
    return last->piece.to == step->piece.from && last->thread == step->thread && last->depth == step->depth &&
           last->phase == step->phase && last->call == step->call && last->piece.state == step->piece.state &&
           last->piece.activity == step->piece.activity && last->piece.detail == step->piece.detail &&
           last->piece.other == step->piece.other && last->piece.cpu == step->piece.cpu &&
           (step->phase != PHASE_TO_SERVER || last->piece.serving == step->piece.serving);
}

static void add_step(struct path *path, const struct step *step)
{
    struct step *last = path->step_count != 0 ? &path->steps[path->step_count - 1] : NULL;

    if (step->piece.from >= step->piece.to)
        return;
    if (last != NULL && goes_on(last, step)) {
        last->piece.to = step->piece.to;
        return;
    }
    path->steps = array_grow(path->steps, path->step_count, &path->step_size, sizeof(path->steps[0]));
    path->steps[path->step_count++] = *step;
}

/* Returns what the thread did at AT, cut to [AT, to); for unknown time, up to the next known piece. */
static struct piece piece_at(struct path *path, const struct model_thread *thread, uint64_t at, uint64_t to)
{
    const struct pieces *pieces = thread != NULL ? slots_find(&path->threads, thread->number) : NULL;
    struct piece piece = {.from = at, .to = to, .state = PIECE_UNKNOWN, .activity = ACTIVITIES};
    size_t low = 0, high = pieces != NULL ? pieces->count : 0;

    while (low < high) { /* finds the first one that ends after AT */
        size_t middle = low + (high - low) / 2;

        if (pieces->items[middle].to <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (pieces == NULL || low == pieces->count || pieces->items[low].from >= to)
        return piece;
    if (pieces->items[low].from > at) {
        piece.to = pieces->items[low].from;
        return piece;
    }
    piece = pieces->items[low];
    piece.from = at;
    piece.to = sooner(piece.to, to);
    return piece;
}

static uint64_t or_end(uint64_t ticks, uint64_t end)
{
    return ticks != 0 ? sooner(ticks, end) : end;
}

static void follow_call(struct path *path, const struct path_call *followed, uint64_t from, uint64_t to,
                        uint32_t depth);

/* Follows a time of CALL in which both its client and THREAD may work: a
 * running one counts, else what THREAD waits for. A blocked client waits
 * for THREAD; one that is ready or runs does the remaining work itself. */
static void follow_both(struct path *path, const struct path_call *call, enum phase phase,
                        const struct model_thread *thread, uint64_t from, uint64_t to, uint32_t depth)
{
    while (from < to) {
        struct piece client = piece_at(path, call->call.client, from, to);
        struct piece other = piece_at(path, thread, from, client.to);
        bool is_client = phase == PHASE_BACK ? client.state == MODEL_RUNNING || client.state == MODEL_READY
                                             : client.state == MODEL_RUNNING && other.state != MODEL_RUNNING;

        if (thread == NULL || (phase == PHASE_BACK && other.state != MODEL_RUNNING))
            is_client = true;
        client.to = thread == NULL ? client.to : other.to;
        add_step(path, &(struct step){is_client ? client : other, is_client ? call->call.client : thread,
                                      is_client ? depth - 1 : depth, phase, call});
        from = client.to;
    }
}

static void follow_server(struct path *path, const struct path_call *call, uint64_t from, uint64_t to,
                          uint32_t depth)
{
    while (from < to) {
        struct piece piece = piece_at(path, call->call.server, from, to);
        const struct path_call *inner = path_call_of(path, piece.calling);

        if (inner != NULL && depth < PATH_DEPTH && inner->call.called <= from &&
            or_end(inner->call.returned, to) > from) {
            uint64_t end = or_end(inner->call.returned, to);

            path->nested += inner->call.called == from;
            follow_call(path, inner, from, end, depth + 1);
            from = end;
            continue;
        }
        if (piece.state == MODEL_BLOCKED_RECEIVE) /* it was handed over, but does not run yet */
            follow_both(path, call, PHASE_SERVES, call->call.server, from, piece.to, depth);
        else
            add_step(path, &(struct step){piece, call->call.server, depth, PHASE_SERVES, call});
        from = piece.to;
    }
}

/* Follows a call in [FROM, TO) without gaps. DEPTH is the server's; the client's is one less. */
static void follow_call(struct path *path, const struct path_call *followed, uint64_t from, uint64_t to,
                        uint32_t depth)
{
    const struct model_call *call = &followed->call;
    uint64_t received = or_end(call->received, to), parked, replied;

    replied = call->received != 0 ? or_end(call->replied, to) : to;
    parked = sooner(or_end(call->parked, to), replied);
    if (from < received)
        follow_both(path, followed, PHASE_TO_SERVER, call->server, from, received, depth);
    from = from > received ? from : received;
    if (from < parked)
        follow_server(path, followed, from, parked, depth);
    from = from > parked ? from : parked;
    if (from < replied)
        add_step(path, &(struct step){{.from = from,
                                       .to = replied,
                                       .serving = followed->replier_serving,
                                       .state = MODEL_BLOCKED_RECEIVE,
                                       .activity = ACTIVITIES},
                                      call->replied != 0 ? followed->replier : call->server,
                                      depth,
                                      PHASE_DEFERRED,
                                      followed});
    from = from > replied ? from : replied;
    if (from < to)
        follow_both(path, followed, PHASE_BACK, call->server, from, to, depth);
}

void path_close(struct path *path, struct model *model)
{
    for (uint32_t n = 0; n < path->threads.count; n++)
        free(((struct pieces *)slots_at(&path->threads, n))->items);
    free(path->steps);
    analysis_release(&path->analysis);
    model_close(model);
}

const struct path_call *path_open(struct path *path, const struct analysis *analysis,
                                  const struct ipc_request *request, const struct functions *functions,
                                  struct model *model)
{
    const struct path_call *call;

    *path = (struct path){.analysis = {.trace = analysis->trace, .filter = analysis->filter},
                          .owner = analysis,
                          .request = request,
                          .functions = functions};
    analysis_map(&path->analysis, &path->calls, sizeof(struct path_call));
    analysis_map(&path->analysis, &path->servers, sizeof(uint64_t));
    for (size_t i = 0; i < functions->servers.count; i++)
        map_at(&path->servers,
               functions_pid(functions, FUNCTION_BY_ENDPOINT | functions->servers.entries[i]->key[0]), 0, 0);
    analysis_slots(&path->analysis, &path->threads, sizeof(struct pieces));
    call = path_record(path, model) ? path_call_of(path, request->id) : NULL;
    if (call != NULL)
        follow_call(path, call, request->called, request->returned, 1);
    return call;
}
