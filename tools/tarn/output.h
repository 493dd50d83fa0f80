/*
 * output.h - reads small files; writes files, and checks that they still exist when they are complete.
 *
 * Writing to a file that was deleted or replaced succeeds, but nobody can find the result. A caller that
 * reports a file as complete calls output_is_there first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a regular file of at most MOST bytes, with a NUL behind its SIZE bytes; the caller frees it. NAME
 * is relative to DIRECTORY_FD. NULL: errno; EINVAL: not a regular file, EFBIG: too large. */
char *file_read(int directory_fd, const char *name, size_t most, size_t *size);

/* Reads SIZE bytes. False: there are fewer, or errno. */
bool file_read_at(int fd, void *bytes, size_t size, uint64_t offset);
/* Writes all SIZE bytes. On false, errno is set and never 0. */
bool output_write(int fd, const void *bytes, size_t size);
/* Writes the file NAME of a directory. On false, errno is set. */
bool output_write_file(int directory_fd, const char *name, const void *bytes, size_t size);
/* Whether PATH still names the open file or directory. On false, errno is set. */
bool output_is_there(int fd, const char *path);
/* Closes the file. Returns whether all data was written
 * and PATH still names the file; on false, errno is set. */
bool output_close(int fd, const char *path);
