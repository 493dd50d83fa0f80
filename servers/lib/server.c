/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server.c - the workers' loop: receive, handle, reply.
 *
 * Read next: worker.c (clients that die during a request), shared_buffer.c, and a server's `handle` function.
 */
#include "server.h"
#include "shared_buffer.h"
#include "worker.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tarn/error.h>
#include <tarn/ipc.h>
#include <tarn/syscall.h>

static const struct server *the_server;
static cap_t the_endpoint;

/* ---- one request ----------------------------------------------------------------------------------- */

void server_client_exit(uint32_t client)
{
    worker_drain_client(client);
    shared_buffers_close_client(client);
    if (the_server->client_exit)
        the_server->client_exit(client);
}

static int64_t handle_client_exit(struct server_request *request)
{
    if (request->client != 0)
        return -EPERM;
    server_client_exit((uint32_t)request->word[0]);
    return 0;
}

static int64_t handle_inherit(struct server_request *request)
{
    uint64_t handles[256], span = request->word[2];
    uint32_t bytes = SERVER_SPAN_LENGTH(span);
    void *array = server_span(request->client, span);
    if (request->client != 0)
        return -EPERM;
    if (!the_server->inherit)
        return -ENOSYS;
    if (!array || bytes > sizeof(handles) || bytes % sizeof(handles[0]) != 0)
        return -EINVAL;
    memcpy(handles, array, bytes);
    int64_t result = the_server->inherit((uint32_t)request->word[0], (uint32_t)request->word[1], handles,
                                         bytes / sizeof(handles[0]));
    memcpy(array, handles, bytes);
    return result;
}

static int64_t handle_request(struct server_request *request)
{
    switch (request->label) {
    case SERVER_ATTACH:
        return shared_buffer_attach(request);
    case SERVER_CLIENT_EXIT:
        return handle_client_exit(request);
    case SERVER_INHERIT:
        return handle_inherit(request);
    case SERVER_PING:
        return 0;
    default:
        return the_server->handle(request);
    }
}

/* Sends a reply that carries capabilities at once, because that can fail: the client's table may be full, and
 * then the client gets -EMFILE instead. Returns false if there are no capabilities; such a reply is sent with
 * the next receive. */
static bool send_capabilities(struct ipc_message *message, const struct server_request *request)
{
    bool any = false;
    for (int i = 0; i < IPC_CAPS; i++)
        any |= request->send[i] != 0;
    if (!any)
        return false;
    int64_t error = ipc_reply(message);
    if (error < 0 && error != -E_DEAD)
        ipc_reply(&(struct ipc_message){.label = (uint64_t)-EMFILE});
    for (int i = 0; i < IPC_CAPS && request->close_sent; i++)
        if (request->send[i])
            sys_cap_close(request->send[i]);
    return true;
}

/* Makes a request from the message, handles it, and puts the result into the message. Returns true if a reply
 * is to be sent now. */
static bool serve(struct ipc_message *message)
{
    struct server_request request = {.client = (uint32_t)message->badge, .label = message->label};
    memcpy(request.word, message->word, sizeof(request.word));
    for (int i = 0; i < IPC_CAPS; i++)
        request.received[i] = message->cap[i];
    int64_t result = worker_enter(request.client) ? handle_request(&request) : SERVER_LATER;
    worker_leave();
    for (int i = 0; i < IPC_CAPS; i++) {
        if (request.received[i])
            sys_cap_close(request.received[i]);
        message->cap[i] = (uint16_t)request.send[i];
    }
    memcpy(message->word, request.word, sizeof(message->word));
    message->label = (uint64_t)result;
    return result != SERVER_LATER && !send_capabilities(message, &request);
}

static void take_notification(uint64_t bits)
{
    worker_enter(0);
    if (the_server->notified)
        the_server->notified(bits);
    worker_leave();
}

static void *worker_main(void *argument)
{
    struct ipc_message message;
    bool answer = false;
    worker_begin((unsigned)(uintptr_t)argument);
    for (;;) {
        int64_t error =
            answer ? ipc_reply_receive(the_endpoint, &message) : ipc_receive(the_endpoint, &message);
        answer = false;
        if (error == -E_BAD_CAP || error == -E_BAD_RIGHT || error == -E_BAD_TYPE)
            break;
        if (error < 0)
            continue; /* the caller died before the reply, or this thread was cancelled */
        if (message.label != IPC_LABEL_NOTIFICATION || message.badge != 0) /* a client's badge is its pid */
            answer = serve(&message);
        else
            take_notification(message.word[0]);
    }
    server_log("%s: cannot receive on its endpoint, a worker ends", the_server->name);
    return NULL;
}

_Noreturn void server_run(const struct server *server, cap_t endpoint)
{
    the_server = server;
    the_endpoint = endpoint;
    shared_buffers_init();
    unsigned threads = server->threads < 1             ? 1
                       : server->threads > WORKERS_MAX ? WORKERS_MAX
                                                       : server->threads;
    for (unsigned i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker_main, (void *)(uintptr_t)i) != 0)
            server_log("%s: only %u of %u workers could be started", server->name, i, threads);
    }
    if (server->notification && sys_notification_bind(server->notification) < 0)
        server_log("%s: cannot bind its notification", server->name);
    worker_main(NULL);
    for (;;)
        sys_thread_sleep(TARN_FOREVER);
}

/* ---- deferred replies ------------------------------------------------------------------------------ */

cap_t server_save_reply(void)
{
    int64_t slot = ipc_save_reply();
    return slot > 0 ? (cap_t)slot : 0;
}

bool server_reply_later(cap_t reply, int64_t result, const uint64_t word[IPC_WORDS], cap_t capability)
{
    struct ipc_message message = {.label = (uint64_t)result, .cap = {(uint16_t)capability}};
    memcpy(message.word, word, sizeof(message.word));
    int64_t error = ipc_reply_to(reply, &message); /* E_DEAD consumes the capability, too */
    if (error < 0 && error != -E_DEAD)             /* the client's table is full */
        ipc_reply_to(reply, &(struct ipc_message){.label = (uint64_t)-EMFILE});
    return error >= 0;
}

/* ---- helpers --------------------------------------------------------------------------------------- */

int64_t server_path(uint32_t client, uint64_t span, char *path, uint32_t size)
{
    uint32_t length = SERVER_SPAN_LENGTH(span);
    const char *bytes = server_span(client, span);
    if (!bytes)
        return -EFAULT;
    if (length >= size)
        return -ENAMETOOLONG;
    memcpy(path, bytes, length);
    path[length] = 0;
    if (memchr(path, 0, length))
        return -EINVAL;
    return length;
}

void server_signal(cap_t notification, uint64_t bits)
{
    sys_notification_signal(notification, bits);
}

void server_close(cap_t capability)
{
    sys_cap_close(capability);
}

void server_log(const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if (length > (int)sizeof(line) - 2)
        length = sizeof(line) - 2;
    line[length] = '\n';
    sys_debug_write(line, length + 1u);
}
