/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/explore_point.h - between explore_runtime.c, which the compiler calls, and explore.c.
 */
#ifndef KERNEL_EXPLORE_POINT_H
#define KERNEL_EXPLORE_POINT_H

#include <stdbool.h>
#include <stdint.h>

enum explore_access { EXPLORE_READ = 0, EXPLORE_WRITE = 1, EXPLORE_ATOMIC = 2 };

#define EXPLORE_TEXT_MAX (2u << 20) /* bytes of the exploring kernel's code, at most */

extern bool explore_on; /* false: before the first program, and when the machine ends */
extern uint8_t explore_covered[EXPLORE_TEXT_MAX];

/* This processor is about to access memory. place: the return address of the compiler's call. */
void explore_point(uint64_t address, uint64_t size, uint32_t flags, uint64_t place);

#endif
