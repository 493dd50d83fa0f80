/* sys/dirent.h - directories, included by newlib's <dirent.h>; libc-glue/posix/directory.c. */
#pragma once

#include <sys/types.h>

#define MAXNAMLEN 255

#define DT_UNKNOWN 0
#define DT_FIFO    1
#define DT_CHR     2
#define DT_DIR     4
#define DT_REG     8

struct dirent {
    ino_t d_ino;
    unsigned char d_type;
    char d_name[MAXNAMLEN + 1];
};

typedef struct DIR DIR;
