/* show.h - prints tables of routines, of kernel and programs: libtarnprof. */
#pragma once

#include <stdio.h>
#include <user/tarnprof/tarnprof.h>

/* Prints whose time it was, and the routines sorted by column `by` (NULL: exclusive time), at most `lines` of
 * them. Sorts the sum's rows. False: there is no such column. */
bool tarnprof_show(FILE *file, struct tarnprof_sum *sum, uint32_t lines, const char *by);
/* The same of the calling process, ended threads included. */
void tarnprof_show_own(FILE *file);
