/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tsdl.c - parser for TSDL by recursive descent; tsdl.h lists the supported part of the language. Tokens are
 * in tsdl_tokens.c. Tables of keys list the allowed contents of blocks and integers.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/read/tsdl_tokens.h>

#define NESTING_MAX     16
#define NAMED_TYPES_MAX 4096

struct named_type {
    const char *name;
    const struct tsdl_type *type;
    struct named_type *next;
};

/* A word and its value. The list ends with a NULL word. */
struct choice {
    const char *word;
    unsigned value;
};

enum key_kind {
    KEY_IGNORED,
    KEY_TYPE,   /* key := TYPE; a const struct tsdl_type * */
    KEY_TEXT,   /* a const char * */
    KEY_NUMBER, /* a uint64_t */
    KEY_SIGNED, /* an int64_t */
    KEY_BITS,   /* a uint64_t, from 1 to 64 */
    KEY_CHOICE, /* an unsigned: the value of one of `choices` */
};

/* A list ends with a NULL name. */
struct key {
    const char *name;
    enum key_kind kind;
    size_t place; /* offset in the context */
    const struct choice *choices;
};

static const struct choice orders[] = {
    {"native", TSDL_NATIVE}, {"le", TSDL_LITTLE}, {"be", TSDL_BIG}, {"network", TSDL_BIG}, {NULL, 0}};
static const struct choice truths[] = {{"false", 0}, {"FALSE", 0}, {"0", 0}, {"true", 1},
                                       {"TRUE", 1},  {"1", 1},     {NULL, 0}};
static const struct choice bases[] = {{"decimal", 10}, {"hex", 16}, {NULL, 0}};
static const struct choice encodings[] = {{"none", 0}, {"UTF8", 1}, {"ASCII", 1}, {NULL, 0}};
/* of CTF 1.8 */
static const struct choice major[] = {{"1", 1}, {NULL, 0}}, minor[] = {{"8", 8}, {NULL, 0}};

static const struct key integer_keys[] = {
    {"size", KEY_BITS, offsetof(struct tsdl_type, bits), NULL},
    {"align", KEY_BITS, offsetof(struct tsdl_type, align), NULL},
    {"signed", KEY_CHOICE, offsetof(struct tsdl_type, is_signed), truths},
    {"base", KEY_CHOICE, offsetof(struct tsdl_type, base), bases},
    {"encoding", KEY_CHOICE, offsetof(struct tsdl_type, is_text), encodings},
    {"byte_order", KEY_CHOICE, offsetof(struct tsdl_type, order), orders},
    {"map", KEY_IGNORED, 0, NULL},
    {NULL, KEY_IGNORED, 0, NULL}};
static const struct key string_keys[] = {{"encoding", KEY_IGNORED, 0, NULL}, {NULL, KEY_IGNORED, 0, NULL}};
static const struct key trace_keys[] = {
    {"major", KEY_CHOICE, offsetof(struct tsdl, version[0]), major},
    {"minor", KEY_CHOICE, offsetof(struct tsdl, version[1]), minor},
    {"uuid", KEY_TEXT, offsetof(struct tsdl, uuid_text), NULL},
    {"byte_order", KEY_CHOICE, offsetof(struct tsdl, order), orders},
    {"packet.header", KEY_TYPE, offsetof(struct tsdl, packet_header), NULL},
    {NULL, KEY_IGNORED, 0, NULL}};
static const struct key clock_keys[] = {{"name", KEY_TEXT, offsetof(struct tsdl, clock_name), NULL},
                                        {"freq", KEY_NUMBER, offsetof(struct tsdl, clock_freq), NULL},
                                        {"offset_s", KEY_SIGNED, offsetof(struct tsdl, clock_offset_s), NULL},
                                        {"offset", KEY_NUMBER, offsetof(struct tsdl, clock_offset), NULL},
                                        {"uuid", KEY_IGNORED, 0, NULL},
                                        {"description", KEY_IGNORED, 0, NULL},
                                        {"precision", KEY_IGNORED, 0, NULL},
                                        {"absolute", KEY_IGNORED, 0, NULL},
                                        {NULL, KEY_IGNORED, 0, NULL}};
