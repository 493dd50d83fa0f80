/*
 * memory_gdb.c - memory of a stopped guest, over gdb's remote protocol, from QEMU's gdb server.
 *
 * QEMU stops the guest when a debugger connects; it stays stopped when the connection closes without a
 * detach. After `Qqemu.PhyMemMode:1`, `m` packets read physical memory. The monitor command `info mtree -f`,
 * sent by `qRcmd`, lists which addresses are RAM: others belong to devices and must not be read. Replies are
 * bounded in size and time.
 */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tools/tarn/source/link.h>
#include <tools/tarn/source/memory.h>

#define READ_BYTES    1024u /* per packet: QEMU's limit is 2047 */
#define REPLY_SECONDS 60.0
#define PACKET_MAX    (64u << 10)
#define CONSOLE_MAX   (4u << 20)
#define LIST_RAM      "qRcmd,696e666f206d74726565202d66" /* info mtree -f */

struct gdb {
    struct memory memory; /* first: memory is cast to this */
    size_t start, end;    /* received bytes that were not used yet */
    char buffer[PACKET_MAX];
    char packet[PACKET_MAX]; /* the last one, NUL-terminated */
};

/* GOT: the result of wait_ready or send_all. */
static bool check_got(int got, struct fail *fail)
{
    return got > 0 ||
           (got == 0 ? fail_set(fail, "the gdb server does not answer: is another debugger connected?")
                     : fail_set(fail, "the gdb server's connection: %s", strerror(errno)));
}

static bool next_byte(struct gdb *gdb, double until, char *byte, struct fail *fail)
{
    while (gdb->start == gdb->end) {
        ssize_t got = recv(gdb->memory.fd, gdb->buffer, sizeof(gdb->buffer), MSG_DONTWAIT);
        if (got > 0) {
            gdb->start = 0;
            gdb->end = (size_t)got;
        } else if (got == 0) {
            return fail_set(fail, "the gdb server closed the connection");
        } else {
            int ready = errno == EAGAIN || errno == EINTR ? wait_ready(gdb->memory.fd, POLLIN, until) : -1;
            if ((ready != 0 || now_seconds() >= until) && !check_got(ready, fail))
                return false;
        }
    }
    *byte = gdb->buffer[gdb->start++];
    return true;
}

/* Converts the digits of COUNT bytes. False: HEX has other characters. */
static bool take_hex(const char *hex, void *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]))
            return false;
        ((uint8_t *)to)[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return true;
}

static bool send_text(struct gdb *gdb, const char *text, struct fail *fail)
{
    return check_got(send_all(gdb->memory.fd, text, strlen(text), now_seconds() + REPLY_SECONDS), fail);
}

static bool send_packet(struct gdb *gdb, const char *text, struct fail *fail)
{
    char framed[100];
    unsigned sum = 0;
    for (const char *at = text; *at; at++)
        sum += (uint8_t)*at;
    snprintf(framed, sizeof(framed), "$%s#%02x", text, sum & 0xff);
    return send_text(gdb, framed, fail);
}

/* Receives and acknowledges a packet. Skips acknowledgements, and the stop reply, which may come at any time.
 */
static bool receive(struct gdb *gdb, struct fail *fail)
{
    const double until = now_seconds() + REPLY_SECONDS;
    char byte, digits[2];
    do {
        uint8_t sum = 0, sent;
        size_t size = 0;
        do
            if (!next_byte(gdb, until, &byte, fail))
                return false;
        while (byte != '$');
        while (next_byte(gdb, until, &byte, fail) && byte != '#') {
            if (size == PACKET_MAX - 1 || byte == '$' || byte == 0)
                return fail_set(fail, "the gdb server sent no packet");
            gdb->packet[size++] = byte;
            sum += (uint8_t)byte;
        }
        gdb->packet[size] = 0;
        if (byte != '#' || !next_byte(gdb, until, &digits[0], fail) ||
            !next_byte(gdb, until, &digits[1], fail))
            return false;
        if (!take_hex(digits, &sent, 1) || sent != sum)
            return fail_set(fail, "the gdb server sent a damaged packet");
        if (!send_text(gdb, "+", fail))
            return false;
    } while (gdb->packet[0] == 'T' || gdb->packet[0] == 'S');
    return true;
}

