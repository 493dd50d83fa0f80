/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/watchdog.h - notices a processor that takes no timer interrupts any more, says where it is, and does
 * what the boot option says.
 *
 * Every processor has a timer interrupt a few times a second, idle ones too (trace_heartbeat). At each of
 * them it looks whether the next one in the ring of processors had its own. One that was silent for the boot
 * option's time is looked into: it is to prove that it executes (arch_nudge), several times, with time
 * between them to take the timer interrupt that it owes. An emulated processor that its host did not let run
 * takes it as soon as it can execute anything, and nothing was wrong but the time; one that hangs executes
 * and still takes none. Only that one is made to show where it is, by an interrupt that nothing masks, which
 * on some machines would not be harmless for the other (arch_break_in). One that never proves anything is
 * told of, and nothing else is done: nobody can know what is wrong with it.
 *
 * Time that stood still for whoever looks (a session of the debugger, a machine that was stopped from
 * outside) counts for nobody. Who waits for the silent one with interrupts off, for a lock or an answer,
 * looks around meanwhile as others do at their timer interrupts, and is itself told of only if nobody else
 * can be the cause. If all processors hang nobody notices: then an interrupt from outside that nothing masks
 * (QMP inject-nmi) is the way in, see handle_nmi.
 */
#ifndef KERNEL_WATCHDOG_H
#define KERNEL_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct kernel_regs;

void watchdog_init(void); /* reads boot options; before there is a second processor */
/* From the timer interrupt, a few times a second on every processor. May enter the debugger or panic. */
void watchdog_beat(uint64_t now);
/* At each turn of a loop in which a processor waits for another one with interrupts off. */
#define WATCHDOG_TURNS 256u
void watchdog_look(void);
static inline void watchdog_spin(uint64_t turns)
{
    if (turns % WATCHDOG_TURNS == 0)
        watchdog_look();
}
/* An interrupt that nothing masks came. True: this processor was to tell where it is, and has. */
bool watchdog_answer(const struct kernel_regs *regs);

/* For tests and demonstrations: the processors with a bit in `cpus` hang with interrupts off for so long
 * (MACHINE_HANG_NOTICED: until the watchdog is done with all of them, or a session of the debugger ends),
 * from their next timer interrupt on; none: this one, here. */
void watchdog_hang(uint64_t cpus, uint64_t milliseconds);

#endif