static const struct key stream_keys[] = {
    {"id", KEY_NUMBER, offsetof(struct tsdl, stream_id), NULL},
    {"packet.context", KEY_TYPE, offsetof(struct tsdl, packet_context), NULL},
    {"event.header", KEY_TYPE, offsetof(struct tsdl, event_header), NULL},
    {NULL, KEY_IGNORED, 0, NULL}};
static const struct key event_keys[] = {
    {"name", KEY_TEXT, offsetof(struct tsdl_event, name), NULL},
    {"id", KEY_NUMBER, offsetof(struct tsdl_event, id), NULL},
    {"stream_id", KEY_NUMBER, offsetof(struct tsdl_event, stream_id), NULL},
    {"fields", KEY_TYPE, offsetof(struct tsdl_event, fields), NULL},
    {NULL, KEY_IGNORED, 0, NULL}};

/* Blocks that occur once. */
static const struct {
    const char *name;
    const struct key *keys;
} blocks[] = {{"trace", trace_keys}, {"clock", clock_keys}, {"stream", stream_keys}};

static bool parse_uuid(const char *text, uint8_t uuid[16])
{
    for (int i = 0; i < 16; i++, text += 2) {
        text += *text == '-';
        if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]) ||
            sscanf(text, "%2hhx", &uuid[i]) != 1)
            return false;
    }
    return *text == '\0';
}

