/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/print/settings.c - prints the trace's settings; see settings.h. */
#include <tarn/abi.h>
#include <trace/print/settings.h>

#define COLUMNS 78u

void trace_join(char *to, uint64_t size, const char *const *parts)
{
    struct trace_text text = {to, size - 1, 0};
    while (*parts)
        trace_text_add(&text, *parts++);
    to[text.length < text.capacity ? text.length : text.capacity] = 0;
}

bool trace_read_counter(struct trace_settings *settings, uint32_t index, struct system_counter *counter)
{
    return settings->read(SYSTEM_COUNTERS, index, counter, sizeof(*counter)) == sizeof(*counter);
}

bool trace_read_lock_class(struct trace_settings *settings, uint32_t index, struct system_lock_class *class)
{
    return settings->read(SYSTEM_LOCK_CLASSES, index, class, sizeof(*class)) == sizeof(*class);
}

const struct trace_event_info *trace_event_at(const struct trace_settings *settings, uint32_t place)
{
    return settings->find_event(TRACE_ID(place / TRACE_MINORS_SWITCHED, place % TRACE_MINORS_SWITCHED));
}

static void put_padded(struct trace_settings *settings, const char *text, uint64_t width)
{
    settings->put(settings, text);
    for (uint64_t length = __builtin_strlen(text); length < width; length++)
        settings->put(settings, " ");
}

static void put_number(struct trace_settings *settings, uint64_t number, uint64_t width)
{
    char digits[24];
    struct trace_text text = {digits, sizeof(digits) - 1, 0};
    trace_text_number(&text, number);
    digits[text.length] = 0;
    put_padded(settings, "", width > text.length ? width - text.length : 0);
    settings->put(settings, digits);
}

/* A word of a list that begins with a title, on a new line if this one is full. */
static uint64_t put_word(struct trace_settings *settings, uint64_t column, uint64_t indent, const char *word)
{
    if (column + __builtin_strlen(word) >= COLUMNS) {
        settings->put(settings, "\n");
        put_padded(settings, "", indent);
        column = indent;
    }
    settings->put(settings, " ");
    settings->put(settings, word);
    return column + 1 + __builtin_strlen(word);
}

static void put_classes(struct trace_settings *settings, const char *title, uint64_t classes)
{
    uint64_t column = __builtin_strlen(title);
    settings->put(settings, title);
    for (uint32_t i = 0; i < TRACE_CLASS_COUNT; i++)
        if (classes >> i & 1 && settings->class_name(i))
            column = put_word(settings, column, __builtin_strlen(title), settings->class_name(i));
    settings->put(settings, column == __builtin_strlen(title) ? " (none)\n" : "\n");
}

void trace_list_classes(struct trace_settings *settings)
{
    put_classes(settings, "traced          ", settings->info->mask);
    put_classes(settings, "not traced      ", ~settings->info->mask);
}

void trace_list_switches(struct trace_settings *settings)
{
    static const char title[] = "switched off    ";
    uint64_t column = sizeof(title) - 1;
    char name[2 * TRACE_NAME_BYTES + 32];
    settings->put(settings, title);
    for (uint32_t place = 0; place < TRACE_PLACES; place++) {
        const struct trace_event_info *event = trace_event_at(settings, place);
        if (!event ||
            settings->info->switches[place / TRACE_MINORS_SWITCHED] >> place % TRACE_MINORS_SWITCHED & 1)
            continue;
        TRACE_JOIN(name, sizeof(name), event->class_name, ".", event->name);
        column = put_word(settings, column, sizeof(title) - 1, name);
    }
    settings->put(settings, column == sizeof(title) - 1 ? " (none)\n" : "\n");
}

/* N, or ticks; 0 or 1: all are logged. */
static uint32_t limit_of(const struct trace_info *info, const struct trace_event_info *event)
{
    const uint32_t class_number = TRACE_ID_CLASS(event->id);
    return class_number < TRACE_CLASS_APP_FIRST
               ? info->event_limit[event->limit]
               : info->app_limit[trace_app_limit_index(class_number, event->limit)];
}

static void put_limit(struct trace_settings *settings, const struct trace_event_info *event)
{
    const uint64_t limit = limit_of(settings->info, event);
    if (limit <= 1) {
        settings->put(settings, "all\n");
    } else if (event->above) {
        settings->put(settings, event->above);
        settings->put(settings, " from ");
        put_number(settings, limit * 1000000000 / settings->info->clock_hz, 0);
        settings->put(settings, " ns\n");
    } else {
        settings->put(settings, "1 of ");
        put_number(settings, limit, 0);
        settings->put(settings, "\n");
    }
}

static void list_limits(struct trace_settings *settings, enum trace_limit_kind kind)
{
    char name[2 * TRACE_NAME_BYTES + 32];
    settings->put(settings, "event                 logged\n");
    for (uint32_t place = 0; place < TRACE_PLACES; place++) {
        const struct trace_event_info *event = trace_event_at(settings, place);
        if (!event || event->limit_kind != kind)
            continue;
        TRACE_JOIN(name, sizeof(name), event->class_name, ".", event->name, " ");
        put_padded(settings, name, 22);
        put_limit(settings, event);
    }
}

void trace_list_sampled(struct trace_settings *settings)
{
    list_limits(settings, TRACE_LIMIT_SAMPLED);
}

void trace_list_thresholds(struct trace_settings *settings)
{
    list_limits(settings, TRACE_LIMIT_ABOVE);
}

void trace_list_mode(struct trace_settings *settings)
{
    settings->put(settings, trace_mode_name(settings->info->mode));
    settings->put(settings, "\n");
}

void trace_list_low_water(struct trace_settings *settings)
{
    put_number(settings, settings->info->low_water, 0);
    settings->put(settings, "\n");
}

void trace_list_buffers(struct trace_settings *settings)
{
    put_number(settings, settings->info->buffer_count, 0);
    settings->put(settings, " of ");
    put_number(settings, trace_buffer_bytes(settings->info) >> 10, 0);
    settings->put(settings, " KiB on each CPU\n");
}

void trace_list_counters(struct trace_settings *settings)
{
    struct system_counter counter;
    for (uint32_t i = 0; trace_read_counter(settings, i, &counter); i++) {
        if (i == 0)
            settings->put(settings, "counter                 bits  slot\n");
        put_padded(settings, counter.name, 22);
        put_number(settings, counter.bits, 6);
        if (counter.slot)
            put_number(settings, counter.slot - 1, 6);
        else
            settings->put(settings, "     -");
        settings->put(settings, "\n");
    }
}

/* Waits for the locks of programs are not counted here. */
void trace_list_locks(struct trace_settings *settings)
{
    struct system_lock_class class;
    settings->put(settings, "class                sampled     contended\n");
    for (uint32_t i = 0; trace_read_lock_class(settings, i, &class); i++) {
        put_padded(settings, class.name, 18);
        settings->put(settings, class.sample_every ? "  1 of " : "         -");
        if (class.sample_every)
            put_number(settings, class.sample_every, 0);
        if (class.number >= TARN_LOCK_CLASSES_USER) {
            settings->put(settings, " ");
            put_number(settings, class.contended, 13);
        }
        settings->put(settings, "\n");
    }
}
