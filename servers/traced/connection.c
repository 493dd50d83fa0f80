/*
 * connection.c - connections to hosts: frames in both directions, the start of pulls; requests: request.c.
 *
 * A thread per connection reads frames and replies. Input from the peer is untrusted: it is limited to one
 * frame of the maximum size, and any invalid input ends the connection.
 *
 * watch_connections ends a connection whose host is silent: it sends no request and has no pull, or reads
 * nothing of what is sent to it. When there are CONNECTIONS_MAX, a new connection replaces the one that has
 * been idle for longest. Idle time is counted in checks, not in seconds, so hosts are not dropped because the
 * guest was stopped.
 */
#include "traced.h"
#include <servers/lib/server.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>

#define CONNECTIONS_MAX  8u
#define LEAVING_MAX      8u /* in addition: connections that were ended and whose threads are finishing */
#define CHECK_NS         1000000000ull
#define IDLE_CHECKS_MAX  30u
#define STUCK_CHECKS_MAX 30u

_Atomic uint64_t bytes_sent;

/* ---- sending --------------------------------------------------------------------------------------- */

/* Lets others send. If the link has broken, the host must not wait for data that will never come. */
static bool leave_frame(struct connection *connection, bool works)
{
    const bool breaks = !works && !connection->broken;
    if (!works)
        connection->broken = true;
    pthread_mutex_unlock(&connection->send_lock);
    if (breaks)
        connection->channel->hang_up(connection->channel);
    return works;
}

uint8_t *begin_frame(struct connection *connection, size_t limit)
{
    struct channel *channel = connection->channel;
    pthread_mutex_lock(&connection->send_lock);
    uint8_t *frame = connection->broken ? NULL : channel->reserve(channel, WIRE_FRAME_BYTES + limit);
    if (frame)
        return frame + WIRE_FRAME_BYTES;
    leave_frame(connection, false);
    return NULL;
}

bool end_frame(struct connection *connection, uint16_t type, uint8_t *payload, size_t size)
{
    if (size == 0)
        return leave_frame(connection, true);
    wire_put_frame(payload - WIRE_FRAME_BYTES, type, (uint32_t)size, connection->sent++,
                   wire_hash(payload, size));
    bool works = connection->channel->commit(connection->channel, WIRE_FRAME_BYTES + size);
    atomic_fetch_add_explicit(&bytes_sent, WIRE_FRAME_BYTES + size, memory_order_relaxed);
    return leave_frame(connection, works);
}

bool send_payload(struct connection *connection, uint16_t type, const void *payload, size_t size)
{
    uint8_t *to = begin_frame(connection, size);
    return to && end_frame(connection, type, memcpy(to, payload, size), size);
}

void *frame_space(struct frame_space *space, size_t size)
{
    if (size > space->size) {
        free(space->bytes);
        space->bytes = malloc(size);
        space->size = space->bytes ? size : 0;
        if (!space->bytes)
            debug_printf("traced: no memory for a frame of %zu KiB\n", size >> 10);
    }
    return space->bytes;
}

static bool send_hello(struct connection *connection)
{
    uint8_t payload[WIRE_HELLO_BYTES];
    struct wire_hello hello;
    get_hello(&hello);
    connection->generation = hello.generation;
    wire_put_hello(payload, &hello);
    return send_payload(connection, WIRE_HELLO, payload, sizeof(payload));
}

/* ---- frames ---------------------------------------------------------------------------------------- */

static bool handle_pull(struct connection *connection, const uint8_t *payload, uint32_t length)
{
    uint64_t want[WIRE_CPUS_MAX] = {0};
    struct wire_pull request;
    if (length < WIRE_PULL_BYTES)
        return false;
    request = (struct wire_pull){wire_get32(payload), wire_get32(payload + 4), wire_get32(payload + 8), 0};
    if (request.count > WIRE_CPUS_MAX || length < WIRE_PULL_BYTES + 8 * request.count)
        return false;
    for (uint32_t cpu = 0; cpu < request.count; cpu++)
        want[cpu] = wire_get64(payload + WIRE_PULL_BYTES + 8 * cpu);
    if (connection->pull)
        finish_pull(connection->pull);
    atomic_store(&connection->is_pulling, true); /* including the time that it waits for another pull */
    connection->pull = start_pull(connection, &request, want);
    if (!connection->pull)
        atomic_store(&connection->is_pulling, false);
    return true;
}

static bool handle_frame(struct connection *connection, const struct wire_frame *frame,
                         const uint8_t *payload)
{
    switch (frame->type) {
    case WIRE_REQUEST:
        return handle_request(connection, payload, frame->length);
    case WIRE_PULL:
        return handle_pull(connection, payload, frame->length);
    case WIRE_PULL_END:
        if (connection->pull)
            ask_end_of_pull(connection->pull);
        return true;
    default:
        return false;
    }
}

static bool receive_all(struct connection *connection, uint8_t *bytes, size_t size)
{
    while (size > 0) {
        size_t got = connection->channel->receive(connection->channel, bytes, size);
        if (got == 0)
            return false;
        bytes += got;
        size -= got;
    }
    return true;
}

