/*
 * watchdog.h - detects CPUs that no longer take timer interrupts.
 *
 * Each CPU takes a few timer interrupts a second, even when idle (trace_heartbeat), and checks its
 * neighbour in each. A neighbour that has taken none for `watchdog=SECONDS` is a suspect. It gets several
 * progress checks (arch_request_progress), with time in between to take a pending timer interrupt:
 *
 *   - no reply: the host is not running this vCPU. Report it; do nothing else.
 *   - replies, takes the timer interrupt: the vCPU lost time. Not a hang.
 *   - replies, never takes it: a hang. Send an NMI (arch_break_in; it could harm a vCPU that is not
 *     running), print registers and call chain, then do what `watchdog.action` says.
 *
 * Time spent in the debugger, or while the machine was stopped from outside, does not count. A CPU that
 * spins with interrupts off, for a lock or another CPU, also looks hung. It checks its own neighbour while
 * it spins, and is blamed only if no other CPU can be the cause. If all CPUs hang, nothing is detected:
 * send an NMI from outside (QMP inject-nmi, see handle_nmi).
 *
 * `watchdog.run=` limits the whole run: a test that hangs while all CPUs take interrupts panics.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void watchdog_init(void); /* reads boot options; before there is a second CPU */
/* From the timer interrupt, a few times a second on every CPU. May enter the debugger or panic. */
void watchdog_beat(uint64_t now);

/* For tests and demonstrations: `cpus` hang with interrupts off, from their next timer interrupt on; 0:
 * this CPU, at once. MACHINE_HANG_NOTICED: until the watchdog has handled all of them, or a debugger
 * session ends. */
void watchdog_hang(uint64_t cpus, uint64_t milliseconds);
