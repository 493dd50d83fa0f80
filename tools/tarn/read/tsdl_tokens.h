/* SPDX-License-Identifier: BSD-2-Clause */
/* tsdl_tokens.h - the tokens of TSDL, for its parser (tsdl.c). */
#ifndef TARN_TSDL_TOKENS_H
#define TARN_TSDL_TOKENS_H

#include <tools/tarn/read/tsdl.h>

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCT };

struct token {
    enum token_kind kind;
    const char *text; /* word, or unescaped string; in the arena */
    uint64_t number;  /* magnitude */
    bool negative;
    char punct[4]; /* one of { } [ ] ( ) ; , . = : := ... */
    unsigned line;
};

struct parser {
    const char *at, *end; /* the text behind the current token */
    unsigned line;
    struct token token; /* the current one */
    struct tsdl *tsdl;
    struct fail *fail;
    bool failed; /* sticky; `token` is then TOKEN_END */
    /* of the grammar */
    unsigned nesting;
    struct named_type *aliases; /* searched linearly */
    unsigned alias_count;
    unsigned seen; /* a bit for each block that occurs once */
    struct tsdl_event **last_event;
    struct tsdl_env **last_env;
};

void parse_error(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
void parse_next(struct parser *parser);
bool at_punct(const struct parser *parser, const char *punct);
bool accept_punct(struct parser *parser, const char *punct);
void expect_punct(struct parser *parser, const char *punct);
const char *expect_word(struct parser *parser, const char *what);
uint64_t expect_number(struct parser *parser, bool may_be_negative);
/* Accepts a word, a dotted path (clock.monotonic.value), a number or a string; returns it as text. */
const char *expect_value(struct parser *parser);

#endif
