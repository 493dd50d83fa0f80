/* print_value.c - formats one value in each style; see print.h. */
#include <math.h>
#include <tools/tarn/print/print.h>

/* The letter after the backslash in an escape sequence. */
static const char escape_letters[] = {['\\'] = '\\', ['"'] = '"',  ['\a'] = 'a', ['\b'] = 'b', ['\033'] = 'e',
                                      ['\f'] = 'f',  ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't', ['\v'] = 'v'};

static bool is_plain(unsigned char c, enum print_style style)
{
    if (c < 0x20 || c == 0x7f || c == '"' || c == '\\')
        return false;
    if (style == PRINT_BABELTRACE)
        return c != '\'' && c != '?';
    return c < 0x80;
}

struct unit unit_of_time(uint64_t largest)
{
    static const struct unit units[] = {{" ns", 1}, {" us", 1e3}, {" ms", 1e6}, {" s", 1e9}};
    unsigned i = 0;
    while (i + 1 < sizeof(units) / sizeof(units[0]) && (double)largest >= 1e4 * units[i].of_one)
        i++;
    return units[i];
}

/* Counts are exact up to seven digits. */
struct unit unit_of_count(uint64_t largest)
{
    static const struct unit units[] = {{"", 1}, {" M", 1e6}, {" G", 1e9}};
    return units[largest < 10000000 ? 0 : largest < 10000000000 ? 1 : 2];
}

void format_digits(double value, char text[NUMBER_BYTES])
{
    double size = fabs(value);
    int decimals = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    snprintf(text, NUMBER_BYTES, "%.*f", decimals, value);
}

