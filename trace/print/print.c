/*
 * trace/print/print.c - prints an event by its format, with the fields that the generated table describes.
 *
 * Freestanding, no allocation: the kernel prints its last events with this during a panic. Never reads beyond
 * the event's words; any bytes are safe.
 */
#include "trace/events.h" /* generated */
#include <trace/print/print.h>
#include <trace/print/words.h>

static void put_text(struct trace_text *line, const char *text, uint64_t most)
{
    for (uint64_t i = 0; i < most && text[i]; i++)
        trace_text_char(line, text[i] >= ' ' && text[i] < 127 ? text[i] : '?');
}

static uint64_t load_unsigned(const char *at, unsigned bytes)
{
    uint64_t value = 0;
    char *to = (char *)&value + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 8 - bytes : 0);
    for (unsigned i = 0; i < bytes; i++)
        to[i] = at[i];
    return value;
}

static void put_integer(struct trace_text *line, const struct trace_field_info *field, uint64_t value)
{
    const char *name = trace_enum_name(field->enumeration, value);
    if (name) {
        trace_text_add(line, name);
    } else if (field->kind == TRACE_FIELD_SIGNED) {
        unsigned shift = 64 - 8 * field->bytes;
        int64_t number = (int64_t)(value << shift) >> shift;
        if (number < 0)
            trace_text_char(line, '-');
        trace_text_number(line, number < 0 ? -(uint64_t)number : (uint64_t)number);
    } else if (field->kind == TRACE_FIELD_HEX) {
        trace_text_hex(line, value);
    } else {
        trace_text_number(line, value);
    }
}

static void put_field(struct trace_text *line, const struct trace_event_info *info,
                      const struct trace_field_info *field, const char *body, uint64_t bytes)
{
    uint64_t space = bytes - field->offset; /* fixed_bytes is checked */
    if (field->kind == TRACE_FIELD_COMM) {
        put_text(line, body + field->offset, TRACE_NAME_BYTES);
    } else if (field->kind == TRACE_FIELD_STRING) {
        put_text(line, body + field->offset, space);
    } else if (field->kind == TRACE_FIELD_ARRAY) {
        const struct trace_field_info *counter = &info->fields[field->count_field];
        uint64_t count = load_unsigned(body + counter->offset, counter->bytes);
        for (uint64_t i = 0; i < count && i < space / 8; i++) {
            trace_text_add(line, i ? " " : "");
            trace_text_hex(line, load_unsigned(body + field->offset + i * 8, 8));
        }
    } else {
        put_integer(line, field, load_unsigned(body + field->offset, field->bytes));
    }
}

const struct trace_field_info *trace_find_field(const struct trace_event_info *info, const char *name,
                                                uint64_t length)
{
    for (unsigned i = 0; i < info->field_count; i++)
        if (trace_is_word(name, length, info->fields[i].name))
            return &info->fields[i];
    return 0;
}

bool trace_has_body(const struct trace_moment *moment, const struct trace_event_info *info)
{
    uint64_t length = moment->event->length < moment->words ? moment->event->length : moment->words;
    return length > 0 && (length - 1) * 8 >= info->fixed_bytes;
}

uint64_t trace_field_value(const struct trace_moment *moment, const struct trace_field_info *field)
{
    return load_unsigned((const char *)(moment->event + 1) + field->offset, field->bytes);
}

static void put_event(struct trace_text *line, const struct trace_event_info *info,
                      const struct trace_moment *moment)
{
    const struct trace_header *event = moment->event;
    if (!info) {
        trace_text_add(line, "event ");
        trace_text_number(line, TRACE_ID_CLASS(event->id));
        trace_text_char(line, '/');
        trace_text_number(line, TRACE_ID_MINOR(event->id));
        return;
    }
    trace_text_add(line, info->full_name);
    trace_text_add(line, ": ");
    if (!trace_has_body(moment, info)) {
        trace_text_add(line, "(too short)");
        return;
    }
    uint64_t bytes = ((event->length < moment->words ? event->length : moment->words) - 1) * 8;
    for (const char *p = info->format; *p; p++) {
        if (*p != '%') {
            trace_text_char(line, *p);
            continue;
        }
        const char *name = ++p;
        while (*p != '%')
            p++;
        const struct trace_field_info *field = trace_find_field(info, name, (uint64_t)(p - name));
        if (field)
            put_field(line, info, field, (const char *)(event + 1), bytes);
        else
            trace_text_char(line, '%');
    }
}

static void put_padded(struct trace_text *line, uint64_t number, unsigned width, char padding)
{
    uint64_t least = 1; /* smallest number with `width` digits */
    for (unsigned i = 1; i < width; i++)
        least *= 10;
    for (; number < least && least > 1; least /= 10)
        trace_text_char(line, padding);
    trace_text_number(line, number);
}

uint32_t trace_print_moment(char *text, uint32_t size, const struct trace_moment *moment, uint64_t hz,
                            const struct trace_event_info *info)
{
    struct trace_text line = {.bytes = text, .capacity = size ? size - 1 : 0};
    if (hz) {
        put_padded(&line, moment->time / hz, 6, ' ');
        trace_text_char(&line, '.');
        put_padded(&line, moment->time % hz * 1000000 / hz, 6, '0');
    } else {
        trace_text_number(&line, moment->time);
    }
    trace_text_add(&line, " cpu ");
    trace_text_number(&line, moment->cpu);
    trace_text_char(&line, ' ');
    put_event(&line, info ? info : trace_event_find(moment->event->id), moment);
    const uint64_t length = line.length < line.capacity ? line.length : line.capacity;
    if (size)
        text[length] = 0;
    return (uint32_t)length;
}
