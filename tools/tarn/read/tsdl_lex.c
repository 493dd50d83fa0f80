/* SPDX-License-Identifier: BSD-2-Clause */
/* tsdl_lex.c - TSDL text to tokens; the parser is tsdl.c. */
#include <ctype.h>
#include <string.h>
#include <tools/tarn/read/tsdl_lex.h>

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

void lex_next(struct lexer *lexer, struct token *token)
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
