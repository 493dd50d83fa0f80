/* SPDX-License-Identifier: BSD-2-Clause */
/* schema.c - metadata to event types; see schema.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/map.h>
#include <tools/tarn/output.h>
#include <tools/tarn/read/schema_layout.h>
#include <trace/format/metadata.h>
#include <unistd.h>

#define HEADER_BITS 64u
#define FIELDS_MAX  4096u

static bool build_event(struct schema *schema, const struct tsdl_event *from, unsigned index,
                        struct fail *fail)
{
    struct arena *arena = &schema->tsdl.arena;
    struct event_type *type = arena_alloc(arena, sizeof(*type));
    uint64_t bits = HEADER_BITS;

    if (from->id >= TRACE_ID(TRACE_CLASS_COUNT, 0))
        return fail_set(fail, "metadata: event %s: id %llu does not fit the header", from->name,
                        (unsigned long long)from->id);
    type->name = from->name;
    type->id = (uint32_t)from->id;
    type->index = index;
    type->has_fields = from->fields != NULL;
    type->field_count = schema_count_fields(from->fields);
    if (type->field_count > FIELDS_MAX)
        return fail_set(fail, "metadata: event %s has too many fields", from->name);
    if (type->has_fields) {
        struct field *fields = arena_alloc(arena, (type->field_count + 1) * sizeof(*fields));

        if (from->fields->kind != TSDL_STRUCT || from->fields->align > 64)
            return fail_set(fail, "metadata: event %s: its fields are not a struct", from->name);
        bits = schema_lay_out(schema, from->fields, bits, fields, from->name, fail);
        if (bits == 0)
            return false;
        type->fields = fields;
        if (type->field_count > 0 && field_is_variable(&fields[type->field_count - 1]))
            type->tail = &fields[type->field_count - 1];
    }
    type->words = (uint32_t)((bits + 63) / 64);
    type->fixed_words = type->tail == NULL ? type->words : UINT32_MAX;
    schema->events[index] = type;
    return true;
}

static bool index_event(struct schema *schema, const struct event_type *type, struct fail *fail)
{
    struct class_table *class = &schema->classes[TRACE_ID_CLASS(type->id)];
    uint32_t minor = TRACE_ID_MINOR(type->id);

    if (minor >= class->count) {
        uint32_t count = minor < 32 ? 64 : 2 * minor;

        class->by_minor = alloc_more(class->by_minor, count, sizeof(class->by_minor[0]));
        memset(class->by_minor + class->count, 0, (count - class->count) * sizeof(class->by_minor[0]));
        class->count = count;
    }
    if (class->by_minor[minor] != NULL)
        return fail_set(fail, "metadata: events %s and %s have the same id", class->by_minor[minor]->name,
                        type->name);
    class->by_minor[minor] = type;
    return true;
}

const char *schema_env(const struct schema *schema, const char *name, bool is_text)
{
    for (const struct tsdl_env *env = schema->tsdl.env; env != NULL; env = env->next)
        if (env->is_text == is_text && strcmp(env->name, name) == 0)
            return env->text;
    return NULL;
}

const char *schema_other_system(const struct schema *schema)
{
    const char *name = schema_env(schema, "sysname", true);

    return name != NULL && strcmp(name, "Tarn") != 0 ? name : NULL;
}

bool schema_clock_trust(const struct schema *schema, struct clock_trust *trust)
{
    const char *sources = schema_env(schema, "clock_sources", true);
    const char *error = schema_env(schema, "clock_error_ppm", false);
    const char *is_certain = schema_env(schema, "clock_is_certain", false);

    if (sources == NULL || error == NULL || is_certain == NULL)
        return false;
    *trust = (struct clock_trust){.sources = sources,
                                  .error_ppm = strtoull(error, NULL, 10),
                                  .is_certain = strcmp(is_certain, "1") == 0};
    return true;
}

/* Names the classes: the system's as the environment says,
 * those of applications by the common prefix of their events. */
