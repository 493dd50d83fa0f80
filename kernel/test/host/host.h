/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/test/host/host.h - the kernel's parts as a host program: RAM, CPUs, page tables, TAP.
 */
#ifndef KERNEL_TEST_HOST_H
#define KERNEL_TEST_HOST_H

#include <kernel/cpu.h>

void host_start(uint32_t processors); /* RAM, cpus[], boot_info; the caller becomes CPU 0 */
void host_become(uint32_t processor); /* this host thread is that CPU from now on */

extern uint64_t host_map_budget; /* so many calls of arch_map_page succeed */

void tap_check(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
int tap_finish(void); /* the plan; exit status */

#endif
