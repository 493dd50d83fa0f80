/*
 * sh.h - the shell: a line passes through edit (or a script), lex, parse and exec, one file each.
 *
 * Language:
 *
 *   - words with '...', "...", \ and $NAME ${NAME} $? $$ $# $0..$9; NAME=value
 *   - * and ? in paths
 *   - pipelines with |; lists with ; && || and &
 *   - redirection with < > >> 2> 2>&1
 *   - comments with #
 *   - grant NAME[,NAME...] COMMAND: hands on to one command what the shell holds
 * (servers/protocol/authority.def)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- lex.c: text to tokens ------------------------------------------------------------------------- */

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
    char *text; /* TOKEN_WORD: as written, with quotes and $; malloc'ed */
};
/* Returns NULL with an error message in *error. Free with free_tokens. */
struct token *split_line(const char *line, const char **error);
void free_tokens(struct token *tokens);
const char *token_name(enum token_kind kind);

/* ---- expand.c: words to arguments ------------------------------------------------------------------ */

struct words {
    char **word; /* NULL-terminated */
    size_t count;
};
void add_word(struct words *words, char *word); /* takes ownership */
void free_words(struct words *words);
/* Expands variables, quotes and file name patterns. Adds any number of words. */
void expand_word(const char *text, struct words *words);
/* Expands as in an assignment or after a redirection, without patterns. Returns malloc'ed memory. */
char *expand_to_one(const char *text);

/* ---- parse.c: tokens to a list of pipelines -------------------------------------------------------- */

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
    enum token_kind after; /* operator between this and the next pipeline, or the end */
};
struct list {
    struct pipeline *pipelines;
    size_t count;
};
/* Returns NULL with *error set. */
struct list *parse_line(const struct token *tokens, const char **error);
void free_list(struct list *list);

/* ---- exec.c: running a line ------------------------------------------------------------------------ */

extern int last_status;         /* $? */
extern char **script_arguments; /* $0, $1, ... */
extern int script_argument_count;
int run_line(const char *line); /* returns its status */
int run_script(const char *path);
void reap_background(void); /* reports background processes that ended */

/* ---- builtin.c ------------------------------------------------------------------------------------- */

bool is_builtin(const char *name);
/* Returns the command's status, or 127 if it is not built in. */
int run_builtin(const struct words *words);

/* ---- edit.c: a line from the terminal -------------------------------------------------------------- */

char *edit_line(const char *prompt); /* malloc'ed, without newline; NULL at the end of input */

/* ---- terminal.c: console modes --------------------------------------------------------------------- */

bool terminal_set_raw(bool raw); /* false: standard input is no terminal */
void terminal_set_foreground(const pid_t *pids, size_t count);
