/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.c - replies to the requests of hosts (WIRE.md).
 *
 * A short reply is put together in memory. A large one, the tables of counters of a CPU, a profile or the
 * metadata, is written where it is sent from. A request comes from an untrusted peer: it is checked here,
 * except for what the kernel checks.
 */
#include "traced.h"
#include <arch/trace.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <trace/format/profile.h>

/* Returns -E_NOT_FOUND if there is no previous trace; then no data follow. */
static int64_t put_previous(uint8_t *to, size_t *size)
{
    struct wire_previous previous;
    int error = get_previous(&previous);

    if (error)
        return error;
    wire_put_previous(to, &previous);
    *size += WIRE_PREVIOUS_BYTES;
    return 0;
}

static void put_reply(uint8_t to[WIRE_REPLY_BYTES], const struct wire_request *request, int64_t status)
{
    wire_put32(to, request->tag);
    wire_put32(to + 4, (uint32_t)(status < 0 ? status : 0));
}

struct tables_reply {
    const struct wire_request *request;
    uint64_t bytes;
};

/* Copies the tables to where they are sent from. */
static size_t fill_tables(void *context, uint8_t *payload)
{
    const struct tables_reply *reply = context;

    put_reply(payload, reply->request, 0);
    wire_put64(payload + WIRE_REPLY_BYTES, arch_trace_clock());
    copy_tables(payload + WIRE_REPLY_BYTES + WIRE_TABLES_CLOCK_BYTES, (uint32_t)reply->request->a,
                reply->bytes);
    return WIRE_REPLY_BYTES + WIRE_TABLES_CLOCK_BYTES + reply->bytes;
}

struct metadata_reply {
    const struct wire_request *request;
    const char *text;
    size_t size;
};

static size_t fill_metadata(void *context, uint8_t *payload)
{
    const struct metadata_reply *reply = context;

    put_reply(payload, reply->request, 0);
    memcpy(payload + WIRE_REPLY_BYTES, reply->text, reply->size);
    return WIRE_REPLY_BYTES + reply->size;
}

static bool send_tables(struct connection *connection, const struct wire_request *request)
{
    struct tables_reply reply = {request, tables_bytes()};

    return send_frame(connection, WIRE_REPLY, WIRE_REPLY_BYTES + WIRE_TABLES_CLOCK_BYTES + reply.bytes,
                      fill_tables, &reply);
}

static bool send_metadata(struct connection *connection, const struct wire_request *request)
{
    struct metadata_reply reply = {.request = request};
    uint8_t refusal[WIRE_REPLY_BYTES];
    char *text = read_metadata(&reply.size);
    bool fits = text && reply.size <= WIRE_PAYLOAD_MAX - WIRE_REPLY_BYTES, is_sent;

    reply.text = text;
    put_reply(refusal, request, text ? -E_TOO_LARGE : -E_NO_MEMORY);
    if (fits)
        is_sent = send_frame(connection, WIRE_REPLY, WIRE_REPLY_BYTES + reply.size, fill_metadata, &reply);
    else
        is_sent = send_payload(connection, WIRE_REPLY, refusal, sizeof(refusal));
    free(text);
    return is_sent;
}

struct profile_reply {
    const struct wire_request *request;
    const void *profile;
    size_t size;
};

static size_t fill_profile(void *context, uint8_t *payload)
{
    const struct profile_reply *reply = context;

    put_reply(payload, reply->request, 0);
    memcpy(payload + WIRE_REPLY_BYTES, reply->profile, reply->size);
    return WIRE_REPLY_BYTES + reply->size;
}

static bool send_profile(struct connection *connection, const struct wire_request *request)
{
    struct profile_reply reply = {.request = request};
    uint8_t refusal[WIRE_REPLY_BYTES];
    void *profile = malloc(TRACE_PROFILE_BYTES_MAX);
    int64_t bytes =
        profile ? sys_profile_read(SLOT_TRACE, request->a, profile, TRACE_PROFILE_BYTES_MAX) : -E_NO_MEMORY;
    bool is_sent;

    reply.profile = profile;
    reply.size = bytes > 0 ? (size_t)bytes : 0;
    put_reply(refusal, request, bytes);
    if (bytes > 0)
        is_sent = send_frame(connection, WIRE_REPLY, WIRE_REPLY_BYTES + reply.size, fill_profile, &reply);
    else
        is_sent = send_payload(connection, WIRE_REPLY, refusal, sizeof(refusal));
    free(profile);
    return is_sent;
}

/* Everything else: executes the request, and sends a short reply. */
static bool send_result(struct connection *connection, const struct wire_request *request)
{
    static const size_t reply_bytes =
        WIRE_REPLY_BYTES +
        (STATISTICS_BYTES_MAX > LOCK_CLASSES_BYTES_MAX ? STATISTICS_BYTES_MAX : LOCK_CLASSES_BYTES_MAX);
    size_t size = WIRE_REPLY_BYTES;
    int64_t status = 0;
    uint8_t *reply = malloc(reply_bytes);

    if (!reply)
        return false;
    if (request->operation == WIRE_OP_STATISTICS)
        size += put_statistics(reply + WIRE_REPLY_BYTES);
    else if (request->operation == WIRE_OP_LOCK_CLASSES)
        status = put_lock_classes(reply + WIRE_REPLY_BYTES, &size);
    else if (request->operation == WIRE_OP_COUNTERS)
        status = put_counters(reply + WIRE_REPLY_BYTES, &size);
    else if (request->operation == WIRE_OP_PREVIOUS)
        status = put_previous(reply + WIRE_REPLY_BYTES, &size);
    else if (request->operation == WIRE_OP_TABLES)
        status = -E_BAD_ARGUMENT; /* no such CPU */
    else
        status = control_trace(request);
    put_reply(reply, request, status);
    bool is_sent = send_payload(connection, WIRE_REPLY, reply, size);
    free(reply);
    return is_sent;
}

bool handle_request(struct connection *connection, const uint8_t *payload, uint32_t length)
{
    struct wire_request request;
    char text[WIRE_TEXT_MAX + 1];

    if (length < WIRE_REQUEST_BYTES || length - WIRE_REQUEST_BYTES > WIRE_TEXT_MAX)
        return false;
    memcpy(text, payload + WIRE_REQUEST_BYTES, length - WIRE_REQUEST_BYTES);
    text[length - WIRE_REQUEST_BYTES] = '\0';
    request = (struct wire_request){wire_get32(payload), wire_get32(payload + 4), wire_get64(payload + 8),
                                    wire_get64(payload + 16), text};
    if (request.operation == WIRE_OP_TABLES && request.a < trace_info()->cpu_count)
        return send_tables(connection, &request);
    if (request.operation == WIRE_OP_METADATA)
        return send_metadata(connection, &request);
    if (request.operation == WIRE_OP_PROFILES)
        return send_profile(connection, &request);
    return send_result(connection, &request);
}
