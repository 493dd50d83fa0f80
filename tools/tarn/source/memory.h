/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h - reads a guest's physical memory from outside: a dump, a stopped guest, shared memory.
 *
 * Each kind is a file with a memory_class. Memory is a sorted list of disjoint ranges of physical addresses;
 * other addresses cannot be read. Nothing here writes to a guest. The bytes are in the guest's order and
 * untrusted; guest.h interprets them.
 */
#ifndef TARN_MEMORY_H
#define TARN_MEMORY_H

#include <sys/types.h>
#include <tools/tarn/tarn.h>

struct memory_range {
    uint64_t physical, bytes;
    uint64_t place; /* of its first byte, in the class's own numbering */
};

struct memory {
    const struct memory_class *class;
    bool live; /* it changes while it is read */
    struct memory_range *ranges;
    size_t range_count;
};

struct memory_piece {
    uint64_t place;
    void *to;
    size_t bytes;
};

struct memory_class {
    struct memory *(*open)(const char *address, struct fail *fail); /* NULL: FAIL */
    bool (*read)(struct memory *memory, const struct memory_piece *pieces, size_t count, struct fail *fail);
    void (*close)(struct memory *memory);
    /* Live memory only: returns its address in this process, valid while it is open. */
    const void *(*map)(struct memory *memory, uint64_t place, uint64_t bytes);
    /* Live memory only: whether the guest has ended. False if that is unknown. */
    bool (*ended)(struct memory *memory);
    /* For memory whose ranges depend on where a thing with known physical address lies: sets the ranges by
     * the ATTEMPTth possibility. False: no more. NULL for other classes. */
    bool (*arrange)(struct memory *memory, unsigned attempt, uint64_t place, uint64_t physical);
};

/* FILE: an ELF memory dump */
extern const struct memory_class memory_core;
/* HOST:PORT or a socket's path: QEMU's gdb server */
extern const struct memory_class memory_gdb;
/* FILE: the file of a shared memory-backend-file */
extern const struct memory_class memory_ram;

/* Returns the range of a physical address; NULL: it has none, or BYTES reach beyond it. */
const struct memory_range *memory_find(const struct memory *memory, uint64_t physical, uint64_t bytes);
bool memory_covers(const struct memory *memory, uint64_t physical, uint64_t bytes);
/* Live memory: reads each word with one load, in order, if address and size are multiples of 8. */
bool memory_read(struct memory *memory, uint64_t physical, void *to, size_t bytes, struct fail *fail);
/* Live memory: returns the address in this process; NULL: none. */
const void *memory_at(struct memory *memory, uint64_t physical, uint64_t bytes);
/* The RAM of a stopped guest, BYTES at BASE in its emulator. Places are offsets from there. NULL: FAIL. */
struct memory *memory_of_process(pid_t pid, uint64_t base, uint64_t bytes, struct fail *fail);
/* For classes: add a range; sort the ranges, and resolve overlaps in favour of the lower range. */
void memory_add_range(struct memory *memory, struct memory_range range);
void memory_settle_ranges(struct memory *memory);

#endif
