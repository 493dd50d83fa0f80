/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tarn/console.h - what a shell tells the console beyond termios; libc-glue/posix/console.c.
 */
#ifndef TARN_CONSOLE_H
#define TARN_CONSOLE_H

#include <sys/types.h>

/* Ctrl-C kills these processes and their descendants; none: nobody. 0, or -1 and errno. */
int console_set_foreground(const pid_t *pids, size_t count);

#endif
