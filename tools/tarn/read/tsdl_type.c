/* SPDX-License-Identifier: BSD-2-Clause */
/* tsdl_type.c - recursive-descent parser for TSDL types; everything parsed is in the arena of the result. */
#include <string.h>
#include <tools/tarn/read/tsdl_parse.h>

#define NESTING_MAX     16
#define NAMED_TYPES_MAX 4096

enum tsdl_order parse_order(struct parser *parser, const char *text)
{
    if (strcmp(text, "le") == 0)
        return TSDL_LITTLE;
    if (strcmp(text, "be") == 0 || strcmp(text, "network") == 0)
        return TSDL_BIG;
    if (strcmp(text, "native") != 0)
        parse_error(parser, "unknown byte order '%s'", text);
    return TSDL_NATIVE;
}

static struct tsdl_type *new_type(struct parser *parser, enum tsdl_kind kind)
{
    struct tsdl_type *type = arena_alloc(&parser->tsdl->arena, sizeof(*type));

    type->kind = kind;
    type->align = 8;
    return type;
}

static unsigned parse_base(struct parser *parser, const char *text)
{
    if (strcmp(text, "hex") == 0)
        return 16;
    if (strcmp(text, "decimal") != 0)
        parse_error(parser, "unknown base '%s'", text);
    return 10;
}

static unsigned parse_small(struct parser *parser, const char *key, const char *text, unsigned max)
{
    unsigned value = 0;

    for (const char *at = text; *at >= '0' && *at <= '9' && value <= max; at++)
        value = value * 10 + (unsigned)(*at - '0');
    if (value == 0 || value > max)
        parse_error(parser, "%s = %s is out of range", key, text);
    return value;
}

static void set_integer_property(struct parser *parser, struct tsdl_type *type, const char *key,
                                 const char *value)
{
    if (strcmp(key, "size") == 0)
        type->bits = parse_small(parser, key, value, 64);
    else if (strcmp(key, "align") == 0)
        type->align = parse_small(parser, key, value, 64);
    else if (strcmp(key, "signed") == 0)
        type->is_signed = strcmp(value, "true") == 0 || strcmp(value, "1") == 0 || strcmp(value, "TRUE") == 0;
    else if (strcmp(key, "base") == 0)
        type->base = parse_base(parser, value);
    else if (strcmp(key, "encoding") == 0)
        type->is_text = strcmp(value, "none") != 0;
    else if (strcmp(key, "map") == 0)
        type->is_clock = true;
    else if (strcmp(key, "byte_order") == 0)
        type->order = parse_order(parser, value);
    else
        parse_error(parser, "unknown property '%s' of an integer", key);
}

static struct tsdl_type *parse_integer(struct parser *parser)
{
    struct tsdl_type *type = new_type(parser, TSDL_INTEGER);

    type->align = 0;
    type->base = 10;
    expect_punct(parser, "{");
    while (!parser->failed && !accept_punct(parser, "}")) {
        const char *key = expect_word(parser, "a property");

        expect_punct(parser, "=");
        set_integer_property(parser, type, key, expect_value(parser));
        expect_punct(parser, ";");
    }
    if (type->bits == 0)
        parse_error(parser, "an integer needs a size");
    if (type->align == 0)
        type->align = type->bits % 8 == 0 ? 8 : 1;
    if ((type->align & (type->align - 1)) != 0)
        parse_error(parser, "an alignment must be a power of two");
    return type;
}

static struct tsdl_type *parse_string(struct parser *parser)
{
    if (accept_punct(parser, "{")) {
        while (!parser->failed && !accept_punct(parser, "}")) {
            if (strcmp(expect_word(parser, "a property"), "encoding") != 0)
                parse_error(parser, "unknown property of a string");
            expect_punct(parser, "=");
            expect_value(parser);
            expect_punct(parser, ";");
        }
    }
    return new_type(parser, TSDL_STRING);
}

