/*
 * kernel/explore/explore_point.h - between explore_runtime.c, which the compiler calls, and explore.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tarn/explore.h>

/* An atomic access, before it stores and after it has loaded, or a fence. order: __ATOMIC_... */
enum explore_order { EXPLORE_STORES, EXPLORE_LOADED, EXPLORE_FENCE };
void explore_point_order(enum explore_order kind, const volatile void *word, int order);

/* A finding was reported: `stop` ends the run. */
void explore_found(void);

/* explore_kill.c, at timer interrupts. */
struct space;
void explore_program_starts(uint32_t pid);
bool explore_is_spared(const struct space *space); /* it is never killed */
bool explore_may_kill(void);
void explore_kill(uint64_t random);
void explore_follow(uint64_t now);                   /* programs of threads that were killed */
uint64_t explore_follow_deadline(uint64_t deadline); /* ticks: that one, or an earlier one */
int64_t explore_settle(void);                        /* what EXPLORE_SETTLE returns (tarn/explore.h) */

/* Before and after an atomic operation, excluding those of other CPUs. false: do not call the others. */
bool explore_point_begin(void);
void explore_point_stored(const volatile void *word, uint64_t before, uint64_t after);
/* The value that a load returns: `now`, the newest, or an older one. */
uint64_t explore_point_value(const volatile void *word, uint64_t now, int order);

#define EXPLORE_KNOWN_CPUS 16u /* machines with more are not checked */

/* explore_race.c; cpu: this one. A CPU must not interrupt itself with them. */
/* A CPU that waits here lets the others run. Nothing is perturbed between enter and leave, and code that
 * interrupts a CPU there does not enter. */
void explore_enter(void);
void explore_leave(void);
/* True: another CPU has accessed the same bytes, and one of both writes. */
bool explore_access(uint32_t cpu, uint64_t address, uint64_t size, uint32_t flags, uint64_t place);
void explore_order(enum explore_order kind, uint32_t cpu, uint64_t address, int order);
const char *explore_access_name(uint32_t flags);

/* Between enter and leave; cpu: this one. */
void explore_note_store(uint32_t cpu, uint64_t address, uint64_t before, uint64_t after);
void explore_note_newest(uint32_t cpu, uint64_t address); /* it has read the newest value */
/* The value before the last store, if a load may return that; else `now`, the newest. */
uint64_t explore_older(uint32_t cpu, uint64_t address, uint64_t now);

void explore_idles_wrongly(uint32_t cpu); /* explore_idle.c: an older value may be why */
