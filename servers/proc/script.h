/*
 * script.h - scripts: programs whose first line is "#!INTERPRETER [ARGUMENT]".
 *
 * A script is run by starting the interpreter with ARGUMENT (the rest of the line, as one argument), the
 * script's path and the script's arguments.
 */
#pragma once

#include <servers/protocol/proc.h>
#include <stddef.h>

#define SCRIPT_LINE_MAX    256u /* bytes of the first line, including its end */
#define SCRIPT_NESTING_MAX 4u   /* scripts as interpreters of scripts; ELOOP beyond that */

struct script_line {
    char interpreter[SCRIPT_LINE_MAX];
    char argument[SCRIPT_LINE_MAX]; /* "": none */
};

/* Parses the first bytes of a program. Returns 1 for a script, 0 if it is none, -ENOEXEC if the line is too
 * long or names no absolute path. */
int script_parse(const char *head, size_t size, struct script_line *line);

/* Makes the request that starts the interpreter. Returns malloc'ed memory, or NULL with *error set (-E2BIG,
 * -ENOMEM). The original request must have been validated and have at least one argument. */
struct proc_spawn *script_request(const struct proc_spawn *request, const struct script_line *line,
                                  int *error);
