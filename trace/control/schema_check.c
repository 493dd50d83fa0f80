/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/control/schema_check.c - rejects an application's schema that is not as evgen --app writes it.
 *
 * One wrong word in the metadata would make the whole trace unreadable. So the text is parsed strictly: fixed
 * lines, known types, unique names that are not reserved words of the metadata language, minors below 64,
 * arrays counted by an earlier field. No state, no allocation: also compiled and fuzzed on the host
 * (trace/test/schema_check_test.c).
 *
 *     class NAME
 *     event {
 *         name = "NAME_EVENT";
 *         id = @MINOR@;
 *         stream_id = 0;
 *         fields := struct {
 *             TYPE FIELD;
 *         };
 *     };
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/control/schema_check.h>

#define FIELDS_MAX 24
#define WORD_MAX   32

struct cursor {
    const char *at, *end;
};

struct word {
    const char *text;
    uint32_t length;
};

static const char *const reserved_words[] = {
    "_Bool",   "_Complex", "_Imaginary", "align",    "callsite", "char",    "clock",
    "const",   "double",   "enum",       "env",      "event",    "float",   "floating_point",
    "int",     "integer",  "long",       "short",    "signed",   "stream",  "string",
    "struct",  "trace",    "typealias",  "typedef",  "unsigned", "variant", "void",
    "uint8_t", "uint16_t", "uint32_t",   "uint64_t", "int8_t",   "int16_t", "int32_t",
    "int64_t", "xint8_t",  "xint16_t",   "xint32_t", "xint64_t", "text8_t", "clock64_t",
};

static bool take(struct cursor *c, const char *text)
{
    const char *at = c->at;
    while (*text && at < c->end && *at == *text)
        at++, text++;
    if (*text)
        return false;
    c->at = at;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_word(struct cursor *c, struct word *word)
{
    word->text = c->at;
    if (c->at == c->end || !is_letter(*c->at))
        return false;
    while (c->at < c->end && (is_letter(*c->at) || is_digit(*c->at) || *c->at == '_'))
        c->at++;
    word->length = (uint32_t)(c->at - word->text);
    return word->length <= WORD_MAX;
}

/* At most 20 digits, not above `most`. */
static bool take_number(struct cursor *c, uint64_t most, uint64_t *number)
{
    const char *start = c->at;
    *number = 0;
    while (c->at < c->end && is_digit(*c->at)) {
        uint64_t digit = (uint64_t)(*c->at - '0');
        if (*number > (most - digit) / 10)
            return false;
        *number = *number * 10 + digit;
        c->at++;
    }
    return c->at > start;
}

static bool same_word(const struct word *a, const struct word *b)
{
    if (a->length != b->length)
        return false;
    for (uint32_t i = 0; i < a->length; i++)
        if (a->text[i] != b->text[i])
            return false;
    return true;
}

static bool is_text(const struct word *word, const char *text)
{
    uint32_t i = 0;
    while (i < word->length && text[i] && word->text[i] == text[i])
        i++;
    return i == word->length && !text[i];
}

static bool is_reserved(const struct word *word)
{
    for (unsigned i = 0; i < sizeof(reserved_words) / sizeof(*reserved_words); i++)
        if (is_text(word, reserved_words[i]))
            return true;
    return false;
}

/* ` { "NAME" = NUMBER, ... }` after `enum : uintN_t`; values ascend. */
static bool take_enum(struct cursor *c)
{
    static const struct {
        const char *type;
        uint64_t most;
    } types[] = {{"uint8_t", 0xff}, {"uint16_t", 0xffff}, {"uint32_t", 0xffffffff}, {"uint64_t", ~0ull}};
    unsigned type = 0;
    while (type < 4 && !take(c, types[type].type))
        type++;
    if (type == 4 || !take(c, " {"))
        return false;
    uint64_t value = 0, last = 0;
    struct word name;
    for (unsigned count = 0;; count++, last = value) {
        if (!take(c, " \"") || !take_word(c, &name) || !take(c, "\" = ") ||
            !take_number(c, types[type].most, &value) || (count && value <= last))
            return false;
        if (take(c, " }"))
            return true;
        if (!take(c, ","))
            return false;
    }
}

/* TYPE and the space after it. */
static bool take_type(struct cursor *c, bool *can_count, bool *is_words, bool *is_text8)
{
    static const char *const counters[] = {"uint16_t ", "uint32_t ", "uint64_t "};
    static const char *const others[] = {"uint8_t ",  "int8_t ",   "int16_t ",
                                         "int32_t ",  "int64_t ",  "xint8_t ",
                                         "xint16_t ", "xint32_t ", "string { encoding = UTF8; } "};
    *can_count = *is_words = *is_text8 = false;
    for (unsigned i = 0; i < 3; i++)
        if (take(c, counters[i]))
            return *can_count = true;
    for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (take(c, others[i]))
            return true;
    if (take(c, "xint64_t "))
        return *is_words = true;
    if (take(c, "text8_t "))
        return *is_text8 = true;
    return take(c, "enum : ") && take_enum(c) && take(c, " ");
}

static bool take_field(struct cursor *c, struct word fields[], bool counts[], unsigned count)
{
    bool is_words, is_text8;
    struct word *name = &fields[count], counter;
    if (!take_type(c, &counts[count], &is_words, &is_text8) || !take_word(c, name) || is_reserved(name))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (same_word(&fields[i], name))
            return false;
    if (is_text8)
        return take(c, "[16];\n");
    if (!is_words || !take(c, "["))
        return take(c, ";\n");
    if (!take_word(c, &counter) || !take(c, "];\n"))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (counts[i] && same_word(&fields[i], &counter))
            return true;
    return false;
}

static bool take_event(struct cursor *c, const struct word *class, uint64_t *minors)
{
    struct word name, fields[FIELDS_MAX];
    bool counts[FIELDS_MAX];
    uint64_t minor;
    if (!take(c, "event {\n    name = \"") || !take_word(c, &name) || name.length <= class->length + 1 ||
        name.text[class->length] != '_' || !same_word(class, &(struct word){name.text, class->length}))
        return false;
    if (!take(c, "\";\n    id = @") || !take_number(c, 63, &minor) || *minors >> minor & 1)
        return false;
    *minors |= 1ull << minor;
    if (!take(c, "@;\n    stream_id = 0;\n    fields := struct {\n"))
        return false;
    unsigned count = 0;
    while (!take(c, "    };\n};\n"))
        if (count == FIELDS_MAX || !take(c, "        ") || !take_field(c, fields, counts, count++))
            return false;
    return true;
}

bool trace_check_schema(const char *text, uint64_t size, char name[16], uint64_t *body)
{
    struct cursor c = {text, text + size};
    struct word class;
    if (!take(&c, "class ") || !take_word(&c, &class) || class.length > 15 || !take(&c, "\n"))
        return false;
    for (uint32_t i = 0; i < 16; i++)
        name[i] = i < class.length ? class.text[i] : 0;
    *body = (uint64_t)(c.at - text);
    uint64_t minors = 0;
    while (c.at < c.end)
        if (!take_event(&c, &class, &minors))
            return false;
    return minors != 0;
}
