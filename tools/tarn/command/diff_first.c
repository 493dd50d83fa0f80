/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * diff_first.c - `tarn diff --first A B`: finds the first event in which two traces of the same run differ,
 * and prints it and the events before it.
 *
 * Compares the events of each CPU in order (read/lockstep.h). The first difference is the one with the
 * earliest time, so each CPU is compared only up to the earliest difference found so far.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/command/diff.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/read/lockstep.h>

struct diff_first {
    const struct diff *diff;
    const struct run *runs[2];
    struct lockstep_types types;
    struct lockstep *pairs; /* one per CPU with events in either trace, sorted by CPU */
    unsigned count;
    uint64_t alike;                 /* events that both traces have, on all CPUs */
    const struct lockstep *differs; /* the CPU with the first difference; NULL: none */
};

static const struct stream *find_stream(const struct run *run, uint32_t cpu)
{
    for (unsigned i = 0; i < run->trace.stream_count; i++)
        if (run->trace.streams[i].cpu == cpu && (run->filter.streams == NULL || run->filter.streams[i]))
            return &run->trace.streams[i];
    return NULL;
}

static struct lockstep *find_pair(const struct diff_first *first, uint32_t cpu)
{
    for (unsigned i = 0; i < first->count; i++)
        if (first->pairs[i].cpu == cpu)
            return &first->pairs[i];
    return NULL;
}

static void add_pair(struct diff_first *first, uint32_t cpu)
{
    struct lockstep *pair = &first->pairs[first->count++];

    *pair = (struct lockstep){.cpu = cpu, .types = &first->types};
    for (unsigned side = 0; side < 2; side++)
        pair->sides[side] = (struct lockstep_side){.trace = &first->runs[side]->trace,
                                                   .filter = &first->runs[side]->filter,
                                                   .stream = find_stream(first->runs[side], cpu),
                                                   .only_order = first->diff->only_order};
}

static int by_cpu(const void *a, const void *b)
{
    const struct lockstep *one = a, *other = b;

    return (one->cpu > other->cpu) - (one->cpu < other->cpu);
}

static void add_pairs(struct diff_first *first)
{
    first->pairs = alloc_zero(first->runs[0]->trace.stream_count + first->runs[1]->trace.stream_count + 1,
                              sizeof(first->pairs[0]));
    for (unsigned side = 0; side < 2; side++) {
        const struct run *run = first->runs[side];

        for (unsigned i = 0; i < run->trace.stream_count; i++)
            if ((run->filter.streams == NULL || run->filter.streams[i]) &&
                find_pair(first, run->trace.streams[i].cpu) == NULL)
                add_pair(first, run->trace.streams[i].cpu);
    }
    qsort(first->pairs, first->count, sizeof(first->pairs[0]), by_cpu);
}

static void walk_pairs(struct diff_first *first, struct diff *diff)
{
    struct reporter *const reporters[2] = {&diff->runs[0]->losses.reporter, &diff->runs[1]->losses.reporter};

    for (unsigned i = 0; i < first->count; i++) {
        struct lockstep *pair = &first->pairs[i];

        lockstep_walk(pair, first->differs != NULL ? first->differs->ticks : UINT64_MAX, reporters);
        first->alike += pair->alike;
        if (pair->difference != LOCKSTEP_ALIKE &&
            (first->differs == NULL || pair->ticks < first->differs->ticks))
            first->differs = pair;
    }
}

/* Ticks that are first walked for the events before the difference; each further try walks eight times as
 * many. */
#define SPAN_FIRST 4096u

struct show {
    const struct diff_first *first;
    bool as_json;
    struct print_sides sides;
};

/* ---- events before the difference ----------------------------------------------------------------- */

/* Returns whether CURSOR, of A, is at or after the difference. */
static bool is_there(const struct diff_first *first, const struct lockstep *pair, const struct cursor *cursor)
{
    const struct lockstep_side *a = &pair->sides[0];
    struct position here, there;

    if (pair != first->differs)
        return cursor->ticks >= first->differs->ticks;
    here = cursor_position(cursor);
    there = cursor_position(&a->cursor);
    return here.packet != there.packet ? here.packet > there.packet : here.event >= there.event;
}

