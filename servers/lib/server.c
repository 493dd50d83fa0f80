/*
 * server.c - the workers' loop: receive, handle, reply; and what happens when a client dies.
 *
 * A worker first publishes its client and that it is busy, then checks whether the client is dead.
 * server_client_exit first marks the client dead, then checks the workers (drain_requests). All four accesses
 * are sequentially consistent, so at least one side sees the other: either the worker drops the request, or
 * server_client_exit waits for its end.
 *
 * Unmapping a shared buffer interrupts every CPU that runs one of this server's threads, so those of dead
 * clients are reclaimed in batches: a cleaner thread waits for a moment, then for all requests, because a
 * worker may still copy into a buffer whose owner it checked just before it changed.
 *
 * Read next: client.c, and a server's `handle` function.
 */
#include "server.h"
#include "client.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <tarn/error.h>
#include <tarn/routine.h>
#include <tarn/runtime.h>
#include <tarn/server.h>

static const struct server *the_server;
static cap_t the_endpoint;

/* ---- requests in progress -------------------------------------------------------------------------- */

#define WORKERS_MAX  64u
#define ALL_CLIENTS  UINT64_MAX
/* Dead clients remembered. An entry is reused only after this many further deaths, long after the last
 * request of the client. */
#define DEAD_CLIENTS 4096u

static struct worker {
    _Atomic uint32_t busy;   /* odd while a request is in progress; futex of those who wait for its end */
    _Atomic uint32_t wanted; /* a waiter sleeps on `busy` */
    _Atomic uint32_t client;
    uint32_t padding[13]; /* pads to a cache line */
} workers[WORKERS_MAX];

/* At index pid % DEAD_CLIENTS: the last dead client with that index. */
static _Atomic uint32_t dead_clients[DEAD_CLIENTS];
static __thread struct worker *self;

static bool is_dead(uint32_t client)
{
    return client != 0 && atomic_load(&dead_clients[client % DEAD_CLIENTS]) == client;
}

/* Begins a request. Returns false if the client is dead: drop the request. */
static bool enter_request(uint32_t client)
{
    atomic_store(&self->client, client);
    atomic_fetch_add(&self->busy, 1);
    return !is_dead(client);
}

static void leave_request(void)
{
    /* Pairs with wait_for: either it sees that this worker is not busy, or this worker sees that it waits. */
    atomic_fetch_add(&self->busy, 1);
    if (atomic_load(&self->wanted) && atomic_exchange(&self->wanted, 0))
        sys_futex_wake((const uint32_t *)&self->busy, UINT32_MAX);
}

/* Waits while `busy` is `seen`, that is until that request has ended. Returns false at the deadline. */
static bool wait_for(struct worker *worker, uint32_t seen, uint64_t deadline)
{
    while (atomic_load(&worker->busy) == seen) {
        atomic_store(&worker->wanted, 1);
        if (sys_futex_wait((const uint32_t *)&worker->busy, seen, deadline) == -E_TIMEOUT)
            return false;
    }
    return true;
}

/* Waits until no other worker is in a request of the client that began before the call. Returns false at the
 * deadline. */
static bool drain_requests(uint64_t client, uint64_t deadline)
{
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        struct worker *worker = &workers[i];
        uint32_t seen = atomic_load(&worker->busy);
        if (worker != self && (seen & 1) &&
            (client == ALL_CLIENTS || atomic_load(&worker->client) == client) &&
            !wait_for(worker, seen, deadline))
            return false;
    }
    return true;
}

/* ---- dead clients ---------------------------------------------------------------------------------- */

#define BATCH_NS 50000000ull /* how long a dead client's buffers may wait to be reclaimed with others */

static cap_t cleaner_wakeup; /* notification: there are buffers to reclaim */

static void *cleaner_main(void *argument)
{
    for (;;) {
        if (sys_notification_wait((cap_t)(uintptr_t)argument, TARN_FOREVER) < 0)
            continue;
        sys_thread_sleep(deadline_after(BATCH_NS));
        drain_requests(ALL_CLIENTS, TARN_FOREVER);
        buffers_reclaim();
    }
    return NULL;
}

cap_t server_thread(int64_t slot, void *(*run)(void *), const char *what)
{
    pthread_t thread;
    if (slot < 0 || pthread_create(&thread, NULL, run, (void *)(uintptr_t)slot) != 0)
        panic("cannot start %s", what);
    return (cap_t)slot;
}

static void end_client(uint32_t client)
{
    if (client_end(client))
        sys_notification_signal(cleaner_wakeup, 1);
    if (the_server->client_exit)
        the_server->client_exit(client);
}

/* May be called again for the same client. */
int server_client_exit(uint32_t client, uint64_t deadline)
{
    atomic_store(&dead_clients[client % DEAD_CLIENTS], client); /* pids are never reused */
    if (!drain_requests(client, deadline))
        return -EAGAIN;
    end_client(client);
    return 0;
}

/* ---- one request ----------------------------------------------------------------------------------- */

static int64_t handle_client_exit(struct server_request *request)
{
    if (request->client != 0)
        return -EPERM;
    return server_client_exit((uint32_t)request->word[0], request->word[1]);
}

