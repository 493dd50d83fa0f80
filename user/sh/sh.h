/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user/sh/sh.h - the shell: a line goes through edit (or a script), lex, parse and exec, one file each.
 *
 * Language: words with '...', "...", \ and $NAME ${NAME} $? $$ $# $0..$9; * and ? in the last component of a
 * path; NAME=value; pipelines with |; redirection < > >> 2> 2>&1; lists with ; && || and & ; comments with #.
 */
#ifndef USER_SH_H
#define USER_SH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- lex.c: text to tokens ---------------------------------------------------------------------------- */

enum token_kind {
    TOKEN_WORD,
    TOKEN_PIPE,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_SEMICOLON,
    TOKEN_BACKGROUND,
    TOKEN_IN,
    TOKEN_OUT,
    TOKEN_APPEND,
    TOKEN_ERROR,
    TOKEN_ERROR_TO_OUT,
    TOKEN_END,
};
struct token {
    enum token_kind kind;
    char *text; /* TOKEN_WORD: as written, quotes and $ still in it; malloc'ed */
};
/* Splits a line. NULL with *error set to a message that says what is wrong. Free with free_tokens. */
struct token *split_line(const char *line, const char **error);
void free_tokens(struct token *tokens);
const char *token_name(enum token_kind kind);

/* ---- expand.c: words to arguments ---------------------------------------------------------------------- */

struct words {
    char **word; /* NULL-terminated */
    size_t count;
};
void add_word(struct words *words, char *word); /* takes ownership */
void free_words(struct words *words);
/* Variables, quotes, file name patterns. Adds any number of words. */
void expand_word(const char *text, struct words *words);
char *expand_to_one(
    const char *text); /* as in an assignment or after a redirection: no patterns; malloc'ed */

/* ---- parse.c: tokens to a list of pipelines --------------------------------------------------------------
 */

struct redirection {
    enum token_kind kind;
    char *target; /* unexpanded; NULL for 2>&1 */
};
struct command {
    char **words; /* unexpanded */
    size_t word_count;
    struct redirection *redirections;
    size_t redirection_count;
};
struct pipeline {
    struct command *commands;
    size_t command_count;
    enum token_kind after; /* what joins it to the next: ; && || & or the end */
};
struct list {
    struct pipeline *pipelines;
    size_t count;
};
/* NULL with *error set. */
struct list *parse_line(const struct token *tokens, const char **error);
void free_list(struct list *list);

/* ---- exec.c: run it
 * ----------------------------------------------------------------------------------------- */

extern int last_status;         /* $? */
extern char **script_arguments; /* $0, $1, ... */
extern int script_argument_count;
int run_line(const char *line); /* its status */
int run_script(const char *path);
void reap_background(void); /* reports what has ended */

/* ---- builtin.c
 * ------------------------------------------------------------------------------------------------ */

bool is_builtin(const char *name);
/* True if the command is one of the shell's own; then it has been run and *status is set. */
bool run_builtin(const struct words *words, int *status);

/* ---- edit.c: a line from the terminal
 * ------------------------------------------------------------------------- */

char *edit_line(const char *prompt); /* malloc'ed, without newline; NULL at the end of input */

/* ---- terminal.c: what the console must be told
 * ------------------------------------------------------------------- */

bool terminal_set_raw(bool raw); /* false: standard input is no terminal */
void terminal_set_foreground(const pid_t *pids, size_t count);

#endif
