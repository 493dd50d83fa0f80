/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/explore/explore_program.c - what programs of the exploring archive ask: system_read(SYSTEM_EXPLORE,
 * ...). Their side is libc-glue/explore/point.c.
 */
#ifdef TARN_EXPLORE
#include <kernel/cpu/cpu.h>
#include <kernel/explore/explore.h>
#include <kernel/explore/explore_point.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/space/user_copy.h>
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
    else if (operation == EXPLORE_SETTLE)
        *result = explore_settle();
    else
        *result = -E_BAD_ARGUMENT;
    return true;
}

#endif
