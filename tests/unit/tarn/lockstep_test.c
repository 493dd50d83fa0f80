/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/lockstep_test.c - the first difference of two traces (tools/tarn/read/lockstep.h); prints
 * TAP.
 *
 * One trace of three packets is compared with others in which one thing differs, in all pairs of byte orders.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/trace_text.h>
#include <tools/tarn/read/lockstep.h>

#define PACKET_BYTES 65536u
#define EARLY        1250u /* ticks: before all differences */

#define FIRST  "1000 0 trace_context pid=1 tid=2 name=calc\n1100 0 user_text text=one\n1200 0 !lost 0\n"
#define SECOND "1300 0 trace_context pid=1 tid=2 name=calc\n1400 0 user_text text=two\n1500 0 !lost 0\n"
#define THIRD  "1600 0 trace_context pid=1 tid=2 name=calc\n1700 0 sched_enqueue tid=7 cpu=1 length=4\n"

static const struct known_difference {
    const char *what, *text; /* of B; A is FIRST SECOND THIRD */
    enum lockstep_difference difference;
    unsigned removed; /* a packet of B's file, the first is 1; 0: none */
    uint64_t ticks, alike, before[2], after[2];
    unsigned lacking;
} known[] = {
    {"the same", FIRST SECOND THIRD, .alike = 9},
    {"another time",
     FIRST "1300 0 trace_context pid=1 tid=2 name=calc\n1401 0 user_text text=two\n1500 0 !lost 0\n" THIRD,
     LOCKSTEP_EVENT, .ticks = 1400, .alike = 4},
    {"another text",
     FIRST "1300 0 trace_context pid=1 tid=2 name=calc\n1400 0 user_text text=twO\n1500 0 !lost 0\n" THIRD,
     LOCKSTEP_EVENT, .ticks = 1400, .alike = 4},
    {"another number",
     FIRST SECOND "1600 0 trace_context pid=1 tid=2 name=calc\n1700 0 sched_enqueue tid=7 cpu=1 length=5\n",
     LOCKSTEP_EVENT, .ticks = 1700, .alike = 7},
    {"another kind", FIRST SECOND "1600 0 trace_context pid=1 tid=2 name=calc\n1700 0 user_text text=one\n",
     LOCKSTEP_EVENT, .ticks = 1700, .alike = 7},
    {"an event more, which is earlier",
     FIRST "1300 0 trace_context pid=1 tid=2 name=calc\n1350 0 user_text text=new\n1400 0 user_text "
           "text=two\n1500 0 !lost 0\n" THIRD,
     LOCKSTEP_EVENT, .ticks = 1350, .alike = 4},
    {"a packet that is missing", FIRST SECOND THIRD, LOCKSTEP_PACKETS, .removed = 2, .ticks = 1300,
     .alike = 3, .lacking = 1},
    {"a beginning that was lost", FIRST SECOND THIRD, .removed = 1, .alike = 6, .before = {3, 0}},
    {"an end that was not pulled", FIRST SECOND THIRD, .removed = 3, .alike = 6, .after = {2, 0}},
    {"a last packet taken while it was filled", FIRST SECOND "1600 0 trace_context pid=1 tid=2 name=calc\n",
     .alike = 7, .after = {1, 0}},
    {"an event behind the end of the other", FIRST SECOND THIRD "1800 0 user_text text=more\n", .alike = 8,
     .after = {0, 1}},
    {"another text at another time, where only the order counts",
     FIRST "1301 0 trace_context pid=1 tid=3 name=calc\n1399 0 user_text text=twO\n1500 0 !lost 0\n" THIRD,
     LOCKSTEP_EVENT, .ticks = 1400, .alike = 1},
    {"other times and numbers, where only the order counts",
     FIRST "1340 0 trace_context pid=1 tid=3 name=calc\n1401 0 user_text text=two\n1510 0 !lost 0\n"
           "1610 0 trace_context pid=1 tid=2 name=calc\n1707 0 sched_enqueue tid=7 cpu=1 length=5\n",
     .alike = 3},
};

#define ONLY_ORDER 2u /* the last ones: times and numbers do not count */
#define KNOWN      (sizeof(known) / sizeof(known[0]))

static void remove_packet(const char *directory, unsigned number)
{
    static uint8_t bytes[8 * PACKET_BYTES];
    char path[200];
    size_t size, at = (size_t)(number - 1) * PACKET_BYTES;
    FILE *file;

    snprintf(path, sizeof(path), "%s/cpu0", directory);
    file = fopen(path, "rb");
    size = file != NULL ? fread(bytes, 1, sizeof(bytes), file) : 0;
    if (size < at + PACKET_BYTES)
        bail_out("no such packet");
    fclose(file);
    memmove(bytes + at, bytes + at + PACKET_BYTES, size - at - PACKET_BYTES);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, size - PACKET_BYTES, 1, file) != 1)
        bail_out("cannot write");
    fclose(file);
}

