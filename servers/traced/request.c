/*
 * request.c - replies to the requests of hosts (WIRE.md).
 *
 * A request comes from an untrusted peer: it is checked here, except for what the kernel checks.
 */
#include "traced.h"
#include <arch/trace.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <trace/event/previous.h>
#include <trace/format/routine.h>

/* ---- the replies: bytes written to `to`, or -E_* -------- */

static int64_t read_statistics(const struct wire_request *request, uint8_t *to, size_t size)
{
    (void)request, (void)size;
    return (int64_t)put_statistics(to);
}

static int64_t read_previous(const struct wire_request *request, uint8_t *to, size_t size)
{
    struct wire_previous previous;
    const int error = get_previous(&previous);
    (void)request;
    if (!error)
        wire_put_previous(to, &previous);
    return error ? error : (int64_t)size;
}

static int64_t read_lock_classes(const struct wire_request *request, uint8_t *to, size_t size)
{
    (void)request, (void)size;
    return put_lock_classes(to);
}

static int64_t read_tables(const struct wire_request *request, uint8_t *to, size_t size)
{
    const uint64_t bytes = tables_bytes();
    (void)size;
    if (request->a >= trace_info()->cpu_count)
        return -E_BAD_ARGUMENT;
    wire_put64(to, arch_trace_clock());
    copy_tables(to + WIRE_TABLES_CLOCK_BYTES, (uint32_t)request->a, bytes);
    return (int64_t)(WIRE_TABLES_CLOCK_BYTES + bytes);
}

/* Replies with as many bytes as are requested, filled up with 0. */
static int64_t read_previous_tables(const struct wire_request *request, uint8_t *to, size_t size)
{
    (void)size;
    if (request->a > UINT32_MAX || request->b > TRACE_TABLES_BYTES_MAX || request->b % 8 != 0)
        return -E_BAD_ARGUMENT;
    memset(to, 0, WIRE_TABLES_CLOCK_BYTES + request->b);
    const int64_t status = trace_previous_tables(SLOT_TRACE, (uint32_t)request->a,
                                                 to + WIRE_TABLES_CLOCK_BYTES, (size_t)request->b);
    return status < 0 ? status : (int64_t)(WIRE_TABLES_CLOCK_BYTES + request->b);
}

static int64_t read_routines(const struct wire_request *request, uint8_t *to, size_t size)
{
    return sys_routines_read(SLOT_TRACE, request->a, to, size);
}

static int64_t read_names(const struct wire_request *request, uint8_t *to, size_t size)
{
    return request->a > UINT32_MAX ? -E_BAD_ARGUMENT : sys_routine_names((uint32_t)request->a, to, size);
}

static const struct answer {
    uint32_t operation;
    size_t most; /* bytes */
    int64_t (*read)(const struct wire_request *request, uint8_t *to, size_t size);
} answers[] = {
    {WIRE_OP_STATISTICS, STATISTICS_BYTES_MAX, read_statistics},
    {WIRE_OP_PREVIOUS, WIRE_PREVIOUS_BYTES, read_previous},
    {WIRE_OP_LOCK_CLASSES, LOCK_CLASSES_BYTES_MAX, read_lock_classes},
    {WIRE_OP_TABLES, WIRE_TABLES_CLOCK_BYTES + TRACE_TABLES_BYTES_MAX, read_tables},
    {WIRE_OP_PREVIOUS_TABLES, WIRE_TABLES_CLOCK_BYTES + TRACE_TABLES_BYTES_MAX, read_previous_tables},
    {WIRE_OP_ROUTINES, TRACE_ROUTINES_BYTES_MAX, read_routines},
    {WIRE_OP_ROUTINE_NAMES, TRACE_ROUTINES_BYTES_MAX, read_names},
};

/* ---- sending ---- */

struct reply {
    const struct wire_request *request;
    int64_t status;
    const void *data;
    size_t size;
};

static size_t fill_reply(void *context, uint8_t *payload)
{
    const struct reply *reply = context;
    wire_put32(payload, reply->request->tag);
    wire_put32(payload + 4, (uint32_t)(reply->status < 0 ? reply->status : 0));
    if (reply->size > 0)
        memcpy(payload + WIRE_REPLY_BYTES, reply->data, reply->size);
    return WIRE_REPLY_BYTES + reply->size;
}

static bool send_data(struct connection *connection, const struct wire_request *request, int64_t status,
                      const void *data, size_t size)
{
    struct reply reply = {request, status, data, size};
    return send_frame(connection, WIRE_REPLY, WIRE_REPLY_BYTES + size, fill_reply, &reply);
}

/* Sends the metadata of this boot, or of the previous one. */
static bool send_metadata(struct connection *connection, const struct wire_request *request)
{
    size_t size = 0;
    int64_t status = -E_NO_MEMORY;
    char *text = request->operation == WIRE_OP_METADATA ? read_metadata(&size)
                                                        : read_previous_metadata(&size, &status);
    if (text)
        status = size > WIRE_PAYLOAD_MAX - WIRE_REPLY_BYTES ? -E_TOO_LARGE : 0;
    bool is_sent = send_data(connection, request, status, text, status < 0 ? 0 : size);

    free(text);
    return is_sent;
}

/* Replies with the command's output, or the reason why it was refused. */
static bool send_command(struct connection *connection, const struct wire_request *request, char *text)
{
    size_t size = 0;
    uint8_t *printed = malloc(COMMAND_BYTES_MAX);
    const int64_t status = printed ? run_command(text, printed, &size) : -E_NO_MEMORY;
    bool is_sent = send_data(connection, request, status, printed, size);
    free(printed);
    return is_sent;
}

static bool send_answer(struct connection *connection, const struct wire_request *request,
                        const struct answer *answer)
{
    uint8_t *data = malloc(answer->most);
    const int64_t bytes = data ? answer->read(request, data, answer->most) : -E_NO_MEMORY;
    bool is_sent = send_data(connection, request, bytes, data, bytes < 0 ? 0 : (size_t)bytes);
    free(data);
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
    if (request.operation == WIRE_OP_COMMAND)
        return send_command(connection, &request, text);
    if (request.operation == WIRE_OP_METADATA || request.operation == WIRE_OP_PREVIOUS_METADATA)
        return send_metadata(connection, &request);
    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
        if (answers[i].operation == request.operation)
            return send_answer(connection, &request, &answers[i]);
    return send_data(connection, &request, -E_BAD_ARGUMENT, NULL, 0);
}
