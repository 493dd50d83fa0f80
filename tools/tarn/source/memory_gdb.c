/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory_gdb.c - memory of a stopped guest, over gdb's remote protocol.
 *
 * gdb_client.h implements the protocol. After `Qqemu.PhyMemMode:1`, `m` packets read physical memory. The
 * monitor command `info mtree -f`, sent by `qRcmd`, lists which addresses are RAM: others belong to devices
 * and must not be read. Many requests are in flight at a time, to pay the latency once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/source/gdb_client.h>
#include <tools/tarn/source/memory.h>

#define READ_BYTES 1024u /* per packet: QEMU's limit is 2047 */
#define AHEAD_MAX  64u   /* requests in flight: their text fits into any socket's buffer */

struct gdb {
    struct memory memory; /* first: memory is cast to this */
    struct gdb_client client;
};

/* ---- reading ---- */

static bool take_bytes(struct gdb *gdb, uint64_t place, uint8_t *to, size_t bytes, struct fail *fail)
{
    if (!gdb_client_receive(&gdb->client, fail))
        return false;
    const char *hex = gdb->client.packet;
    if (strlen(hex) != 2 * bytes)
        return fail_set(fail, "the gdb server cannot read %zu bytes at %#llx: %.40s", bytes,
                        (unsigned long long)place, hex);
    return gdb_bytes(hex, to, bytes) || fail_set(fail, "the gdb server sent no bytes");
}

/* Where the next request starts. */
struct cursor {
    const struct memory_piece *pieces;
    size_t piece, count, inside;
};

/* False: no more. */
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
            if (!gdb_client_send(&gdb->client, text, fail))
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

/* ---- ranges ---- */

/* Finds the view of system memory in the list; its lines look like
 *     0000000000000000-00000000000bffff (prio 0, ram): pc.ram */
static bool find_ranges(struct gdb *gdb, struct fail *fail)
{
    char *text = gdb_client_monitor(&gdb->client, "info mtree -f", GDB_REPLY_SECONDS, fail), *rest = text;
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

/* ---- connecting ---- */

static bool greet(struct gdb *gdb, const char *address, struct fail *fail)
{
    if (!gdb_client_open(&gdb->client, address, fail) ||
        !gdb_client_ask(&gdb->client, "Qqemu.PhyMemMode:1", fail))
        return false;
    if (strcmp(gdb->client.packet, "OK") != 0)
        return fail_set(fail, "the gdb server cannot read physical memory: it is not QEMU");
    return find_ranges(gdb, fail);
}

static void gdb_close(struct memory *memory)
{
    gdb_client_close(&((struct gdb *)memory)->client);
    free(memory->ranges);
    free(memory);
}

static struct memory *gdb_open(const char *address, struct fail *fail)
{
    struct gdb *gdb = alloc_zero(1, sizeof(*gdb));

    gdb->memory.class = &memory_gdb;
    if (greet(gdb, address, fail))
        return &gdb->memory;
    gdb_close(&gdb->memory);
    return NULL;
}

const struct memory_class memory_gdb = {.open = gdb_open, .read = gdb_read, .close = gdb_close};
