/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/pull_cut_test.c - events that do not decode, on their way into a pulled trace.
 *
 * The packets of a synthetic trace are damaged at known events and given to pull_writer.c, in both byte
 * orders. Then the trace is read: the events that arrived and those reported as lost must add up to those
 * logged. Prints TAP.
 */
#include "fake_hello.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/synthetic.h>
#include <tests/unit/tarn/told.h>
#include <tools/tarn/read/decode.h>
#include <tools/tarn/source/pull_writer.h>
#include <unistd.h>

#define PACKET      16384u
#define DAMAGES_MAX 4u

static char made[64], pulled[64];

/* ---- what the guest logged ------------------------------------------------------------------------- */

static struct trace logged;
static uint8_t *packets; /* of its one processor */
static uint64_t packet_count, events_logged;
static char *metadata;

static struct event_head head_at(uint64_t packet, uint64_t offset)
{
    return event_head(&logged.schema, packets + packet * PACKET + offset);
}

static uint64_t content_of(uint64_t packet)
{
    return load64(packets + packet * PACKET + offsetof(struct trace_packet, content_size),
                  logged.schema.swap) /
           8;
}

static uint64_t count_in_packet(uint64_t packet)
{
    uint64_t count = 0;

    for (uint64_t at = sizeof(struct trace_packet); at < content_of(packet); count++)
        at += head_at(packet, at).words * 8;
    return count;
}

static void log_events(const char *order)
{
    const struct synthetic_options options = {
        .order = order, .directory = made, .cpus = 1, .events = 4000, .packet = PACKET, .uniform = true};
    struct fail fail = {""};

    metadata = synthetic_metadata(&options, &fail);
    if (!metadata || !synthetic_write(&options, NULL, &fail) || !trace_open(&logged, made, &fail))
        bail_out(fail.text);
    packet_count = logged.streams[0].size / PACKET;
    packets = malloc(logged.streams[0].size);
    char path[80];
    snprintf(path, sizeof(path), "%s/cpu0", made);
    int fd = open(path, O_RDONLY);
    if (!packets || fd < 0 || read(fd, packets, packet_count * PACKET) != (ssize_t)(packet_count * PACKET) ||
        packet_count < 6)
        bail_out("the synthetic trace cannot be read");
    close(fd);
    events_logged = 0;
    for (uint64_t i = 0; i < packet_count; i++)
        events_logged += count_in_packet(i);
}

static void forget_events(void)
{
    trace_close(&logged);
    free(packets);
    free(metadata);
}

/* ---- damage ---------------------------------------------------------------------------------------- */

enum damage_kind { UNDECLARED_ID, WRONG_TIME, SHORT_LENGTH, NO_LENGTH, GREAT_LENGTH, DAMAGE_KINDS };
static const char *const kind_names[] = {"an undeclared id", "a wrong time", "a short length", "no length",
                                         "a length beyond the content"};

struct damage {
    enum damage_kind kind;
    uint64_t packet, event; /* the event's number in the packet; the next one with a field is taken */
};

/* At its end is the end event, which is none of these. */
static uint64_t find_event(const struct damage *damage)
{
    uint64_t at = sizeof(struct trace_packet), content = content_of(damage->packet);

    for (uint64_t i = 0; at < content - 8; i++) {
        if (i >= damage->event && head_at(damage->packet, at).words > 1)
            return at;
        at += head_at(damage->packet, at).words * 8;
    }
    bail_out("a packet without the event that was to be damaged");
    return 0;
}

static void damage_event(const struct damage *damage, uint64_t at)
{
    const uint64_t rest = (content_of(damage->packet) - at) / 8;
    struct event_head head = head_at(damage->packet, at);
    uint8_t *event = packets + damage->packet * PACKET + at;

    switch (damage->kind) {
    case UNDECLARED_ID:
        head.id = TRACE_ID(TRACE_CLASS_APP_FIRST, 4000);
        break;
    case WRONG_TIME:
        head.time += 1u << 31;
        break;
    case SHORT_LENGTH:
        head.words--;
        break;
    case NO_LENGTH:
        head.words = 0;
        break;
    default:
        head.words = rest < TRACE_LENGTH_MAX ? (uint32_t)rest + 1 : TRACE_LENGTH_MAX;
    }
    synthetic_event(&logged.schema, event, head.id, head.words, head.time);
}

static void do_damage(const struct damage *damages, unsigned count)
{
    uint64_t at[DAMAGES_MAX];

    for (unsigned i = 0; i < count; i++)
        at[i] = find_event(&damages[i]);
    for (unsigned i = 0; i < count; i++)
        damage_event(&damages[i], at[i]);
}

/* ---- pulling and reading --------------------------------------------------------------------------- */

static void start_writer(struct trace_writer *writer)
{
    const struct wire_hello hello =
        fake_hello("made", logged.schema.big_endian, 1, PACKET, logged.schema.tsdl.uuid);
    struct fail fail;

    if (!open_trace_writer(writer, pulled, true, &hello, &fail))
        bail_out(fail.text);
}

