/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/control/control.h - the kernel's authority over the trace: set-up, masks, modes, rings, metadata.
 *
 * The kernel calls, in this order: trace_boot_init (first C statement: all classes are on),
 * trace_boot_options (the command line is known), trace_previous_find (no frame is given out
 * yet), trace_set_clock
 * (rate known), trace_init (frames and mappings work, other processors do not run yet), then per processor
 * trace_heartbeat from its timer. Programs come in through the trace_* system calls (control.c, registry.c).
 *
 * One lock, `trace_lock`, covers geometry, mode, masks and the registry. It is taken with nothing held;
 * frames may be had and events logged under it, nothing else is locked. Logging itself takes no lock
 * anywhere. The statedump runs without it, under the list locks of what it walks.
 *
 * Files: boot.c (info page, first ring), rings.c (rings and geometry), store.c (where they lie), previous.c
 * (the trace of the system before), sums.c (checksums of packets), control.c (system calls), heartbeat.c
 * (gaps, repair), registry.c and schema_check.c (applications' schemas, metadata), statedump.c, newest.c and
 * dump.c (the newest events, and printing them).
 */
#ifndef TRACE_CONTROL_H
#define TRACE_CONTROL_H

#include <arch/mmu.h>
#include <kernel/lock.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace/format/layout.h>
#include <trace/format/store.h>
#include <trace/ring/read.h>

/* ---- what the kernel calls ------------------------------------------------------------------------ */

void trace_boot_init(void);
void trace_boot_options(void);
/* Looks for the trace of the system before; no frame is given out yet. */
void trace_previous_find(void);
/* For frame_allocator_init: frames that the trace has, from the system before or for its store. */
bool trace_kept_range(uint32_t index, paddr_t *base, uint64_t *size);
void trace_init(void);
struct arch_clock_rate;
void trace_set_clock(const struct arch_clock_rate *rate, int64_t wall_ns_at_tick_0);
/* On each processor, when its deadline has come: bounds the gap between events, looks for damage. The next
 * deadline, in ticks. */
uint64_t trace_heartbeat(uint64_t now);
/* What a thread block's `window` must hold while its thread runs on this processor. */
static inline uint64_t trace_user_window(uint32_t cpu);
/* Prints the last `count` events of the processors with a bit in `cpus`, merged, behind a line that says how
 * many there are. Of all: nothing is traced meanwhile. Takes no lock; while another processor does that, only
 * a panic is served. print: printf; a line each. */
typedef void trace_print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define TRACE_ALL_CPUS (~0ull)
void trace_dump_newest(uint64_t cpus, uint32_t count, trace_print_line *print);
void trace_stop(void);      /* nothing is logged from now on */
void trace_statedump(void); /* logs what exists; no locks held */
/* For who finds the trace after the end: enum trace_store_end, and why in one line. Takes no lock. */
void trace_store_end(uint32_t end, const char *reason);

/* ---- inside trace/control ------------------------------------------------------------------------- */

extern struct trace_info trace_info_page;
extern struct spinlock trace_lock;

#define TRACE_BOOT_BUFFERS 4u

/* rings.c; trace_lock held. Sizes were checked. 0, -E_NO_MEMORY. */
int trace_set_geometry(uint64_t buffer_bytes, uint64_t buffer_count);
bool trace_geometry_is_valid(uint64_t buffer_bytes, uint64_t buffer_count);
void trace_clear(void);
char *trace_window(uint32_t cpu); /* the kernel's address; works before trace_init, too */
struct trace_reader trace_reader_of(uint32_t cpu);

/* The first 16 bytes of a build-id as numbers whose hexadecimal digits are the bytes in order. */
static inline void trace_build_id(const uint8_t bytes[16], uint64_t halves[2])
{
    for (unsigned i = 0; i < 16; i++)
        halves[i / 8] = halves[i / 8] << 8 | bytes[i];
}

/* registry.c: the system's part of the metadata; memory for all. Clock and processors are known. */
void trace_metadata_init(void);

/* registry.c: a space that ends holds no classes of applications any more. */
struct space;
void trace_leave_classes(struct space *space);
/* registry.c: gives back the classes that nobody holds. Under trace_lock, while the rings start over. */
void trace_forget_classes(void);

/* registry.c: applications' events. Takes no lock, and is for one processor while the others stand still. */
struct trace_app_schemas;
const struct trace_app_schemas *trace_app_schemas(void);

/* store.c, format/store.h: where the trace lies, for readers from outside and for the next kernel. Without a
 * place for a store all this does nothing. */
void trace_store_find_places(void);        /* boot_info is complete */
paddr_t trace_store_place(uint32_t index); /* physical; 0: there is none. TRACE_STORE_BYTES_MAX each */
paddr_t trace_store_zone(void);            /* where memory of the trace is best */
bool trace_range_is_reserved(paddr_t base, uint64_t size); /* at boot */
/* A store without extents, that nobody can find yet; not at `taken`, with another id than `other_id`. */
void trace_store_init(paddr_t taken, uint64_t other_id);
void trace_store_publish(void); /* now it can be found */
uint64_t trace_store_boot_id(void);
/* trace_lock held, but while booting. */
void trace_store_refresh(void);  /* the info page has changed */
bool trace_store_has_room(void); /* for another extent */
void trace_store_add_window(uint32_t cpu, uint64_t offset, paddr_t physical, uint64_t bytes);
void trace_store_set_metadata(paddr_t physical, uint64_t bytes); /* one block that stays; it gets longer */
/* Of the store of the system before. */
void trace_store_set_kept(struct trace_store *old, struct trace_store_kept kept);
void trace_store_grow_old(struct trace_store *old);

/* sums.c: checksums of packets (format/sum.h). Of a ring's newest that have none, up to so many bytes; on the
 * ring's processor, or when nobody else runs. */
void trace_sum_ring(uint32_t cpu, uint64_t bytes_most);
/* Compares those of the system before, and strikes out what is damaged. Nobody else looks at them yet. */
struct trace_store_kept trace_sums_verify(const struct trace_store *store);

/* previous.c: the trace of the system before. While booting, after trace_previous_find: keep (frames can be
 * had), grow_old (the present system's store is published). */
void trace_previous_keep(void);
void trace_previous_grow_old(void);
paddr_t trace_previous_place(uint64_t *boot_id); /* of its store; 0: there is none */
int trace_previous_drop(uint32_t why);           /* trace.ev: dropped_because. Nothing held; -E_NOT_FOUND */
void trace_previous_drop_if_scarce(void);        /* nothing held */

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
