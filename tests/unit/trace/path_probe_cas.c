/* tests/unit/trace/path_probe_cas.c - the same call sites in the compare-and-swap discipline. */
#ifndef TRACE_CAS
#define TRACE_CAS
#endif
#include "path_probe.c"