static bool write_one(struct trace_writer *writer, uint64_t number, struct fail *fail)
{
    const uint64_t content = content_of(number);
    const struct source_item item = {.kind = SOURCE_PACKET,
                                     .bytes = packets + number * PACKET,
                                     .size = content + 8 < PACKET ? content + 8 : PACKET,
                                     .packet = {.cpu = 0, .sequence = number}};
    return write_packet(writer, &item, fail);
}

/* Whether the guest's last status says how many events it has logged. */
static bool guest_tells = true;

/* All packets, as a guest that has discarded nothing sends them. */
static void pull_all(struct trace_writer *writer)
{
    const struct wire_status status = {.count = 1};
    const struct wire_cpu_status cpu = {.next = packet_count,
                                        .head = packet_count,
                                        .events = guest_tells ? events_logged - packet_count
                                                              : TRACE_EVENTS_UNKNOWN};
    struct fail fail;

    start_writer(writer);
    bool ok = write_metadata(writer, (const uint8_t *)metadata, strlen(metadata), &fail);
    for (uint64_t i = 0; ok && i < packet_count; i++)
        ok = write_one(writer, i, &fail);
    if (!ok || !write_closing(writer, &status, &cpu, true, &fail) || !finish_trace_writer(writer, &fail))
        bail_out(fail.text);
}

/* A wrong length leaves only a guess of how many events lie behind it: if no count behind the packet tells.
 */
static bool leads_on(enum damage_kind kind)
{
    return kind == UNDECLARED_ID || kind == WRONG_TIME;
}

static bool is_right(const struct damage *damages, unsigned count)
{
    struct trace_writer writer;
    uint64_t cut = 0;
    bool is_least = false;

    do_damage(damages, count);
    for (unsigned i = 0; i < count; i++) {
        cut += i == 0 || damages[i].packet != damages[i - 1].packet;
        is_least |= !guest_tells && damages[i].packet == packet_count - 1 && !leads_on(damages[i].kind);
    }
    pull_all(&writer);
    const struct told told = read_trace(pulled);
    const uint64_t others = told_others(&told, ANOMALY_CUT, ANOMALY_LOST_EVENTS);
    const bool all = told.events + told.lost_events == events_logged;
    bool right = (all || is_least) && told.lost_events == writer.cut_off && told.unknown == 0 &&
                 told.events == writer.events && told.kinds[ANOMALY_CUT] == cut && others == 0 &&
                 writer.undecoded == cut && writer.cut == cut && writer.cut_off_is_least == is_least &&
                 writer.refused == 0 && writer.missing == 0 && count_discarded(&writer) == 0;
    if (!right)
        printf("# %llu events logged; %llu read, %llu reported as lost, %llu counted as lost; %llu packets "
               "cut of "
               "%llu, %llu refused, %llu reports of damage, at least %d, expected %d\n",
               (unsigned long long)events_logged, (unsigned long long)told.events,
               (unsigned long long)told.lost_events, (unsigned long long)writer.cut_off,
               (unsigned long long)writer.undecoded, (unsigned long long)cut,
               (unsigned long long)writer.refused, (unsigned long long)others, writer.cut_off_is_least,
               is_least);
    close_trace_writer(&writer);
    return right;
}

static void expect(const char *order, const char *what, const struct damage *damages, unsigned count)
{
    log_events(order);
    check(is_right(damages, count), "%s, %s", order, what);
    forget_events();
}

/* ---- the cases ------------------------------------------------------------------------------------- */

static void test_kinds(const char *order)
{
    for (int kind = 0; kind < DAMAGE_KINDS; kind++) {
        char what[100];
        snprintf(what, sizeof(what), "%s: all the rest is there, and the loss is reported", kind_names[kind]);
        expect(order, what, &(struct damage){(enum damage_kind)kind, 2, 30}, 1);
    }
}

static void test_places(const char *order)
{
    log_events(order);
    const uint64_t last = packet_count - 1, late = count_in_packet(1) - 4;
    forget_events();
    const struct damage first = {NO_LENGTH, 0, 10}, final = {UNDECLARED_ID, last, 10},
                        second = {SHORT_LENGTH, 1, 5}, third = {UNDECLARED_ID, 1, 15},
                        fourth = {WRONG_TIME, 2, 20};

    expect(order, "nothing", NULL, 0);
    expect(order, "in the first packet", &first, 1);
    expect(order, "in the last packet", &final, 1);
    guest_tells = false;
    expect(order, "in the last packet, and no count behind it", &final, 1);
    expect(order, "a wrong length there", &(struct damage){NO_LENGTH, last, 10}, 1);
    guest_tells = true;
    expect(order, "behind the context event", &(struct damage){WRONG_TIME, 3, 1}, 1);
    expect(order, "near the end of a packet", &(struct damage){NO_LENGTH, 1, late}, 1);
    expect(order, "in packets one behind the other", (struct damage[]){first, third, fourth}, 3);
    expect(order, "two in a packet", (struct damage[]){second, third}, 2);
    expect(
        order, "four in a row that are undeclared",
        (struct damage[]){
            {UNDECLARED_ID, 1, 20}, {UNDECLARED_ID, 1, 21}, {UNDECLARED_ID, 1, 22}, {UNDECLARED_ID, 1, 23}},
        4);
}

