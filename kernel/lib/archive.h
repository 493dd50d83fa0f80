/* archive.h - files of the boot archive. */
#pragma once

#include <stdint.h>

/* Returns a file and its size, or NULL; `path` has no leading slash. Takes no lock. */
const char *archive_file(const char *path, uint64_t *file_size);
