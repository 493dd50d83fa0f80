/*
 * calls.c - IPC calls, from the events at their four ends; see model_parts.h.
 *
 * A thread has at most one call in progress as a client, so the record is part of the client. As a server it
 * works on at most one. If it receives again without having replied, it keeps the earlier call to reply
 * later (sys_ipc_save_reply), and that call is `parked` from then on.
 */
#include <tools/tarn/model/activities.h>

static struct model_call *call_of(struct model_thread *client, uint64_t id)
{
    return client != NULL && client->calling != NULL && client->call.id == id ? &client->call : NULL;
}

void serving_stop(struct model *model, struct model_thread *server)
{
    struct model_call *call;
    if (server->serving == NULL)
        return;
    call = &server->serving->client->call;
    close_segment(model, server, model->now);
    set_serving(server, NULL);
    if (call->replied != 0)
        return;
    close_segment(model, call->client, model->now);
    call->parked = model->now;
    tell_call(model, call, false);
}

void serving_wait(struct model *model, struct model_thread *server)
{
    struct model_call *call = server->serving != NULL ? &server->serving->client->call : NULL;
    if (call != NULL && call->is_early)
        call->is_early = false;
    else
        serving_stop(model, server);
}

static void stop_serving_it(struct model *model, const struct model_call *call)
{
    if (call->server != NULL && call->server->serving == call) {
        close_segment(model, call->server, model->now);
        set_serving(call->server, NULL);
    }
}

/* Ends the call; the client's record is free again. */
static void end_call(struct model *model, struct model_call *call)
{
    close_segment(model, call->client, model->now);
    stop_serving_it(model, call);
    tell_call(model, call, true);
    call->client->calling = NULL;
}

void call_abandon(struct model *model, struct model_thread *client)
{
    if (client->calling != NULL)
        end_call(model, &client->call);
}

EVENT_HANDLER(on_call)
{
    struct model_thread *client = running_thread(model, cpu);
    struct model_call *call;
    if (client == NULL)
        return;
    call = &client->call;
    call_abandon(model, client);
    close_segment(model, client, model->now);
    /* field by field: GCC clears a whole record with `rep stos`, which is slow to start */
    call->id = GET64(0);
    call->label = GET64(1);
    call->endpoint = GET32(2);
    call->client = client;
    call->server = GET32(3) != 0 ? thread_find(model, GET32(3), 0) : NULL;
    call->called = model->now;
    call->received = call->replied = call->returned = call->parked = 0;
    call->error = 0;
    call->reply_label = 0;
    call->outer = client->serving;
    call->outer_id = client->serving != NULL ? client->serving->id : 0;
    call->is_drain = client->is_draining;
    call->is_early = false;
    client->calling = call;
    tell_call(model, call, false);
}

/* Logged by the server, or by a client that found the server waiting. */
EVENT_HANDLER(on_receive)
{
    struct model_thread *here = running_thread(model, cpu), *client = thread_find(model, GET32(1), 0);
    struct model_call *call = call_of(client, GET64(0));
    struct model_thread *server = call != NULL && here == client ? call->server : here;
    if (server != NULL)
        serving_stop(model, server);
    if (call == NULL || call->received != 0)
        return;
    if (client->state == MODEL_BLOCKED_SEND)
        set_state(model, client, MODEL_BLOCKED_REPLY, model->now);
    close_segment(model, client, model->now);
    call->received = model->now;
    call->server = server;
    call->is_early = here == client && server != NULL && server->state == MODEL_RUNNING;
    if (server != NULL) {
        close_segment(model, server, model->now);
        set_serving(server, call);
    }
    tell_call(model, call, false);
}

EVENT_HANDLER(on_reply)
{
    struct model_thread *client = thread_find(model, GET32(2), 0);
    struct model_call *call = call_of(client, GET64(0));
    if (call != NULL && call->replied == 0) {
        close_segment(model, client, model->now);
        call->replied = model->now;
        call->reply_label = GET64(1);
        if (call->server == NULL)
            call->server = running_thread(model, cpu);
        tell_call(model, call, false);
        stop_serving_it(model, call);
    }
    if (client != NULL && activity_top(client) == ACTIVITY_EXCEPTION)
        activity_leave(model, client, ACTIVITY_EXCEPTION, client->frames[client->depth - 1].detail, 0,
                       cpu->exception_action);
}

EVENT_HANDLER(on_return)
{
    struct model_call *call = call_of(running_thread(model, cpu), GET64(0));
    if (call == NULL)
        return;
    call->returned = model->now;
    call->error = (int64_t)GET64(1);
    end_call(model, call);
}
