/*
 * trace/print/words.h - words for classes, events, masks, modes and sizes. Kernel, programs, and `tarn`.
 *
 * A mask is a list of words separated by commas: `all`, `basic` (all classes that are not declared `detail`
 * in trace/schema), `none` or `off`, a number (0x6, 6), or the name of a class. A word adds its classes;
 * `-word` removes them. A list that begins with a sign (`+ipc`, `-lock,-frame`) changes the current mask; any
 * other starts with no class.
 *
 * Events are words separated by commas: CLASS.EVENT, CLASS for all of a class, or the name in a trace
 * (kmem_mm_page_alloc). In each, `*` stands for any letters: `sched.*queue`, `*.alloc`, `*`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/format/event_table.h>
#include <trace/format/format.h>
#include <trace/format/text.h>

/* Number of the class with this name, not NUL-terminated; negative: none. */
typedef int trace_find_class(const char *name, uint64_t length);
int trace_find_system_class(const char *name, uint64_t length);

/* Changes *mask. False: the word at *bad is invalid, and *mask is unchanged. */
bool trace_parse_mask(const char *text, trace_find_class *find_class, uint64_t *mask, const char **bad);

/* The event with this id, such as trace_event_find of the system's events; NULL: not declared. */
typedef const struct trace_event_info *trace_find_info(uint32_t id);

/* Switches the events with these names in `switches` (layout.h), and in whole classes also undeclared events.
 * Returns the number of declared ones. 0: no event has the name at *bad, and nothing is changed. */
uint32_t trace_switch_events(const char *names, trace_find_info *find, bool on,
                             uint64_t switches[TRACE_CLASS_COUNT], const char **bad);

#define TRACE_COUNTER_SLOTS 4u /* count0 to count3 of trace/schema/counter.ev */

/* 1 + number of the counter with this name, not NUL-terminated; 0: none. */
typedef uint32_t trace_find_counter(const void *context, const char *name, uint64_t length);

/* Packs the counters as TRACE_OP_BIND_COUNTERS takes them. False: the word at *bad is no counter, or there
 * twice, or one too many. */
bool trace_parse_counters(const char *text, trace_find_counter *find, const void *context, uint64_t *packed,
                          const char **bad);

/* Decimal, or hexadecimal after 0x; a final k or m multiplies by 1024 or its square. False: no number, or too
 * large. */
bool trace_parse_number(const char *text, uint64_t length, uint64_t *number);

/* A number with its unit: ns, us, ms or s. False: no duration, or too long. */
bool trace_parse_duration(const char *text, uint64_t length, uint64_t *ns);

/* enum trace_mode and its word. False: no such mode. */
bool trace_parse_mode(const char *text, uint32_t *mode);
const char *trace_mode_name(uint32_t mode);
