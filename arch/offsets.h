/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/offsets.h - C structures as assembly sees them. The build compiles arch/ARCH/offsets.c to assembly
 * text, never links it, and turns the lines that start with -> into #defines of
 * build/ARCH/kernel/gen/offsets.h.
 */
#ifndef ARCH_OFFSETS_H
#define ARCH_OFFSETS_H

#include <stddef.h>

#define DEFINE(name, value) __asm__ volatile("\n-> " #name " %c0" ::"i"(value))

void offsets(void); /* all that it contains is DEFINEs */

#endif
