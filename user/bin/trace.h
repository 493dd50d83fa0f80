/* trace.h - what the files of the command `trace` share. Functions that return a number return an exit
 * status. */
#pragma once

#include <stdint.h>
#include <trace/event/previous.h>
#include <user/bin/trace_rings.h>

/* Commands, with their name as the first word. */
typedef int trace_run(int argc, char **argv);
trace_run bench_events; /* trace_bench.c */
trace_run show_counts;  /* trace_list.c */
trace_run show_tables;  /* trace_tables.c */
trace_run choose_study; /* trace_study.c */
trace_run run_shared;   /* trace.c: a command of trace/print/commands.h */

/* trace_list.c: print the newest `count` events of the classes in the mask, in order of time, of this boot or
 * of the previous one */
int print_last(uint64_t count, uint64_t classes);
int open_previous(void); /* prints how that boot ended; from then on events have the names of that boot */
int print_previous(uint64_t count, uint64_t classes);