void format_uuid(const uint8_t uuid[16], char text[37])
{
    char *at = text;

    for (int i = 0; i < 16; i++)
        at += sprintf(at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
}

/* ---- keys and values ------------------------------------------------------------------------------- */

static const struct tsdl_type *parse_type(struct parser *parser);

static void set_choice(struct parser *parser, const struct key *key, unsigned *place)
{
    const char *value = expect_value(parser);
    const struct choice *choice = key->choices;

    while (choice->word != NULL && strcmp(choice->word, value) != 0)
        choice++;
    *place = choice->value;
    if (choice->word == NULL)
        parse_error(parser, "%s = %s is not part of a Tarn trace", key->name, value);
}

/* PLACE is in the context, and aligned for its type. */
static void set_key(struct parser *parser, const struct key *key, void *place)
{
    expect_punct(parser, key->kind == KEY_TYPE ? ":=" : "=");
    switch (key->kind) {
    case KEY_IGNORED:
        expect_value(parser);
        break;
    case KEY_TYPE:
        *(const struct tsdl_type **)place = parse_type(parser);
        break;
    case KEY_TEXT:
        *(const char **)place = expect_value(parser);
        break;
    case KEY_CHOICE:
        set_choice(parser, key, place);
        break;
    case KEY_NUMBER:
    case KEY_SIGNED:
    case KEY_BITS:
        *(uint64_t *)place = expect_number(parser, key->kind == KEY_SIGNED);
        if (key->kind == KEY_BITS && *(uint64_t *)place - 1 >= 64)
            parse_error(parser, "%s is out of range", key->name);
    }
}

/* { KEY = VALUE; ... } */
static void parse_body(struct parser *parser, const char *block, const struct key *keys, void *context)
{
    expect_punct(parser, "{");
    while (!parser->failed && !accept_punct(parser, "}")) {
        const char *name = expect_value(parser);
        const struct key *key = keys;

        while (key->name != NULL && strcmp(key->name, name) != 0)
            key++;
        if (key->name != NULL)
            set_key(parser, key, (char *)context + key->place);
        else
            parse_error(parser, "'%s' in '%s' is not part of a Tarn trace", name, block);
        expect_punct(parser, ";");
    }
}

/* ---- types ----------------------------------------------------------------------------------------- */

static struct tsdl_type *new_type(struct parser *parser, enum tsdl_kind kind)
{
    struct tsdl_type *type = arena_alloc(&parser->tsdl->arena, sizeof(*type));

    type->kind = kind;
    type->align = 8;
    return type;
}

/* So that callers can continue after an error. */
static const struct tsdl_type *any_type(struct parser *parser)
{
    return new_type(parser, TSDL_STRING);
}

static const struct tsdl_type *parse_integer(struct parser *parser)
{
    struct tsdl_type *type = new_type(parser, TSDL_INTEGER);

    type->align = 0;
    type->base = 10;
    parse_body(parser, "integer", integer_keys, type);
    if (type->bits == 0)
        parse_error(parser, "an integer needs a size");
    if (type->align == 0)
        type->align = type->bits % 8 == 0 ? 8 : 1;
    if ((type->align & (type->align - 1)) != 0)
        parse_error(parser, "an alignment must be a power of two");
    return type;
}

static const struct tsdl_type *parse_string(struct parser *parser)
{
    struct tsdl_type *type = new_type(parser, TSDL_STRING);

    if (at_punct(parser, "{"))
        parse_body(parser, "string", string_keys, type);
    return type;
}

static const struct tsdl_label *parse_labels(struct parser *parser, bool is_signed)
{
    struct tsdl_label *first = NULL, **end = &first;
    uint64_t next = 0;

    expect_punct(parser, "{");
    while (!parser->failed && !accept_punct(parser, "}")) {
        struct tsdl_label *label = arena_alloc(&parser->tsdl->arena, sizeof(*label));

        if (parser->token.kind != TOKEN_WORD && parser->token.kind != TOKEN_STRING)
            parse_error(parser, "expected a label");
        label->name = parser->token.text ? parser->token.text : "";
        parse_next(parser);
        if (accept_punct(parser, "="))
            next = expect_number(parser, true);
        label->low = label->high = next;
        if (accept_punct(parser, "..."))
            label->high = expect_number(parser, true);
        if (is_signed ? (int64_t)label->low > (int64_t)label->high : label->low > label->high)
            parse_error(parser, "the range of label '%s' is empty", label->name);
        next = label->high + 1;
        *end = label;
        end = &label->next;
        if (!accept_punct(parser, ",") && !at_punct(parser, "}"))
            parse_error(parser, "expected ',' or '}'");
    }
    return first;
}

static const struct tsdl_type *parse_enum(struct parser *parser)
{
    struct tsdl_type *type = new_type(parser, TSDL_ENUM);

    expect_punct(parser, ":");
    *type = *parse_type(parser);
    if (type->kind != TSDL_INTEGER) {
        parse_error(parser, "an enumeration needs an integer type");
        return any_type(parser);
    }
    type->kind = TSDL_ENUM;
    type->labels = parse_labels(parser, type->is_signed);
    return type;
}

/* NAME, then any number of [COUNT] or [FIELD]. */
static const struct tsdl_type *parse_dimensions(struct parser *parser, const struct tsdl_type *type)
{
    while (accept_punct(parser, "[")) {
        struct tsdl_type *array = new_type(parser, TSDL_ARRAY);

        array->element = type;
        array->align = type->align;
        if (parser->token.kind == TOKEN_NUMBER) {
            array->count = expect_number(parser, false);
        } else {
            array->kind = TSDL_SEQUENCE;
            array->count_field = expect_value(parser);
        }
        expect_punct(parser, "]");
        if (type->kind == TSDL_ARRAY || type->kind == TSDL_SEQUENCE)
            parse_error(parser, "arrays of arrays are not part of a Tarn trace");
        type = array;
    }
    return type;
}

static const struct tsdl_type *parse_struct(struct parser *parser)
{
    struct tsdl_type *type = new_type(parser, TSDL_STRUCT);
    struct tsdl_field **end = (struct tsdl_field **)&type->fields;
    uint64_t align = 1;

    expect_punct(parser, "{");
    while (!parser->failed && !accept_punct(parser, "}")) {
        struct tsdl_field *field = arena_alloc(&parser->tsdl->arena, sizeof(*field));
        const struct tsdl_type *base = parse_type(parser);

        field->name = expect_word(parser, "the name of a field");
        field->type = parse_dimensions(parser, base);
        align = align < field->type->align ? field->type->align : align;
        expect_punct(parser, ";");
        *end = field;
        end = &field->next;
    }
    type->align = align;
    if (parser->token.kind == TOKEN_WORD && strcmp(parser->token.text, "align") == 0) {
        parse_next(parser);
        expect_punct(parser, "(");
        align = expect_number(parser, false);
        expect_punct(parser, ")");
        if (align == 0 || align > 64 || (align & (align - 1)) != 0)
            parse_error(parser, "align() is not supported with this number");
        type->align = type->align < align ? align : type->align;
    }
    return type;
}

static const struct tsdl_type *find_type(const struct parser *parser, const char *name)
{
    const struct named_type *named = parser->aliases;

    while (named != NULL && strcmp(named->name, name) != 0)
        named = named->next;
    return named != NULL ? named->type : NULL;
}

/* Never NULL. */
static const struct tsdl_type *parse_type(struct parser *parser)
{
    static const struct {
        const char *name;
        const struct tsdl_type *(*parse)(struct parser *parser);
    } kinds[] = {
        {"integer", parse_integer}, {"string", parse_string}, {"enum", parse_enum}, {"struct", parse_struct}};
    const char *name = expect_word(parser, "a type");
    const struct tsdl_type *type = find_type(parser, name);

    if (++parser->nesting > NESTING_MAX)
        parse_error(parser, "types are nested too deeply");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !parser->failed; i++)
        if (strcmp(kinds[i].name, name) == 0)
            type = kinds[i].parse(parser);
    parser->nesting--;
    if (type == NULL)
        parse_error(parser, "unknown type '%s'", name);
    return type != NULL ? type : any_type(parser);
}

