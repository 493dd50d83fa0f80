/* SPDX-License-Identifier: BSD-2-Clause */
/* host.h - runs parts of the kernel as a host program: RAM, CPUs, page tables, TAP. */
#ifndef KERNEL_TEST_HOST_H
#define KERNEL_TEST_HOST_H

#include <kernel/cpu/cpu.h>
#include <tests/tap.h>

void host_start(uint32_t processors); /* RAM, cpus[], boot_info; the caller becomes CPU 0 */
void host_become(uint32_t processor); /* from now on this host thread is that CPU */

extern uint64_t host_map_budget; /* number of arch_map_page calls that will succeed */

#endif
