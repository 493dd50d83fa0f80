/*
 * scarce.c - which program ends when memory runs out.
 *
 * The system is the first program (init) and the spaces that it creates itself: the servers. All other
 * spaces are ordinary.
 *
 *   - The last 1/64 of page frames (frame.c) is for the system: ordinary programs get -E_NO_MEMORY. So a
 *     server can always be notified of a death, reply, or start a small program.
 *   - If a page fault in any space finds no frame, the ordinary program with the most memory ends (of small
 *     ones: the youngest); the faulting thread waits until it is gone. So does a system call whose user
 *     copy needs such a page. The log names both. So a program that was refused memory can still end when
 *     it first touches a page.
 *   - Only without an ordinary program does the thread's own space end (fault.c).
 *
 * One at a time: none is chosen while a dying program still holds memory, or its memory is in empty slabs
 * (slab.h).
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/ipc.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/memory/slab.h>
#include <kernel/sched/thread.h>
#include <kernel/space/memory.h>
#include <kernel/space/space.h>
#include <tarn/error.h>

#define RETRY_NS             2000000ull
#define FRAMES_WORTH_WAITING 64u
#define SPACE_FRAMES         4u   /* an empty space's page tables, capability table, struct space */
#define OBJECTS_PER_FRAME    16u  /* kernel objects behind capabilities, approximately */
#define SMALL_PART           64u  /* programs with less than this part of memory (1/64) count as equal */
#define STATUS_ENDED         (-9) /* as with SIGKILL */

/* ---- How much memory a space holds ---- */

static uint64_t frames_of(const struct memory *memory)
{
    return memory->kind == MEMORY_DEVICE ? 0 : __atomic_load_n(&memory->frames, __ATOMIC_RELAXED);
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

/* Estimates a space's memory; shared memory counts for each space. 0: the space is ending. */
static uint64_t count_frames(struct space *space)
{
    spin_lock(&space->lock);
    bool dying = space->dying;
    /* a frame for each mapping: its node, and its part of the page tables */
    uint64_t frames = space->resident + space->counting_frames + space->mapping_count + space->thread_count;
    spin_unlock(&space->lock);
    frames += atomic_load_explicit(&space->routine_frames, memory_order_relaxed);
    return dying ? 0 : 1 + frames + count_capable(&space->caps);
}

/* ---- The choice ---- */

struct choice {
    struct space *space; /* a reference; NULL: none */
    uint64_t frames;
    bool under_way; /* a dying program still has memory */
};

/* In a fork bomb, this kills the youngest process, not its shell that holds a page more. */
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
    for (struct space *space = space_next(NULL); space; space = space_next(space)) {
        choice.under_way |= is_going(space);
        uint64_t frames = space->system ? 0 : count_frames(space);
        if (!goes_before(space, frames, &choice))
            continue;
        if (choice.space)
            space_put(choice.space);
        space_get(choice.space = space);
        choice.frames = frames;
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

/* Whether memory will be free without ending a program. Memory goes from a dead space to empty slabs to the
 * free frames; tests in this order miss none. */
static bool is_memory_coming(const struct choice *choice)
{
    return choice->under_way || slab_count_empty() >= FRAMES_WORTH_WAITING || !frame_is_low();
}

/* Returns true if memory will be free. */
static bool end_largest(const struct thread *needy)
{
    static _Atomic bool choosing;
    if (atomic_exchange_explicit(&choosing, true, memory_order_acquire)) /* another CPU is choosing */
        return true;
    struct choice choice = choose();
    bool coming = is_memory_coming(&choice);
    if (!coming && choice.space)
        end(&choice, needy);
    if (choice.space)
        space_put(choice.space);
    /* Release: pairs with the exchange; the next CPU sees which program was ended. */
    atomic_store_explicit(&choosing, false, memory_order_release);
    return coming || choice.space;
}

bool scarce_wait(struct thread *self)
{
    if (!end_largest(self))
        return false;
    spin_lock(&self->lock);
    /* As in a fault: the thread retries the instruction. */
    thread_begin_wait(self, THREAD_BLOCKED_FAULT, &self->lock, arch_clock() + timer_ticks(RETRY_NS));
    return true;
}
