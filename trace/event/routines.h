/*
 * trace/event/routines.h - whether routines of programs are counted in tables (trace/format/routine.h), at
 * the price of a trace point. For programs; class_number is a constant.
 */
#pragma once

#include <trace/ring/ring.h>

/* Level 2 (all programs), read from the info page. */
static inline bool routines_are_counted(void)
{
    return arch_trace_info()->routines > 1;
}

#ifdef TRACE_TESTED
#define ALL_ROUTINES_OR(class_number) (routines_are_counted() || arch_trace_enabled(class_number))
#define ALL_ROUTINES_ON()             routines_are_counted()
#define DECLARED_ROUTINES_ON()        (arch_trace_info()->routines != 0)
#else
/* Level 2, or the class is on. */
#define ALL_ROUTINES_OR(class_number) arch_trace_site(TRACE_ID(class_number, TRACE_SITE_OR_ALL_ROUTINES))
/* Level 2. */
#define ALL_ROUTINES_ON()             arch_trace_site(TRACE_ID(0, TRACE_SITE_ALL_ROUTINES))
/* Level 1: routines that programs declare. */
#define DECLARED_ROUTINES_ON()        arch_trace_site(TRACE_ID(0, TRACE_SITE_ROUTINES))
#endif
