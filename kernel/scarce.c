/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/scarce.c - ends the ordinary program that holds the most memory. The rule: scarce.h.
 *
 * One at a time: while a program that is dying still holds memory, or what it held waits in empty slabs to be
 * given back (slab.h), nobody looks for another.
 */
#include <arch/clock.h>
#include <kernel/cap.h>
#include <kernel/cpu.h>
#include <kernel/frame.h>
#include <kernel/kernel.h>
#include <kernel/mapping.h>
#include <kernel/memory.h>
#include <kernel/process.h>
#include <kernel/scarce.h>
#include <kernel/slab.h>
#include <kernel/space.h>
#include <kernel/thread.h>
#include <tarn/error.h>

#define RETRY_NS             2000000ull
#define FRAMES_WORTH_WAITING 64u
#define MAPPINGS_SEEN        4096u /* at most, since interrupts are off */
#define SPACE_FRAMES         4u    /* of one that has nothing yet: tables, capabilities, its record */
#define OBJECTS_PER_FRAME    16u   /* kernel objects behind capabilities, about */
#define SMALL_PART           64u   /* programs that hold less than this part of memory count as equal */
#define STATUS_ENDED         (-9)  /* as by SIGKILL */

/* ---- How much a space holds ---- */

static uint64_t frames_of(const struct memory *memory)
{
    return memory->kind == MEMORY_DEVICE ? 0 : __atomic_load_n(&memory->frames, __ATOMIC_RELAXED);
}

/* A frame more for each mapping: its record, and its part of the tables. Lock held. */
static uint64_t count_mapped(const struct space *space)
{
    uint64_t frames = space->mapping_count, address = 0;
    for (unsigned seen = 0; seen < MAPPINGS_SEEN; seen++) {
        const struct mapping *mapping = mapping_find(space->mappings, address);
        if (!mapping)
            break;
        uint64_t pages = (mapping->end - mapping->start) / FRAME_SIZE, present = frames_of(mapping->memory);
        frames += present < pages ? present : pages;
        address = mapping->end;
    }
    return frames;
}

static uint64_t count_capable(struct cap_table *table)
{
    spin_lock(&table->lock);
    uint32_t size = table->closed ? 0 : table->size;
    uint64_t frames = size / CAP_SLOTS_PER_LEAF + table->used / OBJECTS_PER_FRAME;
    for (uint32_t i = 0; i < size; i++) {
        const struct cap_slot *slot = &table->leaves[i / CAP_SLOTS_PER_LEAF][i % CAP_SLOTS_PER_LEAF];
        uint32_t type = cap_meta_type(slot->meta);
        frames += type == CAP_MEMORY ? frames_of(slot->object) : type == CAP_SPACE ? SPACE_FRAMES : 0;
    }
    spin_unlock(&table->lock);
    return frames;
}

/* An estimate that is good enough to find the largest: shared memory counts for each space that maps it.
 * 0: the space is ending. */
static uint64_t count_frames(struct space *space)
{
    spin_lock(&space->lock);
    bool dying = space->dying;
    uint64_t frames = space->private_frames + space->thread_count + (dying ? 0 : count_mapped(space));
    spin_unlock(&space->lock);
    return dying ? 0 : 1 + frames + count_capable(&space->caps);
}

/* ---- The choice ---- */

struct choice {
    struct space *space; /* a reference; NULL: none */
    uint64_t frames;
    bool under_way; /* one that is dying still has memory */
};

/* Many small programs that make more of themselves have no largest: the youngest goes, and not a shell that
 * happens to hold a page more. */
static bool goes_before(const struct space *space, uint64_t frames, const struct choice *choice)
{
    const uint64_t small = frame_count_total() / SMALL_PART;
    if (!choice->space || frames == 0)
        return frames > 0;
    if (frames < small && choice->frames < small)
        return space->pid > choice->space->pid;
    return frames > choice->frames;
}

static bool is_going(struct space *space)
{
    spin_lock(&space->lock);
    bool going = space->dying && !space->returned;
    spin_unlock(&space->lock);
    return going;
}

static struct choice choose(void)
{
    struct choice choice = {0};
    struct space *space = space_next(NULL);
    while (space) {
        choice.under_way |= is_going(space);
        uint64_t frames = space->system ? 0 : count_frames(space);
        struct space *next = space_next(space);
        if (goes_before(space, frames, &choice)) {
            if (choice.space)
                space_put(choice.space);
            choice.space = space;
            choice.frames = frames;
        } else {
            space_put(space);
        }
        space = next;
    }
    return choice;
}

static void end(const struct choice *choice, const struct thread *needy)
{
    struct space *space = choice->space;
    const uint64_t total = frame_count_total(), held = choice->frames < total ? choice->frames : total;
    log_line("out of memory: ended %s (pid %u), which held some %lu of %lu frames; %s (pid %u) needed one",
             space->name, space->pid, held, total, needy->space->name, needy->space->pid);
    space_kill(space, STATUS_ENDED);
}

/* Whether nobody need be ended. A dead program's memory goes from its space to empty slabs and from there to
 * the free frames: looked for in this order, so that none passes by unseen. */
static bool is_memory_coming(const struct choice *choice)
{
    return choice->under_way || slab_count_empty() >= FRAMES_WORTH_WAITING || !frame_is_low();
}

/* True: memory will come. */
static bool end_largest(const struct thread *needy)
{
    static _Atomic bool choosing;
    if (atomic_exchange_explicit(&choosing, true, memory_order_acquire)) /* another CPU is at it */
        return true;
    struct choice choice = choose();
    bool coming = is_memory_coming(&choice);
    if (!coming && choice.space)
        end(&choice, needy);
    if (choice.space)
        space_put(choice.space);
    /* Release: pairs with the exchange; the next one sees whom we ended. */
    atomic_store_explicit(&choosing, false, memory_order_release);
    return coming || choice.space;
}

bool scarce_wait(struct thread *self)
{
    if (!end_largest(self))
        return false;
    spin_lock(&self->lock);
    /* As in a fault: the thread's registers stay as they are, and it runs the same instruction again. */
    thread_begin_wait(self, THREAD_BLOCKED_FAULT, &self->lock, arch_clock() + timer_ticks(RETRY_NS));
    return true;
}
