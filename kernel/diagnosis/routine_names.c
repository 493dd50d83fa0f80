/*
 * routine_names.c - numbers for the names of programs' routines, the same in the whole system: system calls
 * routines_name and routine_names. struct trace_routine in trace/format/routine.h.
 *
 * A list in page frames, in the order of numbers, with chains by hash. It begins anew with the first name
 * after counting was switched on. The number of names that a space may add in an epoch is limited, so one
 * program cannot use up all numbers. A name without a number is refused and counted.
 *
 * `names_lock` covers the list; no other lock is taken under it but that of page frames.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/routine_rows.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

#define NAMES_MAX      (TRACE_NAME_PAGES * TRACE_NAMES_PER_PAGE)
#define NAMES_OF_SPACE 1024u
#define CHAINS         512u
#define COPY_MAX       4u /* on the stack, with the lock held */

static LOCK_CLASS(names_class, "names of routines");
static struct spinlock names_lock = SPINLOCK(&names_class);
struct trace_routine_list trace_routine_list;             /* readers of memory find it by its symbol */
static uint16_t chains[CHAINS], next_in_chain[NAMES_MAX]; /* 1 + index in the list; 0: none */

static struct trace_routine *routine_at(uint32_t index)
{
    struct trace_routine *page = phys_to_virt(trace_routine_list.page[index / TRACE_NAMES_PER_PAGE]);
    return &page[index % TRACE_NAMES_PER_PAGE];
}

/* names_lock held. Keeps the page frames. */
static void follow_epoch(void)
{
    const uint64_t epoch = __atomic_load_n(&routines_epoch, __ATOMIC_RELAXED);
    if (trace_routine_list.epoch == epoch)
        return;
    memset(chains, 0, sizeof chains);
    trace_routine_list.count = trace_routine_list.refused = 0;
    trace_routine_list.epoch = epoch;
}

static uint32_t hash(const struct trace_routine *routine)
{
    uint64_t value = routine->address;
    for (unsigned i = 0; i < sizeof routine->build_id; i++)
        value = value * 31 + routine->build_id[i];
    for (const char *c = routine->name; *c; c++)
        value = value * 31 + (uint8_t)*c;
    return (uint32_t)((value * 0x9e3779b97f4a7c15ull) >> 48) % CHAINS;
}

/* Zeros follow each name. */
static bool is_same(const struct trace_routine *a, const struct trace_routine *b)
{
    return a->address == b->address && !memcmp(a->build_id, b->build_id, sizeof a->build_id) &&
           !memcmp(a->program, b->program, sizeof a->program) && !memcmp(a->name, b->name, sizeof a->name);
}

/* names_lock held. */
static bool has_space(struct space *space)
{
    const uint32_t index = trace_routine_list.count;
    if (space->named_epoch != trace_routine_list.epoch)
        space->named_routines = 0;
    space->named_epoch = trace_routine_list.epoch;
    if (index == NAMES_MAX || space->named_routines == NAMES_OF_SPACE)
        return false;
    uint64_t *page = &trace_routine_list.page[index / TRACE_NAMES_PER_PAGE];
    if (!*page) {
        const paddr_t frame = frame_alloc();
        if (frame == FRAME_NONE)
            return false;
        *page = frame;
    }
    return true;
}

/* names_lock held. Returns the name's number, or -E_NO_SLOT. */
static int64_t find_or_add(struct space *space, const struct trace_routine *routine)
{
    uint16_t *chain = &chains[hash(routine)];
    for (uint16_t i = *chain; i; i = next_in_chain[i - 1])
        if (is_same(routine_at(i - 1u), routine))
            return TRACE_CONTEXT_NAMED + i - 1;
    if (!has_space(space)) {
        trace_routine_list.refused++;
        return -E_NO_SLOT;
    }
    const uint32_t index = trace_routine_list.count;
    space->named_routines++;
    *routine_at(index) = *routine;
    routine_at(index)->number = TRACE_CONTEXT_NAMED + index;
    next_in_chain[index] = *chain;
    *chain = (uint16_t)(index + 1);
    /* release: a reader of memory that sees the count finds the routine */
    __atomic_store_n(&trace_routine_list.count, index + 1, __ATOMIC_RELEASE);
    return TRACE_CONTEXT_NAMED + index;
}

/* Fills in the executable that the space has reported to the trace. */
static void name_program(struct trace_routine *routine, struct space *space)
{
    spin_lock(&space->lock);
    const char *path = space->executable_path, *name = path;
    for (const char *c = path; *c; c++)
        if (*c == '/')
            name = c + 1;
    if (!*path)
        name = space->name;
    for (unsigned i = 0; i + 1 < sizeof routine->program && name[i]; i++)
        routine->program[i] = name[i];
    routine->base = space->executable_base;
    routine->size = space->executable_size;
    for (unsigned i = 0; i < 2; i++)
        for (unsigned byte = 0; byte < 8; byte++)
            routine->build_id[8 * i + byte] = (uint8_t)(space->build_id[i] >> (56 - 8 * byte));
    spin_unlock(&space->lock);
}

int64_t sys_routine_name(const char *user_name, uint64_t address)
{
    struct space *space = current_thread()->space;
    struct trace_routine routine = {0};
    if (!routines_on)
        return -E_NOT_FOUND;
    int64_t error = user_read_string(routine.name, user_name, sizeof routine.name);
    if (error < 0)
        return error;
    if (!routine.name[0] && !address)
        return -E_BAD_ARGUMENT;
    routine.address = routine.name[0] ? 0 : address;
    name_program(&routine, space);
    spin_lock(&names_lock);
    follow_epoch();
    const uint64_t epoch = trace_routine_list.epoch;
    const int64_t number = find_or_add(space, &routine);
    spin_unlock(&names_lock);
    return number < 0 ? number : (int64_t)(epoch * TRACE_CONTEXTS + (uint64_t)number);
}

/* Copies at most COPY_MAX from this index on; returns how many. */
static uint32_t copy_names(uint32_t index, uint32_t most, struct trace_routine *copy)
{
    uint32_t count = 0;
    spin_lock(&names_lock);
    follow_epoch();
    for (; count < most && count < COPY_MAX && index + count < trace_routine_list.count; count++)
        copy[count] = *routine_at(index + count);
    spin_unlock(&names_lock);
    return count;
}

int64_t sys_routine_names(uint32_t from, void *user_buffer, uint64_t size)
{
    struct trace_routine copy[COPY_MAX];
    const uint32_t first = from > TRACE_CONTEXT_NAMED ? from - TRACE_CONTEXT_NAMED : 0;
    const uint64_t most = size / sizeof *copy < NAMES_MAX ? size / sizeof *copy : NAMES_MAX;
    uint32_t done = 0, count;
    if (!most)
        return -E_TOO_LARGE;
    while (done < most && (count = copy_names(first + done, (uint32_t)most - done, copy))) {
        int64_t error = user_write((char *)user_buffer + done * sizeof *copy, copy, count * sizeof *copy);
        if (error)
            return error;
        done += count;
    }
    return (int64_t)(done * sizeof *copy);
}
