/*
 * main.c - the console server: one thread, woken by requests and by input.
 *
 * With one thread, the text of each request stays together and no locks are needed. The server waits only for
 * the machine's console and, when Ctrl-C kills, for proc, which replies or is given up (SERVER_PATIENCE_NS):
 * its workers never call the console; its reaper does, but no worker waits for the reaper. Read next: line.c.
 */
#include "line.h"
#include <errno.h>
#include <servers/lib/waiter.h>
#include <servers/lib/watch.h>
#include <servers/protocol/console.h>
#include <servers/protocol/proc.h>
#include <signal.h>
#include <string.h>
#include <tarn/runtime.h>
#include <tarn/server.h>
#include <trace/console.h>

#define FOREGROUND_MAX 64u
#define KEYS_BIT       1ull

static struct line line;
static struct waiter *readers;
static struct watch *watches;
static uint32_t mode_setter; /* the client that left cooked mode; 0: none */
static uint32_t foreground_owner;
static uint32_t foreground[FOREGROUND_MAX], foreground_count;

/* ---- output ---------------------------------------------------------------------------------------- */

static void write_all(const char *text, uint32_t size)
{
    while (size) {
        int64_t written = sys_machine_console_write(SLOT_MACHINE, text, size);
        if (written <= 0)
            return;
        text += written;
        size -= (uint32_t)written;
    }
}

/* Writes to the device, with a carriage return before each newline. */
static void put_text(const char *text, uint32_t size)
{
    char out[512];
    uint32_t used = 0;
    for (uint32_t i = 0; i < size; i++) {
        if (used + 2 > sizeof(out)) {
            write_all(out, used);
            used = 0;
        }
        if (text[i] == '\n')
            out[used++] = '\r';
        out[used++] = text[i];
    }
    write_all(out, used);
}

static int64_t console_write(struct server_request *request)
{
    uint32_t size = SERVER_SPAN_LENGTH(request->word[0]);
    const char *text = server_span(request->client, request->word[0]);
    if (!text)
        return -EFAULT;
    put_text(text, size);
    trace_console_write(request->client, size);
    return size;
}

/* ---- input ----------------------------------------------------------------------------------------- */

static uint32_t readiness(void)
{
    return SERVER_POLL_WRITE | (line_is_readable(&line) ? SERVER_POLL_READ : 0);
}

static void serve_readers(void)
{
    while (readers && line_is_readable(&line)) {
        uint32_t client = readers->request.client;
        uint64_t span = readers->request.word[0];
        char *buffer = server_span(client, span);
        int64_t count = buffer ? (int64_t)line_read(&line, buffer, SERVER_SPAN_LENGTH(span)) : -EFAULT;
        if (waiter_reply(&readers, count) && count >= 0)
            trace_console_read(client, (uint32_t)count);
    }
    watch_signal(&watches, readiness());
}

static int64_t console_read(struct server_request *request)
{
    uint64_t span = request->word[0];
    char *buffer = server_span(request->client, span);
    if (!buffer)
        return -EFAULT;
    if (SERVER_SPAN_LENGTH(span) == 0)
        return 0;
    if (!readers && line_is_readable(&line)) {
        uint32_t count = line_read(&line, buffer, SERVER_SPAN_LENGTH(span));
        trace_console_read(request->client, count);
        return count;
    }
    if (request->word[1] & CONSOLE_NO_WAIT)
        return -EAGAIN;
    return waiter_save(&readers, request, 0);
}

static void kill_foreground(void)
{
    int64_t result = 0;
    for (uint32_t i = 0; i < foreground_count && result != -ETIMEDOUT; i++)
        result = call_server(SLOT_PROC, PROC_KILL, foreground[i], SIGINT, PROC_KILL_TREE, 0);
    if (result == -ETIMEDOUT)
        debug_printf("console: proc does not reply: Ctrl-C has no effect\n");
}

static void console_notified(uint64_t bits)
{
    char keys[64];
    int64_t count;
    while ((count = sys_machine_console_read(SLOT_MACHINE, keys, sizeof(keys))) > 0) {
        for (int64_t i = 0; i < count; i++) {
            enum line_event event = line_input(&line, keys[i]);
            trace_console_input((uint8_t)keys[i], line.ready_count + line.edit_count);
            if (event == LINE_INTERRUPT)
                kill_foreground();
        }
    }
    serve_readers();
}

/* ---- modes and foreground processes ---------------------------------------------------------------- */

static int64_t console_set_mode(struct server_request *request)
{
    uint32_t before = line.mode, mode = (uint32_t)request->word[0];
    if (request->word[0] == ~0ull)
        return before;
    if (mode & ~CONSOLE_COOKED)
        return -EINVAL;
    line_set_mode(&line, mode);
    mode_setter = mode == CONSOLE_COOKED ? 0 : request->client;
    serve_readers();
    return before;
}

static int64_t console_foreground(struct server_request *request)
{
    uint32_t size = SERVER_SPAN_LENGTH(request->word[0]);
    const uint32_t *pids = server_span(request->client, request->word[0]);
    if (foreground_owner && foreground_owner != request->client)
        return -EPERM;
    if (size && !pids)
        return -EFAULT;
    if (size % sizeof(uint32_t) || size > sizeof(foreground))
        return -EINVAL;
    foreground_owner = request->client;
    foreground_count = size / sizeof(uint32_t);
    memcpy(foreground, pids, size);
    return 0;
}

/* ---- the server ------------------------------------------------------------------------------------ */

static int64_t console_handle(struct server_request *request)
{
    switch (request->label) {
    case CONSOLE_WRITE:
        return console_write(request);
    case CONSOLE_READ:
        return console_read(request);
    case CONSOLE_SET_MODE:
        return console_set_mode(request);
    case CONSOLE_FOREGROUND:
        return console_foreground(request);
    case SERVER_POLL:
        return watch_poll(&watches, request, readiness());
    default:
        return -ENOSYS;
    }
}

static void console_client_exit(uint32_t client)
{
    waiter_forget(&readers, client);
    watch_forget(&watches, client, WATCH_ALL_HANDLES);
    if (mode_setter == client) {
        line_set_mode(&line, CONSOLE_COOKED);
        mode_setter = 0;
    }
    if (foreground_owner == client)
        foreground_owner = foreground_count = 0;
}

int main(void)
{
    line_init(&line, put_text);
    int64_t keys = sys_notification_create();
    if (keys < 0 || sys_machine_console_bind(SLOT_MACHINE, (cap_t)keys, KEYS_BIT) < 0) {
        debug_printf("console: cannot receive input\n");
        keys = 0;
    }
    struct server server = {
        .name = "console",
        .threads = 1,
        .handle = console_handle,
        .client_exit = console_client_exit,
        .notified = console_notified,
        .notification = (cap_t)keys,
    };
    server_run(&server, SLOT_SERVICE);
}
