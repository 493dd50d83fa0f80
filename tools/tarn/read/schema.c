/* schema.c - metadata to event types; see schema.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/map.h>
#include <tools/tarn/out.h>
#include <tools/tarn/read/schema.h>
#include <trace/format/metadata.h>
#include <unistd.h>

void fixed_types_open(struct fixed_types *types)
{
    static const struct event_type nobodys = {.words = UINT32_MAX};
    for (unsigned i = 0; i < FIXED_PLACES; i++)
        types->at[i] = &nobodys;
}

void fixed_types_add(struct fixed_types *types, const struct event_type *type)
{
    if (type->fixed_words == type->words)
        types->at[fixed_place(type->id)] = type;
}

static void index_fixed(struct schema *schema)
{
    fixed_types_open(&schema->fixed);
    for (unsigned i = 0; i < schema->event_count; i++) {
        struct event_type *type = (struct event_type *)(uintptr_t)schema->events[i];
        uint64_t word =
            trace_header_word(!schema->big_endian, (struct trace_header){type->id, type->words, 0});
        type->half = event_half(schema->big_endian, word).half;
        fixed_types_add(&schema->fixed, type);
    }
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
    for (const struct env_entry *env = schema->env; env != NULL; env = env->next)
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
    while (common > 0 && first[common] != '_') /* it may end inside a word, as in "sched_mig" */
        common--;
    class->name = arena_string(&schema->arena, first, common > 0 ? common : strcspn(first, "_"));
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
    if (known->renamed != NULL) /* so that cursor_next_slow takes it: index_fixed() leaves it out */
        ((struct event_type *)known->renamed)->fixed_words = UINT32_MAX;
}

#define CLOCK_HZ_MAX 1000000000000u /* far above any CPU's */
#define CENTURY      (100 * 365.25 * 86400)

static bool set_clock(struct schema *schema, struct fail *fail)
{
    uint64_t freq = schema->clock_freq, offset = schema->clock_offset;
    int64_t seconds = schema->clock_offset_s;
    if (freq == 0 || freq > CLOCK_HZ_MAX)
        return fail_set(fail, "metadata: a clock of %" PRIu64 " Hz is impossible: the maximum is %llu", freq,
                        (unsigned long long)CLOCK_HZ_MAX);
    seconds += (int64_t)(offset / freq); /* as babeltrace2 normalizes it */
    offset %= freq;
    if (seconds < -4000000000 || seconds > 8000000000)
        return fail_set(fail, "metadata: the clock's offset is out of range");
    schema->century = (double)freq * CENTURY < 0x1p64 ? (uint64_t)((double)freq * CENTURY) : UINT64_MAX;
    schema->clock_base_ns = seconds * 1000000000;
    schema->clock_base_ns +=
        freq == 1000000000 ? (int64_t)offset : (int64_t)(1e9 * (double)offset / (double)freq);
    return true;
}

/* Sets the packet context fields that CTF readers print: those without a meaning in CTF itself. */
static void set_context(struct schema *schema)
{
    static const struct field context[CONTEXT_FIELDS] = {
        {"committed", .width = 8, .base = 10, .offset = offsetof(struct trace_packet, committed)},
        {"events_before", .width = 8, .base = 10, .offset = offsetof(struct trace_packet, events_before)},
        {"cpu_id", .width = 4, .base = 10, .offset = offsetof(struct trace_packet, cpu_id)},
        {"flags", .width = 4, .base = 16, .offset = offsetof(struct trace_packet, flags)},
    };
    for (unsigned i = 0; i < CONTEXT_FIELDS; i++) {
        schema->context_fields[i] = context[i];
        schema->context_fields[i].swap = schema->swap;
    }
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
    memset(schema, 0, sizeof(*schema));
    if (!tsdl_parse(schema, text, length, fail) || !set_clock(schema, fail))
        return false;
    for (unsigned i = 0; i < schema->event_count; i++)
        if (!index_event(schema, schema->events[i], fail))
            return false;
    set_context(schema);
    for (unsigned class = 0; class < TRACE_CLASS_COUNT; class ++)
        name_class(schema, class);
    find_known_events(schema);
    index_fixed(schema);
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
    for (const struct label *label = field != NULL ? field->labels : NULL; label != NULL; label = label->next)
        if (strcmp(label->name, name) == 0)
            return label->value;
    return none;
}

const char *field_label(const struct field *field, uint64_t value)
{
    for (const struct label *label = field != NULL ? field->labels : NULL; label != NULL; label = label->next)
        if (label->value == value)
            return label->name;
    return NULL;
}

void format_uuid(const uint8_t uuid[16], char text[37])
{
    char *at = text;
    for (int i = 0; i < 16; i++)
        at += sprintf(at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
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

bool schema_load(struct schema *schema, const char *directory, struct fail *fail)
{
    char path[4096], *text;
    struct fail why;
    size_t length;
    bool ok;
    memset(schema, 0, sizeof(*schema));
    snprintf(path, sizeof(path), "%s/metadata", directory);
    text = file_read(AT_FDCWD, path, TSDL_BYTES_MAX, &length);
    if (text == NULL)
        return refuse(directory, errno, fail);
    ok = schema_build(schema, text, length, &why) ||
         fail_set(fail, "%.200s is not a readable trace: %.250s", directory, why.text);
    schema->text_hash = ok ? hash_bytes(HASH_SEED, text, length) : 0;
    free(text);
    return ok;
}

void schema_free(struct schema *schema)
{
    for (unsigned class = 0; class < TRACE_CLASS_COUNT; class ++)
        free(schema->classes[class].by_minor);
    free(schema->events);
    arena_free(&schema->arena);
    memset(schema, 0, sizeof(*schema));
}

#define TICKS_MAX (1ull << 60) /* schema_ns never decreases below it */

/* On most clocks a tick is a nanosecond, and the first guess is right. */
uint64_t schema_ticks(const struct schema *schema, int64_t ns)
{
    uint64_t guess = (uint64_t)ns - (uint64_t)schema->clock_base_ns;
    bool is_right =
        guess > 0 && guess < TICKS_MAX && schema_ns(schema, guess) == ns && schema_ns(schema, guess - 1) < ns;
    return is_right ? guess : FIRST_WHERE(0, TICKS_MAX, ticks, schema_ns(schema, ticks) >= ns);
}
