/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/explore/explore_point.h - between explore_runtime.c, which the compiler calls, and explore.c.
 */
#ifndef KERNEL_EXPLORE_POINT_H
#define KERNEL_EXPLORE_POINT_H

#include <stdbool.h>
#include <stdint.h>
#include <tarn/explore.h>

/* For explore_program.c. */
bool explore_strategy_of(uint32_t pid, struct explore_strategy *strategy); /* false: nothing is explored */
int64_t explore_program_turn(bool hot); /* what EXPLORE_TURN returns (tarn/explore.h) */
int64_t explore_control(void);          /* what EXPLORE_CONTROL returns */
const char *explore_access_name(uint32_t flags);
void explore_cover_all(void); /* notes what living processes have executed */

/* An atomic access: before it stores, and after it has loaded. order: __ATOMIC_... */
void explore_point_stores(const volatile void *word, int order);
void explore_point_loaded(const volatile void *word, int order);
void explore_point_fence(int order);

/* Something was told: `stop` ends the run. */
void explore_found(void);

/* explore_kill.c, at timer interrupts. */
struct space;
void explore_program_starts(uint32_t pid);
bool explore_is_spared(const struct space *space); /* nothing is done to it */
bool explore_may_kill(void);
void explore_kill(uint64_t random);
void explore_follow(uint64_t now);                   /* programs of threads that were killed */
uint64_t explore_follow_deadline(uint64_t deadline); /* ticks: that one, or an earlier one */
int64_t explore_settle(void);                        /* what EXPLORE_SETTLE returns (tarn/explore.h) */

/* explore_race.c; cpu: this one. A CPU must not interrupt itself with them. */
/* True: another processor has accessed the same bytes, and one of both writes. */
bool explore_access(uint32_t cpu, uint64_t address, uint64_t size, uint32_t flags, uint64_t place);
void explore_release(uint32_t cpu, uint64_t address, int order);
void explore_acquire(uint32_t cpu, uint64_t address, int order);
void explore_fence(uint32_t cpu, int order);

#endif
