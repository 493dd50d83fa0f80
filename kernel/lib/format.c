/*
 * format.c - a small printf: %c %s %d %i %u %x %p %%, flags 0 - #, width, precision of %s, lengths l ll z.
 * No floating point.
 */
#include <kernel/kernel.h>
#include <stdarg.h>

struct output {
    char *buffer;
    size_t size, length;
};

struct spec {
    bool zero, left, alternate, wide;
    int width, precision;
};

static void put(struct output *out, char c)
{
    if (out->length + 1 < out->size)
        out->buffer[out->length] = c;
    out->length++;
}

static void pad(struct output *out, char c, int count)
{
    while (count-- > 0)
        put(out, c);
}

static void put_field(struct output *out, const struct spec *spec, const char *prefix, const char *text,
                      int length)
{
    const int padding = spec->width - length - (int)strlen(prefix);
    if (!spec->left && !spec->zero)
        pad(out, ' ', padding);
    while (*prefix)
        put(out, *prefix++);
    if (!spec->left && spec->zero)
        pad(out, '0', padding);
    while (length-- > 0)
        put(out, *text++);
    if (spec->left)
        pad(out, ' ', padding);
}

static void put_text(struct output *out, const struct spec *spec, const char *text)
{
    int length = 0;
    if (!text)
        text = "(null)";
    while (text[length] && (spec->precision < 0 || length < spec->precision))
        length++;
    put_field(out, spec, "", text, length);
}

static void put_number(struct output *out, const struct spec *spec, uint64_t value, unsigned base,
                       const char *prefix)
{
    char digits[20], *first = digits + sizeof digits;
    do {
        *--first = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    put_field(out, spec, prefix, first, (int)(digits + sizeof digits - first));
}

static const char *parse_number(const char *p, int *number)
{
    *number = 0;
    while (*p >= '0' && *p <= '9')
        *number = *number * 10 + (*p++ - '0');
    return p;
}

static const char *parse_spec(const char *p, struct spec *spec)
{
    *spec = (struct spec){.precision = -1};
    for (;; p++) {
        if (*p == '0')
            spec->zero = true;
        else if (*p == '-')
            spec->left = true;
        else if (*p == '#')
            spec->alternate = true;
        else
            break;
    }
    p = parse_number(p, &spec->width);
    if (*p == '.')
        p = parse_number(p + 1, &spec->precision);
    for (; *p == 'l' || *p == 'z'; p++)
        spec->wide = true;
    return p;
}

int format_text_list(char *buffer, size_t size, const char *format, va_list arguments)
{
    struct output out = {buffer, size, 0};
    for (const char *p = format; *p; p++) {
        struct spec spec;
        if (*p != '%') {
            put(&out, *p);
            continue;
        }
        p = parse_spec(p + 1, &spec);
        if (*p == 'd' || *p == 'i') {
            int64_t value = spec.wide ? va_arg(arguments, long) : va_arg(arguments, int);
            put_number(&out, &spec, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, value < 0 ? "-" : "");
        } else if (*p == 'u' || *p == 'x') {
            uint64_t value = spec.wide ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned);
            put_number(&out, &spec, value, *p == 'x' ? 16 : 10, spec.alternate && *p == 'x' ? "0x" : "");
        } else if (*p == 'p') {
            put_number(&out, &spec, (uint64_t)va_arg(arguments, void *), 16, "0x");
        } else if (*p == 's') {
            put_text(&out, &spec, va_arg(arguments, const char *));
        } else if (*p == 'c') {
            put(&out, (char)va_arg(arguments, int));
        } else if (*p == '%') {
            put(&out, '%');
        } else {
            put(&out, '?'); /* the compiler's format check prevents this */
            if (!*p)
                break;
        }
    }
    if (size > 0)
        buffer[out.length < size ? out.length : size - 1] = 0;
    return (int)out.length;
}

int format_text(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = format_text_list(buffer, size, format, arguments);
    va_end(arguments);
    return length;
}
