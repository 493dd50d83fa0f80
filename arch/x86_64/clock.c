/*
 * arch/x86_64/clock.c - arch/clock.h: the clock chip, the rates of the time-stamp counter and of the local
 * APIC's timer, the deadline timer.
 *
 * No single source of the rate is trusted:
 *
 * - HPET, ACPI timer and channel 0 of the 8254 measure it, all at the same time.
 * - The clock chip's seconds measure it only if no two others agree, because that takes up to two seconds.
 *
 * arch_clock_agree() decides.
 *
 * A host may deschedule the vCPU at any moment, so no delay is assumed to be exact: each counter is read
 * between two reads of the time-stamp counter, whose difference widens the source's interval. The boot CPU
 * does this, before the first timer; each CPU has its own deadline.
 */
#include "port.h"
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/sched/timer.h>

/* ---- the clock chip ------------------------------------------------------------------------------- */

static uint8_t read_cmos(uint8_t reg)
{
    outb(0x70, reg);
    return inb(0x71);
}

static uint8_t from_bcd(uint8_t value)
{
    return (uint8_t)((value >> 4) * 10 + (value & 15));
}

static bool has_chip(void)
{
    return read_cmos(0x0a) != 0xff;
}

/* 0 to 59. False: it is being updated. */
static bool read_chip_second(uint32_t *second)
{
    bool is_stable = !(read_cmos(0x0a) & 0x80);
    uint8_t value = read_cmos(0);
    *second = read_cmos(0x0b) & 4 ? value : from_bcd(value);
    return is_stable;
}

struct wall_time {
    uint8_t second, minute, hour, day, month, year;
};

static struct wall_time read_chip(void)
{
    while (read_cmos(0x0a) & 0x80) /* it is being updated */
        arch_relax();
    return (struct wall_time){read_cmos(0), read_cmos(2), read_cmos(4),
                              read_cmos(7), read_cmos(8), read_cmos(9)};
}

/* 0 if there is no chip. */
int64_t arch_wall_clock(void)
{
    if (!has_chip())
        return 0;
    struct wall_time a = read_chip(), b = read_chip();
    while (memcmp(&a, &b, sizeof(a))) { /* an update came while the registers were read */
        a = b;
        b = read_chip();
    }
    uint8_t mode = read_cmos(0x0b);
    bool afternoon = a.hour & 0x80;
    a.hour &= 0x7f;
    if (!(mode & 4)) {
        a = (struct wall_time){from_bcd(a.second), from_bcd(a.minute), from_bcd(a.hour),
                               from_bcd(a.day),    from_bcd(a.month),  from_bcd(a.year)};
    }
    if (!(mode & 2)) /* 12-hour clock */
        a.hour = (uint8_t)(a.hour % 12 + (afternoon ? 12 : 0));
    return arch_date_seconds(&(struct arch_date){2000 + a.year, a.month, a.day, a.hour, a.minute, a.second});
}

/* ---- counters of known rate ----------------------------------------------------------------------- */

#define MEASURE_NS        40000000u    /* the 8254 reaches 54.9 ms */
#define MEASURE_TICKS     (1ull << 33) /* a longer one is invalid: ticks * 10^9 must fit in 64 bits */
#define ROUNDS            5u
#define SPINS             10000u
#define READS             16u        /* the narrowest one counts */
#define CRYSTAL_PPM       100u       /* tolerance of oscillators */
#define FEMTOSECONDS      1000000ull /* in a nanosecond */
#define NANOSECONDS       1000000000ull
#define PARTS_PER_MILLION 1000000u

#define HPET_PERIOD     (0x004 / 4) /* femtoseconds of a tick */
#define HPET_CONFIG     (0x010 / 4)
#define HPET_COUNTER    (0x0f0 / 4)
#define HPET_PERIOD_MAX 100000000u /* the standard's limit */

static volatile uint32_t *hpet;

static bool read_hpet(uint32_t *value)
{
    if (!hpet)
        return false;
    *value = hpet[HPET_COUNTER];
    return true;
}

static bool read_acpi_timer(uint32_t *value)
{
    if (!platform.pm_timer)
        return false;
    *value = inl(platform.pm_timer);
    return true;
}

/* Channel 0 counts down from 65535 once. Status and count are latched together. The output pin in the status
 * shows a count after the end; it also reads as set (0xff) if there is no device. */
#define PIT_CHANNEL_0  0x40
#define PIT_COMMAND    0x43
#define PIT_ONE_SHOT   0x30 /* channel 0, both bytes, mode 0 */
#define PIT_READ_BACK  0xc2 /* status and count of channel 0 */
#define PIT_STATUS_OUT 0xc0 /* it has ended, or the count is not loaded yet */