static int64_t handle_inherit(struct server_request *request)
{
    uint64_t handles[256], span = request->word[2];
    uint32_t bytes = SERVER_SPAN_LENGTH(span);
    void *array = server_span(request->client, span);
    if (request->client != 0)
        return -EPERM;
    if (!array || bytes > sizeof(handles) || bytes % sizeof(handles[0]) != 0)
        return -EINVAL;
    memcpy(handles, array, bytes);
    int64_t result = handles_inherit((uint32_t)request->word[0], (uint32_t)request->word[1], handles,
                                     bytes / sizeof(handles[0]));
    memcpy(array, handles, bytes);
    /* proc has given up waiting for this. Either its SERVER_CLIENT_EXIT finds the handles, or this does. */
    if (is_dead((uint32_t)request->word[1]))
        end_client((uint32_t)request->word[1]);
    return result;
}

static int64_t handle_attach(struct server_request *request)
{
    request->word[0] = SERVER_BUFFER_BYTES;
    return buffer_attach(request->client, &request->send[0]);
}

static int64_t choose_handler(struct server_request *request)
{
    switch (request->label) {
    case SERVER_ATTACH:
        return handle_attach(request);
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

/* The request's routine of tables; 0: its label is not one of the system's. */
static uint32_t routine_of(uint64_t label)
{
    return label >= TRACE_CONTEXT_COMMON && label < TRACE_CONTEXT_NAMED ? (uint32_t)label : 0;
}

static int64_t handle_request(struct server_request *request)
{
    if (!ALL_ROUTINES_ON())
        return choose_handler(request);
    routine_enter(routine_of(request->label));
    int64_t result = choose_handler(request);
    routine_leave();
    return result;
}

/* A reply is always sent with the next receive: so the kernel hands over to the client on this CPU, instead
 * of waking it on another one while this worker is still on its way to sleep. */
enum reply { REPLY_NONE, REPLY, REPLY_CLOSING /* and close the capabilities that it carries */ };

static int64_t exchange(enum reply reply, struct ipc_message *message)
{
    return reply == REPLY_NONE ? ipc_receive(the_endpoint, message)
           : reply == REPLY    ? ipc_reply_receive(the_endpoint, message)
                               : ipc_reply_receive_closing(the_endpoint, message);
}

/* An exchange failed whose reply had these capabilities. The client's table may be full: then it gets -EMFILE
 * instead. If the receive failed, the client has its reply, and nobody gets this one. */
static enum reply reply_without(uint64_t caps, enum reply reply, int64_t error, struct ipc_message *message)
{
    bool unsent = error == -E_NO_SLOT || error == -E_NO_MEMORY;
    for (; unsent && reply == REPLY_CLOSING && caps; caps >>= 16)
        if ((uint16_t)caps)
            sys_cap_close((uint16_t)caps);
    *message = (struct ipc_message){.label = (uint64_t)-EMFILE};
    return REPLY;
}

/* Makes a request from the message, handles it, and puts the result into the message. */
static enum reply serve(struct ipc_message *message)
{
    struct server_request request = {.client = (uint32_t)message->badge, .label = message->label};
    memcpy(request.word, message->word, sizeof(request.word));
    for (int i = 0; i < IPC_CAPS; i++)
        request.received[i] = message->cap[i];
    int64_t result = enter_request(request.client) ? handle_request(&request) : SERVER_LATER;
    leave_request();
    for (int i = 0; i < IPC_CAPS; i++) {
        if (request.received[i])
            sys_cap_close(request.received[i]);
        message->cap[i] = (uint16_t)request.send[i];
    }
    memcpy(message->word, request.word, sizeof(message->word));
    message->label = (uint64_t)result;
    return result == SERVER_LATER                     ? REPLY_NONE
           : message->caps != 0 && request.close_sent ? REPLY_CLOSING
                                                      : REPLY;
}

static void on_notification(uint64_t bits)
{
    enter_request(0);
    if (the_server->notified)
        the_server->notified(bits);
    leave_request();
}

static void *worker_main(void *argument)
{
    struct ipc_message message = {.caps = 0};
    enum reply reply = REPLY_NONE;
    self = &workers[(uintptr_t)argument];
    for (;;) {
        const uint64_t caps = reply == REPLY_NONE ? 0 : message.caps;
        int64_t error = exchange(reply, &message);
        if (error < 0 && caps) {
            reply = reply_without(caps, reply, error, &message);
            continue;
        }
        reply = REPLY_NONE;
        if (error == -E_BAD_CAP || error == -E_BAD_RIGHT || error == -E_BAD_TYPE)
            break;
        if (error < 0)
            continue; /* the caller died before the reply, or this thread was cancelled */
        if (message.label != IPC_LABEL_NOTIFICATION || message.badge != 0) /* a client's badge is its pid */
            reply = serve(&message);
        else
            on_notification(message.word[0]);
    }
    debug_printf("%s: cannot receive on its endpoint, a worker ends\n", the_server->name);
    return NULL;
}

_Noreturn void server_run(const struct server *server, cap_t endpoint)
{
    the_server = server;
    the_endpoint = endpoint;
    set_server_patience(SERVER_PATIENCE_NS);
    clients_init(server->handles);
    cleaner_wakeup = server_thread(sys_notification_create(), cleaner_main, "the cleaner of buffers");
    unsigned threads = server->threads < 1             ? 1
                       : server->threads > WORKERS_MAX ? WORKERS_MAX
                                                       : server->threads;
    for (unsigned i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker_main, (void *)(uintptr_t)i) != 0)
            debug_printf("%s: only %u of %u workers could be started\n", server->name, i, threads);
    }
    if (server->notification && sys_notification_bind(server->notification) < 0)
        debug_printf("%s: cannot bind its notification\n", server->name);
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
