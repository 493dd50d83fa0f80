/* input.h - reads the files named by operands, for cat, wc, sort and grep. */
#pragma once

#include <stdio.h>

/* Calls `act` with each operand's stream ("-": standard input) and name; without operands with standard input
 * and NULL. Reports files that cannot be opened. Returns 1 if that happened or any `act` returned 1. */
int act_on_inputs(int argc, char **argv, int first, int (*act)(FILE *stream, const char *name));

/* Returns the next line without its newline, malloc'ed; NULL at the end. The last line may lack a newline. */
char *read_line(FILE *stream);
