/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/proc/script.h - programs that are text: "#!INTERPRETER [ARGUMENT]" in their first line.
 *
 * Such a program is started as its interpreter, with the argument (all of the rest of the line, as one), the
 * path of the script and the arguments of the script.
 */
#ifndef SERVERS_PROC_SCRIPT_H
#define SERVERS_PROC_SCRIPT_H

#include <servers/protocol/proc.h>
#include <stddef.h>

#define SCRIPT_LINE_MAX    256u /* bytes of the first line, its end included */
#define SCRIPT_NESTING_MAX 4u   /* interpreters that are scripts themselves: ELOOP beyond */

struct script_line {
    char interpreter[SCRIPT_LINE_MAX];
    char argument[SCRIPT_LINE_MAX]; /* "": none */
};

/* Reads the first bytes of a program. 1: a script, 0: none, -ENOEXEC: its first line is too long, or names no
 * absolute path. */
int script_parse(const char *head, size_t size, struct script_line *line);

/* The request that starts the interpreter instead: malloc'ed; NULL with *error set (-E2BIG, -ENOMEM). The
 * request must have been checked, with at least one argument. */
struct proc_spawn *script_request(const struct proc_spawn *request, const struct script_line *line,
                                  int *error);

#endif