static void start_8254(void)
{
    outb(PIT_COMMAND, PIT_ONE_SHOT);
    outb(PIT_CHANNEL_0, 0xff);
    outb(PIT_CHANNEL_0, 0xff);
}

static bool read_8254(uint32_t *value)
{
    outb(PIT_COMMAND, PIT_READ_BACK);
    uint8_t status = inb(PIT_CHANNEL_0), low = inb(PIT_CHANNEL_0), high = inb(PIT_CHANNEL_0);
    *value = 0xffffu - (low | (uint32_t)high << 8);
    return !(status & PIT_STATUS_OUT);
}

struct counter {
    const char *name;
    uint64_t period; /* femtoseconds of a tick; 0: no such counter */
    uint32_t mask;   /* it counts modulo this + 1 */
    bool (*read)(uint32_t *value);
};

static struct counter counters[] = {
    {"hpet", 0, ~0u, read_hpet},
    {"acpi_timer", 279365115, 0xffffff, read_acpi_timer},
    {"8254", 838095345, 0xffff, read_8254},
};
#define COUNTERS (sizeof counters / sizeof counters[0])

static void open_hpet(void)
{
    if (!platform.hpet_base)
        return;
    volatile uint32_t *registers = arch_map_device(platform.hpet_base, 4096);
    counters[0].period = registers[HPET_PERIOD];
    if (counters[0].period == 0 || counters[0].period > HPET_PERIOD_MAX)
        return;
    registers[HPET_CONFIG] |= 1;
    hpet = registers;
}

/* ---- one measurement ------------------------------------------------------------------------------ */

/* A counter's value, read between two readings of the clock. */
struct reading {
    uint64_t before, after;
    uint32_t value;
    bool is_valid;
};

static struct reading read_closely(bool (*read)(uint32_t *value))
{
    struct reading best = {0};
    for (uint32_t i = 0; i < READS; i++) {
        struct reading now = {.before = arch_clock()};
        now.is_valid = read(&now.value);
        now.after = arch_clock();
        if (!now.is_valid)
            return now;
        if (!best.is_valid || now.after - now.before < best.after - best.before)
            best = now;
    }
    return best;
}

static uint64_t counter_ns(const struct counter *counter, const struct reading *from,
                           const struct reading *to)
{
    return ((to->value - from->value) & counter->mask) * counter->period / FEMTOSECONDS;
}

static struct arch_clock_source widen(const char *name, uint64_t low, uint64_t high, uint32_t ppm)
{
    return (struct arch_clock_source){name, low - low / PARTS_PER_MILLION * ppm,
                                      high + high / PARTS_PER_MILLION * ppm};
}

/* The rate from a time of `ns`, accurate to `step` ns, between two readings. */
static bool rate_between(struct arch_clock_source *source, const char *name, const struct reading *from,
                         const struct reading *to, uint64_t ns, uint64_t step)
{
    if (!from->is_valid || !to->is_valid || to->after - from->before > MEASURE_TICKS || ns <= 2 * step ||
        to->before <= from->after)
        return false;
    *source = widen(name, (to->before - from->after) * NANOSECONDS / (ns + step),
                    (to->after - from->before) * NANOSECONDS / (ns - step), CRYSTAL_PPM);
    return true;
}

static bool read_apic_timer(uint32_t *value)
{
    *value = ~apic_timer_left();
    return true;
}

/* Emulators are slow at counters and ports, and with instruction counting at `pause` too, so this uses none
 * of them. */
void spin(void)
{
    for (uint32_t i = 0; i < SPINS; i++)
        __asm__ volatile("");
}

/* Keeps the narrowest interval of all readings of counter `i`. high 0: none yet. */
static void note(struct arch_clock_source *measured, uint32_t i, const struct reading *first,
                 const struct reading *now)
{
    struct arch_clock_source *best = &measured[i], found;
    if (rate_between(&found, counters[i].name, first, now, counter_ns(&counters[i], first, now),
                     counters[i].period / FEMTOSECONDS + 1) &&
        (best->high == 0 || found.high - found.low < best->high - best->low))
        *best = found;
}

/* Waits until one of the counters has advanced far enough or has failed. On a busy host the 8254 may end
 * before that: the readings until then count. */
static void wait_for_counters(const struct reading *first, struct arch_clock_source *measured)
{
    for (uint64_t begin = arch_clock(); arch_clock() - begin < MEASURE_TICKS; spin())
        for (uint32_t i = 0; i < COUNTERS; i++) {
            struct reading now = {.before = arch_clock()};
            if (!first[i].is_valid)
                continue;
            now.is_valid = counters[i].read(&now.value);
            now.after = arch_clock();
            note(measured, i, &first[i], &now);
            if (!now.is_valid || counter_ns(&counters[i], &first[i], &now) >= MEASURE_NS)
                return;
        }
}

