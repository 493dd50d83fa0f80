/*
 * arch/x86_64/mmu.h - the kernel's own tables, shared by mmu.c and boot_mmu.c.
 */
#pragma once

#include <arch/page_table.h>

extern uint64_t trace_rings_entry; /* top-level entry of the trace rings, for the kernel */
