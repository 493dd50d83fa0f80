/*
 * calls.c - IPC calls, from their four ends; see model_parts.h.
 *
 * A thread has at most one call in progress as a client, so the record is part of the client. As a server it
 * works on at most one. If it receives again without having replied, it keeps the earlier call to reply
 * later (sys_ipc_save_reply), and that call is `parked` from then on.
 */
#include <tools/tarn/model/model_parts.h>

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

/* Ends the call; the client's record is free again. */
static void end_call(struct model *model, struct model_call *call)
{
    close_segment(model, call->client, model->now);
    if (call->server != NULL && call->server->serving == call) {
        close_segment(model, call->server, model->now);
        set_serving(call->server, NULL);
    }
    tell_call(model, call, true);
    call->client->calling = NULL;
}

void call_abandon(struct model *model, struct model_thread *client)
{
    if (client->calling != NULL)
        end_call(model, &client->call);
}

void call_made(struct model *model, struct model_thread *client, uint64_t id, uint64_t label,
               uint32_t endpoint, uint32_t server_tid)
{
    call_abandon(model, client);
    close_segment(model, client, model->now);
    client->call = (struct model_call){.id = id,
                                       .label = label,
                                       .endpoint = endpoint,
                                       .client = client,
                                       .called = model->now,
                                       .is_drain = client->is_draining,
                                       .outer = client->serving};
    if (server_tid != 0)
        client->call.server = thread_find(model, server_tid, 0);
    if (client->serving != NULL)
        client->call.outer_id = client->serving->id;
    client->calling = &client->call;
    tell_call(model, &client->call, false);
}

/* Logged by the server, or by a client that found the server waiting. */
void call_received(struct model *model, struct model_thread *here, uint64_t id, uint32_t client_tid)
{
    struct model_thread *client = thread_find(model, client_tid, 0);
    struct model_call *call = call_of(client, id);
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

void call_replied(struct model *model, struct model_thread *here, uint64_t id, uint64_t label,
                  struct model_thread *client)
{
    struct model_call *call = call_of(client, id);
    if (call == NULL || call->replied != 0)
        return;
    close_segment(model, call->client, model->now);
    call->replied = model->now;
    call->reply_label = label;
    if (here != NULL && call->server == NULL)
        call->server = here;
    tell_call(model, call, false);
    if (call->server != NULL && call->server->serving == call) {
        close_segment(model, call->server, model->now);
        set_serving(call->server, NULL);
    }
}

void call_returned(struct model *model, struct model_thread *client, uint64_t id, int64_t error)
{
    struct model_call *call = call_of(client, id);
    if (call == NULL)
        return;
    call->returned = model->now;
    call->error = error;
    end_call(model, call);
}
