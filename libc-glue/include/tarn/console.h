/* tarn/console.h - foreground processes, for a shell; libc-glue/posix/console.c. */
#pragma once

#include <sys/types.h>

/* Makes these processes, possibly none, the foreground: Ctrl-C kills them and their descendants. Returns 0,
 * or -1 with errno. */
int console_set_foreground(const pid_t *pids, size_t count);
