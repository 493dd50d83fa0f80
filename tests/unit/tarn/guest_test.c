/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_test.c - `tarn pull` from memory that this program makes: core:, gdb: and ram:, in both byte orders,
 * correct, damaged and hostile. Afterwards it checks the directory: every packet must contain exactly the
 * events logged in it. Built with sanitizers; prints TAP.
 *
 * usage: guest_test [MUTATIONS [SEED]]
 */
#include "guest_make.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/peer.h>
#include <tools/tarn/source/guest.h>
#include <tools/tarn/source/source.h>
#include <trace/events.h>
#include <unistd.h>

#define GIB (1ull << 30)

static char output[96], core_path[96], ram_path[96], socket_path[96];
static struct made made;

/* ---- running and checking ---- */

static int pull(const char *scheme, const char *address)
{
    char name[160];
    snprintf(name, sizeof(name), "%s:%s", scheme, address);
    return run_quietly((const char *[]){"pull", name, "-o", output, "-q", "--force", NULL}, NULL, 0);
}

static int pull_core(void)
{
    write_core(core_path, &made);
    return pull("core", core_path);
}

static int check_output(void)
{
    return run_quietly((const char *[]){"check", "--quiet", output, NULL}, NULL, 0);
}

struct found {
    int packets;          /* -1: something is wrong */
    uint64_t first, last; /* numbers */
    uint64_t events, cut;
    uint64_t missing; /* packet numbers missing between and after those found */
};

static bool look_at_packet(const uint8_t *packet, uint32_t cpu, struct found *found)
{
    const uint64_t content = get64(&made, packet + offsetof(struct trace_packet, content_size)) / 64;
    const uint64_t number = get64(&made, packet + offsetof(struct trace_packet, packet_seq_num));
    uint32_t flags;
    uint64_t at = TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS;

    memcpy(&flags, packet + offsetof(struct trace_packet, flags), sizeof(flags));
    flags = made.big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? flags : __builtin_bswap32(flags);
    if (found->packets > 0)
        found->missing += number - found->last - 1;
    if (flags & TRACE_PACKET_CLOSING)
        return found->packets > 0 && content == TRACE_PACKET_WORDS;
    for (uint32_t i = 0; at + 1 < content; i++, at += 3) {
        found->events++;
        if (get64(&made, packet + at * 8 + 8) != made_id(cpu, number, i) ||
            get64(&made, packet + at * 8 + 16) != ~made_id(cpu, number, i))
            return false;
    }
    found->cut += flags != 0;
    if (found->packets++ == 0)
        found->first = number;
    found->last = number;
    return at + 1 == content;
}

static struct found look(uint32_t cpu)
{
    static uint8_t packet[MAKE_BUFFER_BYTES];
    struct found found = {0};
    char path[128];

    snprintf(path, sizeof(path), "%s/cpu%u", output, cpu);
    FILE *file = fopen(path, "r");
    while (file && fread(packet, sizeof(packet), 1, file) == 1)
        if (!look_at_packet(packet, cpu, &found)) {
            found.packets = -1;
            break;
        }
    if (file)
        fclose(file);
    return found;
}

static void expect(bool ok, const char *what)
{
    char text[128];
    snprintf(text, sizeof(text), "%s, %s-endian", what, made.big ? "big" : "little");
    check(ok, "%s", text);
}

/* Whether all packets in memory were pulled, and `tarn check` finds no errors. */
static bool all_came(void)
{
    for (uint32_t cpu = 0; cpu < MAKE_CPUS; cpu++) {
        struct found found = look(cpu);
        if (found.packets != (int)MAKE_BUFFERS || found.first != MAKE_FIRST || found.cut != 0 ||
            found.events != MAKE_BUFFERS * MAKE_EVENTS)
            return false;
    }
    return check_output() == 0;
}

static bool came(uint32_t cpu, int packets, uint64_t first, uint64_t last, uint64_t cut)
{
    struct found found = look(cpu);
    return found.packets == packets && found.first == first && found.last == last && found.cut == cut;
}

static bool came_missing(uint32_t cpu, int packets, uint64_t first, uint64_t last, uint64_t missing)
{
    return came(cpu, packets, first, last, 0) && look(cpu).missing == missing;
}

/* ---- a gdb server ---------------------------------------------------------------------------------- */

enum server { HONEST, SILENT_IN_THE_MIDDLE, GARBAGE, NO_PHYSICAL, NO_MONITOR };
static enum server server;