/* Counts A's events between FROM and the difference; if IS_SHOWN, prints all but the first SKIP. */
static uint64_t walk_before(struct show *show, const struct lockstep *pair, uint64_t from, uint64_t skip,
                            bool is_shown)
{
    struct lockstep_side side = {.trace = pair->sides[0].trace, .filter = pair->sides[0].filter};
    uint64_t count = 0;

    cursor_open(&side.cursor, side.trace, pair->sides[0].stream, from, NULL);
    while (lockstep_next(&side) && !is_there(show->first, pair, &side.cursor)) {
        if (side.cursor.ticks < from || count++ < skip || !is_shown)
            continue;
        fputs(show->as_json ? (count == skip + 1 ? "" : ",") : "  ", stdout);
        print_side(&show->sides, 0, &side.cursor);
        fputs(show->as_json ? "" : "\n", stdout);
    }
    cursor_close(&side.cursor);
    return count;
}

static void print_before(struct show *show, const struct lockstep *pair)
{
    uint64_t wanted = show->first->diff->context, last = show->first->differs->ticks + 1, count;

    for (uint64_t span = SPAN_FIRST;; span *= 8) {
        uint64_t from = last > span ? last - span : 0;

        count = walk_before(show, pair, from, 0, false);
        if (count >= wanted || from <= show->first->runs[0]->trace.begin) {
            walk_before(show, pair, from, count > wanted ? count - wanted : 0, true);
            return;
        }
    }
}

/* ---- the difference ------------------------------------------------------------------------------ */

static void print_property(const char *name, unsigned number, bool as_json)
{
    fputs(number == 0 ? "" : as_json ? "," : ", ", stdout);
    if (as_json)
        print_json_string(stdout, name);
    else
        fputs(name, stdout);
}

/* Prints each property in which the two events differ. */
static void print_properties(const struct lockstep *pair, bool as_json)
{
    const struct cursor *a = &pair->sides[0].cursor, *b = &pair->sides[1].cursor;
    bool is_same_kind = strcmp(a->event.type->name, b->event.type->name) == 0;
    unsigned number = 0;

    if (!is_same_kind)
        print_property("event", number++, as_json);
    if (a->ticks != b->ticks && !pair->sides[0].only_order)
        print_property("time", number++, as_json);
    for (unsigned i = 0; is_same_kind && i < a->event.type->field_count; i++)
        if (!lockstep_same_field(pair, &a->event.type->fields[i]))
            print_property(a->event.type->fields[i].name, number++, as_json);
    for (unsigned i = 0; is_same_kind && i < b->event.type->field_count; i++)
        if (schema_find_field(a->event.type, b->event.type->fields[i].name) == NULL)
            print_property(b->event.type->fields[i].name, number++, as_json);
}

static uint64_t packet_of(const struct lockstep *pair, unsigned side)
{
    return pair->sides[side].cursor.packet.header.packet_seq_num;
}

static void print_difference(struct show *show, const struct lockstep *pair)
{
    printf("\nThe first difference: CPU %u, packet %" PRIu64 "\n", pair->cpu,
           packet_of(pair, pair->difference == LOCKSTEP_PACKETS && !pair->lacking));
    for (unsigned side = 0; side < 2; side++) {
        printf("%c ", 'A' + (int)side);
        print_side(&show->sides, side, &pair->sides[side].cursor);
        fputc('\n', stdout);
    }
    if (pair->difference == LOCKSTEP_PACKETS) {
        printf("%c lacks the packets from %" PRIu64 " to %" PRIu64 " of this CPU\n", 'A' + (int)pair->lacking,
               packet_of(pair, !pair->lacking), packet_of(pair, pair->lacking) - 1);
    } else {
        fputs("They differ in: ", stdout);
        print_properties(pair, false);
        fputc('\n', stdout);
    }
    if (show->first->diff->context == 0)
        return;
    puts("\nBefore it, in both:");
    for (unsigned i = 0; i < show->first->count; i++)
        if (show->first->pairs[i].is_joint)
            print_before(show, &show->first->pairs[i]);
}

