/*
 * libc-glue/explore/point.c - lets a program's threads meet in orders that a seed decides.
 *
 * Only programs of the exploring archive (`make explorer`) are linked with it. The compiler calls
 * kernel/explore/explore_runtime.c before each access to memory, and that explore_point. The program counts
 * its points; whether one is perturbed, and for how long, the exploring kernel says
 * (kernel/explore/explore.c): it numbers all perturbations of a run. Any other kernel knows nothing
 * of it, and nothing is perturbed.
 *
 * A perturbed thread spins in its program, where it can be interrupted, or sleeps. So long other threads'
 * accesses are compared with the one that it is about to make, as the kernel does with its own.
 *
 * Nothing that is called here is perturbed itself (rules.mk). The state is the process's, and not atomic
 * where a lost update does no harm: runs repeat themselves.
 */
#include <arch/runtime.h>
#include <servers/virtio/dma.h>
#include <stddef.h>
#include <tarn/explore.h>
#include <tarn/runtime.h>
#include <tarn/syscall.h>

#define RACES_MAX 16u

bool explore_on;

static struct explore_strategy strategy;
static uint64_t random_state;
static uint64_t left; /* points until the next perturbation */

/* The access before which a thread stays: one at a time. */
static struct {
    uint32_t taken;  /* atomic */
    uint64_t number; /* atomic; unique; 0: there is none, or it is being written */
    uint64_t address, size, place;
    uint64_t until; /* a thread that was ended there watches no longer */
    uint32_t flags;
} watch;

static struct explore_pair races[RACES_MAX];
static uint32_t race_count;

static uint64_t draw(void)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's */
    return random_state >> 24;
}

/* Read by the kernel, when the process or the machine ends. */
static uint8_t covered[EXPLORE_COVER_BYTES] __attribute__((aligned(4096)));

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* The compiler calls it at the start of each basic block. Two threads at a time may lose a bit. */
void __sanitizer_cov_trace_pc(void)
{
    uint64_t bit = (uint64_t)__builtin_return_address(0) / 4 % (8 * EXPLORE_COVER_BYTES);
    covered[bit / 8] |= (uint8_t)(1u << bit % 8);
}

static __attribute__((constructor)) void explore_begin(void)
{
    sys_system_read(SYSTEM_EXPLORE, EXPLORE_COVER, covered, sizeof covered);
    if (sys_system_read(SYSTEM_EXPLORE, EXPLORE_STRATEGY, &strategy, sizeof strategy) != sizeof strategy)
        return;
    random_state = strategy.seed;
    left = 1 + draw() % (2 * strategy.gap);
    __atomic_store_n(&explore_on, true, __ATOMIC_RELEASE);
}

/* ---- races ------------------------------------------------------------------------------------------------
 */

static void tell_race(struct explore_race *race)
{
    if (explore_note_pair(races, &race_count, RACES_MAX, race->one_place, race->other_place))
        sys_system_read(SYSTEM_EXPLORE, EXPLORE_RACE, race, sizeof *race);
}

static __attribute__((noinline)) void look_for_race(uint64_t address, uint64_t size, uint32_t flags,
                                                    uint64_t place)
{
    uint64_t number = __atomic_load_n(&watch.number, __ATOMIC_ACQUIRE);
    uint64_t other = watch.address, other_size = watch.size;
    struct explore_race race = {.address = address,
                                .one_place = watch.place,
                                .other_place = place,
                                .one_flags = watch.flags,
                                .other_flags = flags};
    if (address < other + other_size && other < address + size &&
        explore_is_race(flags, race.one_flags, size) && clock_monotonic_ns() < watch.until && number &&
        __atomic_load_n(&watch.number, __ATOMIC_ACQUIRE) == number)
        tell_race(&race);
}

static bool begin_watch(uint64_t address, uint64_t size, uint32_t flags, uint64_t place, uint64_t until)
{
    static uint64_t number;
    if (__atomic_exchange_n(&watch.taken, 1, __ATOMIC_ACQUIRE) && clock_monotonic_ns() < watch.until)
        return false;
    watch.address = address;
    watch.size = size;
    watch.place = place;
    watch.flags = flags;
    watch.until = until;
    /* Release: others see either no watch or all of it. */
    __atomic_store_n(&watch.number, ++number, __ATOMIC_RELEASE);
    return true;
}

static void end_watch(void)
{
    __atomic_store_n(&watch.number, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&watch.taken, 0, __ATOMIC_RELEASE);
}

/* ---- points -----------------------------------------------------------------------------------------------
 */

static void let_others_go_on(int64_t how, uint64_t until)
{
    if (EXPLORE_SLEEPS(how)) {
        sys_thread_sleep(until);
        return;
    }
    for (uint64_t turns = EXPLORE_TURNS(how); turns && clock_monotonic_ns() < until; turns--)
        arch_spin_pause();
}

static __attribute__((noinline)) void perturb(uint64_t address, uint64_t size, uint32_t flags, uint64_t place,
                                              bool hot)
{
    int64_t how = sys_system_read(SYSTEM_EXPLORE, hot ? EXPLORE_TURN_HOT : EXPLORE_TURN, NULL, 0);
    if (how <= 0)
        return;
    uint64_t until = clock_monotonic_ns() + EXPLORE_NANOSECONDS(how);
    bool watches = begin_watch(address, size, flags, place, until);
    let_others_go_on(how, until);
    if (watches)
        end_watch();
}

/* Everything that a device accesses, too, is a meeting with it. */
static bool is_hot(uint64_t address, uint64_t place)
{
    if (__builtin_expect(address - DMA_REGION < DMA_REGION_BYTES, 0))
        return draw() % strategy.device_rate == 0;
    if (!strategy.hot_rate || ((place * 0x9e3779b97f4a7c15ull) ^ strategy.seed) >> 40 & strategy.hot_mask)
        return false;
    return draw() % strategy.hot_rate == 0;
}

void explore_point(uint64_t address, uint64_t size, uint32_t flags, uint64_t place)
{
    if (__builtin_expect(__atomic_load_n(&watch.number, __ATOMIC_RELAXED) != 0, 0))
        look_for_race(address, size, flags, place);
    if (left-- > 1) {
        if (is_hot(address, place))
            perturb(address, size, flags, place, true);
        return;
    }
    left = 1 + draw() % (2 * strategy.gap);
    perturb(address, size, flags, place, false);
}