static void reply(FILE *stream, const char *text)
{
    unsigned sum = 0;
    for (const char *at = text; *at; at++)
        sum += (uint8_t)*at;
    fprintf(stream, "$%s#%02x", text, sum & 0xff);
}

static void reply_memory(FILE *stream, const char *request)
{
    static char hex[2 * 4096 + 1];
    unsigned long long at, size;

    if (sscanf(request, "m%llx,%llx", &at, &size) != 2 || size > 2047 || at + size > MAKE_BYTES) {
        reply(stream, "E14");
        return;
    }
    for (unsigned i = 0; i < size; i++)
        sprintf(hex + 2 * i, "%02x", made.ram[at + i]);
    reply(stream, hex);
}

static void reply_monitor(FILE *stream)
{
    static const char text[] =
        "FlatView #0\n AS \"I/O\", root: io\n  0000000000000000-000000000000ffff (prio 0, ram): no\n"
        "\nFlatView #1\n AS \"memory\", root: system\n Root memory region: system\n"
        "  0000000000000000-00000000001fffff (prio 0, ram): ram\n"
        "  0000000000200000-00000000003fffff (prio 0, ram): ram @200000\n"
        "  00000000fed00000-00000000fed003ff (prio 0, i/o): hpet\n";
    char hex[2 * sizeof(text) + 2] = "O";

    for (size_t i = 0; i + 1 < sizeof(text); i++)
        sprintf(hex + 1 + 2 * i, "%02x", (uint8_t)text[i]);
    reply(stream, hex);
    reply(stream, "OK");
}

/* False: close the connection. */
static bool serve(FILE *stream, const char *request, unsigned number)
{
    if (server == SILENT_IN_THE_MIDDLE && number > 20)
        return false;
    if (server == GARBAGE && number > 10)
        return fputs("$0123#00$zz#f4$$$", stream), false;
    if (strcmp(request, "QStartNoAckMode") == 0)
        reply(stream, "OK");
    else if (strcmp(request, "Qqemu.PhyMemMode:1") == 0)
        reply(stream, server == NO_PHYSICAL ? "" : "OK");
    else if (strncmp(request, "qRcmd,", 6) == 0 && server != NO_MONITOR)
        reply_monitor(stream);
    else if (request[0] == 'm')
        reply_memory(stream, request);
    else
        reply(stream, "");
    return true;
}

static void serve_gdb(int fd)
{
    FILE *in = fdopen(dup(fd), "r"), *out = fdopen(dup(fd), "w");
    char request[256];

    reply(out, "T02thread:01;"); /* as QEMU replies when it has stopped a guest */
    for (unsigned number = 0; fscanf(in, "%*[^$]"), fscanf(in, "$%255[^#]#%*2c", request) == 1; number++) {
        bool more = serve(out, request, number);
        fflush(out);
        if (!more)
            break;
    }
    fclose(in);
    fclose(out);
}

static int pull_gdb(enum server kind)
{
    struct peer peer = {.talk = serve_gdb};

    server = kind;
    peer_start(&peer, "gdb", socket_path);
    const int status = run_quietly(
        (const char *[]){"pull", peer.source, "-o", output, "--resume=0", "--force", NULL}, NULL, 0);
    peer_stop(&peer);
    return status;
}

/* ---- cases ---- */

static void test_ways(void)
{
    make_guest(&made);
    expect(pull_core() == 0 && all_came(), "core: gives every packet, the open one too");
    write_file(ram_path, made.ram, MAKE_BYTES);
    expect(pull("ram", ram_path) == 0 && all_came(), "ram: of a guest that has ended is a snapshot");
    expect(pull_gdb(HONEST) == 0 && all_came(), "gdb: gives the same");
    expect(pull_gdb(SILENT_IN_THE_MIDDLE) == 2 && pull_gdb(GARBAGE) == 2 && pull_gdb(NO_PHYSICAL) == 2 &&
               pull_gdb(NO_MONITOR) == 2,
           "a gdb server that lies or hangs up");
}

