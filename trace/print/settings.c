/* trace/print/settings.c - prints the trace's settings; see settings.h. */
#include <tarn/abi.h>
#include <trace/print/settings.h>

#define COLUMNS 78u

void trace_join(char *to, uint64_t size, const char *const *parts)
{
    struct trace_text text = {to, size - 1, 0};
    while (*parts)
        trace_text_add(&text, *parts++);
    trace_text_finish(&text);
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

/* A word of a list that begins with a title, on a new line if this one is full. */
static uint64_t put_word(struct trace_settings *settings, uint64_t column, uint64_t indent, const char *word)
{
    if (column + __builtin_strlen(word) >= COLUMNS) {
        settings->print(settings, "\n");
        for (column = 0; column < indent; column++)
            settings->print(settings, " ");
    }
    settings->print(settings, " %s", word);
    return column + 1 + __builtin_strlen(word);
}

static void put_classes(struct trace_settings *settings, const char *title, uint64_t classes)
{
    uint64_t column = __builtin_strlen(title);
    settings->print(settings, "%s", title);
    for (uint32_t i = 0; i < TRACE_CLASS_COUNT; i++)
        if (classes >> i & 1 && settings->class_name(i))
            column = put_word(settings, column, __builtin_strlen(title), settings->class_name(i));
    settings->print(settings, column == __builtin_strlen(title) ? " (none)\n" : "\n");
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
    settings->print(settings, "%s", title);
    for (uint32_t place = 0; place < TRACE_PLACES; place++) {
        const struct trace_event_info *event = trace_event_at(settings, place);
        if (!event ||
            settings->info->switches[place / TRACE_MINORS_SWITCHED] >> place % TRACE_MINORS_SWITCHED & 1)
            continue;
        TRACE_JOIN(name, sizeof(name), event->class_name, ".", event->name);
        column = put_word(settings, column, sizeof(title) - 1, name);
    }
    settings->print(settings, column == sizeof(title) - 1 ? " (none)\n" : "\n");
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
    if (limit <= 1)
        settings->print(settings, "all\n");
    else if (event->above)
        settings->print(settings, "%s from %lu ns\n", event->above,
                        (unsigned long)(limit * 1000000000 / settings->info->clock_hz));
    else
        settings->print(settings, "1 of %lu\n", (unsigned long)limit);
}

static void list_limits(struct trace_settings *settings, enum trace_limit_kind kind)
{
    char name[2 * TRACE_NAME_BYTES + 32];
    settings->print(settings, "event                 logged\n");
    for (uint32_t place = 0; place < TRACE_PLACES; place++) {
        const struct trace_event_info *event = trace_event_at(settings, place);
        if (!event || event->limit_kind != kind)
            continue;
        TRACE_JOIN(name, sizeof(name), event->class_name, ".", event->name, " ");
        settings->print(settings, "%-22s", name);
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
    settings->print(settings, "%s\n", trace_mode_name(settings->info->mode));
}

void trace_list_low_water(struct trace_settings *settings)
{
    settings->print(settings, "%u\n", (unsigned)settings->info->low_water);
}

void trace_list_buffers(struct trace_settings *settings)
{
    settings->print(settings, "%lu of %lu KiB on each CPU\n", (unsigned long)settings->info->buffer_count,
                    (unsigned long)(trace_buffer_bytes(settings->info) >> 10));
}

void trace_list_counters(struct trace_settings *settings)
{
    struct system_counter counter;
    for (uint32_t i = 0; trace_read_counter(settings, i, &counter); i++) {
        if (i == 0)
            settings->print(settings, "counter                 bits  slot\n");
        settings->print(settings, "%-22s%6u", counter.name, (unsigned)counter.bits);
        if (counter.slot)
            settings->print(settings, "%6u\n", (unsigned)counter.slot - 1);
        else
            settings->print(settings, "     -\n");
    }
}

/* Waits for the locks of programs are not counted here. */
void trace_list_locks(struct trace_settings *settings)
{
    struct system_lock_class class;
    settings->print(settings, "class                sampled     contended\n");
    for (uint32_t i = 0; trace_read_lock_class(settings, i, &class); i++) {
        settings->print(settings, class.sample_every ? "%-18s  1 of %u" : "%-18s         -", class.name,
                        (unsigned)class.sample_every);
        if (class.number >= TARN_LOCK_CLASSES_USER)
            settings->print(settings, " %13lu", (unsigned long)class.contended);
        settings->print(settings, "\n");
    }
}
