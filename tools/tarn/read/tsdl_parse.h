/* SPDX-License-Identifier: BSD-2-Clause */
/* tsdl_parse.h - what the two halves of the TSDL parser share: tsdl.c (types) and tsdl_block.c. */
#ifndef TARN_TSDL_PARSE_H
#define TARN_TSDL_PARSE_H

#include <tools/tarn/read/tsdl.h>
#include <tools/tarn/read/tsdl_lex.h>

struct named_type {
    const char *name;
    const struct tsdl_type *type;
    struct named_type *next;
};

struct parser {
    struct lexer lexer;
    struct token token; /* the current one */
    struct tsdl *tsdl;
    struct fail *fail;
    bool failed; /* sticky; `token` is then TOKEN_END */
    unsigned nesting;
    unsigned named_count; /* total of the three lists, which are searched linearly */
    struct named_type *aliases, *enums, *structs;
    struct tsdl_event **last_event;
    struct tsdl_env **last_env;
};

void parse_error(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
void parse_next(struct parser *parser);
bool at_punct(const struct parser *parser, const char *punct);
bool at_word(const struct parser *parser, const char *word);
bool accept_punct(struct parser *parser, const char *punct);
void expect_punct(struct parser *parser, const char *punct);
const char *expect_word(struct parser *parser, const char *what);
uint64_t expect_number(struct parser *parser);
const char *expect_value(struct parser *parser);
enum tsdl_order parse_order(struct parser *parser, const char *text);
const struct tsdl_type *parse_type(struct parser *parser);
void parse_block(struct parser *parser); /* a trace, clock, env, stream or event block */

#endif
