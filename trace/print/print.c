/*
 * trace/print/print.c - prints an event by its format, with the fields that the generated table describes.
 *
 * Freestanding, no allocation: the kernel prints its last events with this during a panic. Never reads beyond
 * the event's words; any bytes are safe.
 */
#include "trace/events.h" /* generated */
#include <trace/print/print.h>
#include <trace/print/words.h>

struct line {
    char *text;
    uint32_t size, length;
};

static void put_char(struct line *line, char c)
{
    if (line->length + 1 < line->size)
        line->text[line->length++] = c >= ' ' && c < 127 ? c : '?';
}

static void put_text(struct line *line, const char *text, uint64_t most)
{
    for (uint64_t i = 0; i < most && text[i]; i++)
        put_char(line, text[i]);
}

static void put_number(struct line *line, uint64_t value, unsigned base)
{
    char digits[20];
    unsigned count = 0;
    do
        digits[count++] = "0123456789abcdef"[value % base];
    while (value /= base);
    if (base == 16)
        put_text(line, "0x", 2);
    while (count)
        put_char(line, digits[--count]);
}

static uint64_t load_unsigned(const char *at, unsigned bytes)
{
    typedef uint16_t __attribute__((may_alias)) half;
    typedef uint32_t __attribute__((may_alias)) single;
    typedef uint64_t __attribute__((may_alias)) whole;
    switch (bytes) {
    case 1:
        return *(const uint8_t *)at;
    case 2:
        return *(const half *)at;
    case 4:
        return *(const single *)at;
    default:
        return *(const whole *)at;
    }
}

static void put_integer(struct line *line, const struct trace_field_info *field, uint64_t value)
{
    const char *name = trace_enum_name(field->enumeration, value);
    if (name) {
        put_text(line, name, ~0u);
    } else if (field->kind == TRACE_FIELD_SIGNED) {
        unsigned shift = 64 - 8 * field->bytes;
        int64_t number = (int64_t)(value << shift) >> shift;
        if (number < 0)
            put_char(line, '-');
        put_number(line, number < 0 ? -(uint64_t)number : (uint64_t)number, 10);
    } else {
        put_number(line, value, field->kind == TRACE_FIELD_HEX ? 16 : 10);
    }
}

static void put_field(struct line *line, const struct trace_event_info *info,
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
            put_text(line, i ? " " : "", 1);
            put_number(line, load_unsigned(body + field->offset + i * 8, 8), 16);
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

static void put_event(struct line *line, const struct trace_event_info *info,
                      const struct trace_moment *moment)
{
    const struct trace_header *event = moment->event;
    if (!info) {
        put_text(line, "event ", 6);
        put_number(line, TRACE_ID_CLASS(event->id), 10);
        put_char(line, '/');
        put_number(line, TRACE_ID_MINOR(event->id), 10);
        return;
    }
    put_text(line, info->full_name, ~0u);
    put_text(line, ": ", 2);
    if (!trace_has_body(moment, info)) {
        put_text(line, "(too short)", ~0u);
        return;
    }
    uint64_t bytes = ((event->length < moment->words ? event->length : moment->words) - 1) * 8;
    for (const char *p = info->format; *p; p++) {
        if (*p != '%') {
            put_char(line, *p);
            continue;
        }
        const char *name = ++p;
        while (*p != '%')
            p++;
        const struct trace_field_info *field = trace_find_field(info, name, (uint64_t)(p - name));
        if (field)
            put_field(line, info, field, (const char *)(event + 1), bytes);
        else
            put_char(line, '%');
    }
}

static void put_padded(struct line *line, uint64_t number, unsigned width, char padding)
{
    uint64_t least = 1; /* smallest number with `width` digits */
    for (unsigned i = 1; i < width; i++)
        least *= 10;
    for (; number < least && least > 1; least /= 10)
        put_char(line, padding);
    put_number(line, number, 10);
}

uint32_t trace_print_moment(char *text, uint32_t size, const struct trace_moment *moment, uint64_t hz,
                            const struct trace_event_info *info)
{
    struct line line = {.text = text, .size = size};
    if (hz) {
        put_padded(&line, moment->time / hz, 6, ' ');
        put_char(&line, '.');
        put_padded(&line, moment->time % hz * 1000000 / hz, 6, '0');
    } else {
        put_number(&line, moment->time, 10);
    }
    put_text(&line, " cpu ", 5);
    put_number(&line, moment->cpu, 10);
    put_char(&line, ' ');
    put_event(&line, info ? info : trace_event_find(moment->event->id), moment);
    if (size)
        text[line.length] = 0;
    return line.length;
}
