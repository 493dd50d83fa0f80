/*
 * kernel/explore/explore_race.c - finds accesses to the same bytes that nothing orders. Interface:
 * explore_point.h.
 *
 * Vector clocks, as in ThreadSanitizer (Serebryany and Iskhodzhanov, WBIA 2009), with CPUs in place of
 * threads: the kernel is not preempted. Each CPU counts its releases, and knows for each other CPU the last
 * release whose effects it has seen. Locks and atomic words carry this knowledge from the releasing to the
 * acquiring CPU, by the orders that the source asks for and C11's rules for fences. If a CPU accesses bytes
 * without knowing of another's access to them, both could have come at the same time, however far apart they
 * were in this run.
 *
 * Both tables are caches. An access that was evicted hides a race. A word that is not in the table is
 * treated as if it carried what all evicted words carried, so no false race is reported.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/debug/debugger.h>
#include <kernel/explore/explore_point.h>
#include <kernel/kernel.h>
#include <kernel/sched/timer.h>
#include <kernel/trace/control.h>
#include <stddef.h>

#define RACES_MAX   64u
#define CELLS       4u /* accesses of different bytes or CPUs kept for each address */
#define CELL_SETS   (1u << 15)
#define WORDS       (1u << 15)
#define WORD_PROBES 8u
#define GRANULE     8u

struct clock {
    uint32_t of[EXPLORE_KNOWN_CPUS]; /* by CPU: releases */
    uint64_t seen;                   /* ticks: stores until then, of all CPUs (older values) */
};

struct cell {         /* an access */
    uint64_t granule; /* address / GRANULE; 0: free */
    uint32_t time;    /* of its CPU's own clock */
    uint32_t place;   /* offset in the kernel */
    uint8_t bytes;    /* bits */
    uint8_t cpu, flags;
};

static struct viewer {
    struct clock clock;
    struct clock released; /* at the last fence: carried by relaxed stores */
    struct clock loaded;   /* by relaxed loads: known after the next fence */
} viewers[EXPLORE_KNOWN_CPUS];

static struct cell cells[CELL_SETS][CELLS];
static struct word {
    uint64_t address;
    struct clock clock;
} words[WORDS];
static struct clock lost_words;
static struct explore_pair races[RACES_MAX];
static uint32_t race_count, guard, next_victim;

extern const char kernel_start[];

void explore_enter(void)
{
    while (__atomic_exchange_n(&guard, 1, __ATOMIC_ACQUIRE))
        arch_relax();
}

void explore_leave(void)
{
    __atomic_store_n(&guard, 0, __ATOMIC_RELEASE);
}

static bool is_watching(void)
{
    return cpu_count <= EXPLORE_KNOWN_CPUS;
}

static void join(struct clock *clock, const struct clock *other)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        if (other->of[i] > clock->of[i])
            clock->of[i] = other->of[i];
    if (other->seen > clock->seen)
        clock->seen = other->seen;
}

static uint64_t hash(uint64_t number)
{
    return number * 0x9e3779b97f4a7c15ull >> 40;
}

/* ---- words that carry knowledge ---- */

/* Sequentially consistent operations count as fences, as they are on both ports. */
static void see_all(struct viewer *own, int order)
{
    if (order == __ATOMIC_SEQ_CST)
        own->clock.seen = arch_clock();
}

void explore_enters_kernel(void)
{
    if (is_watching())
        see_all(&viewers[this_cpu()->index], __ATOMIC_SEQ_CST);
}

bool explore_needs_spans(void)
{
    return true;
}

/* NULL: nothing was released there. */
static struct word *find_word(uint64_t address)
{
    for (uint32_t i = 0; i < WORD_PROBES; i++) {
        struct word *word = &words[(hash(address) + i) % WORDS];
        if (word->address == address)
            return word;
    }
    return NULL;
}

static struct word *make_word(uint64_t address)
{
    struct word *word = find_word(address);
    for (uint32_t i = 0; !word && i < WORD_PROBES; i++)
        if (!words[(hash(address) + i) % WORDS].address)
            word = &words[(hash(address) + i) % WORDS];
    if (!word) {
        word = &words[(hash(address) + next_victim++ % WORD_PROBES) % WORDS];
        join(&lost_words, &word->clock);
    }
    if (word->address != address)
        *word = (struct word){.address = address, .clock = lost_words};
    return word;
}

static void release(struct viewer *own, uint32_t cpu, uint64_t address, int order)
{
    bool releases = order >= __ATOMIC_RELEASE;
    see_all(own, order);
    own->clock.of[cpu] += releases;
    if (releases || own->released.of[cpu])
        join(&make_word(address)->clock, releases ? &own->clock : &own->released);
}

static void acquire(struct viewer *own, uint64_t address, int order)
{
    const struct word *word = find_word(address);
    bool acquires = order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
    join(acquires ? &own->clock : &own->loaded, word ? &word->clock : &lost_words);
    see_all(own, order);
}

static void fence(struct viewer *own, uint32_t cpu, int order)
{
    if (order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE)
        join(&own->clock, &own->loaded);
    see_all(own, order);
    if (order >= __ATOMIC_RELEASE) {
        own->clock.of[cpu]++;
        own->released = own->clock;
    }
}

