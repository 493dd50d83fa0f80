/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/x86_64/clock.c - arch/clock.h: the time-stamp counter's rate, the deadline timer, the clock chip.
 *
 * The rates of the time-stamp counter and of the local APIC's timer are measured once, against the HPET over
 * 50 ms, or the 8254 where there is none (a loaded host makes that one inexact: PLATFORM facts). Written once
 * by the boot processor; deadlines are each processor's own.
 */
#include "port.h"
#include "x86.h"
#include <arch/boot_memory.h>
#include <arch/clock.h>
#include <arch/machine.h>
#include <kernel/cpu.h>
#include <kernel/kernel.h>

#define CALIBRATION_US 50000u

/* ---- measured delays -------------------------------------------------------------------------------- */

#define HPET_PERIOD  (0x004 / 4) /* femtoseconds of a tick */
#define HPET_CONFIG  (0x010 / 4)
#define HPET_COUNTER (0x0f0 / 4)
static volatile uint32_t *hpet;
static uint64_t hpet_period;

static bool open_hpet(void)
{
    if (hpet)
        return true;
    if (!platform.hpet_base)
        return false;
    volatile uint32_t *registers = arch_map_device(platform.hpet_base, 4096);
    hpet_period = registers[HPET_PERIOD];
    if (hpet_period == 0 || hpet_period > 100000000) { /* the standard's limit */
        platform.hpet_base = 0;
        return false;
    }
    registers[HPET_CONFIG] |= 1;
    hpet = registers;
    return true;
}

/* A point in time on all three clocks. The counter is read between two reads of ours, the closest of five. */
struct sample {
    uint64_t clock;
    uint32_t hpet, apic;
};

static struct sample take_sample(void)
{
    struct sample best = {0};
    uint64_t best_width = ~0ull;
    for (int i = 0; i < 5; i++) {
        uint64_t before = arch_clock();
        uint32_t counter = hpet ? hpet[HPET_COUNTER] : 0, apic = apic_timer_left();
        uint64_t width = arch_clock() - before;
        if (width < best_width) {
            best_width = width;
            best = (struct sample){before + width / 2, counter, apic};
        }
    }
    return best;
}

/* Channel 2 of the 8254 counts down once; its output shows in port 0x61. */
static void delay_8254(uint32_t us)
{
    uint32_t count = (uint32_t)((uint64_t)us * 1193182 / 1000000) + 1;
    outb(0x61, (inb(0x61) & 0xfc) | 1);
    outb(0x43, 0xb0);
    outb(0x42, (uint8_t)count);
    outb(0x42, (uint8_t)(count >> 8));
    while (!(inb(0x61) & 0x20))
        arch_relax();
}

void delay_us(uint32_t us)
{
    if (!open_hpet()) {
        delay_8254(us);
        return;
    }
    uint32_t start = hpet[HPET_COUNTER];
    uint64_t ticks = (uint64_t)us * 1000000000 / hpet_period + 1;
    while ((uint32_t)(hpet[HPET_COUNTER] - start) < ticks)
        arch_relax();
}

/* ---- the clock --------------------------------------------------------------------------------------- */

static uint64_t apic_ticks_per_clock; /* 32.32 fixed point */

uint64_t arch_clock_init(void)
{
    bool has_hpet = open_hpet();
    if (!has_hpet)
        boot_print("tarn: no HPET: the clock's rate comes from the 8254 and may be off\n");
    apic_timer_init();
    apic_timer_start(~0u);
    struct sample start = take_sample();
    delay_us(CALIBRATION_US);
    struct sample end = take_sample();
    apic_timer_start(0);
    uint64_t ns =
        has_hpet ? (uint32_t)(end.hpet - start.hpet) * hpet_period / 1000000 : CALIBRATION_US * 1000ull;
    uint64_t ticks = end.clock - start.clock;
    apic_ticks_per_clock = ((uint64_t)(start.apic - end.apic) << 32) / ticks;
    return ticks * 1000000000 / ns;
}

/* ---- the timer ---------------------------------------------------------------------------------------- */

#define TIMER_STEP_MAX (1ull << 30) /* ticks; further deadlines take several steps */

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

/* The APIC's clock and ours drift: early is not in time. */
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

/* ---- the clock chip ------------------------------------------------------------------------------------ */

static uint8_t read_cmos(uint8_t reg)
{
    outb(0x70, reg);
    return inb(0x71);
}

struct wall_time {
    uint8_t second, minute, hour, day, month, year;
};

static struct wall_time read_chip(void)
{
    while (read_cmos(0x0a) & 0x80) /* it is changing */
        arch_relax();
    return (struct wall_time){read_cmos(0), read_cmos(2), read_cmos(4),
                              read_cmos(7), read_cmos(8), read_cmos(9)};
}

static uint8_t from_bcd(uint8_t value)
{
    return (uint8_t)((value >> 4) * 10 + (value & 15));
}

int64_t arch_wall_clock(void)
{
    struct wall_time a = read_chip(), b = read_chip();
    while (memcmp(&a, &b, sizeof(a))) { /* an update came between the registers */
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
