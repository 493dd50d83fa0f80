/*
 * lex.c - splits a line into tokens, and checks their order. Words keep their quotes; expand.c removes them.
 *
 *     list     = pipeline { ("&&" | "||" | ";" | "&") pipeline } [";" | "&"]
 *     pipeline = command { "|" command }
 *     command  = (word | redirection) { word | redirection }
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <user/sh/sh.h>

static const struct {
    const char *text;
    enum token_kind kind;
} operators[] = {
    /* longer ones first */
    {"2>&1", TOKEN_ERROR_TO_OUT},
    {"2>", TOKEN_ERROR},
    {">>", TOKEN_APPEND},
    {"&&", TOKEN_AND},
    {"||", TOKEN_OR},
    {">", TOKEN_OUT},
    {"<", TOKEN_IN},
    {"|", TOKEN_PIPE},
    {";", TOKEN_SEMICOLON},
    {"&", TOKEN_BACKGROUND},
};
#define OPERATORS (sizeof operators / sizeof operators[0])

static const char *token_name(enum token_kind kind)
{
    for (size_t i = 0; i < OPERATORS; i++) {
        if (operators[i].kind == kind)
            return operators[i].text;
    }
    return "the end of the line";
}

static size_t match_operator(const char *at, enum token_kind *kind)
{
    for (size_t i = 0; i < OPERATORS; i++) {
        size_t length = strlen(operators[i].text);
        if (!strncmp(at, operators[i].text, length)) {
            *kind = operators[i].kind;
            return length;
        }
    }
    return 0;
}

/* Returns the length of the word at `at`, or 0 with *error set if a quote is not closed. */
static size_t word_length(const char *at, const char **error)
{
    const char *start = at;
    while (*at && !isspace((unsigned char)*at) && !strchr("|&;<>", *at)) {
        if (*at == '\'' || *at == '"') {
            char quote = *at++;
            while (*at && *at != quote)
                at += *at == '\\' && quote == '"' && at[1] ? 2 : 1;
            if (!*at) {
                *error = quote == '"' ? "missing closing \"" : "missing closing '";
                return 0;
            }
            at++;
        } else {
            at += *at == '\\' && at[1] ? 2 : 1;
        }
    }
    return (size_t)(at - start);
}

/* What is wrong, or NULL. */
static const char *check_order(const struct token *at)
{
    static char complaint[80];
    enum token_kind before = TOKEN_SEMICOLON; /* ended the last command */
    bool is_empty = true;                     /* this one */
    for (;; at++) {
        const char *expected = NULL;
        if (at->kind == TOKEN_WORD || is_redirection(at->kind)) {
            is_empty = false;
            if (next_argument(at) == at + 2 && (++at)->kind != TOKEN_WORD)
                expected = "a file name";
        } else if (at->kind == TOKEN_END &&
                   (!is_empty || before == TOKEN_SEMICOLON || before == TOKEN_BACKGROUND)) {
            return NULL;
        } else if (is_empty) {
            expected = "a command";
        } else {
            before = at->kind;
            is_empty = true;
        }
        if (!expected)
            continue;
        snprintf(complaint, sizeof complaint, "expected %s before %s", expected, token_name(at->kind));
        return complaint;
    }
}

struct token *split_line(const char *line, const char **error)
{
    size_t count = 0;
    struct token *tokens = calloc(strlen(line) + 2, sizeof *tokens); /* a token has at least one character */
    if (!tokens) {
        *error = "out of memory";
        return NULL;
    }
    for (;;) {
        while (isspace((unsigned char)*line))
            line++;
        if (!*line || *line == '#')
            break;
        struct token *token = &tokens[count++];
        size_t length = match_operator(line, &token->kind);
        if (!length) {
            token->kind = TOKEN_WORD;
            length = word_length(line, error);
            if (!length || !(token->text = strndup(line, length))) {
                tokens[count - 1].kind = TOKEN_END;
                free_tokens(tokens);
                return NULL;
            }
        }
        line += length;
    }
    tokens[count].kind = TOKEN_END;
    const char *wrong = check_order(tokens);
    if (!wrong)
        return tokens;
    *error = wrong;
    free_tokens(tokens);
    return NULL;
}

void free_tokens(struct token *tokens)
{
    for (struct token *token = tokens; token->kind != TOKEN_END; token++)
        free(token->text);
    free(tokens);
}
