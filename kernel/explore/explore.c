/*
 * kernel/explore/explore.c - perturbs a run by a seed, and detects errors. Interface: explore.h.
 *
 * Frequency, places and lengths are drawn once for each seed (choose_strategy), so that some seeds disturb
 * everything a little and others a few places a lot. A window of five instructions is only hit if a CPU is
 * often stalled in it; a rare sequence needs a run that is hardly disturbed otherwise.
 */
#include <arch/clock.h>
#include <arch/debug.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/lock.h>
#include <kernel/cpu/quiescent.h>
#include <kernel/debug/debugger.h>
#include <kernel/explore/explore_point.h>
#include <kernel/failure/panic.h>
#include <kernel/ipc/ipc.h>
#include <kernel/ipc/irq.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/memory/slab.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <tarn/explore.h>

#define LIMIT_DEFAULT_MS 20000u
#define TIMER_LEAST_NS   64000u /* for each CPU: with less between interrupts they get nothing done */
#define HELD_MAX         16u
#define TEXT_MAX         (2u << 20) /* bytes of the exploring kernel's code, at most */
#define KEPT_MAX         64u
/* Nanoseconds and turns at hot places of programs: other threads need requests to a server to get there. */
#define HOT_PROGRAM_LOG  8u

enum kind { TURNS, TIMERS, PLACES, INTERRUPTS, ALLOCATIONS, KILLS, CONTROL, MEMORY, KINDS };
static const char *const kind_names[KINDS] = {"turns",       "timers", "places",  "interrupts",
                                              "allocations", "kills",  "control", "memory"};
#define KINDS_DEFAULT (1u << TURNS | 1u << TIMERS | 1u << PLACES | 1u << INTERRUPTS)
#define NMI_RATE      1024u /* with CONTROL, one TURNS in so many sends an NMI, too, as from outside */
#define PUT_OFF_LOG   10u   /* us: maximum delay of a device interrupt */

static struct {
    uint64_t seed, limit_ms;
    uint32_t kinds; /* bits */
    bool stop;      /* at the first finding */
} options = {.limit_ms = LIMIT_DEFAULT_MS, .kinds = KINDS_DEFAULT};

/* Numbers of the perturbations to perform; all, if none are named. */
static struct range {
    uint64_t first, last;
} kept[KEPT_MAX];
static uint32_t kept_count;

static struct {
    uint64_t gap;                   /* points between two perturbations, on average */
    uint64_t hot_mask, hot_rate;    /* places with (hash & mask) == 0 are hot; 1 of `rate` perturbs */
    uint32_t turns_log, delay_log;  /* at most 2^turns_log turns of others, and 2^delay_log us */
    uint32_t hot_log;               /* at hot places: 2^hot_log at most of both */
    uint64_t timer_us;              /* the longest distance of two timers */
    uint64_t place_rate, rare_rate; /* perturb one in N */
    uint64_t kill_rate;             /* one timer interrupt in N kills */
    uint64_t memory_rate;           /* one load in N that may return an older value does */
    uint32_t control_log;           /* 2^log us at most between two of CONTROL */
} strategy;

static struct processor {
    uint64_t random, points, left; /* left: points until the next perturbation */
    uint64_t stood;                /* ticks for which perturbations stalled it */
    uint64_t timer;                /* ticks: when it is due; 0: none was drawn */
    uint64_t put_off_until;        /* ticks */
    uint32_t put_off;              /* an interrupt's number + 1; 0: none */
    bool busy;
    uint32_t held_count;
    struct held {
        const struct spinlock *lock;
        uint64_t place; /* address in the function that took it */
    } held[HELD_MAX], wanted;
} processors[CPUS_MAX];

bool explore_on;
extern const char kernel_start[];
static _Atomic uint64_t performed_of[KINDS];
static uint64_t started_at;

/* Read by tools/explore.py in the memory that a run leaves. */
_Atomic uint64_t explore_performed; /* perturbations */
uint8_t explore_covered[TEXT_MAX];  /* basic blocks, by offset of the return address of their first call */
uint8_t explore_orders[LOCK_CLASSES_MAX][LOCK_CLASSES_MAX];                  /* [held][wanted] */
static struct explore_pair order_places[LOCK_CLASSES_MAX][LOCK_CLASSES_MAX]; /* where each was acquired */