static void name_class(struct schema *schema, unsigned number)
{
    struct class_table *class = &schema->classes[number];
    const char *first = NULL;
    char entry[16];
    size_t common = 0;

    snprintf(entry, sizeof(entry), "class_%u", number);
    class->name = schema_env(schema, entry, true);
    if (class->name != NULL)
        return;
    for (uint32_t minor = 0; minor < class->count; minor++) {
        const struct event_type *type = class->by_minor[minor];
        size_t same = 0;

        if (type == NULL)
            continue;
        if (first == NULL) {
            first = type->name;
            common = strlen(first);
        }
        while (same < common && type->name[same] == first[same])
            same++;
        common = same;
    }
    if (first == NULL)
        return;
    for (size_t i = common; i-- > 0;)
        if (first[i] == '_') {
            common = i;
            break;
        }
    /* With only one event, or a common prefix inside a word like "sched_mig", the first word is the class. */
    if (strchr(first, '_') != NULL && (common == 0 || first[common] != '_' || strlen(first) == common))
        common = (size_t)(strchr(first, '_') - first);
    class->name = arena_string(&schema->tsdl.arena, first, common ? common : strlen(first));
}

const struct field *schema_find_field(const struct event_type *type, const char *name)
{
    for (unsigned i = 0; type != NULL && i < type->field_count; i++)
        if (strcmp(type->fields[i].name, name) == 0)
            return &type->fields[i];
    return NULL;
}

const struct event_type *schema_find_event(const struct schema *schema, const char *name)
{
    for (unsigned i = 0; i < schema->event_count; i++)
        if (strcmp(schema->events[i]->name, name) == 0)
            return schema->events[i];
    return NULL;
}

static const struct field *find_kind(const struct event_type *type, const char *name, enum field_kind kind)
{
    const struct field *field = schema_find_field(type, name);

    return field != NULL && field->kind == kind ? field : NULL;
}

static void set_role(const struct event_type *type, enum event_role role)
{
    if (type != NULL)
        ((struct event_type *)type)->role = role; /* the schema owns it and is still under construction */
}

static void find_known_events(struct schema *schema)
{
    struct known_events *known = &schema->known;

    known->context = schema_event(schema, TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT));
    known->context_pid = find_kind(known->context, "pid", FIELD_INTEGER);
    known->context_tid = find_kind(known->context, "tid", FIELD_INTEGER);
    known->context_name = find_kind(known->context, "name", FIELD_TEXT);
    if (!known->context_pid || !known->context_tid || !known->context_name)
        known->context = NULL;
    set_role(known->context, EVENT_CONTEXT);
    known->switched = schema_find_event(schema, "sched_switch");
    known->prev_tid = find_kind(known->switched, "prev_tid", FIELD_INTEGER);
    known->next_pid = find_kind(known->switched, "next_pid", FIELD_INTEGER);
    known->next_tid = find_kind(known->switched, "next_tid", FIELD_INTEGER);
    known->next_comm = find_kind(known->switched, "next_comm", FIELD_TEXT);
    if (!known->prev_tid || !known->next_pid || !known->next_tid || !known->next_comm)
        known->switched = NULL;
    set_role(known->switched, EVENT_SWITCH);
    set_role(schema_find_event(schema, "trace_control"), EVENT_CHANGE);
    set_role(schema_find_event(schema, "trace_switches"), EVENT_CHANGE);
    known->renamed = schema_find_event(schema, "sched_rename");
    known->renamed_tid = find_kind(known->renamed, "tid", FIELD_INTEGER);
    known->renamed_name = find_kind(known->renamed, "name", FIELD_TEXT);
    if (!known->renamed_tid || !known->renamed_name)
        known->renamed = NULL;
    if (known->renamed != NULL) /* so that cursor_next_slow takes it */
        ((struct event_type *)known->renamed)->fixed_words = UINT32_MAX;
}

#define CLOCK_HZ_MAX 1000000000000u /* far above any CPU's */
#define CENTURY      (100 * 365.25 * 86400)