static void print_difference_json(struct show *show, const struct lockstep *pair)
{
    bool is_packets = pair->difference == LOCKSTEP_PACKETS;
    const char *comma = "";

    printf("{\"cpu\":%u,\"kind\":\"%s\"", pair->cpu, is_packets ? "packets" : "event");
    if (is_packets)
        printf(",\"lacking\":\"%c\",\"from_packet\":%" PRIu64 ",\"to_packet\":%" PRIu64,
               'a' + (int)pair->lacking, packet_of(pair, !pair->lacking), packet_of(pair, pair->lacking) - 1);
    for (unsigned side = 0; side < 2; side++) {
        printf(",\"%c\":{\"packet\":%" PRIu64 ",\"event\":", 'a' + (int)side, packet_of(pair, side));
        print_side(&show->sides, side, &pair->sides[side].cursor);
        fputc('}', stdout);
    }
    fputs(",\"differs\":[", stdout);
    if (!is_packets)
        print_properties(pair, true);
    fputs("],\"before\":[", stdout);
    for (unsigned i = 0; i < show->first->count; i++) {
        if (!show->first->pairs[i].is_joint)
            continue;
        printf("%s{\"cpu\":%u,\"events\":[", comma, show->first->pairs[i].cpu);
        print_before(show, &show->first->pairs[i]);
        fputs("]}", stdout);
        comma = ",";
    }
    fputs("]}", stdout);
}

/* ---- coverage --------------------------------------------------------------------------- */

static void print_cpu(const struct lockstep *pair)
{
    for (unsigned side = 0; side < 2; side++) {
        const struct lockstep_side *here = &pair->sides[side];
        char name = (char)('A' + (int)side), other = (char)('B' - (int)side);

        if (here->stream == NULL)
            printf("CPU %u: %c has no events of this CPU; not compared\n", pair->cpu, name);
        else if (!pair->is_joint && side == 0 && pair->sides[1].stream != NULL)
            printf("CPU %u: the traces have no packet in common; not compared\n", pair->cpu);
        else if (pair->is_joint && here->before != 0)
            printf("CPU %u: %c begins with packet %" PRIu64 ", compared from packet %" PRIu64 " on\n",
                   pair->cpu, other, pair->first_packet, pair->first_packet);
        if (here->after != 0)
            printf("CPU %u: %c ends first; the last %" PRIu64 " events of %c were not compared\n", pair->cpu,
                   other, here->after, name);
    }
}

static void print_cpus_json(const struct diff_first *first)
{
    for (unsigned i = 0; i < first->count; i++) {
        const struct lockstep *pair = &first->pairs[i];

        printf("%s{\"cpu\":%u,\"alike\":%" PRIu64 ",\"first_packet\":", i ? "," : "", pair->cpu, pair->alike);
        printf(pair->is_joint ? "%" PRIu64 : "null", pair->first_packet);
        for (unsigned side = 0; side < 2; side++)
            if (pair->sides[side].stream == NULL)
                printf(",\"%c\":null", 'a' + (int)side);
            else
                printf(",\"%c\":{\"before\":%" PRIu64 ",\"after\":%" PRIu64 "}", 'a' + (int)side,
                       pair->sides[side].before, pair->sides[side].after);
        fputc('}', stdout);
    }
}

static void print_entry_json(const char *name, const char *a, const char *b, unsigned number)
{
    const char *const values[] = {name, a, b};
    static const char *const keys[] = {"{\"name\":", ",\"a\":", ",\"b\":"};

    fputs(number ? "," : "", stdout);
    for (unsigned i = 0; i < 3; i++) {
        fputs(keys[i], stdout);
        print_json_string(stdout, values[i]);
    }
    fputc('}', stdout);
}

/* Prints each entry of the metadata's environment that differs. */
static void print_environment(const struct diff_first *first, bool as_json)
{
    unsigned number = 0;

    for (const struct env_entry *a = first->runs[0]->trace.schema.env; a != NULL; a = a->next)
        for (const struct env_entry *b = first->runs[1]->trace.schema.env; b != NULL; b = b->next)
            if (strcmp(a->name, b->name) != 0 || strcmp(a->text, b->text) == 0)
                continue;
            else if (as_json)
                print_entry_json(a->name, a->text, b->text, number++);
            else
                printf("%s: A has \"%s\", B has \"%s\"\n", a->name, a->text, b->text);
}