static uint64_t middle(const struct reading *reading)
{
    return reading->before + (reading->after - reading->before) / 2;
}

/* Measures with all counters at once, and measures the APIC's timer. */
static void measure(struct arch_clock_source *measured, uint64_t *apic_ticks_per_clock)
{
    struct reading first[COUNTERS];
    bool any = false;
    start_8254();
    apic_timer_start(~0u);
    struct reading apic_first = read_closely(read_apic_timer);
    for (uint32_t i = 0; i < COUNTERS; i++) {
        first[i] = read_closely(counters[i].read);
        any |= first[i].is_valid;
    }
    if (any)
        wait_for_counters(first, measured);
    for (uint32_t i = 0; i < COUNTERS; i++) {
        struct reading last = read_closely(counters[i].read);
        note(measured, i, &first[i], &last);
    }
    struct reading apic_last = read_closely(read_apic_timer);
    apic_timer_start(0);
    *apic_ticks_per_clock =
        ((uint64_t)(apic_last.value - apic_first.value) << 32) / (middle(&apic_last) - middle(&apic_first));
}

static uint32_t copy_measured(struct arch_clock_source *sources, const struct arch_clock_source *measured)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < COUNTERS; i++)
        if (measured[i].high)
            sources[count++] = measured[i];
    return count;
}

/* ---- the clock chip's seconds --------------------------------------------------------------------- */

#define CHIP_TICKS (1ull << 34) /* several seconds on any machine */

/* The next change of the seconds: between the last read of the old value and the first of the new one. */
static struct reading wait_for_second(void)
{
    struct reading edge = {.before = arch_clock()};
    uint32_t old = ~0u;
    for (uint64_t begin = edge.before; arch_clock() - begin < CHIP_TICKS && !edge.is_valid;) {
        spin();
        uint64_t before = arch_clock();
        if (!read_chip_second(&edge.value))
            continue;
        edge.after = arch_clock();
        edge.is_valid = old != ~0u && edge.value != old;
        if (!edge.is_valid)
            edge.before = before;
        old = edge.value;
    }
    return edge;
}

static bool measure_chip(struct arch_clock_source *source)
{
    struct reading first = wait_for_second(), last = first.is_valid ? wait_for_second() : first;
    uint64_t seconds = (last.value + 60 - first.value) % 60;
    return rate_between(source, "clock_chip", &first, &last, seconds * NANOSECONDS, 0);
}

/* ---- all sources ---------------------------------------------------------------------------------- */

static uint64_t measure_clock(struct arch_clock_rate *rate)
{
    struct arch_clock_source measured[COUNTERS] = {0}, sources[COUNTERS + 1];
    uint64_t apic_ticks_per_clock = 0;
    uint32_t count = 0;
    open_hpet();
    apic_timer_init();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        measure(measured, &apic_ticks_per_clock);
        count = copy_measured(sources, measured);
        arch_clock_agree(rate, sources, count);
        if (rate->is_certain)
            return apic_ticks_per_clock;
    }
    if (has_chip() && measure_chip(&sources[count]))
        arch_clock_agree(rate, sources, count + 1);
    return apic_ticks_per_clock;
}

static uint64_t apic_ticks_per_clock; /* 32.32 fixed point */

void arch_clock_init(struct arch_clock_rate *rate)
{
    apic_ticks_per_clock = measure_clock(rate);
}

void delay_us(uint32_t us)
{
    for (uint64_t begin = arch_clock(), ticks = clock_hz / 1000000 * us; arch_clock() - begin < ticks;)
        spin();
}

/* ---- the timer ------------------------------------------------------------------------------------ */

#define TIMER_STEP_MAX (1ull << 30) /* ticks; later deadlines take several steps */

void arch_timer_init(void)
{
    apic_timer_init();
    apic_timer_start(0);
}

static void step_towards(uint64_t deadline)
{
    uint64_t now = arch_clock(), left = deadline > now ? deadline - now : 0;
    uint64_t step = left < TIMER_STEP_MAX ? left : TIMER_STEP_MAX;
    uint64_t count = (step * apic_ticks_per_clock >> 32) + 1;
    apic_timer_start(count < ~0u ? (uint32_t)count : ~0u);
}

void arch_timer_set(uint64_t deadline)
{
    this_cpu()->arch.timer_deadline = deadline;
    step_towards(deadline);
}

/* The APIC's clock drifts against the time-stamp counter, so the interrupt may be early. */
void apic_timer_expired(void)
{
    struct arch_cpu *arch = &this_cpu()->arch;
    if (arch_clock() < arch->timer_deadline) {
        step_towards(arch->timer_deadline);
        return;
    }
    arch->timer_deadline = ~0ull;
    handle_timer();
}
