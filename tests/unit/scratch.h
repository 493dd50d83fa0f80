/* scratch.h - a directory for the files of a unit test, which is removed when the test exits. */
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

static char scratch[] = "/tmp/tarn-unit-XXXXXX";

static inline int remove_entry(const char *path, const struct stat *about, int type, struct FTW *where)
{
    return remove(path);
}

/* A file, or a directory with all that is in it. */
static inline void remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void remove_scratch(void)
{
    remove_tree(scratch);
}

static inline _Noreturn void bail_out(const char *why)
{
    printf("Bail out! %s\n", why);
    exit(2);
}

/* Makes the directory; its path is in `scratch`. */
static inline void make_scratch(void)
{
    if (!mkdtemp(scratch))
        bail_out("no temporary directory");
    atexit(remove_scratch);
}

/* A synthetic trace: tests/unit/tarn/tracegen.c. */
static inline void make_trace(const char *directory, const char *options)
{
    char command[1024];
    snprintf(command, sizeof(command), "build/host/tracegen %s %s", options, directory);
    if (system(command) != 0)
        bail_out(command);
}