/* ---- blocks ---------------------------------------------------------------------------------------- */

/* typealias TYPE := NAME; */
static void parse_typealias(struct parser *parser)
{
    struct named_type *named = arena_alloc(&parser->tsdl->arena, sizeof(*named));

    named->type = parse_type(parser);
    expect_punct(parser, ":=");
    named->name = expect_word(parser, "a name");
    if (find_type(parser, named->name) != NULL)
        parse_error(parser, "type '%s' is declared twice", named->name);
    if (++parser->alias_count > NAMED_TYPES_MAX)
        parse_error(parser, "too many named types");
    named->next = parser->aliases;
    parser->aliases = named;
}

static void parse_event(struct parser *parser)
{
    struct tsdl_event *event = arena_alloc(&parser->tsdl->arena, sizeof(*event));

    event->id = UINT64_MAX;
    event->stream_id = parser->tsdl->stream_id;
    parse_body(parser, "event", event_keys, event);
    if (event->name == NULL || event->id == UINT64_MAX)
        parse_error(parser, "an event needs a name and an id");
    else if (strlen(event->name) > 255)
        parse_error(parser, "the name of an event is too long");
    if (event->stream_id != parser->tsdl->stream_id)
        parse_error(parser, "an event of another stream class");
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
}

static void parse_block(struct parser *parser)
{
    const char *name = expect_word(parser, "a declaration");
    unsigned i = 0;

    while (i < sizeof(blocks) / sizeof(blocks[0]) && strcmp(blocks[i].name, name) != 0)
        i++;
    if (i < sizeof(blocks) / sizeof(blocks[0])) {
        if (parser->seen & 1u << i)
            parse_error(parser, "a second %s is not part of a Tarn trace", name);
        parser->seen |= 1u << i;
        parse_body(parser, name, blocks[i].keys, parser->tsdl);
    } else if (strcmp(name, "typealias") == 0) {
        parse_typealias(parser);
    } else if (strcmp(name, "env") == 0) {
        parse_env(parser);
    } else if (strcmp(name, "event") == 0) {
        parse_event(parser);
    } else {
        parse_error(parser, "'%s' is not part of a Tarn trace", name);
    }
    expect_punct(parser, ";");
}

bool tsdl_parse(struct tsdl *tsdl, const char *text, size_t length, struct fail *fail)
{
    struct parser parser = {.tsdl = tsdl, .fail = fail, .at = text, .end = text + length, .line = 1};

    *tsdl = (struct tsdl){.stream_id = UINT64_MAX};
    parser.last_event = &tsdl->events;
    parser.last_env = &tsdl->env;
    parse_next(&parser);
    while (!parser.failed && parser.token.kind != TOKEN_END)
        parse_block(&parser);
    if (tsdl->uuid_text != NULL && !parse_uuid(tsdl->uuid_text, tsdl->uuid))
        parse_error(&parser, "malformed uuid");
    return !parser.failed;
}

void tsdl_free(struct tsdl *tsdl)
{
    arena_free(&tsdl->arena);
}
