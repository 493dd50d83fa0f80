/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tsdl_tokens.c - TSDL text to tokens, and what a parser asks of the current one; see tsdl_parse.h.
 *
 * The first error is sticky: after it parse_next only returns the end, so every loop ends and callers need
 * no checks.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/read/tsdl_parse.h>

#define NAME_MAX_BYTES 255 /* bounds every printed line */

static void bad_token(struct lexer *lexer, struct token *token, const char *error)
{
    token->kind = TOKEN_BAD;
    lexer->error = error;
}

/* Skips white space and both kinds of comments; false if a comment never ends. */
static bool skip_blank(struct lexer *lexer)
{
    while (lexer->at < lexer->end) {
        const char *at = lexer->at;
        size_t left = (size_t)(lexer->end - at);

        if (*at == '\n') {
            lexer->line++;
            lexer->at++;
        } else if (isspace((unsigned char)*at)) {
            lexer->at++;
        } else if (left >= 2 && at[0] == '/' && at[1] == '/') {
            const char *newline = memchr(at, '\n', left);

            lexer->at = newline ? newline : lexer->end;
        } else if (left >= 2 && at[0] == '/' && at[1] == '*') {
            for (at += 2; lexer->end - at >= 2 && !(at[0] == '*' && at[1] == '/'); at++)
                lexer->line += *at == '\n';
            if (lexer->end - at < 2)
                return false;
            lexer->at = at + 2;
        } else {
            return true;
        }
    }
    return true;
}

static void lex_word(struct lexer *lexer, struct token *token)
{
    const char *start = lexer->at;

    while (lexer->at < lexer->end && (isalnum((unsigned char)*lexer->at) || *lexer->at == '_'))
        lexer->at++;
    if (lexer->at - start > NAME_MAX_BYTES) {
        bad_token(lexer, token, "name too long");
        return;
    }
    token->kind = TOKEN_WORD;
    token->text = arena_string(lexer->arena, start, (size_t)(lexer->at - start));
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static void lex_number(struct lexer *lexer, struct token *token)
{
    int base = 10;
    bool any = false;

    if (*lexer->at == '-') {
        token->negative = true;
        lexer->at++;
    }
    if (lexer->end - lexer->at > 2 && lexer->at[0] == '0' && (lexer->at[1] | 32) == 'x') {
        base = 16;
        lexer->at += 2;
    } else if (lexer->end - lexer->at > 1 && lexer->at[0] == '0' && isdigit((unsigned char)lexer->at[1])) {
        base = 8;
    }
    for (; lexer->at < lexer->end && digit_value(*lexer->at) < base; lexer->at++, any = true)
        if (__builtin_mul_overflow(token->number, (uint64_t)base, &token->number) ||
            __builtin_add_overflow(token->number, (uint64_t)digit_value(*lexer->at), &token->number)) {
            bad_token(lexer, token, "number too large");
            return;
        }
    while (lexer->at < lexer->end && strchr("uUlL", *lexer->at) != NULL && *lexer->at != '\0')
        lexer->at++;
    if (!any || (lexer->at < lexer->end && (isalnum((unsigned char)*lexer->at) || *lexer->at == '_'))) {
        bad_token(lexer, token, "malformed number");
        return;
    }
    token->kind = TOKEN_NUMBER;
}

static int unescape(char c)
{
    static const char from[] = "\\\"'?abefnrtv", to[] = "\\\"'?\a\b\033\f\n\r\t\v";
    const char *found = c ? strchr(from, c) : NULL;

    return found ? to[found - from] : -1;
}

static void lex_string(struct lexer *lexer, struct token *token)
{
    char text[1024];
    size_t length = 0;

    for (lexer->at++; lexer->at < lexer->end && *lexer->at != '"'; lexer->at++) {
        int c = (unsigned char)*lexer->at;

        if (c == '\\') {
            if (++lexer->at == lexer->end)
                break;
            c = unescape(*lexer->at);
        }
        if (c <= 0 || c == '\n' || length == sizeof(text)) {
            bad_token(lexer, token, c <= 0 ? "unknown escape in string" : "string too long or not closed");
            return;
        }
        text[length++] = (char)c;
    }
    if (lexer->at == lexer->end) {
        bad_token(lexer, token, "string not closed");
        return;
    }
    lexer->at++;
    token->kind = TOKEN_STRING;
    token->text = arena_string(lexer->arena, text, length);
}

static void lex_next(struct lexer *lexer, struct token *token)
{
    size_t left, length = 1;

    memset(token, 0, sizeof(*token));
    if (!skip_blank(lexer)) {
        token->line = lexer->line;
        bad_token(lexer, token, "comment not closed");
        return;
    }
    token->line = lexer->line;
    left = (size_t)(lexer->end - lexer->at);
    if (left == 0) {
        token->kind = TOKEN_END;
    } else if (isalpha((unsigned char)*lexer->at) || *lexer->at == '_') {
        lex_word(lexer, token);
    } else if (isdigit((unsigned char)*lexer->at) || (*lexer->at == '-' && left > 1)) {
        lex_number(lexer, token);
    } else if (*lexer->at == '"') {
        lex_string(lexer, token);
    } else if (*lexer->at != '\0' && strchr("{}[]();,.=:", *lexer->at) != NULL) {
        if (left >= 2 && memcmp(lexer->at, ":=", 2) == 0)
            length = 2;
        else if (left >= 3 && memcmp(lexer->at, "...", 3) == 0)
            length = 3;
        token->kind = TOKEN_PUNCT;
        memcpy(token->punct, lexer->at, length);
        lexer->at += length;
    } else {
        bad_token(lexer, token, "unexpected character");
    }
}

/* ---- for parsers ----------------------------------------------------------------------------------- */

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

void parse_next(struct parser *parser)
{
    if (parser->failed)
        return;
    lex_next(&parser->lexer, &parser->token);
    if (parser->token.kind == TOKEN_BAD)
        parse_error(parser, "%s", parser->lexer.error);
}

bool at_punct(const struct parser *parser, const char *punct)
{
    return parser->token.kind == TOKEN_PUNCT && strcmp(parser->token.punct, punct) == 0;
}

bool at_word(const struct parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_WORD && strcmp(parser->token.text, word) == 0;
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

uint64_t expect_number(struct parser *parser)
{
    uint64_t number = parser->token.number;

    if (parser->token.kind != TOKEN_NUMBER || parser->token.negative) {
        parse_error(parser, "expected a number");
        return 0;
    }
    parse_next(parser);
    return number;
}

/* Accepts a word, a dotted path (clock.monotonic.value), a number or a string; returns it as text. */
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
