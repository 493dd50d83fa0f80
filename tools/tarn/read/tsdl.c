/* tsdl.c - reads metadata token by token; see schema.h. After the first error parse_next only returns the
 * end.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/schema.h>
#include <trace/events.h>

#define NAME_BYTES_MAX   255u /* bounds every printed line */
#define STRING_BYTES_MAX 1024u
#define FIELDS_MAX       4096u

/* TOKEN_PLACE: @NAME@, in frames. A TOKEN_SIGN is := or one letter. */
enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PLACE, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    const char *text; /* in the metadata; of a string, without the quotes */
    size_t length;
};

struct parser {
    const char *text, *at, *end; /* `at`: behind the current token */
    struct token token;          /* the current one */
    struct schema *schema;
    struct fail *fail;
    bool failed; /* sticky; `token` is then TOKEN_END */
    size_t event_capacity;
    /* of the current event */
    struct field *fields;
    unsigned field_count;
    uint64_t bytes; /* from the header to the end of the last field */
};

/* ---- tokens ---------------------------------------------------------------------------------------- */

static void parse_error(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void parse_error(struct parser *parser, const char *format, ...)
{
    unsigned line = 1;
    char text[400];
    va_list args;
    if (parser->failed)
        return;
    for (const char *at = parser->text; at < parser->token.text; at++)
        line += *at == '\n';
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fail_set(parser->fail, "metadata, line %u: %s", line, text);
    parser->failed = true;
    parser->at = parser->end;
    parser->token = (struct token){TOKEN_END, parser->end, 0};
}

static void skip_blank(struct parser *parser)
{
    while (parser->at < parser->end) {
        const size_t left = (size_t)(parser->end - parser->at);
        const char *close;
        if (isspace((unsigned char)*parser->at)) {
            parser->at++;
            continue;
        }
        if (left < 2 || memcmp(parser->at, "/*", 2) != 0)
            return;
        close = memmem(parser->at + 2, left - 2, "*/", 2);
        if (close == NULL) {
            parse_error(parser, "comment not closed");
            return;
        }
        parser->at = close + 2;
    }
}

static bool is_in_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || letter == '.';
}

/* Returns the length of a token that begins and ends with QUOTE. */
static size_t quoted_length(struct parser *parser, char quote)
{
    const char *at = parser->at + 1;
    while (at < parser->end && *at != quote)
        at += *at == '\\' ? 2 : 1;
    if (at < parser->end)
        return (size_t)(at - parser->at) + 1;
    parse_error(parser, "string not closed");
    return 0;
}

static void parse_next(struct parser *parser)
{
    const char *at;
    size_t length = 1;
    parser->token = (struct token){TOKEN_END, parser->at, 0};
    skip_blank(parser);
    at = parser->token.text = parser->at;
    if (at == parser->end)
        return;
    if (*at == '"' || *at == '@') {
        length = quoted_length(parser, *at);
        if (length == 0)
            return;
        parser->token = (struct token){*at == '"' ? TOKEN_STRING : TOKEN_PLACE, at + 1, length - 2};
    } else {
        enum token_kind kind = isdigit((unsigned char)*at) || *at == '-' ? TOKEN_NUMBER
                               : is_in_word(*at)                         ? TOKEN_WORD
                                                                         : TOKEN_SIGN;
        while (kind != TOKEN_SIGN && at + length < parser->end && is_in_word(at[length]))
            length++;
        if (*at == ':' && at + 1 < parser->end && at[1] == '=')
            length = 2;
        parser->token = (struct token){kind, at, length};
    }
    parser->at += length;
    if (parser->token.length > (parser->token.kind == TOKEN_STRING ? STRING_BYTES_MAX : NAME_BYTES_MAX))
        parse_error(parser, "name or string too long");
}

static bool is_token(const struct parser *parser, const char *text)
{
    const struct token *token = &parser->token;
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_SIGN || token->kind == TOKEN_NUMBER) &&
           token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

static bool accept(struct parser *parser, const char *text)
{
    if (!is_token(parser, text))
        return false;
    parse_next(parser);
    return true;
}