static void test_stores(void)
{
    make_guest(&made);
    memcpy(made.ram + 0x3ff000, made_store(&made), 4096);
    made_store(&made)[300] ^= 1;
    expect(pull_core() == 2, "a store that is damaged, and a copy of it elsewhere");
    make_guest(&made);
    put64(&made, made_store(&made) + offsetof(struct trace_store, changes), 7);
    expect(pull_core() == 0 && all_came(), "a store whose owner died before he changed it");
    put64(&made, made_store(&made) + offsetof(struct trace_store, generation), 9);
    expect(pull_core() == 2, "a store whose owner died in the middle of it");
    make_guest(&made);
    memset(made_store(&made), 0, 4096);
    expect(pull_core() == 2, "no store");
    make_store(&made, 1);
    expect(pull_core() == 2, "only the store of a system before");
    made.store_at = 0x33000;
    make_store(&made, 0);
    expect(pull_core() == 0 && all_came(), "a store in any frame, beside an older one");
    made.store_at = MAKE_STORE_AT;
}

/* Checks the message when the store of the previous boot is searched. */
static bool complains(const struct memory_class *class, const char *path, const char *what)
{
    struct guest guest = {0};
    struct fail fail = {""};
    struct memory *memory = class->open(path, &fail);
    bool found = memory && guest_open(&guest, memory, 1, &fail);

    guest_close(&guest);
    if (memory)
        class->close(memory);
    return !found && strstr(fail.text, what);
}

static void test_no_previous(void)
{
    static const char none[] = "no previous trace", wrong[] = "checksum is wrong";

    make_guest(&made);
    memcpy(made.ram + 0x3ff000, made_store(&made), sizeof(struct trace_store));
    write_core(core_path, &made);
    write_file(ram_path, made.ram, MAKE_BYTES);
    expect(complains(&memory_core, core_path, none) && complains(&memory_ram, ram_path, none),
           "a copy that the guest made of a store's beginning is no previous one");
    put64(&made, made.ram + 0x3ff000 + offsetof(struct trace_store, self), 0x3ff000);
    write_core(core_path, &made);
    write_file(ram_path, made.ram, MAKE_BYTES);
    expect(complains(&memory_core, core_path, wrong) && complains(&memory_ram, ram_path, wrong),
           "a damaged store is reported");
}

/* When the last packet of a CPU in the output ends. */
static uint64_t last_end(uint32_t cpu)
{
    struct trace_packet packet = {0};
    char path[128];

    snprintf(path, sizeof(path), "%s/cpu%u", output, cpu);
    FILE *file = fopen(path, "r");
    if (file && fseek(file, -(long)MAKE_BUFFER_BYTES, SEEK_END) == 0 &&
        fread(&packet, sizeof(packet), 1, file) != 1)
        packet.timestamp_end = 0;
    if (file)
        fclose(file);
    return get64(&made, (uint8_t *)&packet.timestamp_end);
}

static void test_lost_end(void)
{
    make_guest(&made);
    make_packet(&made, 1, 6, MADE_WHOLE);
    make_packet(&made, 1, 7, MADE_OPEN);
    put64(&made, made_control(&made, 0) + offsetof(struct trace_control, discarded), 5);
    expect(pull_core() == 0 && last_end(1) > 7ull << 20 && last_end(0) == last_end(1),
           "a loss up to the end lasts until the latest time of any CPU");
}

