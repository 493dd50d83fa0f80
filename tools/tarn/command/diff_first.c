/*
 * diff_first.c - `tarn diff --first A B`: finds the earliest event in which two traces of the same run
 * differ.
 *
 * The events of each CPU are compared in order, packets matched by number, up to the earliest difference
 * found so far. Types and fields are matched by name, so the traces may have different schema versions or
 * byte orders. Build-ids are not compared: two builds do the same as long as their events are the same.
 */
#include <inttypes.h>
#include <tools/tarn/command/diff.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/relation/relation.h>

struct side {
    const struct trace *trace;
    const struct filter *filter;
    struct reporter *reporter;
    struct printer printer;
    char *list_text;             /* buffer for a list as text */
    const struct stream *stream; /* NULL: the trace has no stream of this CPU */
    struct cursor cursor;
    bool has_event;
    uint64_t before; /* events before the first common packet */
    uint64_t after;  /* events after the last common event */
};

struct lockstep {
    struct side sides[2];
    bool only_order;    /* neither times nor numbers nor packets are compared */
    bool has_same_text; /* the metadata is the same, so equal bytes mean the same */
    bool is_joint;      /* some CPU has a packet that is in both traces */
    uint64_t alike;     /* events that both traces have, on all CPUs */
    uint64_t ticks;     /* of the first difference; UINT64_MAX: none */
    char *difference;   /* in words */
};

static bool is_compared(const struct field *field, bool only_order)
{
    bool is_text = field->kind == FIELD_TEXT || field->kind == FIELD_STRING;
    return strncmp(field->name, "build_id", strlen("build_id")) != 0 &&
           (!only_order || is_text || field->kind == FIELD_ENUM);
}

static bool is_number(const struct field *field)
{
    return field->kind == FIELD_INTEGER || field->kind == FIELD_ENUM;
}

/* Whether A's FIELD has the same value in B's event, or is not compared. */
static bool is_same_field(const struct lockstep *lockstep, const struct field *field)
{
    const struct side *a = &lockstep->sides[0], *b = &lockstep->sides[1];
    const struct event *event = &a->cursor.event, *other = &b->cursor.event;
    const struct field *match = schema_find_field(other->type, field->name);
    struct value left, right;
    if (!is_compared(field, lockstep->only_order))
        return true;
    if (match == NULL || is_number(field) != is_number(match))
        return false;
    if (is_number(field))
        return field_integer(field, event->bytes) == field_integer(match, other->bytes);
    left = value_of_field(field, event, a->list_text);
    right = value_of_field(match, other, b->list_text);
    return left.length == right.length && memcmp(left.text, right.text, left.length) == 0;
}

static unsigned note(FILE *to, unsigned count, const char *name)
{
    if (to != NULL)
        fprintf(to, "%s%s", count > 0 ? ", " : "", name);
    return count + 1;
}

/* Returns in how many properties the two events differ; writes their names to TO, unless it is NULL. */
static unsigned count_differences(const struct lockstep *lockstep, FILE *to)
{
    const struct cursor *a = &lockstep->sides[0].cursor, *b = &lockstep->sides[1].cursor;
    const struct event_type *type = a->event.type, *other = b->event.type;
    unsigned count = 0;
    if (a->ticks != b->ticks && !lockstep->only_order)
        count = note(to, count, "time");
    if (strcmp(type->name, other->name) != 0)
        return note(to, count, "event");
    if (lockstep->has_same_text && a->event.words == b->event.words &&
        memcmp(a->event.bytes, b->event.bytes, a->event.words * 8ul) == 0)
        return count;
    for (unsigned i = 0; i < type->field_count; i++)
        if (!is_same_field(lockstep, &type->fields[i]))
            count = note(to, count, type->fields[i].name);
    for (unsigned i = 0; i < other->field_count; i++)
        if (schema_find_field(type, other->fields[i].name) == NULL)
            count = note(to, count, other->fields[i].name);
    return count;
}

static bool is_id(const struct side *side, uint32_t minor)
{
    return event_id(&side->trace->schema, &side->cursor.event) == TRACE_ID(TRACE_CLASS_TRACE, minor);
}

/* Moves to the next event that passes the filter. Begin and end of packets are where the sizes of events put
 * them, so they have no order of their own. */
static void next(struct side *side, bool only_order)
{
    const struct filter *filter = side->filter;
    struct cursor *cursor = &side->cursor;
    do
        side->has_event = cursor_next(cursor) && cursor->ticks < filter->to_ticks;
    while (side->has_event &&
           (cursor->ticks < filter->from_ticks ||
            (filter->types != NULL && !filter->types[cursor->event.type->index]) ||
            (only_order && (is_id(side, TRACE_MINOR_CONTEXT) || is_id(side, TRACE_MINOR_END)))));
}

