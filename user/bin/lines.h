/* SPDX-License-Identifier: BSD-2-Clause */
/* lines.h - reads a stream line by line, for sort and grep. */
#ifndef USER_BIN_LINES_H
#define USER_BIN_LINES_H

#include <stdio.h>

/* Returns the next line without its newline, malloc'ed; NULL at the end. The last line may lack a newline. */
char *read_line(FILE *stream);

#endif