/* ---- numbers ---- */

static uint64_t mix(uint64_t x) /* splitmix64 (Steele, Lea, Flood, 2014) */
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static struct processor *this_processor(void)
{
    return &processors[this_cpu()->index];
}

static uint64_t draw(struct processor *own)
{
    own->random += 0x9e3779b97f4a7c15ull;
    return mix(own->random);
}

/* 1 to 2^log, smaller ones as likely as larger ones. */
static uint64_t draw_scale(uint64_t random, uint32_t log)
{
    uint32_t bits = (uint32_t)(random % (log + 1));
    return (1ull << bits) + (random >> 32) % (1ull << bits);
}

/* ---- the option ---- */

static bool takes(const char **at, const char *word)
{
    const char *p = *at;
    while (*word && *p == *word)
        p++, word++;
    if (*word)
        return false;
    *at = p;
    return true;
}

static uint64_t read_number(const char **at)
{
    uint64_t number = 0;
    while (**at >= '0' && **at <= '9')
        number = number * 10 + (uint64_t)(*(*at)++ - '0');
    return number;
}

/* 1-20+25 */
static void read_kept(const char **at)
{
    do {
        struct range range = {.first = read_number(at)};
        range.last = takes(at, "-") ? read_number(at) : range.first;
        if (kept_count < KEPT_MAX)
            kept[kept_count++] = range;
    } while (takes(at, "+"));
}

static uint32_t read_kind(const char **at)
{
    for (uint32_t kind = 0; kind < KINDS; kind++)
        if (takes(at, kind_names[kind]))
            return 1u << kind;
    return 0;
}

static void read_options(const char *at)
{
    uint32_t kinds = 0;
    options.seed = read_number(&at);
    while (*at == ',') {
        at++;
        if (takes(&at, "keep="))
            read_kept(&at);
        else if (takes(&at, "limit="))
            options.limit_ms = read_number(&at);
        else if (takes(&at, "stop"))
            options.stop = true;
        else
            kinds |= read_kind(&at);
    }
    if (*at)
        log_line("explore: what is meant by '%s'?", at);
    if (kinds)
        options.kinds = kinds;
}

static void choose_strategy(void)
{
    uint64_t random = mix(options.seed);
    strategy.gap = 1ull << (8 + random % 9);
    bool is_rare = strategy.gap >= 1 << 13;
    strategy.hot_mask = (1ull << (random >> 8) % 6) - 1;
    strategy.hot_log = 4 + (random >> 16) % 6;
    strategy.hot_rate = 1ull << (strategy.hot_log - 2 + (random >> 20) % 3);
    strategy.turns_log = is_rare ? 10 : 3 + (random >> 24) % 5;
    strategy.delay_log = is_rare ? 9 : 4 + (random >> 28) % 4;
    strategy.timer_us = 16ull << (random >> 32) % 6;
    strategy.place_rate = 1ull << (1 + (random >> 40) % 6);
    strategy.rare_rate = 8ull << (random >> 44) % 7;
    strategy.kill_rate = 32ull << (random >> 48) % 6;
    strategy.memory_rate = 1ull << (random >> 56) % 5;
    strategy.control_log = 6 + (random >> 52) % 7;
}

void explore_boot(void)
{
    char text[384];
    if (!boot_option("explore=", text, sizeof text))
        return;
    read_options(text);
    choose_strategy();
    for (uint32_t i = 0; i < CPUS_MAX; i++) {
        processors[i].random = mix(options.seed ^ (uint64_t)i << 56);
        processors[i].left = 1 + mix(processors[i].random) % (2 * strategy.gap);
    }
    log_line(
        "explore: seed %lu: one point of %lu, %lu turns, %lu us; one of %lu at one place of %lu, %lu us; "
        "timers %lu us, places 1 of %lu",
        options.seed, strategy.gap, 1ul << strategy.turns_log, 1ul << strategy.delay_log, strategy.hot_rate,
        strategy.hot_mask + 1, 1ul << strategy.hot_log, strategy.timer_us, strategy.place_rate);
}

void explore_start(uint32_t pid)
{
    explore_program_starts(pid);
    if (started_at || options.limit_ms == 0 || strategy.gap == 0)
        return;
    started_at = arch_clock();
    __atomic_store_n(&explore_on, true, __ATOMIC_RELEASE);
}