static void test_packets(void)
{
    make_guest(&made);
    make_packet(&made, 0, 4, MADE_TORN);
    put32(&made, made_packet(&made, 0, 4) + (TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS + 150) * 8, 0);
    bool cut = pull_core() == 0 && came(0, 4, 3, 6, 1) && came(1, 4, 3, 6, 0);
    expect(cut && look(0).events == 3 * MAKE_EVENTS + MAKE_EVENTS / 2, "a hole cuts its packet");
    make_guest(&made);
    make_packet(&made, 1, 6, MADE_WHOLE);
    make_packet(&made, 1, 7, MADE_OPEN);
    expect(pull_core() == 0 && came(1, 4, 4, 7, 0), "data overwritten by a newer packet is not returned");
    make_index(&made, 1, 8ull * MAKE_BUFFER_BYTES / 8 + 40); /* switched to, header not yet written */
    expect(pull_core() == 0 && came(1, 3, 5, 7, 1) && look(1).missing == 0,
           "a buffer that was just taken is gone, and nothing was logged in its new packet");
    uint8_t *committed = made_packet(&made, 1, 8) + offsetof(struct trace_packet, committed);
    put64(&made, committed, 12);
    expect(pull_core() == 1 && came(1, 3, 5, 7, 1) && look(1).missing == 1,
           "events that others logged there before its header was written are lost");
    put64(&made, committed, MAKE_BUFFER_BYTES / 8 + 12);
    expect(pull_core() == 1 && look(1).missing == 1, "this also holds if its count is still the old one");
    put64(&made, committed, 0);
    make_index(&made, 1, 8ull * MAKE_BUFFER_BYTES / 8 + 1500);
    expect(pull_core() == 1 && look(1).missing == 1, "a count of nothing is not believed beside many events");
    make_guest(&made);
    make_packet(&made, 1, 6, MADE_WHOLE);
    make_index(&made, 1, 7ull * MAKE_BUFFER_BYTES / 8 + TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS);
    expect(pull_core() == 0 && came_missing(1, 3, 4, 6, 0), "a packet without events is no loss");
    make_guest(&made);
    make_packet(&made, 1, MAKE_FIRST + MAKE_BUFFERS - 1, MADE_WHOLE);
    make_index(&made, 1, ((MAKE_FIRST + MAKE_BUFFERS) * (MAKE_BUFFER_BYTES / 8) - 1) | TRACE_INDEX_CLOSED);
    expect(pull_core() == 0 && all_came(),
           "a full ring: its oldest packet, and the last one, which is closed");
    make_guest(&made);
    make_index(&made, 0, 77ull << 40);
    make_index(&made, 1, 3);
    expect(pull_core() == 0 && look(0).packets == 4 && look(1).packets == 4,
           "an index that makes no sense is not needed");
    make_guest(&made);
    put64(&made, made_packet(&made, 0, 4) + offsetof(struct trace_packet, timestamp_begin), 1ull << 60);
    put64(&made, made_packet(&made, 0, 4) + offsetof(struct trace_packet, timestamp_end), 1ull << 60);
    expect(pull_core() == 1 && came_missing(0, 3, 3, 6, 1),
           "a packet of a far future is lost, those behind it are not");
    make_guest(&made);
    memset(made_packet(&made, 0, 3), 0x5a, MAKE_BUFFER_BYTES);
    expect(pull_core() == 0 && came_missing(0, 3, 4, 6, 0), "the oldest buffer scribbled over");
    make_guest(&made);
    memset(made_packet(&made, 0, 6), 0x5a, MAKE_BUFFER_BYTES);
    expect(pull_core() == 1 && came_missing(0, 3, 3, 5, 1), "the open buffer scribbled over is lost");
}

static void test_metadata(void)
{
    uint8_t *uuid = made_store(&made) + offsetof(struct trace_store, uuid);

    make_guest(&made);
    made.ram[0x10000] ^= 1;
    expect(pull_core() == 0 && all_came(), "without the guest's metadata the program's own serve");
    uuid[3] ^= 1;
    seal_store(&made);
    expect(pull_core() == 2, "the program's own metadata is not used for another schema");
}

/* A PC with more memory than fits below the devices. */
static void test_hole_in_memory(void)
{
    const uint64_t low = 2 * GIB;
    int fd;

    made.base = made.ring_base = 4 * GIB;
    made.store_at = made.base + MAKE_STORE_AT;
    make_guest(&made);
    for (int split = 0; split < 2; split++) {
        fd = open(ram_path, O_RDWR | O_CREAT | O_TRUNC, 0666);
        if (ftruncate(fd, (off_t)(low + MAKE_BYTES)) ||
            pwrite(fd, made.ram, MAKE_BYTES, (off_t)low) != MAKE_BYTES ||
            (split && pwrite(fd, made.ram, MAKE_BYTES, 0) != MAKE_BYTES)) {
            printf("Bail out! no space for a large file: %s\n", strerror(errno));
            exit(1);
        }
        close(fd);
        expect(pull("ram", ram_path) == 0 && all_came(),
               split ? "ram: with a low store and high rings" : "ram: of a guest with memory above 4 GiB");
        made.base = 0;
        made.store_at = MAKE_STORE_AT;
        make_guest(&made);
    }
    unlink(ram_path);
    made.ring_base = 0;
}

/* A machine whose RAM does not begin at 0: below or above 4 GiB. */
static void test_ram_elsewhere(void)
{
    static const uint64_t bases[] = {2 * GIB, 64 * GIB};

    for (unsigned i = 0; i < 2; i++) {
        made.base = made.ring_base = bases[i];
        made.store_at = made.base + MAKE_STORE_AT;
        make_guest(&made);
        write_file(ram_path, made.ram, MAKE_BYTES);
        expect(pull("ram", ram_path) == 0 && all_came(),
               i == 0 ? "ram: that begins at 2 GiB" : "ram: that begins at 64 GiB");
        made_store(&made)[300] ^= 1;
        write_file(ram_path, made.ram, MAKE_BYTES);
        expect(pull("ram", ram_path) == 2, "a damaged store there");
    }
    made.base = made.ring_base = 0;
    made.store_at = MAKE_STORE_AT;
}

