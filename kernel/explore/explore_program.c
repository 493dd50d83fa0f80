/*
 * kernel/explore/explore_program.c - system_read(SYSTEM_EXPLORE, ...) for programs of the exploring archive,
 * and which of their code was executed. Their side is libc-glue/explore/point.c.
 */
#ifdef TARN_EXPLORE
#include <kernel/cpu/cpu.h>
#include <kernel/explore/explore.h>
#include <kernel/explore/explore_point.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/explore.h>

static int64_t tell_strategy(void *buffer)
{
    struct explore_strategy strategy;
    if (!explore_strategy_of(this_cpu()->current->space->pid, &strategy))
        return -E_BAD_ARGUMENT;
    int64_t error = user_write(buffer, &strategy, sizeof strategy);
    return error ? error : (int64_t)sizeof strategy;
}

/* Prints a program's addresses as NAME:0xADDRESS, which tools/explore.py replaces by symbols. */
static int64_t tell_race(const void *buffer)
{
    struct explore_race race;
    const char *name = this_cpu()->current->space->name;
    int64_t error = user_read(&race, buffer, sizeof race);
    if (!error)
        log_line("explore: race: %s of %s:0x%lx at %s:0x%lx, %s at %s:0x%lx",
                 explore_access_name(race.one_flags), name, race.address, name, race.one_place,
                 explore_access_name(race.other_flags), name, race.other_place);
    return error;
}

/* ---- coverage ---- */

#define PROGRAMS_MAX 128u
#define COVERING     1024u

/* By pid. */
static struct {
    uint32_t pid;
    uint64_t address;
} covering[COVERING];

/* Read by tools/explore.py in the memory that a run leaves: programs by name. */
struct {
    char name[TARN_NAME_BYTES];
    uint64_t covered[EXPLORE_COVER_BYTES / sizeof(uint64_t)];
} explore_programs[PROGRAMS_MAX];

static int64_t begin_cover(uint64_t address)
{
    uint32_t pid = this_cpu()->current->space->pid;
    covering[pid % COVERING].address = address;
    covering[pid % COVERING].pid = pid;
    return 0;
}

static uint64_t *find_program(const char *name)
{
    static uint32_t guard;
    uint32_t i = 0;
    while (__atomic_exchange_n(&guard, 1, __ATOMIC_ACQUIRE))
        arch_relax();
    while (i < PROGRAMS_MAX - 1 && explore_programs[i].name[0] && strcmp(explore_programs[i].name, name))
        i++;
    memcpy(explore_programs[i].name, name, TARN_NAME_BYTES);
    __atomic_store_n(&guard, 0, __ATOMIC_RELEASE);
    return explore_programs[i].covered;
}

void explore_space_ends(struct space *space)
{
    uint64_t at = covering[space->pid % COVERING].address;
    if (covering[space->pid % COVERING].pid != space->pid)
        return;
    uint64_t *to = find_program(space->name);
    for (uint64_t offset = 0; offset < EXPLORE_COVER_BYTES; offset += TARN_PAGE_SIZE) {
        uint32_t flags;
        paddr_t page = arch_lookup_page(&space->arch, at + offset, &flags);
        const uint64_t *from = page == ~0ull ? NULL : phys_to_virt(page);
        for (uint64_t i = 0; from && i < TARN_PAGE_SIZE / sizeof *from; i++)
            to[offset / sizeof *to + i] |= from[i];
    }
}

void explore_cover_all(void)
{
    for (struct space *space = space_next(NULL); space; space = space_next(space)) {
        spin_lock(&space->lock);
        if (!space->released)
            explore_space_ends(space);
        spin_unlock(&space->lock);
    }
}

bool explore_program(uint32_t kind, uint64_t operation, void *buffer, uint64_t size, int64_t *result)
{
    if (kind != SYSTEM_EXPLORE)
        return false;
    if (operation == EXPLORE_STRATEGY && size == sizeof(struct explore_strategy))
        *result = tell_strategy(buffer);
    else if (operation == EXPLORE_RACE && size == sizeof(struct explore_race))
        *result = tell_race(buffer);
    else if (operation == EXPLORE_TURN || operation == EXPLORE_TURN_HOT)
        *result = explore_program_turn(operation == EXPLORE_TURN_HOT);
    else if (operation == EXPLORE_COVER && size == EXPLORE_COVER_BYTES &&
             (uint64_t)buffer % TARN_PAGE_SIZE == 0)
        *result = begin_cover((uint64_t)buffer);
    else if (operation == EXPLORE_CONTROL)
        *result = explore_control();
    else if (operation == EXPLORE_SETTLE)
        *result = explore_settle();
    else
        *result = -E_BAD_ARGUMENT;
    return true;
}

#endif
