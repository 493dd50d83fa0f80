/*
 * kernel/trace/control.h - the kernel's control of the trace: set-up, masks, modes, rings, metadata.
 *
 * Programs use the trace_* system calls (syscall/trace_control.c, registry.c).
 *
 * One lock, `trace_lock`, covers geometry, mode, masks and the registry. Its holder takes it with no other
 * lock held, may allocate frames and log events, and takes no other lock but that of sites.c. Logging itself
 * takes no lock. The statedump runs without it, under the locks of the lists that it walks.
 */
#pragma once

#include <arch/mmu.h>
#include <kernel/cpu/lock.h>
#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>
#include <trace/format/descriptor.h>
#include <trace/format/layout.h>
#include <trace/format/store.h>
#include <trace/format/text.h>
#include <trace/print/commands.h>
#include <trace/print/merge.h>
#include <trace/ring/read.h>

/* ---- what the kernel calls ------------------------------------------------------------------------ */

/* In this order: */
void trace_boot_init(void);     /* the first C statement: all classes are on */
void trace_boot_options(void);  /* when the command line is known */
void trace_previous_find(void); /* before any frame is allocated */
struct arch_clock_rate;
void trace_set_clock(const struct arch_clock_rate *rate, int64_t wall_ns_at_tick_0);
void trace_init(void);              /* when frames and mappings work and no other CPU runs */
void trace_boot_options_late(void); /* when this CPU has its thread, before the others run */

/* For frame_allocator_init: range `index` of frames that the trace owns, from the system before or for its
 * store. */
bool trace_kept_range(uint32_t index, paddr_t *base, uint64_t *size);
/* On each CPU, when its deadline has come: bounds the time between events, finds damage. Returns the next
 * deadline, in ticks. */
uint64_t trace_heartbeat(uint64_t now);
/* Prints the last `count` events of the CPUs with a bit in `cpus`, merged, after a line with their number.
 * CPUs may go on logging. Takes no lock: one CPU at a time, as the report's owner does (failure/panic.h).
 * `print`: as printf; one call per line. */
typedef void trace_print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define TRACE_ALL_CPUS (~0ull)
void trace_dump_newest(uint64_t cpus, uint32_t count, trace_print_line *print);
void trace_stop(void); /* nothing is logged from now on */
/* sites.c: makes the sites of trace points agree with mask and switches. After every change of these, with no
 * lock held but trace_lock. */
void trace_sites_agree(void);
/* sites.c: what else switches sites on: the watchers write these, and then call trace_sites_agree(). */
enum routines_level {
    ROUTINES_OFF = 0,
    ROUTINES_KERNEL = 1, /* routines of the kernel, and those that programs declare */
    ROUTINES_ALL = 2,    /* also POSIX calls, requests to servers, and allocation, in all programs */
};
extern enum routines_level routines_level;
extern bool counters_are_bound;
/* Spans are on for samples: before a window can open, and until the last one is closed. */
extern bool profile_watches;
/* sites.c, for the debugger, while the other CPUs are stopped: sets mask and switches. False: one of them is
 * switching sites. */
bool trace_switch_stopped(uint64_t mask, const uint64_t switches[TRACE_CLASS_COUNT]);
/* tables.c: a thread of this CPU has ended, or a heartbeat has come: frees rows of this CPU's tables of
 * counters if many are used. No lock may be held. */
extern bool trace_tables_in_use; /* counters are or were switched on */
void trace_tables_reclaim(bool is_heartbeat);
void trace_statedump(void); /* logs what exists; no locks held */
/* Records the end for a later reader: enum trace_store_end, and the reason in one line. Takes no lock. */
void trace_store_end(uint32_t end, const char *reason);

/* ---- inside kernel/trace ------------------------------------------------------------------------- */

extern struct trace_info trace_info_page;
extern struct spinlock trace_lock;

/* debug/trace.c: for trace_command_run on the kernel's own settings. */
struct trace_settings trace_kernel_settings(int64_t (*control)(uint32_t operation, uint64_t a, uint64_t b),
                                            trace_print_list *print);