static bool set_clock(struct schema *schema, struct fail *fail)
{
    uint64_t freq = schema->tsdl.clock_freq, offset = schema->tsdl.clock_offset;
    int64_t seconds = schema->tsdl.clock_offset_s;

    if (schema->tsdl.clock_name == NULL || freq == 0)
        return fail_set(fail, "metadata: no clock with a frequency");
    if (freq > CLOCK_HZ_MAX)
        return fail_set(fail, "metadata: a clock of %" PRIu64 " Hz is impossible: the maximum is %llu", freq,
                        (unsigned long long)CLOCK_HZ_MAX);
    seconds += (int64_t)(offset / freq); /* as babeltrace2 normalizes it */
    offset %= freq;
    if (seconds < -4000000000 || seconds > 8000000000)
        return fail_set(fail, "metadata: the clock's offset is out of range");
    schema->clock_freq = freq;
    schema->century = (double)freq * CENTURY < 0x1p64 ? (uint64_t)((double)freq * CENTURY) : UINT64_MAX;
    schema->clock_base_ns = seconds * 1000000000;
    schema->clock_base_ns +=
        freq == 1000000000 ? (int64_t)offset : (int64_t)(1e9 * (double)offset / (double)freq);
    return true;
}

/* Finds the packet context fields that CTF readers print: fields without a meaning in CTF itself. */
static bool build_context(struct schema *schema, struct fail *fail)
{
    static const char *const special[] = {"timestamp_begin", "timestamp_end",    "content_size",
                                          "packet_size",     "events_discarded", "packet_seq_num"};
    const struct tsdl_type *type = schema->tsdl.packet_context;
    struct field *fields =
        arena_alloc(&schema->tsdl.arena, (schema_count_fields(type) + 1) * sizeof(*fields));
    unsigned kept = 0, count = schema_count_fields(type);

    if (schema_lay_out(schema, type, 192, fields, "packet.context", fail) == 0)
        return false;
    for (unsigned i = 0; i < count; i++) {
        bool skip = false;

        for (size_t s = 0; s < sizeof(special) / sizeof(special[0]); s++)
            skip |= strcmp(fields[i].name, special[s]) == 0;
        if (!skip)
            fields[kept++] = fields[i];
    }
    schema->context_fields = fields;
    schema->context_field_count = kept;
    return true;
}

static bool check_envelope(struct schema *schema, struct fail *fail)
{
    const struct tsdl *tsdl = &schema->tsdl;

    if (tsdl->uuid_text == NULL || (tsdl->order != TSDL_LITTLE && tsdl->order != TSDL_BIG))
        return fail_set(fail, "metadata: the trace block lacks its uuid or its byte order");
    if (tsdl->stream_id != TRACE_STREAM_ID)
        return fail_set(fail, "metadata: stream class %u is missing", TRACE_STREAM_ID);
    schema->big_endian = tsdl->order == TSDL_BIG;
    schema->swap = schema->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return schema_check_envelope(tsdl, fail) && set_clock(schema, fail) && build_context(schema, fail);
}

/* ---- costs of logging ------------------------------------------------------------------------------ */

/* Returns the text after the first line of the last list of costs; NULL: there is none. */
static const char *find_last(const char *text, size_t length)
{
    static const char begin[] = TRACE_COSTS_BEGIN;
    const char *last = NULL;

    for (const char *at = text, *end = text + length;
         (at = memmem(at, (size_t)(end - at), begin, sizeof(begin) - 1)) != NULL; at++)
        last = at + sizeof(begin) - 1;
    return last;
}

/* "-": not counted. */
static bool read_number(const char *word, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(word, &end, 10);

    *number = (uint32_t)value;
    return (*word >= '0' && *word <= '9' && *end == '\0' && value <= UINT32_MAX) || strcmp(word, "-") == 0;
}

static bool read_line(struct schema *schema, const char *line)
{
    char name[80], word[4][24];
    uint32_t number[4];
    struct event_type *type;

    if (sscanf(line, " * %79s %23s %23s %23s %23s", name, word[0], word[1], word[2], word[3]) != 5)
        return false;
    for (unsigned i = 0; i < 4; i++)
        if (!read_number(word[i], &number[i]))
            return true;
    type = (struct event_type *)(uintptr_t)schema_find_event(schema, name);
    if (type == NULL || number[1] == 0)
        return true;
    schema->cost_count++;
    for (unsigned i = 0; i < 2; i++) {
        type->cost_ticks[i] = number[i];
        type->cost_instructions[i] = number[2 + i];
    }
    return true;
}

/* Reads what logging each event costs: a comment that `trace bench` adds (FORMAT.md, "Costs of logging"). The
 * last such comment counts. Lines that are not as they should be are ignored. */
