/* follower.c - reads the events of a trace that this process writes; see follower.h. */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/keep/follower.h>

#define TEXT_BYTES (1u << 20) /* for the text of one event */

static void on_report(struct reporter *reporter, const struct report *report)
{
    struct follower *follower = OUTER(reporter, struct follower, reporter);
    if (report->anomaly != ANOMALY_END_TIME)
        triggers_forget(follower->triggers);
}

void follower_release(struct follower *follower)
{
    if (!follower->is_open)
        return;
    printer_close(&follower->printer);
    trace_close(&follower->trace);
    follower->is_open = false;
}

void follower_close(struct follower *follower)
{
    follower_release(follower);
    if (follower->has_names)
        names_close(&follower->names);
    follower->has_names = false;
    free(follower->out.bytes);
    follower->out.bytes = NULL;
}

/* Keeps the names that an earlier schema's events contained. */
static void renew_names(struct follower *follower)
{
    struct names old = follower->names;
    names_open(&follower->names, &follower->trace.schema);
    if (follower->has_names) {
        names_copy(&follower->names, &old);
        names_close(&old);
    }
    follower->has_names = true;
}

static bool open_trace(struct follower *follower, struct fail *fail)
{
    unsigned missing;
    struct fail why;
    follower_release(follower);
    if (follower->out.bytes == NULL)
        out_open(&follower->out, -1, TEXT_BYTES);
    if (!trace_open(&follower->trace, follower->writer->directory, fail))
        return false;
    if (!printer_open(&follower->printer, &follower->trace, &follower->out, PRINT_TEXT, PRINT_TIME_CLOCK,
                      fail)) {
        printer_close(&follower->printer);
        trace_close(&follower->trace);
        return false;
    }
    follower->is_open = true;
    renew_names(follower);
    follower->begin_type = schema_find_event(&follower->trace.schema, "lttng_statedump_start");
    follower->end_type = schema_find_event(&follower->trace.schema, "lttng_statedump_end");
    triggers_resolve(follower->triggers, &follower->trace.schema, &missing, &why);
    if (missing > 0 && !follower->has_complained)
        complain("%s; the trigger waits until a program registers it", why.text);
    follower->has_complained = true;
    follower->reporter.report = on_report;
    return true;
}

/* Opens the trace, again if files were replaced or added. */
static bool refresh(struct follower *follower, struct fail *fail)
{
    uint64_t from;
    if (follower->is_open && trace_refresh(&follower->trace, &from) != TRACE_CHANGED)
        return true;
    return open_trace(follower, fail);
}

static void place_streams(struct follower *follower, struct position *positions)
{
    for (unsigned i = 0; i < follower->trace.stream_count; i++) {
        const uint32_t cpu = follower->trace.streams[i].cpu;
        positions[i] = (struct position){follower->trace.streams[i].size, 0};
        if (cpu >= WIRE_CPUS_MAX)
            continue; /* not a file of this pull */
        const uint64_t removed = follower->writer->cpu[cpu].removed_bytes;
        const struct follower_place place = follower->places[cpu];

        if (place.packet >= removed)
            positions[i] = (struct position){place.packet - removed, place.event};
        else /* removed before it was read */
            positions[i] = (struct position){0, 0};
    }
}

static void keep_places(struct follower *follower, const struct position *positions)
{
    for (unsigned i = 0; i < follower->trace.stream_count; i++) {
        const uint32_t cpu = follower->trace.streams[i].cpu;
        if (cpu >= WIRE_CPUS_MAX)
            continue;
        follower->places[cpu] = (struct follower_place){
            positions[i].packet + follower->writer->cpu[cpu].removed_bytes, positions[i].event};
    }
}

const char *follower_text(struct follower *follower, const struct cursor *cursor)
{
    char *text, *end;
    follower->out.used = 0;
    print_event(&follower->printer, cursor);
    end = out_reserve(&follower->out, 1);
    *end = '\0';
    if (end > follower->out.bytes && end[-1] == '\n')
        end[-1] = '\0';
    text = strstr(follower->out.bytes, cursor->event.type->name);
    return text != NULL ? text : follower->out.bytes;
}

static void fire(struct follower *follower, const struct cursor *cursor, uint32_t wanted)
{
    for (; wanted != 0; wanted &= wanted - 1) {
        struct trigger *trigger = &follower->triggers->items[__builtin_ctz(wanted)];
        uint64_t begin;
        if (!trigger_fires(trigger, cursor, &follower->names, &begin))
            continue;
        follower->on_trigger(follower->context, trigger, cursor, begin);
    }
}

static void on_statedump(struct follower *follower, const struct cursor *cursor)
{
    if (cursor->event.type == follower->begin_type) {
        follower->begun = cursor->ticks;
    } else if (follower->begun != 0) {
        follower->dump_begin = follower->begun;
        follower->dump_end = cursor->ticks;
        follower->begun = 0;
    }
}

static void walk(struct follower *follower, struct merge *merge, uint64_t time)
{
    const struct event_type *const begin = follower->begin_type, *const end = follower->end_type;
    struct cursor *cursor = merge_next(merge);
    for (; cursor != NULL && cursor->ticks < time; cursor = merge_next(merge)) {
        const struct event_type *type = cursor->event.type;
        uint32_t wanted = follower->triggers->wanted[type->index];
        names_learn(&follower->names, &cursor->event);
        if (__builtin_expect(type == begin || type == end, 0))
            on_statedump(follower, cursor);
        if (__builtin_expect(wanted != 0, 0))
            fire(follower, cursor, wanted);
    }
}

bool follower_read(struct follower *follower, uint64_t time, struct fail *fail)
{
    struct position *positions;
    struct merge merge;
    if (!refresh(follower, fail))
        return false;
    positions = alloc_zero(follower->trace.stream_count + 1, sizeof(positions[0]));
    place_streams(follower, positions);
    merge_open_at(&merge, &follower->trace, positions, &follower->reporter);
    walk(follower, &merge, time);
    merge_save(&merge, positions);
    keep_places(follower, positions);
    merge_close(&merge);
    free(positions);
    follower->until = time > follower->until ? time : follower->until;
    return true;
}