static void cover_all(void);

void explore_end(void)
{
    if (!explore_on)
        return;
    uint64_t points = 0;
    __atomic_store_n(&explore_on, false, __ATOMIC_RELEASE);
    cover_all();
    for (uint32_t i = 0; i < cpu_count; i++)
        points += processors[i].points;
    log_line("explore: end: %lu points, %lu perturbations: %lu turns, %lu timers, %lu places, %lu "
             "interrupts, %lu allocations, %lu kills, %lu controls, %lu older values; %lu ms",
             points, explore_performed, performed_of[TURNS], performed_of[TIMERS], performed_of[PLACES],
             performed_of[INTERRUPTS], performed_of[ALLOCATIONS], performed_of[KILLS], performed_of[CONTROL],
             performed_of[MEMORY], timer_nanoseconds(arch_clock() - started_at) / 1000000);
    log_line("explore: left: %lu spaces, %lu threads, %lu endpoints, %lu notifications, %lu replies, %lu "
             "mappings, %lu frames",
             slab_count("space"), slab_count("thread"), slab_count("endpoint"), slab_count("notification"),
             slab_count("reply"), slab_count("mapping"), frame_count_total() - frame_count_free());
}

void explore_found(void)
{
    if (options.stop && !panic_is_on())
        panic("explore: stop: something was found");
}

/* ---- perturbations ---- */

static bool is_kept(uint64_t number)
{
    for (uint32_t i = 0; i < kept_count; i++)
        if (number >= kept[i].first && number <= kept[i].last)
            return true;
    return kept_count == 0;
}

/* Random bits for this perturbation, from seed and number; 0 if `keep=` excludes it. */
static uint64_t perform(enum kind kind)
{
    uint64_t number = atomic_fetch_add_explicit(&explore_performed, 1, memory_order_relaxed) + 1;
    if (!is_kept(number))
        return 0;
    atomic_fetch_add_explicit(&performed_of[kind], 1, memory_order_relaxed);
    return mix(options.seed * 0x2545f4914f6cdd1dull + number) | 1;
}

static bool is_wanted(enum kind kind)
{
    return __atomic_load_n(&explore_on, __ATOMIC_RELAXED) && options.kinds >> kind & 1 &&
           !this_processor()->busy;
}

/* Do not stall a CPU that has been stalled for half of the run: interrupts would take the rest. */
static bool has_stood_enough(const struct processor *own)
{
    return own->stood > (arch_clock() - started_at) / 2;
}

/* No other CPU could run instead. */
static bool is_alone(const struct cpu *cpu)
{
    return (atomic_load_explicit(&sched_idle_cpus, memory_order_relaxed) | cpu->bit) ==
           (atomic_load_explicit(&sched_online_cpus, memory_order_relaxed) | cpu->bit);
}

static void end_turns(struct processor *own, uint64_t random, uint32_t delay_log, uint32_t turns_log)
{
    uint64_t begin = arch_clock(), until = begin + timer_ticks(1000 * draw_scale(random, delay_log));
    for (uint64_t turns = draw_scale(mix(random), turns_log); turns && arch_clock() < until; turns--)
        arch_relax();
    own->stood += arch_clock() - begin;
}

int explore_place(uint64_t allowed)
{
    struct processor *own = this_processor();
    if (!is_wanted(PLACES) || draw(own) % strategy.place_rate != 0)
        return -1;
    uint64_t random = perform(PLACES);
    if (!random)
        return -1;
    for (uint64_t skip = (random >> 8) % (uint64_t)__builtin_popcountll(allowed); skip; skip--)
        allowed &= allowed - 1;
    return __builtin_ctzll(allowed);
}

bool explore_put_off(uint32_t number)
{
    struct processor *own = this_processor();
    if (!is_wanted(INTERRUPTS) || own->put_off || draw(own) % strategy.place_rate != 0)
        return false;
    uint64_t random = perform(INTERRUPTS);
    if (!random)
        return false;
    own->put_off = number + 1;
    own->put_off_until = arch_clock() + timer_ticks(1000 * draw_scale(random >> 8, PUT_OFF_LOG));
    timer_program();
    return true;
}

