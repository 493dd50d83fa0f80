/* arch/offsets.h - offsets of C structures for assembly. The build compiles arch/ARCH/offsets.c to assembly
 * text, never links it, and turns the lines that begin with -> into #defines in
 * build/ARCH/kernel/gen/offsets.h. */
#pragma once

#include <stddef.h>

#define DEFINE(name, value) __asm__ volatile("\n-> " #name " %c0" ::"i"(value))

void offsets(void); /* contains only DEFINEs */
