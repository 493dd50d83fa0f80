/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/source/memory_gdb.c - memory of a stopped guest, over the remote protocol of its machine's gdb
 * server.
 *
 * QEMU stops the guest when a debugger connects and leaves it stopped when the connection closes without a
 * detach, which is what happens here. `Qqemu.PhyMemMode:1` makes its `m` packets read physical memory, and
 * the monitor behind `qRcmd` tells which addresses are RAM (`info mtree -f`): other addresses are devices,
 * which must not be read. Requests are sent many at a time, so that a slow way costs its delay once.
 *
 * Replies are bounded in size and time: a peer that lies makes this fail, never wait for ever.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tools/tarn/source/link.h>
#include <tools/tarn/source/memory.h>
#include <unistd.h>

#define REPLY_SECONDS 10.0
#define READ_BYTES    1024u /* in one packet: QEMU takes 2047 */
#define AHEAD_MAX     64u   /* requests under way: their text fits into any socket's buffer */
#define PACKET_MAX    (64u << 10)
#define CONSOLE_MAX   (4u << 20)

struct gdb {
    struct memory memory; /* first: memory is cast to this */
    int fd;
    bool acknowledges;
    size_t start, end; /* bytes that came and were not taken yet */
    char buffer[PACKET_MAX];
    char packet[PACKET_MAX]; /* the last, NUL terminated */
};

/* ---- packets ---------------------------------------------------------------------------------------------
 */

static bool wait_for(struct gdb *gdb, short what, double until, struct fail *fail)
{
    for (;;) {
        double left = until - now_seconds();
        struct pollfd poll_fd = {.fd = gdb->fd, .events = what};
        int got = left > 0 ? poll(&poll_fd, 1, (int)(left * 1000) + 1) : 0;
        if (got > 0)
            return true;
        if (got == 0)
            return fail_set(fail, "the gdb server does not answer: is another debugger connected?");
        if (errno != EINTR)
            return fail_set(fail, "the gdb server's connection: %s", strerror(errno));
    }
}

static bool send_bytes(struct gdb *gdb, const char *bytes, size_t size, struct fail *fail)
{
    double until = now_seconds() + REPLY_SECONDS;

    while (size > 0) {
        ssize_t sent = send(gdb->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            bytes += sent;
            size -= (size_t)sent;
        } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            return fail_set(fail, "the gdb server's connection: %s", strerror(errno));
        } else if (!wait_for(gdb, POLLOUT, until, fail)) {
            return false;
        }
    }
    return true;
}

static bool next_byte(struct gdb *gdb, double until, char *byte, struct fail *fail)
{
    while (gdb->start == gdb->end) {
        ssize_t got = recv(gdb->fd, gdb->buffer, sizeof(gdb->buffer), MSG_DONTWAIT);
        if (got > 0) {
            gdb->start = 0;
            gdb->end = (size_t)got;
        } else if (got == 0) {
            return fail_set(fail, "the gdb server closed the connection");
        } else if (errno != EAGAIN && errno != EINTR) {
            return fail_set(fail, "the gdb server's connection: %s", strerror(errno));
        } else if (!wait_for(gdb, POLLIN, until, fail)) {
            return false;
        }
    }
    *byte = gdb->buffer[gdb->start++];
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if ((c | 32) >= 'a' && (c | 32) <= 'f')
        return (c | 32) - 'a' + 10;
    return -1;
}

static bool send_packet(struct gdb *gdb, const char *text, struct fail *fail)
{
    char framed[512];
    unsigned sum = 0;

    for (const char *at = text; *at; at++)
        sum += (uint8_t)*at;
    int size = snprintf(framed, sizeof(framed), "$%s#%02x", text, sum & 0xff);
    return send_bytes(gdb, framed, (size_t)size, fail);
}

