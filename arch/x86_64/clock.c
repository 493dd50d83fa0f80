/*
 * arch/x86_64/clock.c - arch/clock.h: the time-stamp counter's rate, the deadline timer, the clock chip.
 *
 * clock_rate.c measures the rates of the time-stamp counter and of the local APIC's timer. The boot CPU
 * writes both once; each CPU has its own deadline.
 */
#include "port.h"
#include "x86.h"
#include <arch/clock.h>
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/sched/timer.h>

/* ---- the clock ------------------------------------------------------------------------------------ */

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

bool has_chip(void)
{
    return read_cmos(0x0a) != 0xff;
}

bool read_chip_second(uint32_t *second)
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
