/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user/bin/util.h - what the small utilities share: complaints, options, whole reads and writes.
 */
#ifndef USER_BIN_UTIL_H
#define USER_BIN_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

extern const char *program_name; /* set by main from argv[0] */

/* "name: message: strerror(errno)" on standard error. complain returns 1, so that `status |= complain(...)`
 * reads well; die exits with 1. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void usage(const char *synopsis) __attribute__((noreturn)); /* exits with 2 */

/* Options as in "-la": sets flags[letter - 'a'] and returns the index of the first operand. Letters outside
 * `allowed` end in usage(synopsis). Only small letters; -- ends the options. */
int read_flags(int argc, char **argv, const char *allowed, bool flags[26], const char *synopsis);

int write_whole(int fd, const void *data, size_t size);   /* 0, or -1 with errno */
int copy_stream(int from, int to);                        /* 0, or -1 with errno */
char *join_path(const char *directory, const char *name); /* malloc'ed */
const char *last_component(const char *path);
/* For cp and mv, whose last operand is where the others go: acts on each of these and the name that it gets,
 * in the last one if that is a directory. Dies if it is none and there are several. 1 if any action was not
 * 0. */
int act_on_each(int argc, char **argv, int first, int (*act)(const char *from, const char *to));

#endif