/* Takes a word, a number or a string. */
static struct token take_value(struct parser *parser, const char *what)
{
    const struct token token = parser->token;
    if (token.kind == TOKEN_WORD || token.kind == TOKEN_NUMBER || token.kind == TOKEN_STRING)
        parse_next(parser);
    else
        parse_error(parser, "expected %s", what);
    return token;
}

/* Takes the tokens of FRAME up to the word STOP or the frame's end. VALUES gets what stands in the place of
 * the frame's placeholders and strings. */
static void expect_frame(struct parser *parser, struct parser *frame, const char *stop, struct token *values)
{
    for (; frame->token.kind != TOKEN_END && !is_token(frame, stop); parse_next(frame)) {
        const struct token want = frame->token, *token = &parser->token;
        if (want.kind == TOKEN_PLACE || want.kind == TOKEN_STRING)
            *values++ = take_value(parser, "a value");
        else if (token->kind == want.kind && token->length == want.length &&
                 memcmp(token->text, want.text, want.length) == 0)
            parse_next(parser);
        else
            parse_error(parser, "expected '%.*s'", (int)want.length, want.text);
    }
}

static void expect(struct parser *parser, const char *text, struct token *values)
{
    struct parser frame = {.text = text, .at = text, .end = text + strlen(text)};
    parse_next(&frame);
    expect_frame(parser, &frame, "", values);
}

/* ---- values ---------------------------------------------------------------------------------------- */

/* Only backslashes and quotes have one before them. */
static const char *copy_text(struct parser *parser, struct token token)
{
    char *text = arena_string(&parser->schema->arena, token.text, token.length), *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        from += from[0] == '\\' && from[1] != '\0';
        *to++ = *from;
    }
    *to = '\0';
    return text;
}

static uint64_t number_of(struct parser *parser, struct token token)
{
    char text[24] = "", *end;
    uint64_t number;
    if (token.kind == TOKEN_NUMBER && token.length < sizeof(text))
        memcpy(text, token.text, token.length);
    errno = 0;
    number = text[0] == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0)
        parse_error(parser, "malformed number, or one that is too large");
    return number;
}

static void set_uuid(struct parser *parser, struct token token)
{
    const char *text = copy_text(parser, token);
    bool is_good = token.length == 36;
    for (int i = 0; i < 16 && is_good; i++, text += 2) {
        text += *text == '-';
        is_good = isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]) &&
                  sscanf(text, "%2hhx", &parser->schema->uuid[i]) == 1;
    }
    if (!is_good)
        parse_error(parser, "malformed uuid");
}

static void set_byte_order(struct parser *parser, struct token token)
{
    struct schema *schema = parser->schema;
    schema->big_endian = token.length == 2 && memcmp(token.text, "be", 2) == 0;
    schema->swap = schema->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    if (!schema->big_endian && (token.length != 2 || memcmp(token.text, "le", 2) != 0))
        parse_error(parser, "the byte order is neither le nor be");
}

/* ---- fields ---------------------------------------------------------------------------------------- */

static const struct label *parse_labels(struct parser *parser)
{
    const struct label *first = NULL, **end = &first;
    struct token values[2];
    do {
        struct label *label = arena_alloc(&parser->schema->arena, sizeof(*label));
        expect(parser, "@LABEL@ = @VALUE@", values);
        label->name = copy_text(parser, values[0]);
        label->value = number_of(parser, values[1]);
        *end = label;
        end = &label->next;
    } while (accept(parser, ","));
    return first;
}