static void take_put_off(struct processor *own, uint64_t now)
{
    if (!own->put_off || now < own->put_off_until)
        return;
    uint32_t number = own->put_off - 1;
    own->put_off = 0;
    irq_deliver(number);
}

bool explore_fail_allocation(void)
{
    const struct thread *thread = this_cpu()->current;
    if (!is_wanted(ALLOCATIONS) || !thread || !thread->space || thread->space->system ||
        explore_is_spared(thread->space))
        return false;
    return draw(this_processor()) % strategy.rare_rate == 0 && perform(ALLOCATIONS);
}

uint64_t explore_deadline(uint64_t deadline)
{
    struct cpu *cpu = this_cpu();
    struct processor *own = this_processor();
    if (own->put_off && own->put_off_until < deadline)
        deadline = own->put_off_until;
    deadline = explore_follow_deadline(deadline);
    if (!is_wanted(TIMERS) || strategy.timer_us == 0 || cpu->current == cpu->idle)
        return deadline;
    if (!own->timer) {
        uint32_t log = 63 - (uint32_t)__builtin_clzll(strategy.timer_us);
        own->timer =
            arch_clock() + timer_ticks(cpu_count * TIMER_LEAST_NS + 1000 * draw_scale(draw(own), log));
    }
    return own->timer < deadline ? own->timer : deadline;
}

static void kill_sometimes(struct processor *own, uint64_t now)
{
    explore_follow(now);
    if (!is_wanted(KILLS) || !explore_may_kill() || draw(own) % strategy.kill_rate != 0)
        return;
    uint64_t random = perform(KILLS);
    if (random)
        explore_kill(mix(random));
}

bool explore_timer(uint64_t now)
{
    struct processor *own = this_processor();
    if (!__atomic_load_n(&explore_on, __ATOMIC_RELAXED))
        return false;
    if (timer_nanoseconds(now - started_at) / 1000000 >= options.limit_ms && !panic_is_on()) {
        explore_on = false;
        panic("explore: hang: not over after %lu ms", options.limit_ms);
    }
    kill_sometimes(own, now);
    take_put_off(own, now);
    if (!own->timer || now < own->timer)
        return false;
    own->timer = 0;
    uint64_t random = perform(TIMERS);
    if (random >> 9 & 1) { /* as at a heartbeat */
        quiescent_report();
        slab_reclaim(UINT32_MAX);
    }
    return random >> 8 & 1;
}

/* ---- points ---- */

static bool is_hot(struct processor *own, uint64_t place)
{
    return !(mix(place ^ options.seed) & strategy.hot_mask) && draw(own) % strategy.hot_rate == 0;
}

static void perturb(struct processor *own, bool hot)
{
    uint64_t random = perform(TURNS);
    if (!random)
        return;
    own->busy = true;
    if (options.kinds >> CONTROL & 1 && (random >> 44) % NMI_RATE == 0)
        arch_break_in(this_cpu());
    if (hot)
        end_turns(own, random, strategy.hot_log, strategy.hot_log);
    else
        end_turns(own, random, strategy.delay_log, strategy.turns_log);
    own->busy = false;
}

static void perturb_sometimes(struct cpu *cpu, struct processor *own, uint64_t place, bool meets)
{
    if (!(options.kinds >> TURNS & 1))
        return;
    bool due = own->left-- == 0;
    if (due)
        own->left = 1 + draw(own) % (2 * strategy.gap);
    if ((due || (meets && is_hot(own, place))) && !is_alone(cpu) && !has_stood_enough(own))
        perturb(own, !due);
}

/* Marks this CPU's record busy; NULL: it already is. Code that interrupts the kernel meanwhile (an NMI, a
 * sample of profile.h) is not examined: it would wait for a guard that its own CPU holds. */
static struct processor *occupy(void)
{
    struct processor *own = this_processor();
    if (own->busy || panic_is_on())
        return NULL;
    own->busy = true;
    return own;
}

