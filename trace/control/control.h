/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/control/control.h - the kernel's authority over the trace: set-up, masks, modes, rings, metadata.
 *
 * The kernel calls, in this order: trace_boot_init (first C statement: all classes are on),
 * trace_boot_options (the command line is known), trace_init (frames and mappings work, other processors do
 * not run yet), trace_set_clock (rate known), then per processor trace_heartbeat from its timer. Programs
 * come in through the trace_* system calls (control.c, registry.c).
 *
 * One lock, `trace_lock`, covers geometry, mode, masks and the registry. It is taken with nothing held;
 * frames may be had and events logged under it, nothing else is locked. Logging itself takes no lock
 * anywhere. The statedump runs without it, under the list locks of what it walks.
 *
 * Files: boot.c (info page, first ring), rings.c (rings and geometry), control.c (system calls), heartbeat.c
 * (gaps, repair), registry.c and schema_check.c (applications' schemas, metadata), statedump.c, dump.c.
 */
#ifndef TRACE_CONTROL_H
#define TRACE_CONTROL_H

#include <kernel/lock.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace/format/layout.h>
#include <trace/ring/read.h>

/* ---- what the kernel calls ------------------------------------------------------------------------ */

void trace_boot_init(void);
void trace_boot_options(void);
void trace_init(void);
void trace_set_clock(uint64_t hz, int64_t wall_ns_at_tick_0);
/* On each processor, when its deadline has come: bounds the gap between events, looks for damage. The next
 * deadline, in ticks. */
uint64_t trace_heartbeat(uint64_t now);
/* What a thread block's `window` must hold while its thread runs on this processor. */
static inline uint64_t trace_user_window(uint32_t cpu);
/* Prints the last `count` events of all processors, merged, to the raw console. For panic: takes no lock. */
void trace_dump_tail(uint32_t count);
void trace_statedump(void); /* logs what exists; no locks held */

/* ---- inside trace/control ------------------------------------------------------------------------- */

extern struct trace_info trace_info_page;
extern struct spinlock trace_lock;

#define TRACE_BOOT_BUFFERS 4u

/* boot.c: the ring that the boot processor starts with; its pages go into the window later. */
uint64_t trace_boot_control_frame(void);
uint64_t trace_boot_buffer_frame(uint64_t buffer, uint64_t page);

/* rings.c; trace_lock held. Sizes were checked. 0, -E_NO_MEMORY. */
int trace_set_geometry(uint64_t buffer_bytes, uint64_t buffer_count);
bool trace_geometry_is_valid(uint64_t buffer_bytes, uint64_t buffer_count);
void trace_clear(void);
char *trace_window(uint32_t cpu); /* the kernel's address; works before trace_init, too */
struct trace_reader trace_reader_of(uint32_t cpu);

/* heartbeat.c: forgets what it knew of a ring, because it was set up anew at `index`. */
void trace_expect_index(uint32_t cpu, uint64_t index);
/* The same ring's index, if it is plausible; else the last one that was. */
uint64_t trace_trusted_index(uint32_t cpu);

#include <tarn/abi.h>
static inline uint64_t trace_user_window(uint32_t cpu)
{
    return USER_TRACE_WINDOWS + ((uint64_t)cpu << TRACE_WINDOW_SHIFT);
}

#endif
