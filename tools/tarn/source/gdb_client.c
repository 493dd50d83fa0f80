/* SPDX-License-Identifier: BSD-2-Clause */
/* gdb_client.c - a client of QEMU's gdb server; see gdb_client.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <tools/tarn/source/gdb_client.h>
#include <tools/tarn/source/link.h>
#include <unistd.h>

#define CONSOLE_MAX (4u << 20)

/* ---- packets ---- */

/* GOT: the result of wait_ready or send_all. */
static bool check_got(int got, struct fail *fail)
{
    return got > 0 ||
           (got == 0 ? fail_set(fail, "the gdb server does not answer: is another debugger connected?")
                     : fail_set(fail, "the gdb server's connection: %s", strerror(errno)));
}

static bool send_bytes(struct gdb_client *client, const char *bytes, size_t size, struct fail *fail)
{
    return check_got(send_all(client->fd, bytes, size, now_seconds() + GDB_REPLY_SECONDS), fail);
}

static bool next_byte(struct gdb_client *client, double until, char *byte, struct fail *fail)
{
    while (client->start == client->end) {
        ssize_t got = recv(client->fd, client->buffer, sizeof(client->buffer), MSG_DONTWAIT);
        if (got > 0) {
            client->start = 0;
            client->end = (size_t)got;
        } else if (got == 0) {
            return fail_set(fail, "the gdb server closed the connection");
        } else {
            int ready = errno == EAGAIN || errno == EINTR ? wait_ready(client->fd, POLLIN, until) : -1;
            if ((ready != 0 || now_seconds() >= until) && !check_got(ready, fail))
                return false;
        }
    }
    *byte = client->buffer[client->start++];
    return true;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *found = c != 0 ? strchr(digits, c) : NULL;

    return found == NULL ? -1 : (int)(found - digits) - (*found >= 'A' && *found <= 'F' ? 6 : 0);
}

bool gdb_bytes(const char *hex, void *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        ((uint8_t *)to)[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool gdb_client_send(struct gdb_client *client, const char *text, struct fail *fail)
{
    size_t capacity = strlen(text) + sizeof("$#00");
    char *framed = alloc_zero(capacity, 1);
    unsigned sum = 0;

    for (const char *at = text; *at; at++)
        sum += (uint8_t)*at;
    snprintf(framed, capacity, "$%s#%02x", text, sum & 0xff);
    bool ok = send_bytes(client, framed, capacity - 1, fail);
    free(framed);
    return ok;
}

/* Receives one packet into client->packet. Skips acknowledgements. */
static bool receive_any(struct gdb_client *client, double until, struct fail *fail)
{
    uint8_t sum = 0, sent;
    size_t size = 0;
    char c, digits[2];

    do
        if (!next_byte(client, until, &c, fail))
            return false;
    while (c != '$');
    for (;;) {
        if (!next_byte(client, until, &c, fail))
            return false;
        if (c == '#')
            break;
        if (size == GDB_PACKET_MAX - 1 || c == '$' || c == 0)
            return fail_set(fail, "the gdb server sent no packet");
        client->packet[size++] = c;
        sum += (uint8_t)c;
    }
    client->packet[size] = 0;
    if (!next_byte(client, until, &digits[0], fail) || !next_byte(client, until, &digits[1], fail))
        return false;
    if (!gdb_bytes(digits, &sent, 1) || sent != sum)
        return fail_set(fail, "the gdb server sent a damaged packet");
    return !client->acknowledges || send_bytes(client, "+", 1, fail);
}

/* Receives the reply to a request. The stop reply may arrive before it, at any time. */
static bool receive_until(struct gdb_client *client, double until, struct fail *fail)
{

    do
        if (!receive_any(client, until, fail))
            return false;
    while (client->packet[0] == 'T' || client->packet[0] == 'S');
    return true;
}

bool gdb_client_receive(struct gdb_client *client, struct fail *fail)
{
    return receive_until(client, now_seconds() + GDB_REPLY_SECONDS, fail);
}

bool gdb_client_ask(struct gdb_client *client, const char *request, struct fail *fail)
{
    return gdb_client_send(client, request, fail) && gdb_client_receive(client, fail);
}

char *gdb_client_monitor(struct gdb_client *client, const char *command, double seconds, struct fail *fail)
{
    double until = now_seconds() + seconds;
    char *request = alloc_zero(strlen(command) + 4, 2), *to = request + sprintf(request, "qRcmd,");
    char *text = alloc_zero(1, 1);
    size_t size = 0;

    for (const char *at = command; *at; at++)
        to += sprintf(to, "%02x", (uint8_t)*at);
    bool ok = gdb_client_send(client, request, fail);
    free(request);
    while (ok && (ok = receive_until(client, until, fail)) && client->packet[0] == 'O' &&
           client->packet[1] != 'K') {
        const char *hex = client->packet + 1;
        size_t more = strlen(hex) / 2;
        if (size + more > CONSOLE_MAX) {
            ok = fail_set(fail, "the machine's monitor does not end its reply");
            break;
        }
        text = alloc_more(text, size + more + 1, 1);
        if (!gdb_bytes(hex, text + size, more)) {
            ok = fail_set(fail, "the gdb server sent no text");
            break;
        }
        text[size += more] = 0;
    }
    if (ok && strcmp(client->packet, "OK") == 0)
        return text;
    free(text);
    if (ok)
        fail_set(fail, "the gdb server has no monitor: it is not QEMU");
    return NULL;
}

/* ---- connecting ---- */

bool gdb_client_open(struct gdb_client *client, const char *address, struct fail *fail)
{
    *client = (struct gdb_client){.acknowledges = true};
    client->fd = strchr(address, '/') ? connect_socket(address, fail) : connect_tcp(address, fail);
    if (client->fd < 0 || !gdb_client_ask(client, "QStartNoAckMode", fail))
        return false;
    client->acknowledges = strcmp(client->packet, "OK") != 0;
    return true;
}

void gdb_client_close(struct gdb_client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
}