static void test_files(void)
{
    struct stat about;
    bool ok = true;

    make_guest(&made);
    write_core(core_path, &made);
    stat(core_path, &about);
    for (off_t size = about.st_size - 1; size > 0 && ok; size = size * 2 / 3) {
        int status = truncate(core_path, size) == 0 ? pull("core", core_path) : -1;
        ok = status >= 0 && status <= 2;
    }
    expect(ok, "a dump that was cut short, anywhere");
    write_file(core_path,
               "\x7f"
               "ELF",
               4);
    expect(pull("core", core_path) == 2 && pull("core", "/dev/null") == 2 && pull("core", scratch) == 2 &&
               pull("core", "/nowhere") == 2 && pull("ram", "/dev/null") == 2 && pull("ram", scratch) == 2 &&
               pull("gdb", "/nowhere") == 2 && pull("gdb", "nowhere") == 2 && pull("ram", core_path) == 2,
           "what is no memory");
}

/* ---- mutations ---- */

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state * 0x2545f4914f6cdd1dull >> 16) % below;
}

/* Damages a word of 0: the store, 1: info and control pages, 2: packet headers, 3: events. */
static void damage(unsigned what)
{
    static const uint64_t values[] = {0,          1,          0x7fffffff,           0xffffffff,    UINT64_MAX,
                                      1ull << 63, 1ull << 40, TRACE_BUFFERS_OFFSET, 16 * 1024 * 8, 4096};
    uint32_t cpu = (uint32_t)draw(MAKE_CPUS);
    uint8_t *packet = made_packet(&made, cpu, draw(MAKE_BUFFERS));
    uint8_t *at[] = {made_store(&made) + draw(63) * 8,
                     draw(2) ? made_control(&made, cpu) + draw(4) * 8
                             : made.ram + MAKE_INFO_AT + draw(128) * 8,
                     packet + draw(15) * 8, packet + draw(MAKE_BUFFER_BYTES / 8) * 8};

    switch (draw(4)) {
    case 0:
        put64(&made, at[what], values[draw(10)]);
        break;
    case 1:
        put32(&made, at[what] + 4 * draw(2), (uint32_t)values[draw(10)]);
        break;
    case 2:
        put64(&made, at[what], get64(&made, at[what]) + draw(65) * 64 - 2048);
        break;
    default:
        at[what][draw(8)] ^= (uint8_t)(1 << draw(8));
    }
}

static void test_mutations(unsigned what, const char *name, unsigned count)
{
    bool ok = true;

    for (unsigned i = 0; i < count && ok; i++) {
        made.big = i % 2;
        make_guest(&made);
        for (uint64_t hits = 1 + draw(4); hits > 0; hits--)
            damage(what);
        seal_store(&made);
        int status = pull_core();
        ok = status >= 0 && status <= 2;
        if (ok && status < 2) {
            status = check_output();
            ok = status >= 0 && status <= 2;
        }
    }
    check(ok, "%s", name);
}

int main(int argc, char **argv)
{
    unsigned mutations = argc > 1 ? (unsigned)atoi(argv[1]) : 300;

    random_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 4711;
    make_scratch();
    snprintf(output, sizeof(output), "%s/out", scratch);
    snprintf(core_path, sizeof(core_path), "%s/core", scratch);
    snprintf(ram_path, sizeof(ram_path), "%s/ram", scratch);
    snprintf(socket_path, sizeof(socket_path), "%s/gdb", scratch);
    made = (struct made){.ram = malloc(MAKE_BYTES), .store_at = MAKE_STORE_AT};
    for (int big = 0; big < 2; big++) {
        made.big = big;
        test_ways();
        test_stores();
        test_no_previous();
        test_packets();
        test_lost_end();
        test_metadata();
        test_hole_in_memory();
        test_ram_elsewhere();
        made.store_at = MAKE_STORE_AT;
        test_files();
    }
    test_mutations(0, "mutated stores", mutations);
    test_mutations(1, "mutated info and control pages", mutations);
    test_mutations(2, "mutated packet headers", mutations);
    test_mutations(3, "mutated events", mutations);
    free(made.ram);
    return finish_tests();
}