static void serve_frames(struct connection *connection)
{
    uint8_t header[WIRE_FRAME_BYTES], payload[WIRE_REQUEST_MAX];
    struct wire_frame frame;
    while (receive_all(connection, header, sizeof(header)) &&
           wire_get_frame(header, WIRE_REQUEST_MAX, &frame) == WIRE_OK &&
           frame.sequence == connection->received++ && receive_all(connection, payload, frame.length) &&
           wire_hash(payload, frame.length) == frame.payload_hash &&
           handle_frame(connection, &frame, payload))
        atomic_fetch_add(&connection->requests, 1);
}

/* ---- the table of connections ---------------------------------------------------------------------- */

/* Oldest first. While table_lock is held no connection in it is freed. send_lock and the channels' locks are
 * taken under it. */
static struct connection *table;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned count_connections(bool leaving)
{
    unsigned count = 0;
    for (const struct connection *connection = table; connection; connection = connection->next)
        count += connection->is_leaving == leaving;
    return count;
}

static void close_connection(struct connection *connection, const char *why)
{
    connection->is_leaving = true;
    debug_printf("traced: closed a connection: %s\n", why);
    connection->channel->hang_up(connection->channel);
}

static struct connection *find_longest_idle(void)
{
    struct connection *longest = NULL;
    for (struct connection *connection = table; connection; connection = connection->next)
        if (!connection->is_leaving && !atomic_load(&connection->is_pulling) &&
            (!longest || connection->idle_checks > longest->idle_checks))
            longest = connection;
    return longest;
}

static bool evict_idle(void)
{
    if (count_connections(false) < CONNECTIONS_MAX)
        return true;
    struct connection *longest = find_longest_idle();
    if (!longest || count_connections(true) >= LEAVING_MAX)
        return false;
    close_connection(longest, "idle for longest when a new host connected");
    return true;
}

static bool enter_table(struct connection *connection)
{
    pthread_mutex_lock(&table_lock);
    bool may_enter = evict_idle();
    if (may_enter) {
        struct connection **last = &table;
        while (*last)
            last = &(*last)->next;
        *last = connection;
    }
    pthread_mutex_unlock(&table_lock);
    return may_enter;
}

static void leave_table(struct connection *connection)
{
    pthread_mutex_lock(&table_lock);
    struct connection **link = &table;
    while (*link != connection)
        link = &(*link)->next;
    *link = connection->next;
    pthread_mutex_unlock(&table_lock);
}

bool is_connected(const struct connection *connection)
{
    pthread_mutex_lock(&table_lock);
    const struct connection *at = table;
    while (at && at != connection)
        at = at->next;
    pthread_mutex_unlock(&table_lock);
    return at != NULL;
}

static void check_connection(struct connection *connection)
{
    uint64_t committed, arrived, requests = atomic_load(&connection->requests);
    connection->channel->account(connection->channel, &committed, &arrived);
    bool is_idle = requests == connection->requests_seen && !atomic_load(&connection->is_pulling);
    bool is_stuck = arrived < committed && arrived == connection->arrived_seen;
    connection->idle_checks = is_idle ? connection->idle_checks + 1 : 0;
    connection->stuck_checks = is_stuck ? connection->stuck_checks + 1 : 0;
    connection->requests_seen = requests;
    connection->arrived_seen = arrived;
    if (connection->stuck_checks >= STUCK_CHECKS_MAX)
        close_connection(connection, "its host does not read");
    else if (connection->idle_checks >= IDLE_CHECKS_MAX)
        close_connection(connection, "its host sends no requests");
}

static void *watch_connections(void *argument)
{
    for (;;) {
        sys_thread_sleep(deadline_after(CHECK_NS));
        pthread_mutex_lock(&table_lock);
        for (struct connection *connection = table; connection; connection = connection->next)
            if (!connection->is_leaving)
                check_connection(connection);
        pthread_mutex_unlock(&table_lock);
    }
    return NULL;
}

void start_watch(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch_connections, NULL) != 0)
        debug_printf("traced: cannot detect silent hosts: no memory for a thread\n");
}

/* ---- opening and closing --------------------------------------------------------------------------- */

static void free_connection(struct connection *connection)
{
    connection->channel->close(connection->channel);
    pthread_mutex_destroy(&connection->send_lock);
    free(connection);
}

static void *run_connection(void *argument)
{
    struct connection *connection = argument;
    if (send_hello(connection))
        serve_frames(connection);
    connection->channel->hang_up(connection->channel);
    if (connection->pull)
        finish_pull(connection->pull);
    leave_table(connection);
    free_connection(connection);
    return NULL;
}

void serve_channel(struct channel *channel)
{
    struct connection *connection = calloc(1, sizeof(*connection));
    pthread_t thread;
    if (!connection) {
        debug_printf("traced: refused a connection: no memory\n");
        channel->close(channel);
        return;
    }
    connection->channel = channel;
    pthread_mutex_init(&connection->send_lock, NULL);
    bool is_in = enter_table(connection);
    if (is_in && pthread_create(&thread, NULL, run_connection, connection) == 0) {
        pthread_detach(thread);
        return;
    }
    debug_printf("traced: refused a connection: %s\n", is_in ? "no memory" : "all connections are busy");
    if (is_in)
        leave_table(connection);
    free_connection(connection);
}