static uint64_t packet_of(const struct side *side)
{
    return side->cursor.packet.header.packet_seq_num;
}

static bool is_first_of_packet(const struct side *side)
{
    return side->cursor.event.bytes == side->cursor.packet.bytes + sizeof(struct trace_packet);
}

/* The last packet may have been copied before it was full. Then the puller added its end event. */
static bool is_at_end(const struct side *side)
{
    return !side->has_event ||
           (is_id(side, TRACE_MINOR_END) && side->cursor.next_packet >= side->cursor.stream->size);
}

/* Moves both sides to the first packet that is in both. */
static bool join(struct lockstep *lockstep)
{
    struct side *a = &lockstep->sides[0], *b = &lockstep->sides[1];
    while (a->has_event && b->has_event && packet_of(a) != packet_of(b)) {
        struct side *behind = packet_of(a) < packet_of(b) ? a : b;
        behind->before++;
        next(behind, lockstep->only_order);
    }
    return a->has_event && b->has_event;
}

/* Keeps the difference at which the sides are, unless there is an earlier one. */
static void note_difference(struct lockstep *lockstep, uint32_t cpu)
{
    struct side *a = &lockstep->sides[0], *b = &lockstep->sides[1];
    const bool is_packet = packet_of(a) != packet_of(b) && is_first_of_packet(a) && is_first_of_packet(b);
    const unsigned lacking = is_packet && packet_of(a) < packet_of(b);
    const uint64_t ticks =
        a->cursor.ticks < b->cursor.ticks || lockstep->only_order ? a->cursor.ticks : b->cursor.ticks;
    size_t size;
    if (ticks >= lockstep->ticks)
        return;
    free(lockstep->difference);
    FILE *to = open_memstream(&lockstep->difference, &size);
    fprintf(to, "\nThe first difference: CPU %u, packet %" PRIu64 "\n", cpu,
            packet_of(&lockstep->sides[is_packet && !lacking]));
    for (unsigned i = 0; i < 2; i++) {
        struct side *side = &lockstep->sides[i];
        print_event(&side->printer, &side->cursor);
        fprintf(to, "%c %.*s", 'A' + (int)i, (int)side->printer.out->used, side->printer.out->bytes);
        side->printer.out->used = 0;
    }
    if (is_packet) {
        fprintf(to, "%c lacks the packets from %" PRIu64 " to %" PRIu64 " of this CPU", 'A' + (int)lacking,
                packet_of(&lockstep->sides[!lacking]), packet_of(&lockstep->sides[lacking]) - 1);
    } else {
        fputs("They differ in: ", to);
        count_differences(lockstep, to);
    }
    fputs("\n", to);
    fclose(to);
    lockstep->ticks = ticks;
}

