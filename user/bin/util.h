/* util.h - error messages, options, and complete reads and writes, for the utilities. Of util.c, but for what
 * would make all of them larger. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

extern const char *program_name; /* set by main from argv[0] */

/* Print "name: message: strerror(errno)" on standard error, without the last part if errno is 0. complain
 * returns 1, for `status |= complain(...)`; die exits with 1. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define refuse(...) (errno = 0, complain(__VA_ARGS__)) /* without errno */
/* Says how to get this authority (servers/protocol/authority.def), without which nothing can be done; 1. */
int refuse_without(const char *authority);
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void usage(const char *synopsis) __attribute__((noreturn)); /* exits with 2 */

/* Parses options such as "-la" for option() and returns the index of the first operand. Calls usage(synopsis)
 * for letters not in `allowed` and for fewer than `least` operands. Small letters only; -- ends the options.
 */
int read_options(int argc, char **argv, const char *allowed, int least, const char *synopsis);
bool option(char letter);
/* A whole decimal number. Calls usage(synopsis) for all that is none from `least` to `most`. */
unsigned long read_number(const char *text, unsigned long least, unsigned long most, const char *synopsis);
/* number.c: the same with a fraction. */
double read_decimal(const char *text, double least, double most, const char *synopsis);

/* input.c, for cat, wc, sort and grep. Calls `act` with each operand's stream ("-": standard input) and name;
 * without operands with standard input and NULL. Reports files that cannot be opened. Returns 1 if that
 * happened or any `act` returned 1. */
int act_on_inputs(int argc, char **argv, int first, int (*act)(FILE *stream, const char *name));
/* Returns the next line without its newline, malloc'ed; NULL at the end. The last line may lack a newline. */
char *read_line(FILE *stream);

int write_whole(int fd, const void *data, size_t size);   /* 0, or -1 with errno */
int copy_stream(int from, int to);                        /* 0, or -1 with errno */
char *join_path(const char *directory, const char *name); /* malloc'ed */
const char *last_component(const char *path);
/* Appends to a malloc'ed array of `count` texts; returns the array. Dies if memory runs out or `text` is
 * NULL. */
char **append_text(char **texts, size_t *count, char *text);
/* For cp and mv, whose last operand is the destination: calls `act` for each other operand and its new name,
 * which is in the destination if that is a directory. Dies if it is none and there are several operands.
 * Returns 1 if any action failed. */
int act_on_each(int argc, char **argv, int first, int (*act)(const char *from, const char *to));