void explore_point(uint64_t address, uint64_t size, uint32_t flags, uint64_t place)
{
    struct cpu *cpu = this_cpu();
    struct processor *own = occupy();
    if (!own)
        return;
    own->points++;
    bool meets = explore_access(cpu->index, address, size, flags, place);
    own->busy = false;
    perturb_sometimes(cpu, own, place, meets);
}

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* The compiler calls it at the start of each basic block. */
void __sanitizer_cov_trace_pc(void)
{
    explore_covered[((uint64_t)__builtin_return_address(0) - (uint64_t)kernel_start) % TEXT_MAX] = 1;
}

void explore_point_order(enum explore_order kind, const volatile void *word, int order)
{
    struct processor *own = occupy();
    if (!own)
        return;
    explore_order(kind, this_cpu()->index, (uint64_t)word, order);
    own->busy = false;
}

bool explore_point_begin(void)
{
    if (!(options.kinds >> MEMORY & 1) || !occupy())
        return false;
    explore_enter();
    return true;
}

static void end_atomic(void)
{
    explore_leave();
    this_processor()->busy = false;
}

void explore_point_stored(const volatile void *word, uint64_t before, uint64_t after)
{
    explore_note_store(this_cpu()->index, (uint64_t)word, before, after);
    end_atomic();
}

uint64_t explore_point_value(const volatile void *word, uint64_t now, int order)
{
    uint32_t cpu = this_cpu()->index;
    uint64_t value = order == __ATOMIC_SEQ_CST ? now : explore_older(cpu, (uint64_t)word, now);
    if (value != now && draw(this_processor()) % strategy.memory_rate == 0 && perform(MEMORY)) {
        explore_idles_wrongly(cpu);
    } else {
        value = now;
        explore_note_newest(cpu, (uint64_t)word);
    }
    end_atomic();
    return value;
}

/* ---- programs: system_read(SYSTEM_EXPLORE, ...); their side is libc-glue/explore/point.c ---- */