/* resize.c. trace_lock held, sizes checked. 0; 1: call again, there is more to do; -E_NO_MEMORY; -E_BUSY:
 * other sizes are being set, or unread packets would be lost. */
int trace_set_geometry(uint64_t buffer_bytes, uint64_t buffer_count);
/* Whether sizes are being set: then indices and eras belong together only afterwards. trace_lock held. */
bool trace_is_resizing(void);
/* From the heartbeat: goes on with a change of sizes that its caller has left. */
void trace_resume_resize(uint64_t now);
bool trace_geometry_is_valid(uint64_t buffer_bytes, uint64_t buffer_count);
/* rings.c: each ring's buffers after the boot, of TRACE_BUFFER_BYTES_DEFAULT. Constant after trace_init. */
extern uint64_t trace_boot_buffers;
extern char trace_ring_refused[]; /* why rings do not have the boot option's size; "": they do */
void trace_clear(void);
/* How many of the ring's first `pages`, and of the slack behind them, have no memory yet. */
uint64_t trace_missing_pages(uint32_t cpu, uint64_t pages);
/* Provides at most `most` of them, in few pieces. Keeps pages that it got, also on failure. 0 or
 * -E_NO_MEMORY. */
int trace_extend_ring(uint32_t cpu, uint64_t pages, uint64_t most);
void trace_on_every_cpu(void (*function)(void *unused)); /* as smp_call_urgently, and here */
void trace_stop_own_ring(void *unused); /* of this CPU: its events are counted as discarded */
char *trace_ring(uint32_t cpu);         /* the kernel's address; also works before trace_init */
struct trace_reader trace_reader_of(uint32_t cpu);

/* The first 16 bytes of a build-id, or a UUID, as numbers whose hexadecimal digits are the bytes in order. */
static inline void trace_build_id(const uint8_t bytes[16], uint64_t halves[2])
{
    for (unsigned i = 0; i < 16; i++)
        halves[i / 8] = halves[i / 8] << 8 | bytes[i];
}

/* registry.c: creates the system's part of the metadata, and memory for all of it. Call when clock and CPUs
 * are known. */
void trace_metadata_init(void);

/* bench.c. Measures the cost of logging the event with that id: 0, or -E_NOT_FOUND: there is none, or this
 * kernel does not log it. No lock held, as for the next one. */
int64_t trace_bench(uint64_t id);
/* registry.c: adds the results to the metadata, behind earlier ones. -E_TOO_LARGE: no space. */
int64_t trace_add_costs(void);
void trace_bench_write(struct trace_text *text); /* the results as a part of the metadata; trace_lock held */

/* registry.c: frees classes without holders. trace_lock held, while the rings start over. */
void trace_forget_classes(void);

/* registry.c. trace_lock held, as for the next one. */
/* The info page's limit of the event with that id; NULL: no such event, or it is not declared so. */
uint32_t *trace_find_app_limit(uint32_t id, bool is_threshold);
/* Calls `call` for each event of which not all are logged. */
void trace_for_each_app_limit(void (*call)(uint32_t id, bool is_threshold, uint32_t limit));

/* registry.c: the schemas of applications. Takes no lock: call with trace_lock held, or on one CPU while the
 * others are stopped. */
struct trace_app_schemas;
const struct trace_app_schemas *trace_app_schemas(void);

/* store.c. Without a place for a store these functions do nothing. */
void trace_store_find_places(void);        /* call when boot_info is complete */
paddr_t trace_store_place(uint32_t index); /* physical; 0: none. TRACE_STORE_BYTES_MAX each. Other
                                            * memory of the trace follows the first, if it can */
/* Creates a store without extents that cannot be found yet; not at `taken`, with an id different from
 * `other_id`. */
void trace_store_init(paddr_t taken, uint64_t other_id);
void trace_store_publish(void); /* makes it findable */
/* trace_lock held, except while booting. */
void trace_store_refresh(void);   /* the info page has changed */
bool trace_store_has_space(void); /* for another extent */
void trace_store_add_ring(uint32_t cpu, uint64_t offset, paddr_t physical, uint64_t bytes);
void trace_store_set_metadata(uint32_t number, paddr_t physical,
                              uint64_t bytes); /* a block that stays; it may grow */

