/*
 * executables.h - which executables are mapped where in each process.
 *
 * Learned from state_image: one event for each mapped executable, at the start of a process and in a
 * statedump. The latest event for an address counts. Process 0 is the kernel, which is mapped in every
 * process. Beyond the limits nothing is learned.
 */
#pragma once

#include <tools/tarn/map.h>
#include <tools/tarn/read/decode.h>

#define EXECUTABLES_MAX        65536u
#define EXECUTABLES_OF_ONE_MAX 64u /* per process */
#define EXECUTABLE_PATH_BYTES  256u

struct executable {
    uint32_t pid;
    uint64_t base, size;  /* bytes */
    uint8_t build_id[16]; /* its first bytes; zeros: unknown */
    char *path;
    const struct executable *next; /* of the same process, newest first */
    uint32_t number;               /* among those of the process, from 1 on */
};

struct executables {
    struct map newest_of; /* of const struct executable *, by pid */
    struct map all;       /* of struct executable, in the order of arrival */
    size_t saved;         /* how many of `all` model_save_snapshot has saved */
};

/* Copies EXECUTABLE; its `path` and `next` are ignored. */
void executables_add(struct executables *executables, const struct executable *executable, const char *path,
                     size_t length);
/* Returns the executable at an address of a process or of the kernel; NULL: unknown. */
const struct executable *executables_find(const struct executables *executables, uint32_t pid,
                                          uint64_t address);
/* Returns the newest executable of a process, first of a list linked by `next`; NULL: none. */
const struct executable *executables_of(const struct executables *executables, uint32_t pid);