static void print_json(struct show *show)
{
    const struct diff_first *first = show->first;

    for (unsigned side = 0; side < 2; side++) {
        printf("%c\"%c\":", side ? ',' : '{', 'a' + (int)side);
        print_json_string(stdout, first->runs[side]->directory);
    }
    for (unsigned side = 0; side < 2; side++) {
        fputs(side ? "},\"b\":{" : ",\"losses\":{\"a\":{", stdout);
        losses_print_json(stdout, &first->runs[side]->losses);
    }
    fputs("}},\"environment\":[", stdout);
    print_environment(first, true);
    printf("],\"alike\":%" PRIu64 ",\"processors\":[", first->alike);
    print_cpus_json(first);
    fputs("],\"difference\":", stdout);
    if (first->differs != NULL)
        print_difference_json(show, first->differs);
    else
        fputs("null", stdout);
    fputs("}\n", stdout);
}

static void print_text(struct show *show)
{
    const struct diff_first *first = show->first;

    printf("A: %s\nB: %s\n", first->runs[0]->directory, first->runs[1]->directory);
    print_environment(first, false);
    for (unsigned i = 0; i < first->count; i++)
        print_cpu(&first->pairs[i]);
    if (first->differs == NULL)
        printf("no difference: %" PRIu64 " events are the same in both\n", first->alike);
    else
        print_difference(show, first->differs);
}

static bool print_first(const struct diff_first *first, struct fail *fail)
{
    struct show show = {.first = first, .as_json = first->diff->output.format == TABLES_JSON};
    bool ok = print_sides_open(&show.sides, &first->runs[0]->trace, &first->runs[1]->trace,
                               show.as_json ? PRINT_JSON : PRINT_TEXT, fail);

    if (ok)
        (show.as_json ? print_json : print_text)(&show);
    print_sides_close(&show.sides);
    return ok;
}

/* ---- both ------------------------------------------------------------------------------------------ */

/* Opens both traces. Times refer to A for both: B may begin later. */
static int open_runs(struct diff *diff)
{
    struct filter *filters[2] = {&diff->runs[0]->filter, &diff->runs[1]->filter};
    struct fail fail;

    for (unsigned side = 0; side < 2; side++)
        if (!diff_open_run(diff, diff->runs[side], &fail))
            return fail_report(&fail, diff->runs[side]->is_missing ? EXIT_DAMAGE : EXIT_USAGE);
    filters[1]->from_ticks = filters[0]->from_ticks;
    filters[1]->to_ticks = filters[0]->to_ticks;
    return EXIT_OK;
}

static int find_and_show(struct diff *diff, struct diff_first *first)
{
    bool is_joint = false;
    struct fail fail;
    int status;

    add_pairs(first);
    walk_pairs(first, diff);
    for (unsigned i = 0; i < first->count; i++)
        is_joint |= first->pairs[i].is_joint;
    for (unsigned side = 0; side < 2; side++)
        diff_tell_losses(diff->runs[side], side == 0 ? "A" : "B");
    if (!is_joint) {
        complain("%s and %s have no packet in common, so they cannot be compared", diff->runs[0]->directory,
                 diff->runs[1]->directory);
        return EXIT_USAGE;
    }
    if (!print_first(first, &fail))
        return fail_report(&fail, EXIT_USAGE);
    status = losses_status(&diff->runs[0]->losses);
    if (status == EXIT_OK)
        status = losses_status(&diff->runs[1]->losses);
    return first->differs != NULL ? EXIT_DAMAGE : status;
}

int diff_first(struct diff *diff)
{
    struct diff_first first = {.diff = diff, .runs = {diff->runs[0], diff->runs[1]}};
    int status = open_runs(diff);

    if (status != EXIT_OK)
        return status;
    lockstep_types_open(&first.types, &diff->runs[0]->trace.schema, &diff->runs[1]->trace.schema);
    status = find_and_show(diff, &first);
    for (unsigned i = 0; i < first.count; i++)
        lockstep_close(&first.pairs[i]);
    free(first.pairs);
    lockstep_types_close(&first.types);
    return status;
}
