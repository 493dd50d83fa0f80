/*
 * json.h - writes JSON into a buffer, with commas where needed.
 *
 *     json_add(&json, "{name:%s ids:[%u %u]", "x", 1u, 2u);
 *     json_add(&json, "live:%d}", true);                         {"name":"x","ids":[1,2],"live":true}
 *
 * A format consists of keys, brackets and values: %s (text), %u and %lu (unsigned numbers), %ld (a signed
 * number), %d (true or false). Another call may close what one call opens.
 */
#pragma once

#include <tools/tarn/buffer.h>
#include <tools/tarn/out.h>

struct json {
    struct buffer text; /* not NUL-terminated */
    bool has_value;     /* the next one needs a comma */
};

void json_add(struct json *json, const char *format, ...) __attribute__((format(printf, 2, 3)));
void json_key(struct json *json, const char *key, size_t length); /* KEY needs no escapes */
void json_text(struct json *json, const char *text, size_t length);

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
