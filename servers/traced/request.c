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

#define TABLES_REPLY_BYTES (WIRE_TABLES_CLOCK_BYTES + TRACE_TABLES_BYTES_MAX)
#define REPLY_BYTES_MAX    (1u << 20)
_Static_assert(TABLES_REPLY_BYTES <= REPLY_BYTES_MAX && TRACE_ROUTINES_BYTES_MAX <= REPLY_BYTES_MAX &&
                   LOCK_CLASSES_BYTES_MAX + STATISTICS_BYTES_MAX <= REPLY_BYTES_MAX,
               "any reply fits");

static int64_t read_tables(uint64_t cpu, uint8_t *to)
{
    const uint64_t bytes = tables_bytes();
    if (cpu >= trace_info()->cpu_count)
        return -E_BAD_ARGUMENT;
    wire_put64(to, arch_trace_clock());
    copy_tables(to + WIRE_TABLES_CLOCK_BYTES, (uint32_t)cpu, bytes);
    return (int64_t)(WIRE_TABLES_CLOCK_BYTES + bytes);
}

/* Replies with as many bytes as are requested, filled up with 0. */
static int64_t read_previous_tables(uint64_t cpu, uint64_t bytes, uint8_t *to)
{
    if (cpu > UINT32_MAX || bytes > TRACE_TABLES_BYTES_MAX || bytes % 8 != 0)
        return -E_BAD_ARGUMENT;
    memset(to, 0, WIRE_TABLES_CLOCK_BYTES + bytes);
    const int64_t status =
        trace_previous_tables(SLOT_TRACE, (uint32_t)cpu, to + WIRE_TABLES_CLOCK_BYTES, (size_t)bytes);
    return status < 0 ? status : (int64_t)(WIRE_TABLES_CLOCK_BYTES + bytes);
}

static int64_t read_previous(uint8_t *to)
{
    struct wire_previous previous;
    const int error = get_previous(&previous);
    if (!error)
        wire_put_previous(to, &previous);
    return error ? error : (int64_t)WIRE_PREVIOUS_BYTES;
}

static int64_t answer_tables(const struct wire_request *request, uint8_t *to)
{
    switch (request->b) {
    case WIRE_TABLES_SHARED:
        return read_tables(request->a, to);
    case WIRE_TABLES_PRIVATE:
        return sys_routines_read(SLOT_TRACE, request->a, to, TRACE_ROUTINES_BYTES_MAX);
    case WIRE_TABLES_NAMES:
        if (request->a <= UINT32_MAX)
            return sys_routine_names((uint32_t)request->a, to, TRACE_ROUTINES_BYTES_MAX);
    }
    return -E_BAD_ARGUMENT;
}

/* Returns the bytes written to `to`, or -E_*. */
static int64_t answer(const struct wire_request *request, uint8_t *to)
{
    switch (request->operation) {
    case WIRE_OP_STATISTICS:
        return (int64_t)put_statistics(to);
    case WIRE_OP_PREVIOUS:
        return read_previous(to);
    case WIRE_OP_LOCK_CLASSES:
        return put_lock_classes(to);
    case WIRE_OP_TABLES:
        return answer_tables(request, to);
    case WIRE_OP_PREVIOUS_TABLES:
        return read_previous_tables(request->a, request->b, to);
    default:
        return -E_BAD_ARGUMENT;
    }
}

/* Returns the data of the reply, to be freed, and their size; a command's output also if it was refused. */
static void *make_reply(const struct wire_request *request, char *text, size_t *size, int64_t *status)
{
    void *data;
    *status = -E_NO_MEMORY;
    switch (request->operation) {
    case WIRE_OP_COMMAND:
        if ((data = malloc(COMMAND_BYTES_MAX)))
            *status = run_command(text, data, size);
        return data;
    case WIRE_OP_METADATA:
    case WIRE_OP_PREVIOUS_METADATA:
        data = request->operation == WIRE_OP_METADATA ? read_metadata(size)
                                                      : read_previous_metadata(size, status);
        if (data)
            *status = *size > WIRE_PAYLOAD_MAX - WIRE_REPLY_BYTES ? -E_TOO_LARGE : 0;
        break;
    default:
        if ((data = malloc(REPLY_BYTES_MAX)))
            *status = answer(request, data);
        *size = (size_t)*status;
    }
    *size = *status < 0 ? 0 : *size;
    return data;
}

bool handle_request(struct connection *connection, const uint8_t *payload, uint32_t length)
{
    char text[WIRE_TEXT_MAX + 1];
    size_t size = 0;
    int64_t status;
    if (length < WIRE_REQUEST_BYTES || length - WIRE_REQUEST_BYTES > WIRE_TEXT_MAX)
        return false;
    memcpy(text, payload + WIRE_REQUEST_BYTES, length - WIRE_REQUEST_BYTES);
    text[length - WIRE_REQUEST_BYTES] = '\0';
    const struct wire_request request = {wire_get32(payload), wire_get32(payload + 4),
                                         wire_get64(payload + 8), wire_get64(payload + 16), text};
    void *data = make_reply(&request, text, &size, &status);
    uint8_t *reply = begin_frame(connection, WIRE_REPLY_BYTES + size);
    if (reply) {
        wire_put32(reply, request.tag);
        wire_put32(reply + 4, (uint32_t)(status < 0 ? status : 0));
        if (size > 0)
            memcpy(reply + WIRE_REPLY_BYTES, data, size);
    }
    free(data);
    return reply && end_frame(connection, WIRE_REPLY, reply, WIRE_REPLY_BYTES + size);
}
