/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tsdl_tokens.c - TSDL text to tokens, and what a parser asks of the current one; see tsdl_tokens.h.
 *
 * The first error is sticky: after it parse_next only returns the end, so every loop ends and callers need
 * no checks.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/tsdl_tokens.h>

#define NAME_MAX_BYTES 255 /* bounds every printed line */

void parse_error(struct parser *parser, const char *format, ...)
{
    char text[400];
    va_list args;

    if (parser->failed)
        return;
    parser->failed = true;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fail_set(parser->fail, "metadata, line %u: %s", parser->token.line, text);
    parser->token.kind = TOKEN_END;
}

/* Skips white space and both kinds of comments; false if a comment never ends. */
static bool skip_blank(struct parser *parser)
{
    while (parser->at < parser->end) {
        const char *at = parser->at;
        size_t left = (size_t)(parser->end - at);

        if (*at == '\n') {
            parser->line++;
            parser->at++;
        } else if (isspace((unsigned char)*at)) {
            parser->at++;
        } else if (left >= 2 && at[0] == '/' && at[1] == '/') {
            const char *newline = memchr(at, '\n', left);

            parser->at = newline ? newline : parser->end;
        } else if (left >= 2 && at[0] == '/' && at[1] == '*') {
            for (at += 2; parser->end - at >= 2 && !(at[0] == '*' && at[1] == '/'); at++)
                parser->line += *at == '\n';
            if (parser->end - at < 2)
                return false;
            parser->at = at + 2;
        } else {
            return true;
        }
    }
    return true;
}

static void lex_word(struct parser *parser)
{
    const char *start = parser->at;

    while (parser->at < parser->end && (isalnum((unsigned char)*parser->at) || *parser->at == '_'))
        parser->at++;
    if (parser->at - start > NAME_MAX_BYTES) {
        parse_error(parser, "name too long");
        return;
    }
    parser->token.kind = TOKEN_WORD;
    parser->token.text = arena_string(&parser->tsdl->arena, start, (size_t)(parser->at - start));
}

static void lex_number(struct parser *parser)
{
    char text[40], *end;
    size_t length = 0;

    parser->token.kind = TOKEN_NUMBER;
    parser->token.negative = *parser->at == '-';
    parser->at += parser->token.negative;
    while (parser->at < parser->end && (isalnum((unsigned char)*parser->at) || *parser->at == '_') &&
           length < sizeof(text) - 1)
        text[length++] = *parser->at++;
    text[length] = '\0';
    errno = 0;
    parser->token.number = strtoull(text, &end, 0);
    end += strspn(end, "uUlL");
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0)
        parse_error(parser, "malformed number, or one that is too large");
}

static int unescape(char c)
{
    static const char from[] = "\\\"'?abefnrtv", to[] = "\\\"'?\a\b\033\f\n\r\t\v";
    const char *found = c ? strchr(from, c) : NULL;

    return found ? to[found - from] : -1;
}

static void lex_string(struct parser *parser)
{
    char text[1024];
    size_t length = 0;

    for (parser->at++; parser->at < parser->end && *parser->at != '"'; parser->at++) {
        int c = (unsigned char)*parser->at;

        if (c == '\\') {
            if (++parser->at == parser->end)
                break;
            c = unescape(*parser->at);
        }
        if (c <= 0 || c == '\n' || length == sizeof(text)) {
            parse_error(parser, "%s", c <= 0 ? "unknown escape in string" : "string too long or not closed");
            return;
        }
        text[length++] = (char)c;
    }
    if (parser->at == parser->end) {
        parse_error(parser, "string not closed");
        return;
    }
    parser->at++;
    parser->token.kind = TOKEN_STRING;
    parser->token.text = arena_string(&parser->tsdl->arena, text, length);
}

void parse_next(struct parser *parser)
{
    size_t left, length = 1;

    if (parser->failed)
        return;
    memset(&parser->token, 0, sizeof(parser->token));
    if (!skip_blank(parser)) {
        parser->token.line = parser->line;
        parse_error(parser, "comment not closed");
        return;
    }
    parser->token.line = parser->line;
    left = (size_t)(parser->end - parser->at);
    if (left == 0) {
        parser->token.kind = TOKEN_END;
    } else if (isalpha((unsigned char)*parser->at) || *parser->at == '_') {
        lex_word(parser);
    } else if (isdigit((unsigned char)*parser->at) || (*parser->at == '-' && left > 1)) {
        lex_number(parser);
    } else if (*parser->at == '"') {
        lex_string(parser);
    } else if (*parser->at != '\0' && strchr("{}[]();,.=:", *parser->at) != NULL) {
        if (left >= 2 && memcmp(parser->at, ":=", 2) == 0)
            length = 2;
        else if (left >= 3 && memcmp(parser->at, "...", 3) == 0)
            length = 3;
        parser->token.kind = TOKEN_PUNCT;
        memcpy(parser->token.punct, parser->at, length);
        parser->at += length;
    } else {
        parse_error(parser, "unexpected character");
    }
}

/* ---- for parsers ----------------------------------------------------------------------------------- */

bool at_punct(const struct parser *parser, const char *punct)
{
    return parser->token.kind == TOKEN_PUNCT && strcmp(parser->token.punct, punct) == 0;
}

bool accept_punct(struct parser *parser, const char *punct)
{
    if (!at_punct(parser, punct))
        return false;
    parse_next(parser);
    return true;
}

void expect_punct(struct parser *parser, const char *punct)
{
    if (!accept_punct(parser, punct))
        parse_error(parser, "expected '%s'", punct);
}

const char *expect_word(struct parser *parser, const char *what)
{
    const char *text = parser->token.text;

    if (parser->token.kind != TOKEN_WORD) {
        parse_error(parser, "expected %s", what);
        return "";
    }
    parse_next(parser);
    return text;
}

uint64_t expect_number(struct parser *parser, bool may_be_negative)
{
    const struct token token = parser->token;

    if (token.kind != TOKEN_NUMBER || (token.negative && !may_be_negative)) {
        parse_error(parser, "expected a number");
        return 0;
    }
    parse_next(parser);
    return token.negative ? -token.number : token.number;
}

const char *expect_value(struct parser *parser)
{
    char text[1200];
    size_t length;

    if (parser->token.kind == TOKEN_STRING) {
        const char *string = parser->token.text;

        parse_next(parser);
        return string;
    }
    if (parser->token.kind == TOKEN_NUMBER) {
        snprintf(text, sizeof(text), "%s%llu", parser->token.negative ? "-" : "",
                 (unsigned long long)parser->token.number);
        parse_next(parser);
        return arena_string(&parser->tsdl->arena, text, strlen(text));
    }
    length = (size_t)snprintf(text, sizeof(text), "%s", expect_word(parser, "a value"));
    while (accept_punct(parser, ".")) {
        const char *word = expect_word(parser, "a name after '.'");

        length += (size_t)snprintf(text + length, sizeof(text) - length, ".%s", word);
        if (length >= sizeof(text)) {
            parse_error(parser, "name too long");
            return "";
        }
    }
    return arena_string(&parser->tsdl->arena, text, length);
}
