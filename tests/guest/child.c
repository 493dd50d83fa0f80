/* SPDX-License-Identifier: BSD-2-Clause */
/* child.c - spaces made by system calls. Interface: child.h. */
#include "child.h"

#include <arch/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS_MAX 8

/* Read from the program's own headers, at the start of its executable. */
struct elf_header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, phoff, shoff;
    uint32_t flags;
    uint16_t ehsize, phentsize, phnum;
};
struct elf_segment {
    uint32_t type, flags;
    uint64_t offset, vaddr, paddr, filesz, memsz, align;
};
enum { ELF_LOAD = 1, ELF_EXECUTE = 1, ELF_WRITE = 2 };

static struct {
    cap_t memory;
    uint64_t address, size;
    uint32_t flags;
} segments[SEGMENTS_MAX];
static unsigned segment_count;

static void fail(const char *what, int64_t error)
{
    printf("Bail out! %s: %s\n", what, tarn_error_text((int)error));
    exit(1);
}

static void add_segment(const struct elf_segment *segment)
{
    uint64_t start = segment->vaddr & ~(TARN_PAGE_SIZE - 1);
    uint64_t end = (segment->vaddr + segment->memsz + TARN_PAGE_SIZE - 1) & ~(TARN_PAGE_SIZE - 1);
    int64_t memory = sys_memory_create(end - start);
    if (memory < 0 || segment_count == SEGMENTS_MAX)
        fail("allocating a segment", memory);
    uint32_t flags = MAP_READ | (segment->flags & ELF_EXECUTE ? MAP_EXECUTE : 0);
    if (segment->flags & ELF_WRITE)
        flags |= MAP_WRITE | MAP_PRIVATE;
    segments[segment_count].memory = (cap_t)memory;
    segments[segment_count].address = start;
    segments[segment_count].size = end - start;
    segments[segment_count++].flags = flags;
}

void child_prepare(void)
{
    const char *base = (const char *)program_startup()->executable_base;
    const struct elf_header *header = (const struct elf_header *)base;
    for (unsigned i = 0; i < header->phnum; i++) {
        const struct elf_segment *segment =
            (const struct elf_segment *)(base + header->phoff + i * sizeof(struct elf_segment));
        if (segment->type == ELF_LOAD && segment->memsz != 0)
            add_segment(segment);
    }
    /* After all segments are recorded, so that the copy of our data includes all of them. */
    for (unsigned i = 0; i < segment_count; i++)
        for (uint64_t at = 0; at < segments[i].size;) {
            int64_t written = sys_memory_write(segments[i].memory, at, (const char *)segments[i].address + at,
                                               segments[i].size - at);
            if (written <= 0)
                fail("copying the program", written);
            at += (uint64_t)written;
        }
}

static int map_all(const struct child *child)
{
    for (unsigned i = 0; i < segment_count; i++) {
        int64_t at = sys_space_map(child->space, segments[i].memory, segments[i].address, segments[i].size, 0,
                                   segments[i].flags | MAP_FIXED);
        if (at < 0)
            return (int)at;
    }
    int64_t stacks = sys_memory_create(CHILD_STACK_BYTES * CHILD_STACKS_MAX);
    if (stacks < 0)
        return (int)stacks;
    int64_t at = sys_space_map(child->space, (cap_t)stacks, CHILD_STACKS,
                               CHILD_STACK_BYTES * CHILD_STACKS_MAX, 0, MAP_READ | MAP_WRITE | MAP_FIXED);
    sys_cap_close((cap_t)stacks);
    return at < 0 ? (int)at : 0;
}

int child_create(struct child *child, const char *name)
{
    int64_t ended = sys_notification_create();
    int64_t space = ended < 0 ? ended : sys_space_create(name, 0);
    if (space < 0) {
        if (ended >= 0)
            sys_cap_close((cap_t)ended);
        return (int)space;
    }
    *child = (struct child){.space = (cap_t)space, .ended = (cap_t)ended};
    int error = (int)sys_space_watch(child->space, child->ended, 1);
    if (!error)
        error = map_all(child);
    if (!error)
        error = child_give(child, child->space, SLOT_SPACE, RIGHT_ALL);
    if (error)
        child_end(child);
    return error;
}

int child_give(const struct child *child, cap_t own, cap_t slot, uint32_t rights)
{
    int64_t result = sys_cap_copy(child->space, own, slot, rights, 0);
    return result < 0 ? (int)result : 0;
}

int64_t child_thread(struct child *child, void (*entry)(uint64_t), uint64_t arg, uint32_t priority,
                     uint64_t affinity)
{
    uint64_t top = CHILD_STACKS + (child->threads++ % CHILD_STACKS_MAX + 1) * CHILD_STACK_BYTES;
    struct thread_config config = {.entry = (uint64_t)entry,
                                   .stack = arch_stack_start(top),
                                   .arg = arg,
                                   .priority = priority,
                                   .affinity = affinity,
                                   .name = "child"};
    return sys_thread_create(child->space, &config);
}

int child_start(struct child *child, void (*entry)(uint64_t), uint64_t arg)
{
    int64_t thread = child_thread(child, entry, arg, TARN_PRIO_USER, 0);
    if (thread < 0)
        return (int)thread;
    int64_t error = sys_thread_resume((cap_t)thread);
    sys_cap_close((cap_t)thread);
    return (int)error;
}

cap_t child_run(struct child *child, void (*entry)(uint64_t), uint64_t arg, uint32_t priority,
                uint64_t affinity)
{
    const cap_t thread = must(child_thread(child, entry, arg, priority, affinity));
    must(sys_thread_resume(thread));
    return thread;
}

void child_map(const struct child *child, cap_t memory, uint64_t address, uint64_t size, uint32_t flags)
{
    must(sys_space_map(child->space, memory, address, size, 0, flags | MAP_FIXED));
}

void child_end(struct child *child)
{
    sys_space_kill(child->space, 0);
    int64_t error = sys_notification_wait(child->ended, deadline_after(20000000000ull));
    if (error != 1)
        fail("a killed space does not end", error);
    sys_cap_close(child->ended);
    sys_cap_close(child->space);
}
