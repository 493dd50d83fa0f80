/* SPDX-License-Identifier: BSD-2-Clause */
/* json.c - writes JSON; see json.h. */
#include <tools/tarn/print/print.h>
#include <tools/tarn/view/json.h>

void json_open(struct json *json, char bracket)
{
    char *at = json_begin(json, 1);

    *at = bracket;
    json_end(json, at + 1);
    json->has_value = false;
}

void json_close(struct json *json, char bracket)
{
    buffer_add(&json->text, &bracket, 1);
    json->has_value = true;
}

void json_key(struct json *json, const char *key)
{
    size_t length = strlen(key);
    char *at = json_begin(json, length + 3);

    *at++ = '"';
    at = put_bytes(at, key, length);
    *at++ = '"';
    *at++ = ':';
    json_end(json, at);
    json->has_value = false;
}

void json_text_bytes(struct json *json, const char *text, size_t length)
{
    json_end(json, put_escaped(json_begin(json, 6 * length + 2), text, length, PRINT_JSON));
}

void json_text(struct json *json, const char *text)
{
    json_text_bytes(json, text, strlen(text));
}

void json_bool(struct json *json, bool value)
{
    json_end(json, put_string(json_begin(json, 5), value ? "true" : "false"));
}

void json_raw(struct json *json, const void *bytes, size_t size)
{
    json_end(json, put_bytes(json_begin(json, size), bytes, size));
}
