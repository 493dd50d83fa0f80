/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/test/segment_test.c - tests segments over a link that drops, duplicates, changes, invents and delays
 * bytes.
 *
 * Two streams and both directions of a link run on a clock of the test. What one side writes is a function of
 * its position, so the other side can check each byte. Built with sanitizers; prints TAP.
 */
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <trace/format/segment.h>

#define STEP_NS   1000000ull
#define OUT_BYTES 65536u
#define IN_BYTES  32768u
#define LINK_MAX  (1u << 20)

static uint64_t seed;

static uint64_t random64(void)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static size_t below(size_t limit)
{
    return limit ? (size_t)(random64() % limit) : 0;
}

struct line { /* one direction: bytes in transit, and a piece kept for a late duplicate */
    uint8_t bytes[LINK_MAX];
    size_t size;
    uint8_t old[4096];
    size_t old_size;
};

struct side {
    struct segment_stream stream;
    uint8_t out[OUT_BYTES], in[IN_BYTES];
    uint64_t written, read;
    uint8_t salt;
    bool wrong;
};

static struct side host, guest;
static struct line up, down; /* to the host, to the guest */
static uint64_t now;
static unsigned fault_percent; /* of the pieces that a line delivers */
static unsigned long faults;

static uint8_t byte_at(uint8_t salt, uint64_t position)
{
    return (uint8_t)((position * 0x9e3779b97f4a7c15ull >> 56) ^ salt);
}

static void remove_bytes(struct line *line, size_t at, size_t size)
{
    memmove(line->bytes + at, line->bytes + at + size, line->size - at - size);
    line->size -= size;
}

static void insert_bytes(struct line *line, size_t at, const uint8_t *bytes, size_t size)
{
    if (line->size + size > LINK_MAX)
        return;
    memmove(line->bytes + at + size, line->bytes + at, line->size - at);
    memcpy(line->bytes + at, bytes, size);
    line->size += size;
}

static void damage(struct line *line)
{
    uint8_t piece[4096];
    size_t at = below(line->size), size = 1 + below(below(2) ? 8 : 4096);

    if (line->size == 0)
        return;
    if (size > line->size - at)
        size = line->size - at;
    memcpy(piece, line->bytes + at, size);
    faults++;
    switch (below(6)) {
    case 0:
        remove_bytes(line, at, size);
        break;
    case 1:
        insert_bytes(line, at, piece, size);
        break;
    case 2:
        line->bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 3:
        for (size_t i = 0; i < size; i++)
            line->bytes[at + i] = (uint8_t)random64();
        break;
    case 4:
        insert_bytes(line, at, line->old, line->old_size);
        memcpy(line->old, piece, size);
        line->old_size = size;
        break;
    case 5:
        line->size = 0;
        break;
    }
}

static void send_out(struct side *side, struct line *line)
{
    static uint8_t buffer[16384];
    size_t size;

    while (line->size < LINK_MAX / 2 &&
           (size = segment_output(&side->stream, buffer, SEGMENT_BYTES_MAX + below(10000), now)) > 0)
        insert_bytes(line, line->size, buffer, size);
}

/* Delivers some of the bytes in transit, in pieces of any size. */
static void deliver(struct line *line, struct side *side)
{
    if (below(100) < fault_percent)
        damage(line);
    size_t size = below(4) ? line->size : below(line->size + 1);
    for (size_t at = 0; at < size;) {
        size_t part = 1 + below(below(2) ? 100 : 20000);
        part = part < size - at ? part : size - at;
        segment_input(&side->stream, line->bytes + at, part, now);
        at += part;
    }
    remove_bytes(line, 0, size);
}

static void write_some(struct side *side, uint64_t until, size_t most)
{
    uint8_t buffer[8192];
    size_t size = below(most < sizeof(buffer) ? most : sizeof(buffer));

    if (side->stream.state != SEGMENT_IS_OPEN || side->written >= until)
        return;
    for (size_t i = 0; i < size; i++)
        buffer[i] = byte_at(side->salt, side->written + i);
    side->written += segment_write(&side->stream, buffer, size);
}

static void read_some(struct side *side, uint8_t salt)
{
    uint8_t buffer[50000];
    size_t size = segment_read(&side->stream, buffer, below(sizeof(buffer)));

    for (size_t i = 0; i < size; i++)
        side->wrong |= buffer[i] != byte_at(salt, side->read + i);
    side->read += size;
}

static void step(uint64_t host_until, uint64_t guest_until, bool host_reads)
{
    now += STEP_NS;
    write_some(&host, host_until, 300);
    write_some(&guest, guest_until, 8192);
    send_out(&host, &down);
    send_out(&guest, &up);
    deliver(&down, &guest);
    deliver(&up, &host);
    if (guest.stream.offered)
        segment_accept(&guest.stream, now);
    if (host_reads)
        read_some(&host, guest.salt);
    read_some(&guest, host.salt);
}

static void start(uint64_t with, unsigned percent)
{
    seed = with * 0x9e3779b97f4a7c15ull + 1;
    fault_percent = percent;
    up.size = down.size = up.old_size = down.old_size = 0;
    host = (struct side){.salt = 0x11};
    guest = (struct side){.salt = 0x22};
    segment_init(&host.stream, host.out, OUT_BYTES, host.in, IN_BYTES);
    segment_init(&guest.stream, guest.out, OUT_BYTES, guest.in, IN_BYTES);
    segment_open(&host.stream, 1000 + (uint32_t)with, now);
}

