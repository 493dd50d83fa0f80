/* tests/unit/trace/path_probe_tested.c - the same call sites with a mask test in place of the site. */
#ifndef TRACE_TESTED
#define TRACE_TESTED
#endif
#include "path_probe.c"