static void compare(struct lockstep *lockstep, uint32_t cpu)
{
    struct side *a = &lockstep->sides[0], *b = &lockstep->sides[1];
    while (a->has_event && b->has_event && count_differences(lockstep, NULL) == 0) {
        if (a->cursor.ticks > lockstep->ticks)
            return;
        lockstep->alike++;
        next(a, lockstep->only_order);
        next(b, lockstep->only_order);
    }
    if (!is_at_end(a) && !is_at_end(b)) {
        note_difference(lockstep, cpu);
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        for (struct side *side = &lockstep->sides[i]; !is_at_end(side); next(side, lockstep->only_order))
            side->after++;
}

/* Prints what was not compared. */
static void print_coverage(const struct lockstep *lockstep, uint32_t cpu, bool is_joint,
                           uint64_t first_packet)
{
    const struct side *sides = lockstep->sides;
    const bool is_in_both = sides[0].stream != NULL && sides[1].stream != NULL;
    if (is_in_both && !is_joint)
        printf("CPU %u: the traces have no packet in common; not compared\n", cpu);
    for (unsigned side = 0; side < 2; side++) {
        const char name = (char)('A' + (int)side), other = (char)('B' - (int)side);
        if (sides[side].stream == NULL)
            printf("CPU %u: %c has no events of this CPU; not compared\n", cpu, name);
        if (is_joint && sides[side].before != 0)
            printf("CPU %u: %c begins with packet %" PRIu64 ", compared from there on\n", cpu, other,
                   first_packet);
        if (sides[side].after != 0)
            printf("CPU %u: %c ends first; the last %" PRIu64 " events of %c were not compared\n", cpu, other,
                   sides[side].after, name);
    }
}

static const struct stream *find_stream(const struct side *side, uint32_t cpu)
{
    for (unsigned i = 0; i < side->trace->stream_count; i++)
        if (side->trace->streams[i].cpu == cpu && (side->filter->streams == NULL || side->filter->streams[i]))
            return &side->trace->streams[i];
    return NULL;
}

static void walk_cpu(struct lockstep *lockstep, uint32_t cpu)
{
    bool is_joint = true;
    for (unsigned i = 0; i < 2; i++) {
        struct side *side = &lockstep->sides[i];
        side->stream = find_stream(side, cpu);
        side->before = side->after = 0;
        side->cursor = (struct cursor){0};
        is_joint &= side->stream != NULL;
    }
    for (unsigned i = 0; i < 2 && is_joint; i++) {
        struct side *side = &lockstep->sides[i];
        cursor_open(&side->cursor, side->trace, side->stream, side->filter->from_ticks, side->reporter);
        next(side, lockstep->only_order);
    }
    is_joint = is_joint && join(lockstep);
    const uint64_t first_packet = is_joint ? packet_of(&lockstep->sides[0]) : 0;
    if (is_joint)
        compare(lockstep, cpu);
    lockstep->is_joint |= is_joint;
    print_coverage(lockstep, cpu, is_joint, first_packet);
    cursor_close(&lockstep->sides[0].cursor);
    cursor_close(&lockstep->sides[1].cursor);
}

/* Opens both traces. Times refer to A for both: B may begin later. Returns the run that failed, or NULL. */
static const struct run *open_sides(struct run *runs, struct lockstep *lockstep, struct out *out,
                                    struct fail *fail)
{
    for (unsigned i = 0; i < 2; i++) {
        struct side *side = &lockstep->sides[i];
        side->trace = &runs[i].trace;
        side->filter = &runs[i].filter;
        side->reporter = &runs[i].losses.reporter;
        if (!diff_open_run(&runs[i], fail))
            return &runs[i];
        side->list_text = alloc_zero(value_list_bytes(&runs[i].trace.schema), 1);
        if (!printer_open(&side->printer, &runs[i].trace, out, PRINT_TEXT, PRINT_TIME_START, fail))
            return &runs[i];
    }
    runs[1].filter.from_ticks = runs[0].filter.from_ticks;
    runs[1].filter.to_ticks = runs[0].filter.to_ticks;
    lockstep->has_same_text = runs[0].trace.schema.text_hash == runs[1].trace.schema.text_hash;
    lockstep->sides[1].printer.start_ns = lockstep->sides[0].printer.start_ns;
    return NULL;
}

static void print_environment(const struct lockstep *lockstep)
{
    for (const struct env_entry *a = lockstep->sides[0].trace->schema.env; a != NULL; a = a->next)
        for (const struct env_entry *b = lockstep->sides[1].trace->schema.env; b != NULL; b = b->next)
            if (strcmp(a->name, b->name) == 0 && strcmp(a->text, b->text) != 0)
                printf("%s: A has \"%s\", B has \"%s\"\n", a->name, a->text, b->text);
}

static int find_and_show(const struct run *runs, struct lockstep *lockstep)
{
    const struct side *sides = lockstep->sides;
    printf("A: %s\nB: %s\n", runs[0].directory, runs[1].directory);
    print_environment(lockstep);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned i = 0; i < sides[side].trace->stream_count; i++) {
            const uint32_t cpu = sides[side].trace->streams[i].cpu;
            if (find_stream(&sides[side], cpu) != NULL && (side == 0 || find_stream(&sides[0], cpu) == NULL))
                walk_cpu(lockstep, cpu);
        }
    diff_tell_losses(&runs[0]);
    diff_tell_losses(&runs[1]);
    if (!lockstep->is_joint) {
        complain("%s and %s have no packet in common, so they cannot be compared", runs[0].directory,
                 runs[1].directory);
        return EXIT_USAGE;
    }
    if (lockstep->difference != NULL) {
        fputs(lockstep->difference, stdout);
        return EXIT_DAMAGE;
    }
    printf("no difference: %" PRIu64 " events are the same in both\n", lockstep->alike);
    const int status = losses_status(&runs[0].losses);
    return status != EXIT_OK ? status : losses_status(&runs[1].losses);
}

int diff_first(struct run *runs, bool only_order)
{
    struct lockstep lockstep = {.only_order = only_order, .ticks = UINT64_MAX};
    struct out out; /* a buffer for one event */
    struct fail fail = {""};
    out_open(&out, -1, 0);
    const struct run *failed = open_sides(runs, &lockstep, &out, &fail);
    const int status = failed == NULL ? find_and_show(runs, &lockstep)
                                      : fail_report(&fail, failed->is_open ? EXIT_USAGE : EXIT_DAMAGE);
    for (unsigned side = 0; side < 2; side++) {
        printer_close(&lockstep.sides[side].printer);
        free(lockstep.sides[side].list_text);
    }
    out_close(&out);
    free(lockstep.difference);
    return status;
}
