/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - the console server: one thread, woken by requests and by input.
 *
 * With one thread, the text of each request stays together and no locks are needed. The server waits only for
 * the machine's console and, when Ctrl-C kills, for proc. Neither waits for the console: proc's workers never
 * call it; its reaper does, but nothing waits for the reaper. Read next: line.c.
 */
#include "line.h"
#include <errno.h>
#include <servers/lib/client.h>
#include <servers/lib/server.h>
#include <servers/protocol/console.h>
#include <servers/protocol/proc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <trace/console.h>

#define FOREGROUND_MAX 64u
#define WATCHES_MAX    64u
#define KEYS_BIT       1ull

struct reader {
    struct reader *next;
    uint32_t client;
    cap_t reply;
    uint64_t span;
};

static struct line line;
static struct reader *first_reader, **last_reader = &first_reader;
static uint32_t mode_setter; /* the client that left cooked mode; 0: none */
static uint32_t foreground_owner;
static uint32_t foreground[FOREGROUND_MAX], foreground_count;
static struct watch {
    uint32_t client, wanted;
    uint64_t token, bits;
    cap_t notification; /* 0: free */
} watches[WATCHES_MAX];

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

static void signal_watches(void)
{
    for (unsigned i = 0; i < WATCHES_MAX; i++) {
        struct watch *watch = &watches[i];
        if (!watch->notification || !(watch->wanted & SERVER_POLL_READ))
            continue;
        sys_notification_signal(watch->notification, watch->bits);
        sys_cap_close(watch->notification);
        watch->notification = 0;
    }
}

static void serve_readers(void)
{
    while (first_reader && line_is_readable(&line)) {
        struct reader *reader = first_reader;
        char *buffer = server_span(reader->client, reader->span);
        int64_t count =
            buffer ? (int64_t)line_read(&line, buffer, SERVER_SPAN_LENGTH(reader->span)) : -EFAULT;
        if (server_answer(reader->reply, count, NULL, 0) && count >= 0)
            trace_console_read(reader->client, (uint32_t)count);
        first_reader = reader->next;
        if (!first_reader)
            last_reader = &first_reader;
        free(reader);
    }
    if (line_is_readable(&line))
        signal_watches();
}

static int64_t console_read(struct server_request *request)
{
    uint64_t span = request->word[0];
    char *buffer = server_span(request->client, span);
    if (!buffer)
        return -EFAULT;
    if (SERVER_SPAN_LENGTH(span) == 0)
        return 0;
    if (!first_reader && line_is_readable(&line)) {
        uint32_t count = line_read(&line, buffer, SERVER_SPAN_LENGTH(span));
        trace_console_read(request->client, count);
        return count;
    }
    if (request->word[1] & CONSOLE_NO_WAIT)
        return -EAGAIN;
    struct reader *reader = malloc(sizeof(*reader));
    cap_t reply = reader ? server_save_reply() : 0;
    if (!reply) {
        free(reader);
        return -ENOMEM;
    }
    *reader = (struct reader){.client = request->client, .reply = reply, .span = span};
    *last_reader = reader;
    last_reader = &reader->next;
    return SERVER_LATER;
}

static void kill_foreground(void)
{
    for (uint32_t i = 0; i < foreground_count; i++) {
        struct ipc_message message = {.label = PROC_KILL, .word = {foreground[i], SIGINT, PROC_KILL_TREE}};
        client_call(SLOT_PROC, &message);
    }
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

static int64_t console_poll(struct server_request *request)
{
    uint32_t wanted = (uint32_t)request->word[1] & (SERVER_POLL_READ | SERVER_POLL_WRITE);
    struct watch *free_watch = NULL;
    for (unsigned i = 0; i < WATCHES_MAX; i++) {
        struct watch *watch = &watches[i];
        if (watch->notification && watch->client == request->client && watch->token == request->word[3]) {
            sys_cap_close(watch->notification);
            watch->notification = 0;
        }
        if (!watch->notification)
            free_watch = watch;
    }
    uint32_t now = wanted & (SERVER_POLL_WRITE | (line_is_readable(&line) ? SERVER_POLL_READ : 0));
    if (now || !wanted || !request->received[0])
        return now;
    if (!free_watch)
        return -ENOMEM;
    *free_watch =
        (struct watch){request->client, wanted, request->word[3], request->word[2], request->received[0]};
    request->received[0] = 0;
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
        return console_poll(request);
    default:
        return -ENOSYS;
    }
}

static void forget_readers(uint32_t client)
{
    struct reader **link = &first_reader;
    while (*link) {
        struct reader *reader = *link;
        if (reader->client == client) {
            *link = reader->next;
            server_answer(reader->reply, -EINTR, NULL, 0);
            free(reader);
        } else {
            link = &reader->next;
        }
    }
    last_reader = link;
}

static void console_client_exit(uint32_t client)
{
    forget_readers(client);
    for (unsigned i = 0; i < WATCHES_MAX; i++) {
        if (watches[i].notification && watches[i].client == client) {
            sys_cap_close(watches[i].notification);
            watches[i].notification = 0;
        }
    }
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
        server_log("console: cannot receive input");
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
