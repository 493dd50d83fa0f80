/*
 * arch/ppc64/clock.c - arch/clock.h: the timebase, the decrementer, the firmware's clock.
 *
 * The decrementer interrupts as long as it is negative, so the interrupt handler sets it again. It is used as
 * the 32-bit register that every CPU has; distant deadlines take several steps. Each CPU has its own
 * deadline.
 */
#include "port.h"
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>

#define DECREMENTER_MAX 0x7fffffffull /* ticks; 4 s at 512 MHz */

/* The platform fixes the timebase's rate and states it in the device tree. */
void arch_clock_init(struct arch_clock_rate *rate)
{
    *rate = (struct arch_clock_rate){.hz = platform.timebase_hz, .is_certain = true, .names = "device_tree"};
}

/* ---- the timer ------------------------------------------------------------------------------------ */

/* The interrupt comes when the register changes from 0 to -1: one tick after the deadline, never before. */
static void step_towards(uint64_t deadline)
{
    uint64_t now = arch_clock(), left = deadline > now ? deadline - now : 0;
    write_spr(SPR_DEC, left < DECREMENTER_MAX ? left : DECREMENTER_MAX);
}

void arch_timer_init(void)
{
    this_cpu()->arch.timer_deadline = ~0ull;
    step_towards(~0ull);
}

void arch_timer_set(uint64_t deadline)
{
    this_cpu()->arch.timer_deadline = deadline;
    step_towards(deadline);
}

void clock_interrupt(void)
{
    struct arch_cpu *arch = &this_cpu()->arch;
    if (arch_clock() < arch->timer_deadline) {
        step_towards(arch->timer_deadline);
        return;
    }
    arch_timer_set(~0ull);
    handle_timer();
}

/* ---- the wall clock ------------------------------------------------------------------------------- */

/* 0 if the firmware has no clock. */
int64_t arch_wall_clock(void)
{
    enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, NANOSECOND, FIELDS };
    uint32_t t[FIELDS];
    if (rtas_call(RTAS_GET_TIME_OF_DAY, NULL, 0, t, FIELDS))
        return 0;
    return arch_date_seconds(&(struct arch_date){t[YEAR], t[MONTH], t[DAY], t[HOUR], t[MINUTE], t[SECOND]});
}
