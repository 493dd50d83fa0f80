/*
 * memory_ram.c - memory that a running guest shares with the host through a file (QEMU's memory-backend-file
 * with share=on), and the memory of a stopped guest in the process of its emulator.
 *
 * The file is the guest's RAM from start to end. A PC has a hole for devices below 4 GiB; the size of the
 * part below follows from a thing above the hole that contains its own physical address, or the usual sizes
 * are tried. The RAM of other machines begins at an address of their own, which follows in the same way.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tools/tarn/source/memory.h>

#define GIB (1ull << 30)

static char *volatile mapped_from, *volatile mapped_to;

/* Replaces the lost page by zeros, from which no packet is made. */
static void put_zero_page(int number, siginfo_t *about, void *context)
{
    char *page = (char *)((uintptr_t)about->si_addr & ~4095ull);
    int saved = errno;
    if (page < mapped_from || page >= mapped_to ||
        mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        signal(SIGBUS, SIG_DFL); /* the fault repeats, and ends the program */
    errno = saved;
}

/* The host's kernel grants a read lease only while no process has the file open or mapped for writing. */
bool memory_has_ended(const struct memory *memory)
{
    struct stat about;
    if (fstat(memory->fd, &about) == 0 && (uint64_t)about.st_size < memory->size)
        return true;
    signal(SIGIO, SIG_IGN); /* sent if a process opens the file at this moment */
    if (fcntl(memory->fd, F_SETLEASE, F_RDLCK) != 0)
        return false; /* a guest runs, or the file is not ours, so leases are not permitted */
    fcntl(memory->fd, F_SETLEASE, F_UNLCK);
    return true;
}

/* Sets two ranges: FIRST, from the file's begin, and the rest of SIZE from 4 GiB on. */
static void set_ranges(struct memory *memory, struct memory_range first, uint64_t size)
{
    memory->range_count = 0;
    free(memory->ranges);
    memory->ranges = NULL;
    memory_add_range(memory, first);
    if (first.bytes < size)
        memory_add_range(memory, (struct memory_range){4 * GIB, size - first.bytes, first.bytes});
}

static void set_low_part(struct memory *memory, uint64_t size, uint64_t low)
{
    set_ranges(memory, (struct memory_range){0, low, 0}, size);
}

static bool ram_arrange(struct memory *memory, unsigned attempt, uint64_t place, uint64_t physical)
{
    /* no hole; q35 and microvm; pc; machines with other settings */
    static const uint64_t low_parts[] = {UINT64_MAX, 2 * GIB, 3 * GIB, 2816 * (GIB >> 10),
                                         3584 * (GIB >> 10)};
    const uint64_t size = memory->size;
    if (physical != place) {
        uint64_t low = place + 4 * GIB - physical;
        bool has_hole = physical >= 4 * GIB && physical > place && low > 0 && low < 4 * GIB && low <= place &&
                        low % 4096 == 0;
        if (attempt < has_hole)
            set_low_part(memory, size, low);
        else if (attempt == has_hole && physical > place && (physical - place) % 4096 == 0 &&
                 physical - place <= UINT64_MAX - size)
            set_ranges(memory, (struct memory_range){physical - place, size, 0}, size);
        else
            return false;
        return true;
    }
    if (attempt >= sizeof(low_parts) / sizeof(low_parts[0]) || (attempt > 0 && low_parts[attempt] >= size))
        return false;
    set_low_part(memory, size, attempt == 0 ? size : low_parts[attempt]);
    return true;
}

/* The mapping is for words that a guest writes meanwhile; the rest is read from the file, because reading an
 * untouched page of the mapping would allocate it. */
static bool ram_begin(struct memory *memory, struct fail *fail)
{
    struct sigaction action = {.sa_sigaction = put_zero_page, .sa_flags = SA_SIGINFO};
    memory->size &= ~4095ull;
    if (memory->size == 0)
        return fail_set(fail, "it contains no guest memory");
    void *base = mmap(NULL, memory->size, PROT_READ, MAP_SHARED, memory->fd, 0);
    if (base == MAP_FAILED)
        return fail_set(fail, "%s", strerror(errno));
    memory->base = mapped_from = base;
    mapped_to = memory->base + memory->size;
    sigaction(SIGBUS, &action, NULL);
    set_low_part(memory, memory->size, memory->size);
    memory->live = !memory_has_ended(memory);
    return true;
}

static const void *ram_map(struct memory *memory, uint64_t place, uint64_t bytes)
{
    return place <= memory->size && bytes <= memory->size - place ? memory->base + place : NULL;
}

const struct memory_class memory_ram = {.begin = ram_begin, .map = ram_map, .arrange = ram_arrange};

struct memory *memory_of_process(pid_t pid, uint64_t base, uint64_t bytes, struct fail *fail)
{
    static const struct memory_class memory_process = {.arrange = ram_arrange};
    char path[40];
    int fd;
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fail_set(fail, "cannot open %s: %s", path, strerror(errno));
        return NULL;
    }
    struct memory *memory = memory_new(&memory_process, fd);
    memory->begin = base;
    memory->size = bytes;
    set_low_part(memory, bytes, bytes);
    return memory;
}
