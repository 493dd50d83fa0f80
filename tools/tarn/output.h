/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/output.h - files that a subcommand leaves behind.
 *
 * Writing to a file that somebody has removed or replaced succeeds, and nobody will find what was written.
 * So whoever says that a file is complete asks output_is_there first.
 */
#ifndef TARN_OUTPUT_H
#define TARN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* All of it. False: errno says why; never 0, also if the disk is full. */
bool output_write(int fd, const void *bytes, size_t size);
/* Does PATH still name the open file or directory? False: errno says why. */
bool output_is_there(int fd, const char *path);
/* Closes the file, and says whether all that was written can be found under PATH. False: errno says why. */
bool output_close(int fd, const char *path);

#endif
