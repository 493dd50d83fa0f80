/* lex.c - splits a line into tokens. Words keep their quotes; expand.c removes them. */
#include <ctype.h>
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

const char *token_name(enum token_kind kind)
{
    for (size_t i = 0; i < OPERATORS; i++) {
        if (operators[i].kind == kind)
            return operators[i].text;
    }
    return kind == TOKEN_WORD ? "a word" : "the end of the line";
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
    return tokens;
}

void free_tokens(struct token *tokens)
{
    for (struct token *token = tokens; token->kind != TOKEN_END; token++)
        free(token->text);
    free(tokens);
}