/* One packet's text into gdb->packet. What stands between packets (acknowledgements) is passed over. */
static bool receive_any(struct gdb *gdb, double until, struct fail *fail)
{
    unsigned sum = 0;
    size_t size = 0;
    char c, high, low;

    do
        if (!next_byte(gdb, until, &c, fail))
            return false;
    while (c != '$');
    for (;;) {
        if (!next_byte(gdb, until, &c, fail))
            return false;
        if (c == '#')
            break;
        if (size == PACKET_MAX - 1 || c == '$' || c == 0)
            return fail_set(fail, "the gdb server sent no packet");
        gdb->packet[size++] = c;
        sum += (uint8_t)c;
    }
    gdb->packet[size] = 0;
    if (!next_byte(gdb, until, &high, fail) || !next_byte(gdb, until, &low, fail))
        return false;
    if (hex_digit(high) < 0 || hex_digit(low) < 0 ||
        (unsigned)(hex_digit(high) << 4 | hex_digit(low)) != (sum & 0xff))
        return fail_set(fail, "the gdb server sent a damaged packet");
    return !gdb->acknowledges || send_bytes(gdb, "+", 1, fail);
}

/* The answer to a request. That the guest stopped because we came is said in between, at any time. */
static bool receive_packet(struct gdb *gdb, struct fail *fail)
{
    double until = now_seconds() + REPLY_SECONDS;

    do
        if (!receive_any(gdb, until, fail))
            return false;
    while (gdb->packet[0] == 'T' || gdb->packet[0] == 'S');
    return true;
}

static bool ask(struct gdb *gdb, const char *request, struct fail *fail)
{
    return send_packet(gdb, request, fail) && receive_packet(gdb, fail);
}

/* ---- reading
 * ------------------------------------------------------------------------------------------------ */