/* Runs at most `steps` steps; true when all that was written has arrived. */
static bool exchange(uint64_t host_bytes, uint64_t guest_bytes, unsigned long steps)
{
    while (steps-- > 0 && !(guest.read >= host_bytes && host.read >= guest_bytes &&
                            host.written == guest.read && guest.written == host.read))
        step(host_bytes, guest_bytes, true);
    return guest.read >= host_bytes && host.read >= guest_bytes && !host.wrong && !guest.wrong;
}

static void test_clean(void)
{
    start(1, 0);
    tell(exchange(10000, 4000000, 3000), "a good link: all bytes, both ways, soon");
    tell(host.stream.resent_bytes == 0 && guest.stream.resent_bytes == 0 && host.stream.bad_bytes == 0,
         "a good link: nothing twice, nothing skipped");
}

static void test_faults(void)
{
    bool fine = true;
    uint64_t resent = 0;

    faults = 0;
    for (uint64_t round = 0; round < 60; round++) {
        start(100 + round, 1 + (unsigned)(round % 30));
        bool came = exchange(3000, 1000000, 400000);
        if (!came)
            printf("# round %llu: host read %llu, guest read %llu\n", (unsigned long long)round,
                   (unsigned long long)host.read, (unsigned long long)guest.read);
        fine &= came;
        resent += guest.stream.resent_bytes;
    }
    printf("# %lu faults\n", faults);
    tell(fine && faults > 3000, "thousands of faults: every byte comes, none is wrong");
    tell(resent > 1000000, "thousands of faults: they were repaired by sending again");
}

static void test_window(void)
{
    start(2, 5);
    for (int i = 0; i < 3000; i++)
        step(0, 1000000, false);
    bool held = segment_readable(&host.stream) == IN_BYTES && guest.written <= IN_BYTES + OUT_BYTES;
    tell(held, "a host that does not read: the guest stops at the window");
    tell(host.stream.state == SEGMENT_IS_OPEN && exchange(0, 1000000, 100000), "and goes on when it does");
}

static void test_sessions(void)
{
    start(3, 10);
    bool fine = exchange(100, 100000, 100000);
    uint32_t first = host.stream.session;
    for (uint32_t session = 1; session <= 50 && fine; session++) {
        if (below(2))
            segment_close(&host.stream);
        host.written = host.read = guest.written = guest.read = 0;
        segment_open(&host.stream, first + session, now);
        while (guest.stream.session != first + session) {
            step(0, 0, true); /* what the guest still has of the earlier session is useless */
            guest.written = guest.read = 0;
        }
        guest.written = guest.read = host.written = host.read = 0;
        guest.wrong = false;
        fine = exchange(100, 50000, 100000);
    }
    tell(fine, "sessions that follow each other take nothing from those before");
    segment_close(&host.stream);
    fault_percent = 0;
    for (int i = 0; i < 3000 && guest.stream.state != SEGMENT_CLOSED; i++)
        step(0, 0, true);
    tell(guest.stream.state == SEGMENT_CLOSED, "the host closes: the guest knows");
}

static void test_late_open(void)
{
    uint8_t open[SEGMENT_BYTES_MAX];

    start(4, 0);
    size_t size = segment_output(&host.stream, open, sizeof(open), now);
    segment_input(&guest.stream, open, size, now);
    segment_accept(&guest.stream, now);
    segment_close(&guest.stream);
    segment_input(&guest.stream, open, size, now);
    tell(size == SEGMENT_HEADER_BYTES && guest.stream.offered == 0,
         "an OPEN that comes once more begins nothing");
}

static void test_ends(void)
{
    start(5, 0);
    exchange(100, 1000, 1000);
    segment_cut(&guest.stream); /* as after a restart */
    for (int i = 0; i < 1500; i++)
        step(0, 0, true);
    tell(host.stream.state == SEGMENT_CLOSED, "a guest that does not know the session says so");
    start(6, 0);
    exchange(100, 1000, 1000);
    for (uint64_t from = now; now <= from + SEGMENT_SILENCE_NS; now += STEP_NS)
        send_out(&host, &down);
    send_out(&host, &down);
    tell(host.stream.state == SEGMENT_CLOSED, "a guest that falls silent is given up");
    tell(segment_deadline(&host.stream) == ~0ull, "and nothing is left to do");
}

/* Valid checksums, invalid contents. */
static void test_hostile(void)
{
    static uint8_t bytes[SEGMENT_BYTES_MAX];
    bool fine = true;

    for (uint64_t round = 0; round < 20000; round++) {
        if (round % 100 == 0) {
            start(round, 0);
            exchange(500, 5000, 1000);
        }
        struct side *side = below(2) ? &host : &guest;
        struct segment_stream mirror = side->stream;
        mirror.state = SEGMENT_IS_OPEN;
        mirror.out.bytes = guest.out;
        if (below(2))
            mirror.next += below(100000), mirror.in.end += below(100000);
        mirror.out.end = mirror.next + below(5000);
        mirror.limit = below(4) ? ~0ull : mirror.next;
        mirror.must_acknowledge = true, mirror.must_report_gap = below(2);
        size_t size = segment_output(&mirror, bytes, sizeof(bytes), now);
        uint64_t end = side->stream.in.end;
        segment_input(&side->stream, bytes, size, now);
        fine &= side->stream.in.end - side->stream.in.start <= side->stream.in.size &&
                side->stream.in.end >= end && side->stream.out.start <= side->stream.sent_end &&
                side->stream.next >= side->stream.out.start;
    }
    tell(fine, "a peer that lies changes nothing that it may not");
}

int main(void)
{
    test_clean();
    test_faults();
    test_window();
    test_sessions();
    test_late_open();
    test_ends();
    test_hostile();
    return finish_tests();
}
