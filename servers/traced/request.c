/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.c - replies to the requests of hosts (WIRE.md).
 *
 * A short reply is put together in memory. A large one, the tables of counters of a CPU, a table or the
 * metadata, is written where it is sent from. A request comes from an untrusted peer: it is checked here,
 * except for what the kernel checks.
 */
#include "traced.h"
#include <arch/trace.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <trace/event/previous.h>
#include <trace/format/routine.h>

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

struct data_reply {
    const struct wire_request *request;
    int64_t status;
    const void *data;
    size_t size;
};

static size_t fill_data(void *context, uint8_t *payload)
{
    const struct data_reply *reply = context;

    put_reply(payload, reply->request, reply->status);
    if (reply->size > 0)
        memcpy(payload + WIRE_REPLY_BYTES, reply->data, reply->size);
    return WIRE_REPLY_BYTES + reply->size;
}

/* No data if `status` is an error. */
static bool send_data(struct connection *connection, const struct wire_request *request, int64_t status,
                      const void *data, size_t size)
{
    struct data_reply reply = {request, status, data, status < 0 ? 0 : size};

    return send_frame(connection, WIRE_REPLY, WIRE_REPLY_BYTES + reply.size, fill_data, &reply);
}

static bool send_tables(struct connection *connection, const struct wire_request *request)
{
    struct tables_reply reply = {request, tables_bytes()};

    return send_frame(connection, WIRE_REPLY, WIRE_REPLY_BYTES + WIRE_TABLES_CLOCK_BYTES + reply.bytes,
                      fill_tables, &reply);
}

/* Of the system before, if that is what is requested. */
static bool send_metadata(struct connection *connection, const struct wire_request *request)
{
    size_t size = 0;
    int64_t status = -E_NO_MEMORY;
    char *text = request->operation == WIRE_OP_METADATA ? read_metadata(&size)
                                                        : read_previous_metadata(&size, &status);
    if (text)
        status = size > WIRE_PAYLOAD_MAX - WIRE_REPLY_BYTES ? -E_TOO_LARGE : 0;
    bool is_sent = send_data(connection, request, status, text, size);

    free(text);
    return is_sent;
}

/* As many bytes as are requested; what is missing is 0. */
static bool send_previous_tables(struct connection *connection, const struct wire_request *request)
{
    const bool is_good =
        request->a <= UINT32_MAX && request->b <= TRACE_TABLES_BYTES_MAX && request->b % 8 == 0;
    const size_t bytes = is_good ? (size_t)request->b : 0;
    uint8_t *reply = calloc(1, WIRE_TABLES_CLOCK_BYTES + bytes);
    int64_t status = !is_good ? -E_BAD_ARGUMENT
                     : !reply ? -E_NO_MEMORY
                              : trace_previous_tables(SLOT_TRACE, (uint32_t)request->a,
                                                      reply + WIRE_TABLES_CLOCK_BYTES, bytes);
    bool is_sent = send_data(connection, request, status, reply, WIRE_TABLES_CLOCK_BYTES + bytes);

    free(reply);
    return is_sent;
}

static bool send_table(struct connection *connection, const struct wire_request *request)
{
    void *table = malloc(TRACE_ROUTINES_BYTES_MAX);
    int64_t bytes =
        table ? sys_routines_read(SLOT_TRACE, request->a, table, TRACE_ROUTINES_BYTES_MAX) : -E_NO_MEMORY;
    bool is_sent = send_data(connection, request, bytes, table, (size_t)bytes);

    free(table);
    return is_sent;
}

#define ROUTINES_AT_ONCE 256u

static bool send_names(struct connection *connection, const struct wire_request *request)
{
    struct trace_routine *routines = malloc(ROUTINES_AT_ONCE * sizeof(*routines));
    int64_t bytes =
        request->a > UINT32_MAX ? -E_BAD_ARGUMENT
        : routines ? sys_routine_names((uint32_t)request->a, routines, ROUTINES_AT_ONCE * sizeof(*routines))
                   : -E_NO_MEMORY;
    bool is_sent = send_data(connection, request, bytes, routines, (size_t)bytes);

    free(routines);
    return is_sent;
}

/* Everything else: executes the request, and sends a short reply. */
static bool send_result(struct connection *connection, const struct wire_request *request, char *text)
{
    _Static_assert(STATISTICS_BYTES_MAX <= COMMAND_BYTES_MAX && LOCK_CLASSES_BYTES_MAX <= COMMAND_BYTES_MAX,
                   "the largest reply");
    size_t size = WIRE_REPLY_BYTES;
    int64_t status = 0;
    uint8_t *reply = malloc(WIRE_REPLY_BYTES + COMMAND_BYTES_MAX);

    if (!reply)
        return false;
    if (request->operation == WIRE_OP_COMMAND)
        status = run_command(text, reply + WIRE_REPLY_BYTES, &size);
    else if (request->operation == WIRE_OP_STATISTICS)
        size += put_statistics(reply + WIRE_REPLY_BYTES);
    else if (request->operation == WIRE_OP_LOCK_CLASSES)
        status = put_lock_classes(reply + WIRE_REPLY_BYTES, &size);
    else if (request->operation == WIRE_OP_PREVIOUS)
        status = put_previous(reply + WIRE_REPLY_BYTES, &size);
    else
        status = -E_BAD_ARGUMENT; /* also WIRE_OP_TABLES of no CPU */
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
    if (request.operation == WIRE_OP_PREVIOUS_TABLES)
        return send_previous_tables(connection, &request);
    if (request.operation == WIRE_OP_METADATA || request.operation == WIRE_OP_PREVIOUS_METADATA)
        return send_metadata(connection, &request);
    if (request.operation == WIRE_OP_ROUTINES)
        return send_table(connection, &request);
    if (request.operation == WIRE_OP_ROUTINE_NAMES)
        return send_names(connection, &request);
    return send_result(connection, &request, text);
}
