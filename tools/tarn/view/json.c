/* json.c - writes JSON; see json.h. */
#include <stdlib.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/view/json.h>

void json_key(struct json *json, const char *key, size_t length)
{
    char *at = json_begin(json, length + 3);
    *at++ = '"';
    at = put_bytes(at, key, length);
    *at++ = '"';
    *at++ = ':';
    json_end(json, at);
    json->has_value = false;
}

void json_text(struct json *json, const char *text, size_t length)
{
    json_end(json, put_escaped(json_begin(json, 6 * length + 2), text, length, PRINT_JSON));
}

static void add_value(struct json *json, const char *kind, va_list *values)
{
    if (*kind == 's') {
        const char *text = va_arg(*values, const char *);
        json_text(json, text, strlen(text));
    } else if (*kind == 'd') {
        json_end(json, put_string(json_begin(json, 5), va_arg(*values, int) ? "true" : "false"));
    } else if (*kind == 'u') {
        json_number(json, va_arg(*values, unsigned));
    } else if (kind[0] == 'l' && kind[1] == 'u') {
        json_number(json, va_arg(*values, unsigned long));
    } else if (kind[0] == 'l' && kind[1] == 'd') {
        json_end(json, put_signed(json_begin(json, PUT_NUMBER_MAX), va_arg(*values, long)));
    } else {
        abort(); /* a format of ours */
    }
}

void json_add(struct json *json, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    while (*format != '\0') {
        size_t length = strspn(format, " ");
        if (length == 0 && *format == '%') {
            add_value(json, format + 1, &values);
            length = format[1] == 'l' ? 3 : 2;
        } else if (length == 0 && strchr("{}[]", *format) != NULL) {
            bool opens = *format == '{' || *format == '[';
            char *at = opens ? json_begin(json, 1) : (char *)buffer_reserve(&json->text, 1);
            *at = *format;
            json_end(json, at + 1);
            json->has_value = !opens;
            length = 1;
        } else if (length == 0) {
            length = strcspn(format, ":");
            json_key(json, format, length++);
        }
        format += length;
    }
    va_end(values);
}
