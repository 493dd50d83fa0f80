/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tsdl.c - parser for TSDL: the blocks trace, clock, env, stream and event; tsdl.h lists the supported part
 * of the language. Types are in tsdl_type.c, tokens in tsdl_tokens.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/tsdl_parse.h>

bool parse_uuid(const char *text, uint8_t uuid[16])
{
    unsigned digits = 0;

    for (; *text != '\0' && digits < 32; text++) {
        int c = *text | 32, value;

        if (*text == '-')
            continue;
        if (c >= 'a' && c <= 'f')
            value = c - 'a' + 10;
        else if (*text >= '0' && *text <= '9')
            value = *text - '0';
        else
            return false;
        uuid[digits / 2] = (uint8_t)(digits % 2 ? uuid[digits / 2] | value : value << 4);
        digits++;
    }
    return digits == 32 && *text == '\0';
}

void format_uuid(const uint8_t uuid[16], char text[37])
{
    char *at = text;

    for (int i = 0; i < 16; i++)
        at += sprintf(at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
}

/* Handle one `key = value;` or `key := type;` of a block. They return whether they know the key. */
typedef bool set_value(struct parser *parser, void *context, const char *key, const char *value);
typedef bool set_type(struct parser *parser, void *context, const char *key, const struct tsdl_type *type);

static void parse_body(struct parser *parser, const char *block, set_value *on_value, set_type *on_type,
                       void *context)
{
    expect_punct(parser, "{");
    while (!parser->failed && !accept_punct(parser, "}")) {
        const char *key = expect_value(parser);
        bool known = true;

        if (accept_punct(parser, ":=")) {
            const struct tsdl_type *type = parse_type(parser);

            known = on_type != NULL && on_type(parser, context, key, type);
        } else {
            expect_punct(parser, "=");
            known = on_value(parser, context, key, expect_value(parser));
        }
        if (!known)
            parse_error(parser, "'%s' in a %s block is not part of a Tarn trace", key, block);
        expect_punct(parser, ";");
    }
    expect_punct(parser, ";");
}

static uint64_t to_number(struct parser *parser, const char *key, const char *value)
{
    char *end;
    uint64_t number = strtoull(value, &end, 0);

    if (*value < '0' || *value > '9' || *end != '\0')
        parse_error(parser, "%s needs a number", key);
    return number;
}

static bool set_trace_value(struct parser *parser, void *context, const char *key, const char *value)
{
    struct tsdl *tsdl = parser->tsdl;

    if (strcmp(key, "major") == 0 || strcmp(key, "minor") == 0) {
        if (strcmp(value, key[1] == 'a' ? "1" : "8") != 0)
            parse_error(parser, "this is not CTF 1.8");
    } else if (strcmp(key, "uuid") == 0) {
        if (!parse_uuid(value, tsdl->uuid))
            parse_error(parser, "malformed uuid");
        tsdl->has_uuid = true;
    } else if (strcmp(key, "byte_order") == 0) {
        tsdl->order = parse_order(parser, value);
    } else {
        return false;
    }
    return true;
}

static bool set_trace_type(struct parser *parser, void *context, const char *key,
                           const struct tsdl_type *type)
{
    if (strcmp(key, "packet.header") != 0)
        return false;
    parser->tsdl->packet_header = type;
    return true;
}

static bool set_clock_value(struct parser *parser, void *context, const char *key, const char *value)
{
    struct tsdl *tsdl = parser->tsdl;

    if (strcmp(key, "name") == 0)
        tsdl->clock_name = value;
    else if (strcmp(key, "freq") == 0)
        tsdl->clock_freq = to_number(parser, key, value);
    else if (strcmp(key, "offset_s") == 0)
        tsdl->clock_offset_s = *value == '-' ? -(int64_t)to_number(parser, key, value + 1)
                                             : (int64_t)to_number(parser, key, value);
    else if (strcmp(key, "offset") == 0)
        tsdl->clock_offset = to_number(parser, key, value);
    else
        return strcmp(key, "uuid") == 0 || strcmp(key, "description") == 0 || strcmp(key, "precision") == 0 ||
               strcmp(key, "absolute") == 0;
    return true;
}

static bool set_stream_value(struct parser *parser, void *context, const char *key, const char *value)
{
    if (strcmp(key, "id") != 0)
        return false;
    parser->tsdl->stream_id = to_number(parser, key, value);
    return true;
}

static bool set_stream_type(struct parser *parser, void *context, const char *key,
                            const struct tsdl_type *type)
{
    if (strcmp(key, "packet.context") == 0)
        parser->tsdl->packet_context = type;
    else if (strcmp(key, "event.header") == 0)
        parser->tsdl->event_header = type;
    else
        return false;
    return true;
}

static bool set_event_value(struct parser *parser, void *context, const char *key, const char *value)
{
    struct tsdl_event *event = context;

    if (strcmp(key, "name") == 0) {
        event->name = value;
    } else if (strcmp(key, "id") == 0) {
        event->id = to_number(parser, key, value);
        event->has_id = true;
    } else if (strcmp(key, "stream_id") == 0) {
        if (to_number(parser, key, value) != parser->tsdl->stream_id)
            parse_error(parser, "an event of another stream class");
    } else {
        return false;
    }
    return true;
}

static bool set_event_type(struct parser *parser, void *context, const char *key,
                           const struct tsdl_type *type)
{
    struct tsdl_event *event = context;

    if (strcmp(key, "fields") != 0)
        return false;
    event->fields = type;
    return true;
}

static void parse_event(struct parser *parser)
{
    struct tsdl_event *event = arena_alloc(&parser->tsdl->arena, sizeof(*event));

    event->line = parser->token.line;
    parse_body(parser, "event", set_event_value, set_event_type, event);
    if (event->name == NULL || !event->has_id)
        parse_error(parser, "an event needs a name and an id");
    else if (strlen(event->name) > 255)
        parse_error(parser, "the name of an event is too long");
    *parser->last_event = event;
    parser->last_event = &event->next;
}

/* env { name = "text"; name = number; }; the values are not interpreted here. */
static void parse_env(struct parser *parser)
{
    expect_punct(parser, "{");
    while (!parser->failed && !accept_punct(parser, "}")) {
        struct tsdl_env *env = arena_alloc(&parser->tsdl->arena, sizeof(*env));

        env->name = expect_word(parser, "a name");
        expect_punct(parser, "=");
        env->is_text = parser->token.kind == TOKEN_STRING;
        env->text = expect_value(parser);
        expect_punct(parser, ";");
        *parser->last_env = env;
        parser->last_env = &env->next;
    }
    expect_punct(parser, ";");
}

static void parse_block(struct parser *parser)
{
    const char *block = expect_word(parser, "a declaration");

    if (strcmp(block, "trace") == 0) {
        parse_body(parser, block, set_trace_value, set_trace_type, NULL);
    } else if (strcmp(block, "clock") == 0) {
        if (parser->tsdl->clock_name != NULL)
            parse_error(parser, "a second clock is not part of a Tarn trace");
        parse_body(parser, block, set_clock_value, NULL, NULL);
    } else if (strcmp(block, "env") == 0) {
        parse_env(parser);
    } else if (strcmp(block, "stream") == 0) {
        if (parser->tsdl->has_stream)
            parse_error(parser, "a second stream class is not part of a Tarn trace");
        parser->tsdl->has_stream = true;
        parse_body(parser, block, set_stream_value, set_stream_type, NULL);
    } else if (strcmp(block, "event") == 0) {
        parse_event(parser);
    } else {
        parse_error(parser, "'%s' is not part of a Tarn trace", block);
    }
}

bool tsdl_parse(struct tsdl *tsdl, const char *text, size_t length, struct fail *fail)
{
    struct parser parser = {.tsdl = tsdl, .fail = fail, .at = text, .end = text + length, .line = 1};

    memset(tsdl, 0, sizeof(*tsdl));
    parser.last_event = &tsdl->events;
    parser.last_env = &tsdl->env;
    parse_next(&parser);
    while (!parser.failed && parser.token.kind != TOKEN_END) {
        if (at_word(&parser, "typealias")) {
            parse_next(&parser);
            parse_typealias(&parser);
        } else {
            parse_block(&parser);
        }
    }
    return !parser.failed;
}

void tsdl_free(struct tsdl *tsdl)
{
    arena_free(&tsdl->arena);
}
