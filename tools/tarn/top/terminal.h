/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/top/terminal.h - a terminal whose whole screen a program draws, by the control sequences that
 * all of today's know.
 *
 * One at a time. Whatever ends the program, also a signal that it did not ask for, gives the terminal back as
 * it was; stopped by Ctrl-Z it does so, too, and takes it again when it goes on.
 */
#ifndef TARN_TERMINAL_H
#define TARN_TERMINAL_H

#include <tools/tarn/tarn.h>

bool terminal_open(struct fail *fail); /* standard input and output are one */
void terminal_close(void);
void terminal_size(unsigned *width, unsigned *height);
/* Shows TEXT: lines that are cut at the width, and no more of them than there are. */
void terminal_draw(const char *text);
/* Waits at most so long. A character, or 0: none came; the size may have changed, then. -1: the end. */
int terminal_key(double seconds);

#endif
