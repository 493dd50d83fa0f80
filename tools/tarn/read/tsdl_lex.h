/* SPDX-License-Identifier: BSD-2-Clause */
/* tsdl_lex.h - TSDL text to tokens; used by the parser only. */
#ifndef TARN_TSDL_LEX_H
#define TARN_TSDL_LEX_H

#include <tools/tarn/tarn.h>

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCT, TOKEN_BAD };

struct token {
    enum token_kind kind;
    const char *text; /* word, or unescaped string; in the arena */
    uint64_t number;  /* magnitude */
    bool negative;
    char punct[4]; /* one of { } [ ] ( ) ; , . = : := ... */
    unsigned line;
};

struct lexer {
    const char *at, *end;
    unsigned line;
    struct arena *arena;
    const char *error; /* set with TOKEN_BAD */
};

void lex_next(struct lexer *lexer, struct token *token);

#endif
