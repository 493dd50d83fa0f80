/* SPDX-License-Identifier: BSD-2-Clause */
/* servers/fs/load.h - the file system's first contents. */
#ifndef SERVERS_FS_LOAD_H
#define SERVERS_FS_LOAD_H

#include <stdint.h>

struct load_result {
    uint64_t entries, bytes;
    char name[64]; /* of the entry that could not be made */
};

/* 0, or -errno: what came before the error is there. */
int load_archive(const char *archive, uint64_t size, struct load_result *result);

#endif
