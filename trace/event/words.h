/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/event/words.h - the words that people use for classes, masks, modes and sizes. Kernel and programs.
 *
 * A mask is a list of words with commas: `all`, `none` or `off`, a number (0x6, 6), or the name of a class.
 * A word adds its classes; `-word` takes them away. A list whose first word has a sign (`+ipc`,
 * `-lock,-frame`) changes the mask there was; any other begins with nothing.
 */
#ifndef TRACE_EVENT_WORDS_H
#define TRACE_EVENT_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* Number of the class with this name, not NUL-terminated; negative: there is none. */
typedef int trace_find_class(const char *name, uint64_t length);
int trace_find_system_class(const char *name, uint64_t length);

/* Changes *mask. False: the word at *bad is none, and *mask is as before. */
bool trace_parse_mask(const char *text, trace_find_class *find_class, uint64_t *mask, const char **bad);

/* Decimal, or hexadecimal behind 0x; k or m at the end for 1024 or its square. False: none, or too large. */
bool trace_parse_number(const char *text, uint64_t length, uint64_t *number);

/* enum trace_mode, and its word. False: no such mode. */
bool trace_parse_mode(const char *text, uint32_t *mode);
const char *trace_mode_name(uint32_t mode);

#endif
