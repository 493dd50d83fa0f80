/*
 * explore_weak.c - lets relaxed and acquire loads return the value before the last store, where C11 allows
 * that. Interface: explore_point.h.
 *
 * The last store to each word is kept. A CPU may read the value before, unless
 *
 *   - a CPU that has stored or read the newer value did so before what this CPU does now, by the clocks of
 *     explore_race.c (coherence), or that is this CPU itself;
 *   - this CPU has executed a sequentially consistent operation or fence since, or has entered the kernel:
 *     the CPU that made the store may have caused the interrupt, or synchronized with this CPU's program; or
 *     another CPU did so before what this CPU does now;
 *   - the store is older than VISIBLE_NS: stores become visible in the end.
 *
 * That is less than C11 allows: one older value; all else in the order of the run; an acquire load gets the
 * newest value's knowledge, whichever value it returns. A word that was changed without calls of the runtime
 * has another value than the one kept, and is read as it is.
 */
#ifdef TARN_EXPLORE
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/explore/explore_point.h>
#include <kernel/sched/timer.h>

#define STORES     (1u << 13)
#define VISIBLE_NS 400000u

/* By a hash of the address. */
static struct store {
    uint64_t address, before, after;
    uint64_t since; /* ticks */
    /* By CPU: when it stored or read `after` first, by its own clock; 0: not yet. */
    uint32_t seen[EXPLORE_KNOWN_CPUS];
} stores[STORES];

static struct store *store_of(uint64_t address)
{
    return &stores[(address * 0x9e3779b97f4a7c15ull >> 40) % STORES];
}

void explore_note_newest(uint32_t cpu, uint64_t address)
{
    struct store *store = store_of(address);
    uint32_t time = explore_time(cpu);
    if (time && store->address == address && !store->seen[cpu])
        store->seen[cpu] = time;
}

void explore_note_store(uint32_t cpu, uint64_t address, uint64_t before, uint64_t after)
{
    if (before != after)
        *store_of(address) =
            (struct store){.address = address, .before = before, .after = after, .since = arch_clock()};
    explore_note_newest(cpu, address);
}

static bool knows(uint32_t cpu, const struct store *store)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        if (store->seen[i] && (i == cpu || explore_knows(cpu, i, store->seen[i])))
            return true;
    return false;
}

uint64_t explore_older(uint32_t cpu, uint64_t address, uint64_t now)
{
    const struct store *store = store_of(address);
    bool may = store->address == address && store->after == now && !explore_has_seen(cpu, store->since) &&
               arch_clock() - store->since < timer_ticks(VISIBLE_NS) && !knows(cpu, store);
    return may ? store->before : now;
}

#endif
