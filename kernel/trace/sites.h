/* SPDX-License-Identifier: BSD-2-Clause */
/* sites.h - the trace points of programs, which the kernel switches on and off; see sites.c. */
#ifndef TRACE_SITES_H
#define TRACE_SITES_H

#include <stdint.h>

struct space;
struct program_sites;

/* Registers the table of struct trace_site at an address of the space, for the memory object that is mapped
 * at `text`. If that has a table already, it keeps it, and the new one is not read. 0, -E_BAD_ARGUMENT,
 * -E_BAD_TYPE, -E_NO_MEMORY: nothing was changed. Hold no lock. */
int trace_sites_register(struct space *space, uint64_t text, uint64_t table, uint64_t size);
/* Its memory object ends, with its frames still there. Hold no lock. */
void trace_sites_forget(struct program_sites *sites);

#endif
