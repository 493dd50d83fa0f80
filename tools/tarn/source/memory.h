/*
 * memory.h - reads a guest's physical memory from outside, through a file (a dump, memory shared with the
 * host, the memory of a stopped emulator) or gdb's server.
 *
 * Memory is a sorted list of disjoint ranges of physical addresses; other addresses cannot be read. Nothing
 * here writes to a guest. The bytes are in the guest's order and untrusted; guest.h interprets them.
 */
#pragma once

#include <sys/types.h>
#include <tools/tarn/tarn.h>

struct memory_range {
    uint64_t physical, bytes;
    uint64_t place; /* of its first byte: in a file an offset, from `begin` on */
};

struct memory {
    const struct memory_class *class;
    int fd;               /* of the file or the connection */
    uint64_t begin, size; /* of the file's part that is memory */
    char *base;           /* where it is mapped; NULL: it is not */
    bool live;            /* it changes while it is read */
    struct memory_range *ranges;
    size_t range_count;
};

struct memory_class {
    /* Of memory in a file: finds the ranges in it, of `size` bytes. False: FAIL. */
    bool (*begin)(struct memory *memory, struct fail *fail);
    /* Of other memory: connects; NULL: FAIL. Reads bytes at a place. */
    struct memory *(*open)(const char *address, struct fail *fail);
    bool (*read)(struct memory *memory, uint64_t place, void *to, size_t bytes, struct fail *fail);
    /* Live memory only: returns its address in this process, valid while it is open. */
    const void *(*map)(struct memory *memory, uint64_t place, uint64_t bytes);
    /* For memory whose ranges depend on where a thing with known physical address lies: sets the ranges by
     * the ATTEMPTth possibility. False: no more. NULL for other classes. */
    bool (*arrange)(struct memory *memory, unsigned attempt, uint64_t place, uint64_t physical);
};

/* By the name of an ELF memory dump; of a socket or HOST:PORT of QEMU's gdb server; of the file of a shared
 * memory-backend-file. */
extern const struct memory_class memory_core, memory_gdb, memory_ram;

/* NULL: FAIL. */
struct memory *memory_open(const struct memory_class *class, const char *address, struct fail *fail);
void memory_close(struct memory *memory);
/* Live memory: whether the guest has ended. False if that is unknown. */
bool memory_has_ended(const struct memory *memory);
/* Reads bytes at a place. */
bool memory_read_place(struct memory *memory, uint64_t place, void *to, size_t bytes, struct fail *fail);
/* Returns the range of a physical address; NULL: it has none, or BYTES reach beyond it. */
const struct memory_range *memory_find(const struct memory *memory, uint64_t physical, uint64_t bytes);
/* Live memory: reads each word with one load, in order, if address and size are multiples of 8. TO is NULL:
 * only checks that there is memory. */
bool memory_read(struct memory *memory, uint64_t physical, void *to, size_t bytes, struct fail *fail);
/* The RAM of a stopped guest, BYTES at BASE in its emulator. Places are offsets from there. NULL: FAIL. */
struct memory *memory_of_process(pid_t pid, uint64_t base, uint64_t bytes, struct fail *fail);
/* For classes: make one with a descriptor; add a range; sort the ranges, and resolve overlaps in favour of
 * the lower range. */
struct memory *memory_new(const struct memory_class *class, int fd);
void memory_add_range(struct memory *memory, struct memory_range range);
void memory_settle_ranges(struct memory *memory);