void explore_order(enum explore_order kind, uint32_t cpu, uint64_t address, int order)
{
    struct viewer *own = &viewers[cpu];
    if (!is_watching())
        return;
    explore_enter();
    if (kind == EXPLORE_STORES)
        release(own, cpu, address, order);
    else if (kind == EXPLORE_LOADED)
        acquire(own, address, order);
    else
        fence(own, cpu, order);
    explore_leave();
}

/* ---- accesses ---- */

const char *explore_access_name(uint32_t flags)
{
    return flags & EXPLORE_ATOMIC  ? flags & EXPLORE_WRITE ? "atomic write" : "atomic read"
           : flags & EXPLORE_WRITE ? "write"
                                   : "read";
}

static void tell(uint64_t address, const struct cell *before, uint32_t flags, uint64_t place)
{
    char one[64], other[64], what[64];
    debugger_symbol(one, sizeof one, NULL, before->place + (uint64_t)kernel_start, true);
    debugger_symbol(other, sizeof other, NULL, place, true);
    debugger_symbol(what, sizeof what, NULL, address, false);
    log_line("explore: race: %s of %s at %s, %s at %s", explore_access_name(before->flags), what, one,
             explore_access_name(flags), other);
    explore_found();
}

static bool is_ordered(const struct viewer *own, uint32_t cpu, const struct cell *cell)
{
    return cell->cpu == cpu || cell->time <= own->clock.of[cell->cpu];
}

/* Chooses a cell for this access: of one that it replaces, a free one, of one that is known to all that know
 * of this one, or any. */
static struct cell *choose_cell(struct cell *set, const struct viewer *own, const struct cell *access)
{
    struct cell *ordered = NULL;
    for (struct cell *cell = set; cell < set + CELLS; cell++) {
        bool same =
            cell->granule == access->granule && cell->cpu == access->cpu && cell->bytes == access->bytes;
        if (!cell->granule || (same && (cell->flags == access->flags || access->flags == EXPLORE_WRITE)))
            return cell;
        if (cell->granule == access->granule && access->flags & EXPLORE_WRITE &&
            is_ordered(own, access->cpu, cell) && !(cell->bytes & ~access->bytes))
            ordered = cell;
    }
    return ordered ? ordered : &set[next_victim++ % CELLS];
}

/* All in one granule. True: another CPU was there, too, and one of both wrote. */
static bool look_at(const struct viewer *own, const struct cell *access, uint64_t address, uint64_t place)
{
    struct cell *set = cells[hash(access->granule) % CELL_SETS], other = {0};
    bool meets = false;
    explore_enter();
    for (struct cell *cell = set; cell < set + CELLS; cell++) {
        if (cell->granule != access->granule || cell->cpu == access->cpu || !(cell->bytes & access->bytes))
            continue;
        meets |= (cell->flags | access->flags) & EXPLORE_WRITE;
        if (explore_is_race(cell->flags, access->flags, GRANULE) && !is_ordered(own, access->cpu, cell))
            other = *cell;
    }
    *choose_cell(set, own, access) = *access;
    bool is_new = other.granule && explore_note_pair(races, &race_count, RACES_MAX,
                                                     other.place + (uint64_t)kernel_start, place);
    explore_leave();
    if (is_new)
        tell(address, &other, access->flags, place);
    return meets;
}

/* Words that are read plainly wherever events are logged, because any value does (trace/ring/cas.h):
 * an atomic load would cost x86_64 an instruction per event. */
static bool is_read_plainly(uint64_t address)
{
    uint64_t in_windows = address - ARCH_TRACE_RINGS;
    bool is_limit = in_windows >> TRACE_RING_SHIFT < cpu_count &&
                    in_windows % (1ull << TRACE_RING_SHIFT) == TRACE_CONTROL_AT(time_limit);
    return is_limit || address - (uint64_t)&trace_info_page < sizeof trace_info_page;
}

bool explore_access(uint32_t cpu, uint64_t address, uint64_t size, uint32_t flags, uint64_t place)
{
    const struct viewer *own = &viewers[cpu];
    bool meets = false;
    if (!is_watching() || is_read_plainly(address))
        return false;
    for (uint64_t end = address + size; address < end; address = (address / GRANULE + 1) * GRANULE) {
        uint64_t first = address % GRANULE,
                 last = end - address + first < GRANULE ? end - address + first : GRANULE;
        struct cell access = {.granule = address / GRANULE,
                              .time = own->clock.of[cpu] + 1,
                              .place = (uint32_t)(place - (uint64_t)kernel_start),
                              .bytes = (uint8_t)((1u << last) - (1u << first)),
                              .cpu = (uint8_t)cpu,
                              .flags = (uint8_t)flags};
        meets |= look_at(own, &access, address, place);
    }
    return meets;
}

/* ---- older values: relaxed and acquire loads return the value before the last store, where C11 allows that
 * ----
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
    if (is_watching() && store->address == address && !store->seen[cpu])
        store->seen[cpu] = viewers[cpu].clock.of[cpu] + 1;
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
        if (store->seen[i] && (i == cpu || viewers[cpu].clock.of[i] >= store->seen[i]))
            return true;
    return false;
}

uint64_t explore_older(uint32_t cpu, uint64_t address, uint64_t now)
{
    const struct store *store = store_of(address);
    bool may = store->address == address && store->after == now && is_watching() &&
               viewers[cpu].clock.seen < store->since &&
               arch_clock() - store->since < timer_ticks(VISIBLE_NS) && !knows(cpu, store);
    return may ? store->before : now;
}