static void write_trace(struct trace *trace, const char *name, const char *order, const char *text,
                        unsigned removed)
{
    char directory[100];
    const struct synthetic_options options = {.directory = directory, .order = order};
    struct fail fail;

    snprintf(directory, sizeof(directory), "%s/%s", scratch, name);
    if (!trace_text_write(&options, text, &fail))
        bail_out(fail.text);
    if (removed != 0)
        remove_packet(directory, removed);
    if (!trace_open(trace, directory, &fail))
        bail_out(fail.text);
}

static void walk(struct lockstep *pair, const struct trace traces[2], const struct filter *filter,
                 const struct lockstep_types *types, uint64_t bound, bool only_order)
{
    *pair = (struct lockstep){.types = types};
    for (unsigned side = 0; side < 2; side++) {
        pair->sides[side].trace = &traces[side];
        pair->sides[side].filter = filter;
        pair->sides[side].only_order = only_order;
        pair->sides[side].stream = &traces[side].streams[0];
    }
    lockstep_walk(pair, bound, (struct reporter *const[2]){NULL, NULL});
}

static bool is_as_known(const struct lockstep *pair, const struct known_difference *wanted)
{
    bool ok = pair->difference == wanted->difference && pair->alike == wanted->alike && pair->is_joint &&
              pair->lacking == wanted->lacking &&
              (wanted->difference == LOCKSTEP_ALIKE || pair->ticks == wanted->ticks);

    for (unsigned side = 0; side < 2; side++)
        ok &= pair->sides[side].before == wanted->before[side] &&
              pair->sides[side].after == wanted->after[side];
    if (!ok)
        printf("# difference %u at %lu, %lu alike, before %lu %lu, after %lu %lu, %u lacks\n",
               (unsigned)pair->difference, pair->ticks, pair->alike, pair->sides[0].before,
               pair->sides[1].before, pair->sides[0].after, pair->sides[1].after, pair->lacking);
    return ok;
}

static void test_known(const struct known_difference *wanted, const char *order, const char *other)
{
    struct filter filter = {.to_ticks = UINT64_MAX};
    struct lockstep_types types;
    struct trace traces[2];
    struct lockstep pair;
    bool only_order = wanted >= known + KNOWN - ONLY_ORDER;

    write_trace(&traces[0], "a", order, FIRST SECOND THIRD, 0);
    write_trace(&traces[1], "b", other, wanted->text, wanted->removed);
    lockstep_types_open(&types, &traces[0].schema, &traces[1].schema);
    walk(&pair, traces, &filter, &types, UINT64_MAX, only_order);
    check(is_as_known(&pair, wanted), "%s and %s: %s", order, other, wanted->what);
    lockstep_close(&pair);
    if (wanted->difference != LOCKSTEP_ALIKE) {
        walk(&pair, traces, &filter, &types, EARLY, only_order);
        check(pair.difference == LOCKSTEP_ALIKE || pair.ticks > EARLY,
              "%s and %s: %s, after the time that counts", order, other, wanted->what);
        lockstep_close(&pair);
    }
    lockstep_types_close(&types);
    trace_close(&traces[0]);
    trace_close(&traces[1]);
}

/* Two builds of one program. */
static void test_builds(const char *order)
{
    struct filter filter = {.to_ticks = UINT64_MAX};
    struct lockstep_types types;
    struct trace traces[2];
    struct lockstep pair;

    write_trace(&traces[0], "a", order, FIRST "1300 0 state_image pid=1 build_id_high=1\n", 0);
    write_trace(&traces[1], "b", order, FIRST "1300 0 state_image pid=1 build_id_high=2\n", 0);
    lockstep_types_open(&types, &traces[0].schema, &traces[1].schema);
    walk(&pair, traces, &filter, &types, UINT64_MAX, false);
    check(pair.difference == LOCKSTEP_ALIKE && pair.alike > 3, "%s: other build-ids are no difference",
          order);
    lockstep_close(&pair);
    lockstep_types_close(&types);
    trace_close(&traces[0]);
    trace_close(&traces[1]);
}

int main(void)
{
    static const char *const orders[] = {"le", "be"};

    make_scratch();
    test_builds(orders[0]);
    for (unsigned order = 0; order < 4; order++)
        for (size_t i = 0; i < KNOWN; i++)
            test_known(&known[i], orders[order / 2], orders[order % 2]);
    return finish_tests();
}
