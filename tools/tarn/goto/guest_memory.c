/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/guest_memory.c - reads a guest's memory in its emulator; see guest_memory.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/goto/guest_memory.h>
#include <unistd.h>

struct guest_memory {
    struct memory memory; /* first: memory is cast to this */
    int fd;
    uint64_t base, bytes;
};

static bool guest_read(struct memory *memory, const struct memory_piece *pieces, size_t count,
                       struct fail *fail)
{
    const struct guest_memory *guest = (const struct guest_memory *)memory;

    for (size_t i = 0; i < count; i++)
        if (pread(guest->fd, pieces[i].to, pieces[i].bytes, (off_t)(guest->base + pieces[i].place)) !=
            (ssize_t)pieces[i].bytes)
            return fail_set(fail, "the emulator's memory cannot be read");
    return true;
}

static void guest_close(struct memory *memory)
{
    close(((struct guest_memory *)memory)->fd);
    free(memory->ranges);
    free(memory);
}

static bool guest_arrange(struct memory *memory, unsigned attempt, uint64_t place, uint64_t physical)
{
    return memory_arrange_ram(memory, ((struct guest_memory *)memory)->bytes, attempt, place, physical);
}

static const struct memory_class class = {
    .read = guest_read,
    .close = guest_close,
    .arrange = guest_arrange,
};

struct memory *guest_memory_open(pid_t pid, uint64_t base, uint64_t bytes, struct fail *fail)
{
    char path[40];

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fail_set(fail, "cannot open %s: %s", path, strerror(errno));
        return NULL;
    }
    struct guest_memory *guest = alloc_zero(1, sizeof(*guest));
    *guest = (struct guest_memory){.memory = {.class = &class}, .fd = fd, .base = base, .bytes = bytes};
    memory_add_range(&guest->memory, (struct memory_range){0, bytes, 0});
    return &guest->memory;
}