static void read_costs(struct schema *schema, const char *text, size_t length)
{
    const char *at = find_last(text, length);
    char *copy = at != NULL ? strndup(at, (size_t)(text + length - at)) : NULL, *rest = copy, *line;

    while ((line = strsep(&rest, "\n")) != NULL && read_line(schema, line))
        ;
    free(copy);
}

/* ---- the interface --------------------------------------------------------------------------------- */

bool schema_build(struct schema *schema, const char *text, size_t length, struct fail *fail)
{
    unsigned index = 0;

    memset(schema, 0, sizeof(*schema));
    if (!tsdl_parse(&schema->tsdl, text, length, fail) || !check_envelope(schema, fail))
        return false;
    for (const struct tsdl_event *event = schema->tsdl.events; event != NULL; event = event->next)
        schema->event_count++;
    schema->events = arena_alloc(&schema->tsdl.arena, (schema->event_count + 1) * sizeof(schema->events[0]));
    for (const struct tsdl_event *event = schema->tsdl.events; event != NULL; event = event->next, index++)
        if (!build_event(schema, event, index, fail) || !index_event(schema, schema->events[index], fail))
            return false;
    for (unsigned class = 0; class < TRACE_CLASS_COUNT; class ++)
        name_class(schema, class);
    find_known_events(schema);
    read_costs(schema, text, length);
    return true;
}

uint64_t schema_cpu_count(const struct schema *schema)
{
    const char *count = schema_env(schema, "cpu_count", false);

    return count != NULL ? strtoull(count, NULL, 0) : 0;
}

uint64_t field_label_value(const struct field *field, const char *name, uint64_t none)
{
    for (const struct tsdl_label *label = field != NULL ? field->labels : NULL; label != NULL;
         label = label->next)
        if (strcmp(label->name, name) == 0)
            return label->low;
    return none;
}

static bool refuse(const char *directory, int error, struct fail *fail)
{
    if (access(directory, F_OK) != 0)
        return fail_set(fail, "%s: %s", directory, strerror(errno));
    if (error == ENOENT || error == ENOTDIR || error == EINVAL)
        return fail_set(
            fail, "%s is not a trace, which is a directory with a file `metadata`, as written by tarn pull",
            directory);
    return fail_set(fail, "%s/metadata: %s", directory, strerror(error));
}

static bool build(struct schema *schema, const char *directory, const char *text, size_t length,
                  struct fail *fail)
{
    struct fail why;

    return schema_build(schema, text, length, &why) ||
           fail_set(fail, "%.200s is not a readable trace: %.250s", directory, why.text);
}

bool schema_load(struct schema *schema, const char *directory, struct fail *fail)
{
    char path[4096], *text;
    size_t length;
    bool ok;

    memset(schema, 0, sizeof(*schema));
    snprintf(path, sizeof(path), "%s/metadata", directory);
    text = file_read(AT_FDCWD, path, TSDL_BYTES_MAX, &length);
    if (text == NULL)
        return refuse(directory, errno, fail);
    ok = build(schema, directory, text, length, fail);
    schema->text_hash = ok ? hash_bytes(HASH_SEED, text, length) : 0;
    free(text);
    return ok;
}

void schema_free(struct schema *schema)
{
    for (unsigned class = 0; class < TRACE_CLASS_COUNT; class ++)
        free(schema->classes[class].by_minor);
    tsdl_free(&schema->tsdl);
    memset(schema, 0, sizeof(*schema));
}

#define TICKS_MAX (1ull << 60) /* schema_ns never decreases below it */

static uint64_t find_ticks(const struct schema *schema, int64_t ns)
{
    uint64_t low = 0, high = TICKS_MAX;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (schema_ns(schema, middle) >= ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* On most clocks a tick is a nanosecond, and the first guess is right. */
uint64_t schema_ticks(const struct schema *schema, int64_t ns)
{
    uint64_t guess = (uint64_t)ns - (uint64_t)schema->clock_base_ns;
    bool is_right =
        guess > 0 && guess < TICKS_MAX && schema_ns(schema, guess) == ns && schema_ns(schema, guess - 1) < ns;

    return is_right ? guess : find_ticks(schema, ns);
}
