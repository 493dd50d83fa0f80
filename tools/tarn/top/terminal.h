/*
 * terminal.h - full-screen output on a terminal, with control sequences that all current terminals support.
 *
 * Only one at a time. The terminal is restored whenever the program ends, even by a signal, and while it is
 * stopped by Ctrl-Z.
 */
#pragma once

#include <tools/tarn/tarn.h>

bool terminal_open(struct fail *fail); /* standard input and output must be a terminal */
void terminal_close(void);
void terminal_size(unsigned *width, unsigned *height);
/* Shows the lines of TEXT, cut to the terminal's width and height. */
void terminal_draw(const char *text);
/* Waits for at most SECONDS. Returns a character; 0:
 * none, but the size may have changed; -1: end of input. */
int terminal_key(double seconds);
