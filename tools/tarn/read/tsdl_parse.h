/* SPDX-License-Identifier: BSD-2-Clause */
/* tsdl_parse.h - the parts of the TSDL parser: tsdl.c uses tsdl_type.c, and both use tsdl_tokens.c. */
#ifndef TARN_TSDL_PARSE_H
#define TARN_TSDL_PARSE_H

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

struct named_type {
    const char *name;
    const struct tsdl_type *type;
    struct named_type *next;
};

struct parser {
    const char *at, *end; /* the text behind the current token */
    unsigned line;
    struct token token; /* the current one */
    struct tsdl *tsdl;
    struct fail *fail;
    bool failed; /* sticky; `token` is then TOKEN_END */
    unsigned nesting;
    struct named_type *aliases; /* searched linearly */
    unsigned alias_count;
    struct tsdl_event **last_event;
    struct tsdl_env **last_env;
};

/* ---- tsdl_tokens.c ---- */

void parse_error(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
void parse_next(struct parser *parser);
bool at_punct(const struct parser *parser, const char *punct);
bool at_word(const struct parser *parser, const char *word);
bool accept_punct(struct parser *parser, const char *punct);
void expect_punct(struct parser *parser, const char *punct);
const char *expect_word(struct parser *parser, const char *what);
uint64_t expect_number(struct parser *parser);
const char *expect_value(struct parser *parser);

/* ---- tsdl_type.c ---- */

enum tsdl_order parse_order(struct parser *parser, const char *text);
const struct tsdl_type *parse_type(struct parser *parser);
void parse_typealias(struct parser *parser); /* behind the word */

#endif