/* A part of all places is hot: which accesses of programs meet others' is not known here. */
static int64_t tell_strategy(void *buffer)
{
    uint64_t random = mix(options.seed);
    const uint32_t pid = this_cpu()->current->space->pid;
    const struct explore_strategy to = {.seed = mix(options.seed ^ (uint64_t)pid << 32),
                                        .gap = strategy.gap,
                                        .hot_mask = (16ull << (random >> 8) % 5) - 1,
                                        .hot_rate = (random >> 16) % 4 == 0 ? 0 : 2ull << (random >> 18) % 4,
                                        .device_rate = 4ull << (random >> 22) % 5};
    if (strategy.gap == 0 || !(options.kinds >> TURNS & 1))
        return -E_BAD_ARGUMENT;
    int64_t error = user_write(buffer, &to, sizeof to);
    return error ? error : (int64_t)sizeof to;
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

static int64_t perturb_program(bool hot)
{
    struct processor *own = this_processor();
    bool wanted = is_wanted(TURNS) && !is_alone(this_cpu()) && !has_stood_enough(own);
    uint64_t random = wanted ? perform(TURNS) : 0;
    if (!random)
        return 0;
    uint64_t us = draw_scale(random, hot ? HOT_PROGRAM_LOG : strategy.delay_log);
    uint64_t turns = draw_scale(mix(random), hot ? HOT_PROGRAM_LOG : strategy.turns_log);
    bool sleeps = random >> 60 == 0;
    own->stood += timer_ticks(1000 * us); /* at most */
    return (int64_t)(1000 * us << 16 | turns << 1 | sleeps);
}

static int64_t choose_control(void)
{
    uint64_t random = is_wanted(CONTROL) ? perform(CONTROL) : 0;
    uint64_t ns = random ? 1000 * draw_scale(mix(random), strategy.control_log) : 0;
    return (int64_t)(random >> 25 << 24 | ns);
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

static void cover_all(void)
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
        *result = perturb_program(operation == EXPLORE_TURN_HOT);
    else if (operation == EXPLORE_COVER && size == EXPLORE_COVER_BYTES &&
             (uint64_t)buffer % TARN_PAGE_SIZE == 0)
        *result = begin_cover((uint64_t)buffer);
    else if (operation == EXPLORE_CONTROL)
        *result = choose_control();
    else if (operation == EXPLORE_SETTLE)
        *result = explore_settle();
    else
        *result = -E_BAD_ARGUMENT;
    return true;
}

/* ---- the end of memory ---- */

void explore_freed(uint64_t frame)
{
    uint64_t *words = phys_to_virt(frame);
    for (uint32_t i = 0; explore_on && i < 8; i++)
        words[i] = EXPLORE_FREED;
}

void explore_ends(const void *memory, uint64_t size)
{
    struct processor *own = __atomic_load_n(&explore_on, __ATOMIC_RELAXED) ? occupy() : NULL;
    if (!own)
        return;
    explore_access(this_cpu()->index, (uint64_t)memory, size, EXPLORE_WRITE,
                   (uint64_t)__builtin_return_address(0));
    own->busy = false;
}

/* ---- changed code ---- */

static _Atomic uint64_t patches,
    synced[CPUS_MAX]; /* synced: the last patch that this CPU cannot have missed */

void explore_patched(void)
{
    atomic_fetch_add(&patches, 1);
}

void explore_synced(void)
{
    atomic_store(&synced[this_cpu()->index], atomic_load(&patches));
}

/* The emulator sees changed code at once, real CPUs only if they are told. */
void explore_patch_ends(void)
{
    for (uint32_t i = 0; __atomic_load_n(&explore_on, __ATOMIC_RELAXED) && i < cpu_count; i++) {
        if (atomic_load(&synced[i]) >= atomic_load(&patches))
            continue;
        log_line("explore: code: processor %u may still execute what was there before sites were switched",
                 i);
        explore_found();
        return;
    }
}

/* ---- lock orders ---- */

static void tell_order(const struct lock_class *first, const struct lock_class *second,
                       const struct explore_pair *at, const struct explore_pair *before)
{
    char places[4][64] = {""};
    debugger_symbol(places[0], sizeof places[0], NULL, at->one, true);
    debugger_symbol(places[1], sizeof places[1], NULL, at->other, true);
    debugger_symbol(places[2], sizeof places[2], NULL, before->one, true);
    debugger_symbol(places[3], sizeof places[3], NULL, before->other, true);
    if (first == second)
        log_line("explore: lock order: two of class %s, the higher address first: at %s, then at %s",
                 first->name, places[0], places[1]);
    else
        log_line("explore: lock order: %s at %s, then %s at %s; and the other way round: at %s, then at %s",
                 first->name, places[0], second->name, places[1], places[2], places[3]);
    explore_found();
}

static void note_order(const struct held *held, const struct held *wanted)
{
    const struct lock_class *first = held->lock->class, *second = wanted->lock->class;
    uint32_t a = first->number, b = second->number;
    if (explore_orders[a][b] || (a == b && held->lock < wanted->lock))
        return;
    explore_orders[a][b] = 1;
    order_places[a][b] = (struct explore_pair){held->place, wanted->place};
    if (explore_orders[b][a])
        tell_order(first, second, &order_places[a][b], &order_places[b][a]);
}

void explore_lock_wanted(const struct spinlock *lock)
{
    if (!__atomic_load_n(&explore_on, __ATOMIC_RELAXED) || panic_is_on())
        return;
    struct processor *own = this_processor();
    own->wanted = (struct held){lock, (uint64_t)__builtin_return_address(0)};
    for (uint32_t i = 0; i < own->held_count; i++)
        note_order(&own->held[i], &own->wanted);
}

/* A contended lock is taken in lock.c; its place is where it was wanted. */
void explore_lock_taken(const struct spinlock *lock)
{
    if (!__atomic_load_n(&explore_on, __ATOMIC_RELAXED))
        return;
    struct processor *own = this_processor();
    uint64_t place = own->wanted.lock == lock ? own->wanted.place : (uint64_t)__builtin_return_address(0);
    if (own->held_count < HELD_MAX)
        own->held[own->held_count++] = (struct held){lock, place};
    explore_point_order(EXPLORE_LOADED, lock, __ATOMIC_ACQUIRE);
}

void explore_lock_released(const struct spinlock *lock)
{
    if (!__atomic_load_n(&explore_on, __ATOMIC_RELAXED))
        return;
    struct processor *own = this_processor();
    explore_point_order(EXPLORE_STORES, lock, __ATOMIC_RELEASE);
    for (uint32_t i = own->held_count; i-- > 0;) {
        if (own->held[i].lock == lock) {
            own->held[i] = own->held[--own->held_count];
            return;
        }
    }
}
