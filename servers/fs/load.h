/* load.h - fills the new file system from the boot archive. */
#pragma once

#include <stdint.h>

struct load_result {
    uint64_t entries, bytes;
    char name[64]; /* of the entry that failed */
};

/* Returns 0 or -errno. Entries before the failed one are kept. */
int load_archive(const char *archive, uint64_t size, struct load_result *result);