static bool gdb_read(struct memory *memory, uint64_t place, void *to, size_t bytes, struct fail *fail)
{
    struct gdb *gdb = (struct gdb *)memory;
    char text[64];
    for (size_t part; bytes > 0; place += part, bytes -= part, to = (char *)to + part) {
        part = bytes < READ_BYTES ? bytes : READ_BYTES;
        snprintf(text, sizeof(text), "m%llx,%zx", (unsigned long long)place, part);
        if (!send_packet(gdb, text, fail) || !receive(gdb, fail))
            return false;
        if (strlen(gdb->packet) != 2 * part || !take_hex(gdb->packet, to, part))
            return fail_set(fail, "the gdb server cannot read %zu bytes at %#llx: %.40s", part,
                            (unsigned long long)place, gdb->packet);
    }
    return true;
}

/* A line of the list, such as
 *     0000000000000000-00000000000bffff (prio 0, ram): pc.ram
 * IN_MEMORY: it belongs to the view of system memory. */
static void take_line(struct memory *memory, const char *line, bool *in_memory)
{
    unsigned long long first, last;
    char kind[16];
    if (strncmp(line, "FlatView", 8) == 0)
        *in_memory = false;
    else if (strncmp(line, " AS \"memory\"", 12) == 0)
        *in_memory = true;
    else if (*in_memory && sscanf(line, " %llx-%llx (prio %*d, %15[a-z]):", &first, &last, kind) == 3 &&
             strcmp(kind, "ram") == 0 && first <= last && last < UINT64_MAX / 2)
        memory_add_range(memory, (struct memory_range){first, last - first + 1, first});
}

/* The list comes in pieces of text. */
static bool find_ranges(struct gdb *gdb, struct fail *fail)
{
    char *text = alloc_zero(1, CONSOLE_MAX + PACKET_MAX), *rest = text, *line;
    bool ok = send_packet(gdb, LIST_RAM, fail), in_memory = false;
    size_t size = 0;
    while (ok && (ok = receive(gdb, fail)) && gdb->packet[0] == 'O' && gdb->packet[1] != 'K') {
        const size_t more = strlen(gdb->packet + 1) / 2;
        ok = (size <= CONSOLE_MAX && take_hex(gdb->packet + 1, text + size, more)) ||
             fail_set(fail, "the machine's monitor does not end its reply, or it is no text");
        size += more;
    }
    if (ok && strcmp(gdb->packet, "OK") != 0)
        ok = fail_set(fail, "the gdb server has no monitor: it is not QEMU");
    while (ok && (line = strsep(&rest, "\n")) != NULL)
        take_line(&gdb->memory, line, &in_memory);
    free(text);
    memory_settle_ranges(&gdb->memory);
    return ok && (gdb->memory.range_count > 0 || fail_set(fail, "the machine's monitor shows no RAM"));
}

static struct memory *gdb_open(const char *address, struct fail *fail)
{
    struct gdb *gdb = alloc_zero(1, sizeof(*gdb));
    gdb->memory.class = &memory_gdb;
    gdb->memory.fd = strchr(address, '/') ? connect_socket(address, fail) : connect_tcp(address, fail);
    if (gdb->memory.fd >= 0 && send_packet(gdb, "Qqemu.PhyMemMode:1", fail) && receive(gdb, fail) &&
        (strcmp(gdb->packet, "OK") == 0 ||
         fail_set(fail, "the gdb server cannot read physical memory: it is not QEMU")) &&
        find_ranges(gdb, fail))
        return &gdb->memory;
    memory_close(&gdb->memory);
    return NULL;
}

const struct memory_class memory_gdb = {.open = gdb_open, .read = gdb_read};
