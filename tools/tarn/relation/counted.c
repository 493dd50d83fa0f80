/*
 * counted.c - the relations `counted` and `counter`: what hardware counters counted, and their names.
 *
 * The events of class counter have counts by slot; counter_bound names the counter of a slot. If a slot gets
 * another counter, a new binding begins: its counts do not add up with those from before.
 */
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
    const char *name = (const char *)event->bytes + counting->bound_fields[NAME]->offset;
    size_t length = event->words * 8ul - counting->bound_fields[NAME]->offset;
    struct slot *slot;
    if (place >= SLOTS || slots > SLOTS || slots == 0)
        return;
    slot = &counting->slot[place];
    length = strnlen(name, length < NAME_BYTES - 1 ? length : NAME_BYTES - 1);
    counting->binding +=
        slot->name[0] != '\0' && (strlen(slot->name) != length || memcmp(slot->name, name, length) != 0);
    memcpy(slot->name, name, length);
    slot->name[length] = '\0';
    slot->bits = field_integer(counting->bound_fields[BITS], event->bytes);
    counting->slot_count = slots > counting->slot_count ? slots : counting->slot_count;
}

/* The thread that an event is about; NULL: unknown. It may have ended with the run that is logged. */
static const struct model_thread *thread_of(const struct counting *counting, unsigned kind,
                                            const struct event *event)
{
    uint32_t tid = (uint32_t)field_integer(counting->fields[kind][TID], event->bytes);
    return tid != 0 ? model_find_last(counting->making.analysis->model, tid) : NULL;
}

static bool is_wanted(struct analysis *analysis, const struct cursor *cursor,
                      const struct model_thread *thread)
{
    if (thread != NULL)
        return analysis_wants_on(analysis, thread, cursor->stream->rank);
    return !analysis->filter->by_running &&
           (analysis->filter->streams == NULL || analysis->filter->streams[cursor->stream->rank]);
}

static void give_counts(struct counting *counting, unsigned kind, const struct cursor *cursor,
                        const struct model_thread *thread)
{
    const struct field *const *fields = counting->fields[kind];
    struct value values[FIELDS] = {[ENDED] = VALUE_NUMBER(1)};
    char text[ANALYSIS_NAME_BYTES];
    for (unsigned i = 0; i < FIELDS; i++)
        if (fields[i] != NULL)
            values[i] = VALUE_NUMBER(field_integer(fields[i], cursor->event.bytes));
    MAKING_GIVE(&counting->making, COUNTED, cursor->ticks, VALUE_OF(VALUE_WHEN, cursor->ticks),
                VALUE_NUMBER(cursor->stream->cpu), value_of_thread(thread), values[TID], values[PID],
                value_text(kinds[kind].name), values[KEY],
                value_text(label_of(fields[KEY], values[KEY].number, text)), values[ENDED], values[COUNT],
                values[COUNT + 1], values[COUNT + 2], values[COUNT + 3], VALUE_NUMBER(counting->binding));
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *running)
{
    struct counting *counting = MAKING_OF(self, struct counting);
    const struct event_type *type = cursor->event.type;
    if (type == counting->bound)
        on_bound(counting, &cursor->event);
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (type == counting->types[kind]) {
            const struct model_thread *thread = thread_of(counting, kind, &cursor->event);
            if (is_wanted(counting->making.analysis, cursor, thread))
                give_counts(counting, kind, cursor, thread);
        }
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
    for (unsigned i = 0; i < counting->slot_count; i++)
        MAKING_GIVE(making, COUNTER, making->analysis->from, VALUE_NUMBER(i),
                    value_text(counting->slot[i].name[0] != '\0' ? counting->slot[i].name : NULL),
                    VALUE_NUMBER(counting->slot[i].bits), VALUE_NUMBER(counting->binding));
}

/* clang-format off */
static const struct relation_column counted_columns[] = {
    MADE_COLUMN("ts", UNIT_WHEN, "end of the run, call or interval"),
    MADE_COLUMN("cpu", UNIT_NUMBER, "CPU that counted"),
    MADE_COLUMN("utid", UNIT_NUMBER, "thread; empty: an idle one, or unknown"),
    MADE_COLUMN("tid", UNIT_NUMBER, "thread ID"),
    MADE_COLUMN("pid", UNIT_NUMBER, "process ID of a run's thread"),
    MADE_COLUMN("kind", UNIT_TEXT, "run, syscall or interval"),
    MADE_COLUMN("number", UNIT_NUMBER, "system call number, or ID of the interval"),
    MADE_COLUMN("name", UNIT_TEXT, "name of the number"),
    MADE_COLUMN("times", UNIT_NUMBER, "1; 0: a part of a run that goes on"),
    MADE_COLUMN("count0", UNIT_NUMBER, "count of slot 0"),
    MADE_COLUMN("count1", UNIT_NUMBER, "count of slot 1"),
    MADE_COLUMN("count2", UNIT_NUMBER, "count of slot 2"),
    MADE_COLUMN("count3", UNIT_NUMBER, "count of slot 3"),
    MADE_COLUMN("binding", UNIT_NUMBER, "number of times that a slot had got another counter before"),
};
static const struct relation_column counter_columns[] = {
    MADE_COLUMN("slot", UNIT_NUMBER, "slot that the counter is bound to at the end"),
    MADE_COLUMN("name", UNIT_TEXT, "name of the counter"),
    MADE_COLUMN("bits", UNIT_NUMBER, "width of the counter"),
    MADE_COLUMN("binding", UNIT_NUMBER, "number of times that a slot got another counter"),
};
/* clang-format on */

const struct maker counted_maker = {
    .relations = {MADE_RELATION("counted", "counts of hardware counters", counted_columns),
                  MADE_RELATION("counter", "hardware counters", counter_columns)},
    .size = sizeof(struct counting),
    .open = open_counting,
    .finish = finish_counting,
};
