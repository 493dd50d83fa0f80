/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/source/memory.h - a guest's physical memory, from outside: a dump, a stopped guest, shared
 * memory.
 *
 * Each way is a file with a memory_class. Memory is a list of ranges of physical addresses, sorted and apart
 * from each other; what lies in none of them cannot be read. Nothing here writes to a guest. What is read is
 * bytes in the guest's order, and nobody's word is taken for anything: image.h makes sense of them.
 */
#ifndef TARN_MEMORY_H
#define TARN_MEMORY_H

#include <tools/tarn/tarn.h>

struct memory_range {
    uint64_t physical, bytes;
    uint64_t place; /* of its first byte in the file; the class alone knows what it means */
};

struct memory {
    const struct memory_class *class;
    bool live; /* it changes while it is read */
    struct memory_range *ranges;
    size_t range_count;
};

/* Something to be read; of one range. */
struct memory_piece {
    uint64_t place;
    void *to;
    size_t bytes;
};

struct memory_class {
    struct memory *(*open)(const char *address, struct fail *fail); /* NULL: fail says why */
    bool (*read)(struct memory *memory, const struct memory_piece *pieces, size_t count, struct fail *fail);
    void (*close)(struct memory *memory);
    /* Live memory only: where it lies in this process, as long as it is open. */
    const void *(*map)(struct memory *memory, uint64_t place, uint64_t bytes);
    /* Live memory only: does the guest not run any more? False if that cannot be found out. */
    bool (*ended)(struct memory *memory);
    /* If the ranges follow from where a thing lies whose physical address is known: the `attempt`th way in
     * which this can be. False: there is none. Else NULL. */
    bool (*arrange)(struct memory *memory, unsigned attempt, uint64_t place, uint64_t physical);
};

extern const struct memory_class memory_core; /* FILE: an ELF memory dump */
extern const struct memory_class memory_gdb;  /* HOST:PORT or a socket's path: QEMU's gdb server */
extern const struct memory_class memory_ram;  /* FILE: what a memory-backend-file shares */

/* Where a physical address lies: its range; NULL: nowhere, or not all of `bytes` behind it. */
const struct memory_range *memory_find(const struct memory *memory, uint64_t physical, uint64_t bytes);
/* Can all of it be read, of one range or of several? */
bool memory_covers(const struct memory *memory, uint64_t physical, uint64_t bytes);
bool memory_read(struct memory *memory, uint64_t physical, void *to, size_t bytes, struct fail *fail);
/* Live memory: the place in this process; NULL: there is none. */
const void *memory_at(struct memory *memory, uint64_t physical, uint64_t bytes);
/* For classes: adds a range; sorts them, and gives what two of them claim to the lower. */
void memory_add_range(struct memory *memory, struct memory_range range);
void memory_settle_ranges(struct memory *memory);

#endif
