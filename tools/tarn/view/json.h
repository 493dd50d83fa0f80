/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json.h - writes JSON into a buffer, with commas where needed.
 *
 *     json_open(&json, '{');
 *     json_key_open(&json, "ids", '[');
 *     json_number(&json, 1);
 *     json_close(&json, ']');
 *     json_close(&json, '}');        {"ids":[1]}
 */
#ifndef TARN_JSON_H
#define TARN_JSON_H

#include <tools/tarn/out.h>
#include <tools/tarn/view/varint.h>

struct json {
    struct buffer text; /* not NUL-terminated */
    bool has_value;     /* the next one needs a comma */
};

void json_open(struct json *json, char bracket);
void json_close(struct json *json, char bracket);
void json_key(struct json *json, const char *key); /* KEY needs no escapes */
void json_text(struct json *json, const char *text);
void json_text_bytes(struct json *json, const char *text, size_t length);
void json_bool(struct json *json, bool value);
void json_raw(struct json *json, const void *bytes, size_t size); /* a complete value */

/* For a value of at most BYTES bytes. */
static inline char *json_begin(struct json *json, size_t bytes)
{
    char *at = (char *)buffer_reserve(&json->text, bytes + 1);

    if (json->has_value)
        *at++ = ',';
    json->has_value = true;
    return at;
}

static inline void json_end(struct json *json, char *end)
{
    json->text.used = (size_t)(end - (char *)json->text.bytes);
}

static inline void json_number(struct json *json, uint64_t value)
{
    json_end(json, put_unsigned(json_begin(json, PUT_NUMBER_MAX), value));
}

static inline void json_signed(struct json *json, int64_t value)
{
    json_end(json, put_signed(json_begin(json, PUT_NUMBER_MAX), value));
}

static inline void json_key_number(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_number(json, value);
}

static inline void json_key_signed(struct json *json, const char *key, int64_t value)
{
    json_key(json, key);
    json_signed(json, value);
}

static inline void json_key_text(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_text(json, text);
}

static inline void json_key_bool(struct json *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}

static inline void json_key_open(struct json *json, const char *key, char bracket)
{
    json_key(json, key);
    json_open(json, bracket);
}

#endif