/* IS_TEXT: an array of it is text. */
static struct field parse_integer(struct parser *parser, bool *is_text)
{
    static const struct {
        const char *name;
        uint8_t width, base;
        bool is_signed, is_text;
    } types[] = {
        {"uint8_t", 1, 10, false, false},  {"uint16_t", 2, 10, false, false},
        {"uint32_t", 4, 10, false, false}, {"uint64_t", 8, 10, false, false},
        {"int8_t", 1, 10, true, false},    {"int16_t", 2, 10, true, false},
        {"int32_t", 4, 10, true, false},   {"int64_t", 8, 10, true, false},
        {"xint8_t", 1, 16, false, false},  {"xint16_t", 2, 16, false, false},
        {"xint32_t", 4, 16, false, false}, {"xint64_t", 8, 16, false, false},
        {"text8_t", 1, 10, false, true},
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (accept(parser, types[i].name)) {
            *is_text = types[i].is_text;
            return (struct field){.kind = FIELD_INTEGER,
                                  .width = types[i].width,
                                  .base = types[i].base,
                                  .is_signed = types[i].is_signed,
                                  .swap = parser->schema->swap && types[i].width > 1};
        }
    parse_error(parser, "unknown type '%.*s'", (int)parser->token.length, parser->token.text);
    return (struct field){.width = 1};
}

static struct field parse_type(struct parser *parser, bool *is_text)
{
    struct field field = {.kind = FIELD_STRING, .width = 1};
    *is_text = false;
    if (is_token(parser, "string")) {
        expect(parser, "string { encoding = UTF8; }", NULL);
        return field;
    }
    if (!accept(parser, "enum"))
        return parse_integer(parser, is_text);
    expect(parser, ":", NULL);
    field = parse_integer(parser, is_text);
    field.kind = FIELD_ENUM;
    expect(parser, "{", NULL);
    field.labels = parse_labels(parser);
    expect(parser, "}", NULL);
    return field;
}

static const struct field *find_counter(const struct parser *parser, struct token name)
{
    for (unsigned i = 0; i < parser->field_count; i++) {
        const struct field *field = &parser->fields[i];
        if (strlen(field->name) == name.length && memcmp(field->name, name.text, name.length) == 0 &&
            field->kind == FIELD_INTEGER && !field->is_signed)
            return field;
    }
    return NULL;
}

/* [COUNT] or [FIELD]. */
static void parse_dimension(struct parser *parser, struct field *field, bool is_text)
{
    struct token dimension;
    bool is_right;
    expect(parser, "[ @COUNT@ ]", &dimension);
    if (dimension.kind == TOKEN_NUMBER) {
        const uint64_t count = number_of(parser, dimension);
        is_right = count <= TRACE_LENGTH_MAX * 8u;
        field->kind = is_text ? FIELD_TEXT : FIELD_ARRAY;
        field->count = (uint32_t)count;
    } else {
        field->counter = find_counter(parser, dimension);
        field->kind = FIELD_SEQUENCE;
        is_right = field->counter != NULL && !is_text;
    }
    if (!is_right)
        parse_error(parser, "the array %s is not part of a Tarn trace", field->name);
}

static bool is_variable(const struct field *field)
{
    return field->kind == FIELD_STRING || field->kind == FIELD_SEQUENCE;
}

static void parse_field(struct parser *parser)
{
    struct field *field = &parser->fields[parser->field_count];
    bool is_text;
    if (parser->field_count == FIELDS_MAX) {
        parse_error(parser, "an event has too many fields");
        return;
    }
    *field = parse_type(parser, &is_text);
    field->name = copy_text(parser, take_value(parser, "the name of a field"));
    if (parser->field_count > 0 && is_variable(&field[-1]))
        parse_error(parser, "field %s follows one of variable size", field->name);
    if (is_token(parser, "["))
        parse_dimension(parser, field, is_text);
    expect(parser, ";", NULL);
    parser->bytes = (parser->bytes + field->width - 1) / field->width * field->width;
    field->offset = (uint32_t)parser->bytes;
    if (field->kind == FIELD_ARRAY || field->kind == FIELD_TEXT)
        parser->bytes += (uint64_t)field->width * field->count;
    else
        parser->bytes += field->kind == FIELD_SEQUENCE ? 0 : field->width;
    if (parser->bytes > TRACE_LENGTH_MAX * 8u)
        parse_error(parser, "with field %s, the event is larger than one can be", field->name);
    parser->field_count++;
}

/* ---- blocks ---------------------------------------------------------------------------------------- */

/* Copies the fields into the arena. */
static void take_fields(struct parser *parser, struct event_type *type)
{
    struct field *fields = arena_alloc(&parser->schema->arena, (parser->field_count + 1) * sizeof(fields[0]));
    struct field *last = &fields[parser->field_count - (parser->field_count > 0)];
    memcpy(fields, parser->fields, parser->field_count * sizeof(fields[0]));
    if (last->counter != NULL)
        last->counter = fields + (last->counter - parser->fields);
    type->fields = fields;
    type->field_count = parser->field_count;
    if (parser->field_count > 0 && is_variable(last))
        type->tail = last;
    type->words = (uint32_t)((parser->bytes + 7) / 8);
    type->fixed_words = type->tail == NULL ? type->words : UINT32_MAX;
}

static void parse_event(struct parser *parser)
{
    struct schema *schema = parser->schema;
    struct event_type *type = arena_alloc(&schema->arena, sizeof(*type));
    struct token values[2];
    uint64_t id;
    expect(parser, "event { name = @NAME@; id = @ID@; stream_id = 0; fields := struct {", values);
    type->name = copy_text(parser, values[0]);
    id = number_of(parser, values[1]);
    if (values[0].length > NAME_BYTES_MAX)
        parse_error(parser, "the name of an event is too long");
    if (id >= TRACE_ID(TRACE_CLASS_COUNT, 0))
        parse_error(parser, "the id of event %s does not fit the header", type->name);
    type->id = (uint32_t)id;
    type->index = schema->event_count;
    parser->field_count = 0;
    parser->bytes = sizeof(struct trace_header);
    while (!parser->failed && !is_token(parser, "}"))
        parse_field(parser);
    expect(parser, "}; };", NULL);
    take_fields(parser, type);
    schema->events =
        array_grow(schema->events, schema->event_count, &parser->event_capacity, sizeof(schema->events[0]));
    schema->events[schema->event_count++] = type;
}

/* NAME = VALUE; ... with values that are not interpreted here. */
static void parse_env(struct parser *parser)
{
    struct env_entry **last = &parser->schema->env;
    struct token values[2];
    expect(parser, "env {", NULL);
    while (!parser->failed && !accept(parser, "}")) {
        struct env_entry *entry = arena_alloc(&parser->schema->arena, sizeof(*entry));
        expect(parser, "@NAME@ = @VALUE@;", values);
        entry->name = copy_text(parser, values[0]);
        entry->text = copy_text(parser, values[1]);
        entry->is_text = values[1].kind == TOKEN_STRING;
        *last = entry;
        last = &entry->next;
    }
    expect(parser, ";", NULL);
}

/* Everything but the events. */
static void parse_frame(struct parser *parser)
{
    struct parser frame = {.text = trace_metadata_template,
                           .at = trace_metadata_template,
                           .end = trace_metadata_template + trace_metadata_template_size};
    struct token trace[2], clock[5];
    parse_next(&frame);
    expect_frame(parser, &frame, "env", trace);
    set_uuid(parser, trace[0]);
    set_byte_order(parser, trace[1]);
    parse_env(parser);
    while (!is_token(&frame, "clock"))
        parse_next(&frame);
    expect_frame(parser, &frame, "event", clock);
    parser->schema->clock_name = copy_text(parser, clock[0]);
    parser->schema->clock_freq = number_of(parser, clock[2]);
    parser->schema->clock_offset_s = (int64_t)number_of(parser, clock[3]);
    parser->schema->clock_offset = number_of(parser, clock[4]);
}

bool tsdl_parse(struct schema *schema, const char *text, size_t length, struct fail *fail)
{
    struct parser parser = {.schema = schema, .fail = fail, .text = text, .at = text, .end = text + length};
    parser.fields = alloc_zero(FIELDS_MAX + 1, sizeof(parser.fields[0]));
    parse_next(&parser);
    parse_frame(&parser);
    while (!parser.failed && parser.token.kind != TOKEN_END)
        parse_event(&parser);
    free(parser.fields);
    return !parser.failed;
}