static uint64_t parse_label_value(struct parser *parser)
{
    uint64_t value = parser->token.negative ? -parser->token.number : parser->token.number;

    if (parser->token.kind != TOKEN_NUMBER)
        parse_error(parser, "expected a number");
    parse_next(parser);
    return value;
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
            next = parse_label_value(parser);
        label->low = label->high = next;
        if (accept_punct(parser, "..."))
            label->high = parse_label_value(parser);
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

static const struct named_type *find_type(const struct parser *parser, const char *name)
{
    const struct named_type *named = parser->aliases;

    while (named != NULL && strcmp(named->name, name) != 0)
        named = named->next;
    return named;
}

/* Returns the type with this name; never NULL, so that callers can continue after an error. */
static const struct tsdl_type *use_type(struct parser *parser, const char *name)
{
    const struct named_type *named = find_type(parser, name);

    if (named != NULL)
        return named->type;
    parse_error(parser, "unknown type '%s'", name);
    return new_type(parser, TSDL_STRING);
}

static const struct tsdl_type *parse_enum(struct parser *parser)
{
    const struct tsdl_type *container;
    struct tsdl_type *type;

    expect_punct(parser, ":");
    container = parse_type(parser);
    if (container->kind != TSDL_INTEGER) {
        parse_error(parser, "an enumeration needs an integer type");
        return new_type(parser, TSDL_STRING);
    }
    type = arena_alloc(&parser->tsdl->arena, sizeof(*type));
    *type = *container;
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
            array->count = expect_number(parser);
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

static const struct tsdl_field *parse_fields(struct parser *parser, unsigned *align)
{
    struct tsdl_field *first = NULL, **end = &first;

    expect_punct(parser, "{");
    while (!parser->failed && !accept_punct(parser, "}")) {
        struct tsdl_field *field = arena_alloc(&parser->tsdl->arena, sizeof(*field));
        const struct tsdl_type *type = parse_type(parser);

        field->name = expect_word(parser, "the name of a field");
        field->type = parse_dimensions(parser, type);
        if (*align < field->type->align)
            *align = field->type->align;
        expect_punct(parser, ";");
        *end = field;
        end = &field->next;
    }
    return first;
}

static const struct tsdl_type *parse_struct(struct parser *parser)
{
    struct tsdl_type *type = new_type(parser, TSDL_STRUCT);

    type->align = 1;
    type->fields = parse_fields(parser, &type->align);
    if (at_word(parser, "align")) {
        unsigned align;

        parse_next(parser);
        expect_punct(parser, "(");
        align = (unsigned)expect_number(parser);
        expect_punct(parser, ")");
        if (align == 0 || align > 64 || (align & (align - 1)) != 0)
            parse_error(parser, "align(%u) is not supported", align);
        if (type->align < align)
            type->align = align;
    }
    return type;
}

const struct tsdl_type *parse_type(struct parser *parser)
{
    const struct tsdl_type *type;

    if (++parser->nesting > NESTING_MAX) {
        parse_error(parser, "types are nested too deeply");
        return new_type(parser, TSDL_STRING);
    }
    if (at_word(parser, "integer")) {
        parse_next(parser);
        type = parse_integer(parser);
    } else if (at_word(parser, "string")) {
        parse_next(parser);
        type = parse_string(parser);
    } else if (at_word(parser, "enum")) {
        parse_next(parser);
        type = parse_enum(parser);
    } else if (at_word(parser, "struct")) {
        parse_next(parser);
        type = parse_struct(parser);
    } else if (at_word(parser, "variant") || at_word(parser, "floating_point")) {
        parse_error(parser, "'%s' is not part of a Tarn trace", parser->token.text);
        type = new_type(parser, TSDL_STRING);
    } else {
        type = use_type(parser, expect_word(parser, "a type"));
    }
    parser->nesting--;
    return type;
}

/* typealias TYPE := NAME; */
void parse_typealias(struct parser *parser)
{
    struct named_type *named = arena_alloc(&parser->tsdl->arena, sizeof(*named));

    named->type = parse_type(parser);
    expect_punct(parser, ":=");
    named->name = expect_word(parser, "a name");
    expect_punct(parser, ";");
    if (find_type(parser, named->name) != NULL)
        parse_error(parser, "type '%s' is declared twice", named->name);
    if (++parser->alias_count > NAMED_TYPES_MAX)
        parse_error(parser, "too many named types");
    named->next = parser->aliases;
    parser->aliases = named;
}
