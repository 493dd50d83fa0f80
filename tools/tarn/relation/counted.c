/*
 * counted.c - the relations `counted` and `counter`: what hardware counters counted, and their names.
 *
 * The events of class counter have counts by slot; counter_bound names the counter of a slot. If a slot gets
 * another counter, a new binding begins: its counts do not add up with those from before.
 */
#include <stdio.h>
#include <tools/tarn/relation/maker.h>

#define SLOTS      4u
#define NAME_BYTES 24u

enum { COUNTED, COUNTER };
enum { TID, KEY, PID, ENDED, COUNT, FIELDS = COUNT + SLOTS };
enum { PLACE, PLACES, BITS, NAME, BOUND_FIELDS };

#define COUNTS "count0", "count1", "count2", "count3"
static const struct {
    const char *name, *event, *fields[FIELDS];
} kinds[] = {{"run", "counter_run", {"tid", "tid", "pid", "ended", COUNTS}},
             {"syscall", "counter_syscall", {"tid", "number", NULL, NULL, COUNTS}},
             {"interval", "counter_interval", {"tid", "id", NULL, NULL, COUNTS}}};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
static const char *const bound_fields[BOUND_FIELDS] = {"place", "slots", "bits", "name"};

struct counting {
    struct making making;                          /* first */
    const struct event_type *types[KINDS], *bound; /* NULL: the trace does not have it */
    const struct field *fields[KINDS][FIELDS], *bound_fields[BOUND_FIELDS];
    struct slot {
        char name[NAME_BYTES]; /* "": unknown */
        uint64_t bits;
    } slot[SLOTS];
    uint64_t slot_count; /* the most that were bound */
    uint64_t binding;
};

static void on_bound(struct counting *counting, const struct event *event)
{
    uint64_t place = field_integer(counting->bound_fields[PLACE], event->bytes);
    uint64_t slots = field_integer(counting->bound_fields[PLACES], event->bytes);
    struct value named = value_of_field(counting->bound_fields[NAME], event, NULL);
    struct slot *slot = &counting->slot[place % SLOTS];
    char name[NAME_BYTES];
    if (place >= SLOTS || slots > SLOTS || slots == 0)
        return;
    snprintf(name, sizeof(name), "%.*s", (int)named.length, named.text);
    counting->binding += slot->name[0] != '\0' && strcmp(slot->name, name) != 0;
    memcpy(slot->name, name, sizeof(name));
    slot->bits = field_integer(counting->bound_fields[BITS], event->bytes);
    counting->slot_count = later(slots, counting->slot_count);
}

/* clang-format off */
#define COUNTED_COLUMNS(C) \
    C("ts", WHEN, WHEN(cursor->ticks), "end of the run, call or interval") \
    C("cpu", NUMBER, NUMBER(cursor->stream->cpu), "CPU that counted") \
    C("utid", NUMBER, THREAD_OF(thread), "thread; empty: an idle one, or unknown") \
    C("tid", NUMBER, values[TID], "thread ID") \
    C("pid", NUMBER, values[PID], "process ID of a run's thread") \
    C("kind", TEXT, STRING(kinds[kind].name), "run, syscall or interval") \
    C("number", NUMBER, values[KEY], "system call number, or ID of the interval") \
    C("name", TEXT, STRING(label_of(fields[KEY], values[KEY].number, text)), "name of the number") \
    C("times", NUMBER, values[ENDED], "1; 0: a part of a run that goes on") \
    C("count0", NUMBER, values[COUNT], "count of slot 0") \
    C("count1", NUMBER, values[COUNT + 1], "count of slot 1") \
    C("count2", NUMBER, values[COUNT + 2], "count of slot 2") \
    C("count3", NUMBER, values[COUNT + 3], "count of slot 3") \
    C("binding", NUMBER, NUMBER(counting->binding), "number of times that a slot had got another counter before")
#define COUNTER_COLUMNS(C) \
    C("slot", NUMBER, NUMBER(i), "slot that the counter is bound to at the end") \
    C("name", TEXT, STRING(slot->name[0] != '\0' ? slot->name : NULL), "name of the counter") \
    C("bits", NUMBER, NUMBER(slot->bits), "width of the counter") \
    C("binding", NUMBER, NUMBER(counting->binding), "number of times that a slot got another counter")
/* clang-format on */

/* The thread of a run may have ended with it. */
static void give_counts(struct counting *counting, unsigned kind, const struct cursor *cursor)
{
    const struct field *const *fields = counting->fields[kind];
    struct analysis *analysis = counting->making.analysis;
    struct value values[FIELDS] = {[ENDED] = NUMBER(1)};
    const struct filter *filter = analysis->filter;
    const struct model_thread *thread;
    uint32_t rank = cursor->stream->rank;
    char text[ANALYSIS_NAME_BYTES];
    for (unsigned i = 0; i < FIELDS; i++)
        if (fields[i] != NULL)
            values[i] = NUMBER(field_integer(fields[i], cursor->event.bytes));
    thread = values[TID].number != 0 ? model_find_last(analysis->model, (uint32_t)values[TID].number) : NULL;
    if (thread != NULL ? analysis_wants_on(analysis, thread, rank)
                       : !filter->by_running && (filter->streams == NULL || filter->streams[rank]))
        MAKING_GIVE(&counting->making, COUNTED, cursor->ticks, COUNTED_COLUMNS);
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *running)
{
    struct counting *counting = MAKING_OF(self, struct counting);
    if (cursor->event.type == counting->bound)
        on_bound(counting, &cursor->event);
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (cursor->event.type == counting->types[kind])
            give_counts(counting, kind, cursor);
}

static void open_counting(struct making *making)
{
    struct counting *counting = (struct counting *)making;
    const struct analysis *analysis = making->analysis;
    counting->bound =
        analysis_fields(analysis, "counter_bound", bound_fields, BOUND_FIELDS, counting->bound_fields);
    if (counting->bound == NULL || counting->bound_fields[NAME]->kind != FIELD_STRING)
        return; /* the system has no counters: no rows */
    for (unsigned kind = 0; kind < KINDS; kind++)
        counting->types[kind] =
            analysis_fields(analysis, kinds[kind].event, kinds[kind].fields, FIELDS, counting->fields[kind]);
    making->observer.event = on_event;
}

static void finish_counting(struct making *making)
{
    const struct counting *counting = (const struct counting *)making;
    for (unsigned i = 0; i < counting->slot_count; i++) {
        const struct slot *slot = &counting->slot[i];
        MAKING_GIVE(making, COUNTER, making->analysis->from, COUNTER_COLUMNS);
    }
}

const struct maker counted_maker = {
    .relations = {MADE_RELATION("counted", "counts of hardware counters", COUNTED_COLUMNS),
                  MADE_RELATION("counter", "hardware counters", COUNTER_COLUMNS)},
    .size = sizeof(struct counting),
    .open = open_counting,
    .finish = finish_counting,
};