unsigned utf8_length(const unsigned char *text, size_t left)
{
    unsigned length = text[0] >= 0xc2 && text[0] < 0xe0   ? 2
                      : (text[0] & 0xf0) == 0xe0          ? 3
                      : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                          : 0;
    if (length == 0 || length > left)
        return 0;
    for (unsigned i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

void buffer_utf8(struct buffer *to, const char *text, size_t length)
{
    size_t run;
    for (size_t i = 0; i < length; i += run != 0 ? run : 1) {
        run = (unsigned char)text[i] < 0x80 ? 1 : utf8_length((const unsigned char *)text + i, length - i);
        buffer_add(to, run != 0 ? text + i : "\xef\xbf\xbd", run != 0 ? run : 3);
    }
}

static char *put_hex_byte(char *at, const char *before, unsigned char c)
{
    at = put_string(at, before);
    *at++ = hex_lower[c >> 4];
    *at++ = hex_lower[c & 15];
    return at;
}

static char *put_special(char *at, unsigned char c, enum print_style style)
{
    char letter = c < sizeof(escape_letters) ? escape_letters[c] : 0;
    if (style == PRINT_JSON) {
        if (c == '"' || c == '\\' || (letter != 0 && strchr("bfnrt", letter) != NULL)) {
            *at++ = '\\';
            *at++ = letter;
            return at;
        }
        return c < 0x80 ? put_hex_byte(at, "\\u00", c) : put_string(at, "\xef\xbf\xbd");
    }
    if (style == PRINT_CSV && c == '"')
        return put_string(at, "\\\"\"");
    if (style == PRINT_BABELTRACE && (c == '\'' || c == '?'))
        letter = (char)c;
    if (letter == 0)
        return put_hex_byte(at, "\\x", c);
    *at++ = '\\';
    *at++ = letter;
    return at;
}

char *put_escaped(char *at, const char *text, size_t length, enum print_style style)
{
    const char *quote = style == PRINT_CSV ? "\"\"" : "\"";
    at = put_string(at, quote);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        unsigned run;
        if (is_plain(c, style)) {
            *at++ = (char)c;
        } else if (c >= 0x80 && (run = utf8_length((const unsigned char *)text + i, length - i)) != 0) {
            at = put_bytes(at, text + i, run);
            i += run - 1;
        } else {
            at = put_special(at, c, style);
        }
    }
    return put_string(at, quote);
}

/* VALUE is sign-extended if the field is signed. */
char *put_number(char *at, uint64_t value, const struct field *field, enum print_style style)
{
    if (field->base == 16 && style != PRINT_JSON)
        return put_hex(at, field->width == 8 ? value : value & ((1ull << field->width * 8) - 1),
                       style == PRINT_BABELTRACE ? hex_upper : hex_lower);
    return field->is_signed ? put_signed(at, (int64_t)value) : put_unsigned(at, value);
}

#define EXACT_MAX (1ll << 53)

char *put_safe_number(char *at, uint64_t value, bool is_signed)
{
    int64_t number = (int64_t)value;
    bool is_exact = is_signed ? number >= -EXACT_MAX && number <= EXACT_MAX : value <= EXACT_MAX;
    if (!is_exact)
        *at++ = '"';
    at = is_signed ? put_signed(at, number) : put_unsigned(at, value);
    if (!is_exact)
        *at++ = '"';
    return at;
}

/* babeltrace2 style: ( "label", "label" : container = 1 ); others: the first label, or the number. */
char *put_enum(char *at, uint64_t value, const struct field *field, enum print_style style)
{
    bool any = false;
    if (style == PRINT_BABELTRACE)
        at = put_string(at, "( ");
    for (const struct label *label = field->labels; label != NULL; label = label->next) {
        if (label->value != value)
            continue;
        if (style == PRINT_TEXT || style == PRINT_CSV)
            return put_string(at, label->name);
        if (any)
            at = put_string(at, ", ");
        at = put_escaped(at, label->name, strlen(label->name), style);
        any = true;
        if (style == PRINT_JSON)
            return at;
    }
    if (style != PRINT_BABELTRACE)
        return put_number(at, value, field, style);
    at = put_string(at, any ? " : container = " : "<unknown> : container = ");
    at = put_number(at, value, field, style);
    return put_string(at, " )");
}

char *put_list(char *at, const struct event *event, const struct field *field, enum print_style style,
               bool is_safe)
{
    uint64_t count = field_count(field, event);
    const uint8_t *bytes = event->bytes + field->offset;
    *at++ = '[';
    for (uint64_t i = 0; i < count; i++, bytes += field->width) {
        uint64_t value = load_integer(bytes, field->width, field->is_signed, field->swap);
        if (style == PRINT_BABELTRACE) {
            at = put_string(at, i == 0 ? " [" : ", [");
            at = put_unsigned(at, i);
            at = put_string(at, "] = ");
        } else if (i != 0) {
            *at++ = ',';
        }
        at = field->labels ? put_enum(at, value, field, style)
             : is_safe     ? put_safe_number(at, value, field->is_signed)
                           : put_number(at, value, field, style);
    }
    return put_string(at, style == PRINT_BABELTRACE ? " ]" : "]");
}

static size_t scalar_capacity(const struct field *field)
{
    size_t capacity = 64; /* an unknown value of an enumeration is the longest: its number and words */
    for (const struct label *label = field->labels; label != NULL; label = label->next)
        capacity += 6 * strlen(label->name) + 8;
    return capacity;
}

size_t value_capacity(const struct field *field, bool indexes)
{
    size_t bytes = TRACE_LENGTH_MAX * 8 - field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
        return 8 + 6 * (size_t)field->count;
    case FIELD_STRING:
        return 8 + 6 * bytes;
    case FIELD_ARRAY:
        return 8 + field->count * (scalar_capacity(field) + (indexes ? 16 : 0));
    case FIELD_SEQUENCE:
        return 8 + bytes / field->width * (scalar_capacity(field) + (indexes ? 16 : 0));
    default:
        return 40 + scalar_capacity(field);
    }
}

char *put_csv_text(char *at, const char *text, size_t length)
{
    bool is_plain = true;
    for (size_t i = 0; i < length; i++)
        is_plain &= text[i] != ',' && text[i] != '"' && text[i] != '\n' && text[i] != '\r';
    if (is_plain)
        return put_bytes(at, text, length);
    *at++ = '"';
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            *at++ = '"';
        *at++ = text[i];
    }
    *at++ = '"';
    return at;
}