/* sums.c: computes checksums (format/sum.h) of a ring's newest packets that have none, up to `bytes_most`
 * bytes; on the ring's CPU, or when no other CPU runs. */
void trace_sum_ring(uint32_t cpu, uint64_t bytes_most);
/* Verifies the checksums of the system before, and removes damaged packets. Call before others read them. */
struct trace_store_kept trace_sums_verify(const struct trace_store *store);

/* previous.c: the trace of the system before. While booting, after trace_previous_find: keep it when
 * frames can be allocated, increment its age when the current system's store is published. */
void trace_previous_keep(void);
void trace_previous_increment_age(void);
paddr_t trace_previous_place(uint64_t *boot_id); /* 0: none */
/* why: trace.ev, dropped_because. No lock held; 0 or -E_NOT_FOUND */
int trace_previous_drop(uint32_t why);
void trace_previous_drop_if_scarce(void); /* no lock held */

/* sites.c, for a panic: switches the kernel's sites off. Takes no lock, and informs no other CPU. */
void trace_silence(void);

/* heartbeat.c: sets the table of a ring in which nothing logs; the copy that programs cannot change. */
void trace_set_eras(uint32_t cpu, const struct trace_eras *eras);
void trace_trusted_eras(uint32_t cpu, uint64_t geometry, struct trace_eras *eras);
/* Number of the packet that the next event goes to, as far as the control page is believed. */
uint64_t trace_trusted_head(uint32_t cpu);
/* heartbeat.c: the ring was set up again at `index`. */
void trace_expect_index(uint32_t cpu, uint64_t index);
/* That ring's index if it is plausible; else the last plausible one. */
uint64_t trace_trusted_index(uint32_t cpu);

/* ---- drain.c: the program that takes packets out of the rings, and the low-water mark at which it is woken
 * ---- */

/* Makes the current space's notification `slot` the drain's, signalled with these bits, the first time at
 * once. Without bits: removes the drain if the notification is its. The caller holds no lock. 0,
 * -E_BAD_ARGUMENT, or cap_get's error. */
int trace_set_drain(cap_t slot, uint64_t bits);
/* 0 or -E_BAD_ARGUMENT. The caller holds no lock. */
int trace_set_low_water(uint64_t percent);
/* Signals the drain, if there is one, to check the rings. The caller holds no lock. */
void trace_tell_drain(void);

/* Makes this CPU signal the drain soon, if its ring is at the mark. In any context, with any lock held. */
void trace_check_mark(void);
/* From the interrupt that trace_check_mark() causes. */
void trace_wake_drain(void);
/* From a heartbeat: releases the notification of a drain that has ended. */
void trace_forget_drain(void);

/* ---- newest.c: the newest events of some CPUs in order of time, read in place from the rings ------- */

/* For a kernel in a panic or in the debugger: takes no lock, allocates nothing. CPUs may still be logging; a
 * packet that they overwrite meanwhile appears to end early. */

/* Too large for a stack. */
struct trace_newest {
    struct trace_merge merge;
    struct {
        uint64_t number, head; /* packets still to be walked: from number to head */
        uint64_t first;
    } range[TRACE_CPUS_MAX];
};

/* Whether an event counts; called for each one in order. `info` NULL: an unknown type. */
typedef bool trace_event_filter(const struct trace_moment *moment, const struct trace_event_info *info);

/* Counts the events of the newest `packets` packets of each CPU with a bit in `cpus` that pass the filter
 * (NULL: all); the open packet counts. */
uint64_t trace_newest_count(struct trace_newest *newest, uint64_t cpus, uint64_t packets,
                            trace_event_filter *filter);
/* Prints those with a number in [first, end) of the same packets, one call of `print` each. The open packets
 * may have grown. */
void trace_newest_print(struct trace_newest *newest, uint64_t first, uint64_t end, trace_event_filter *filter,
                        trace_print_line *print);
