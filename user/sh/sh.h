/*
 * sh.h - the shell: a line passes through edit (or a script), lex and exec, one file each.
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
static inline bool is_redirection(enum token_kind kind)
{
    return kind >= TOKEN_IN && kind <= TOKEN_ERROR_TO_OUT;
}
/* The token after this word or redirection, whose file is a word of its own. */
static inline const struct token *next_argument(const struct token *at)
{
    return at + 1 + (is_redirection(at->kind) && at->kind != TOKEN_ERROR_TO_OUT);
}
/* The tokens of a line, up to TOKEN_END, in an order that makes sense. Returns NULL with an error message in
 * *error. Free with free_tokens. */
struct token *split_line(const char *line, const char **error);
void free_tokens(struct token *tokens);

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