static void test_any(const char *order)
{
    unsigned right = 0, rounds = 60;
    struct damage damages[DAMAGES_MAX];

    srandom(7);
    for (unsigned round = 0; round < rounds; round++) {
        unsigned count = 1 + (unsigned)random() % DAMAGES_MAX;
        log_events(order);
        for (unsigned i = 0; i < count; i++)
            damages[i] =
                (struct damage){(enum damage_kind)(random() % DAMAGE_KINDS),
                                i * packet_count / count + (uint64_t)random() % (packet_count / count),
                                1 + (uint64_t)random() % 60};
        right += is_right(damages, count);
        forget_events();
    }
    check(right == rounds, "%s, %u of %u damaged in some places", order, right, rounds);
}

/* Nothing is left of a packet whose first event does not decode. */
static void test_first_event(const char *order)
{
    struct trace_writer writer;

    log_events(order);
    do_damage(&(struct damage){UNDECLARED_ID, 2, 0}, 1);
    const uint64_t gone = count_in_packet(2);
    pull_all(&writer);
    const struct told told = read_trace(pulled);
    check(writer.refused == 1 && writer.missing == 1 && told.lost_packets == 1 &&
              told.events == events_logged - gone,
          "%s, a packet that begins with no event is refused and counted as missing", order);
    close_trace_writer(&writer);
    forget_events();
}

/* What a link that breaks leaves: the guest has not said its last counts. */
static void test_no_status(const char *order)
{
    struct trace_writer writer;
    struct fail fail;

    log_events(order);
    do_damage(&(struct damage){WRONG_TIME, 1, 30}, 1);
    start_writer(&writer);
    bool ok = write_metadata(&writer, (const uint8_t *)metadata, strlen(metadata), &fail) &&
              write_one(&writer, 0, &fail) && write_one(&writer, 1, &fail) &&
              write_closing(&writer, &(struct wire_status){0}, NULL, false, &fail);
    const struct told told = read_trace(pulled);
    check(ok && told.events + told.lost_events == count_in_packet(0) + count_in_packet(1) &&
              told.lost_events > 0 && told.lost_packets == 0,
          "%s, the loss in the last packet is reported when nothing else is known", order);
    close_trace_writer(&writer);
    forget_events();
}

/* A snapshot of a CPU whose packets were all overwritten before they were sent. */
static void test_overwritten(const char *order)
{
    const struct wire_cpu_status cpu = {.next = 9, .head = 9, .lost = 4, .events = TRACE_EVENTS_UNKNOWN};
    struct trace_writer writer;
    struct fail fail;

    log_events(order);
    start_writer(&writer);
    bool ok = write_metadata(&writer, (const uint8_t *)metadata, strlen(metadata), &fail) &&
              write_closing(&writer, &(struct wire_status){.count = 1, .time = 5000}, &cpu, true, &fail) &&
              finish_trace_writer(&writer, &fail);
    const struct told told = read_trace(pulled);
    check(ok && told.events == 0 && told.unknown == 1 && writer.missing == 4,
          "%s, a CPU of which nothing was left has lost an unknown number of events", order);
    close_trace_writer(&writer);
    forget_events();
}

/* Metadata that cannot be parsed, perhaps of a newer system: the packets come all the same. */
static void test_unparsable(const char *order)
{
    struct trace_writer writer;
    struct fail fail = {""};
    char text[200] = "/* CTF 1.8 ", *to = text + strlen(text);

    log_events(order);
    for (int i = 0; i < 16; i++)
        to +=
            sprintf(to, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", logged.schema.tsdl.uuid[i]);
    strcpy(to, " */ gibberish ");
    do_damage((struct damage[]){{UNDECLARED_ID, 0, 30}, {NO_LENGTH, 1, 30}}, 2);
    start_writer(&writer);
    bool ok = write_metadata(&writer, (const uint8_t *)text, strlen(text), &fail);
    check(ok && !writer.have_schema && strstr(fail.text, "gibberish") != NULL,
          "%s, unparsable metadata is written, and the error is reported", order);
    ok = write_one(&writer, 0, &fail) && write_one(&writer, 1, &fail);
    check(ok && writer.packets == 1 && writer.events == count_in_packet(0) && writer.refused == 1 &&
              writer.undecoded == 0,
          "%s, then events are checked only by their lengths", order);
    close_trace_writer(&writer);
    forget_events();
}

int main(void)
{
    static const char *const orders[] = {"le", "be"};

    make_scratch();
    snprintf(made, sizeof(made), "%s/made", scratch);
    snprintf(pulled, sizeof(pulled), "%s/pulled", scratch);
    for (int i = 0; i < 2; i++) {
        test_kinds(orders[i]);
        test_places(orders[i]);
        test_any(orders[i]);
        test_first_event(orders[i]);
        test_no_status(orders[i]);
        test_overwritten(orders[i]);
        test_unparsable(orders[i]);
    }
    return finish_tests();
}