/* The answer to an `m` packet. */
static bool take_bytes(struct gdb *gdb, uint64_t place, uint8_t *to, size_t bytes, struct fail *fail)
{
    if (!receive_packet(gdb, fail))
        return false;
    const char *hex = gdb->packet;
    if (strlen(hex) != 2 * bytes)
        return fail_set(fail, "the gdb server cannot read %zu bytes at %#llx: %.40s", bytes,
                        (unsigned long long)place, hex);
    for (size_t i = 0; i < bytes; i++) {
        int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return fail_set(fail, "the gdb server sent no bytes");
        to[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* Where the next request begins. */
struct cursor {
    const struct memory_piece *pieces;
    size_t piece, count, inside;
};

/* False: there is no more. */
static bool next_request(struct cursor *cursor, uint64_t *place, uint8_t **to, size_t *bytes)
{
    if (cursor->piece == cursor->count)
        return false;
    const struct memory_piece *piece = &cursor->pieces[cursor->piece];
    size_t left = piece->bytes - cursor->inside;
    *place = piece->place + cursor->inside;
    *to = (uint8_t *)piece->to + cursor->inside;
    *bytes = left < READ_BYTES ? left : READ_BYTES;
    cursor->inside += *bytes;
    if (cursor->inside == piece->bytes) {
        cursor->inside = 0;
        cursor->piece++;
    }
    return true;
}

static bool gdb_read(struct memory *memory, const struct memory_piece *pieces, size_t count,
                     struct fail *fail)
{
    struct gdb *gdb = (struct gdb *)memory;
    struct cursor asked = {pieces, 0, count, 0}, taken = asked;
    uint64_t place;
    uint8_t *to;
    size_t bytes;
    char text[64];

    for (unsigned ahead = 0;;) {
        while (ahead < AHEAD_MAX && next_request(&asked, &place, &to, &bytes)) {
            snprintf(text, sizeof(text), "m%llx,%zx", (unsigned long long)place, bytes);
            if (!send_packet(gdb, text, fail))
                return false;
            ahead++;
        }
        if (!next_request(&taken, &place, &to, &bytes))
            return true;
        if (!take_bytes(gdb, place, to, bytes, fail))
            return false;
        ahead--;
    }
}

/* ---- which memory there is
 * ------------------------------------------------------------------------------------ */

/* What the machine's monitor says to a command; to be freed. */
static char *ask_monitor(struct gdb *gdb, const char *command, struct fail *fail)
{
    char request[256], *to = request + sprintf(request, "qRcmd,");
    char *text = alloc_zero(1, 1);
    size_t size = 0;

    for (const char *at = command; *at; at++)
        to += sprintf(to, "%02x", (uint8_t)*at);
    bool fine = send_packet(gdb, request, fail);
    while (fine && (fine = receive_packet(gdb, fail)) && gdb->packet[0] == 'O' && gdb->packet[1] != 'K') {
        const char *hex = gdb->packet + 1;
        size_t more = strlen(hex) / 2;
        if (size + more > CONSOLE_MAX) {
            fine = fail_set(fail, "the machine's monitor does not stop talking");
            break;
        }
        text = alloc_more(text, size + more + 1, 1);
        for (size_t i = 0; i < more; i++) {
            int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
            text[size++] = high < 0 || low < 0 ? '?' : (char)(high << 4 | low);
        }
        text[size] = 0;
    }
    if (fine && strcmp(gdb->packet, "OK") == 0)
        return text;
    free(text);
    if (fine)
        fail_set(fail, "the gdb server has no monitor: it is not QEMU's");
    return NULL;
}

/* Of the list of views the one of system memory; lines like
 *   0000000000000000-00000000000bffff (prio 0, ram): pc.ram */
static bool find_ranges(struct gdb *gdb, struct fail *fail)
{
    char *text = ask_monitor(gdb, "info mtree -f", fail), *rest = text;
    bool in_memory = false;

    if (!text)
        return false;
    for (char *line; (line = strsep(&rest, "\n"));) {
        unsigned long long first, last;
        char kind[16];
        if (strncmp(line, "FlatView", 8) == 0)
            in_memory = false;
        else if (strncmp(line, " AS \"memory\"", 12) == 0)
            in_memory = true;
        else if (in_memory && sscanf(line, " %llx-%llx (prio %*d, %15[a-z]):", &first, &last, kind) == 3 &&
                 strcmp(kind, "ram") == 0 && first <= last && last < UINT64_MAX / 2)
            memory_add_range(&gdb->memory, (struct memory_range){first, last - first + 1, first});
    }
    free(text);
    memory_settle_ranges(&gdb->memory);
    return gdb->memory.range_count > 0 || fail_set(fail, "the machine's monitor shows no RAM");
}

/* ---- connecting
 * ------------------------------------------------------------------------------------------------ */

static bool greet(struct gdb *gdb, struct fail *fail)
{
    if (!ask(gdb, "QStartNoAckMode", fail))
        return false;
    gdb->acknowledges = strcmp(gdb->packet, "OK") != 0;
    if (!ask(gdb, "Qqemu.PhyMemMode:1", fail))
        return false;
    if (strcmp(gdb->packet, "OK") != 0)
        return fail_set(fail, "the gdb server cannot read physical memory: it is not QEMU's");
    return find_ranges(gdb, fail);
}

static int connect_unix(const char *path, struct fail *fail)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof(name.sun_path)) {
        fail_set(fail, "%s is too long for a socket's path", path);
        return -1;
    }
    strcpy(name.sun_path, path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0)
        return fd;
    fail_set(fail, "cannot connect to %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static void gdb_close(struct memory *memory)
{
    close(((struct gdb *)memory)->fd);
    free(memory->ranges);
    free(memory);
}

static struct memory *gdb_open(const char *address, struct fail *fail)
{
    int fd = strchr(address, '/') ? connect_unix(address, fail) : connect_tcp(address, fail);
    struct gdb *gdb;

    if (fd < 0)
        return NULL;
    gdb = alloc_zero(1, sizeof(*gdb));
    gdb->memory.class = &memory_gdb;
    gdb->fd = fd;
    gdb->acknowledges = true;
    if (greet(gdb, fail))
        return &gdb->memory;
    gdb_close(&gdb->memory);
    return NULL;
}

const struct memory_class memory_gdb = {.open = gdb_open, .read = gdb_read, .close = gdb_close};
