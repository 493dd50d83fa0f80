/* SPDX-License-Identifier: BSD-2-Clause */
/* show.h - prints tables of routines, of kernel and programs: libtarnprof. */
#ifndef TARNPROF_SHOW_H
#define TARNPROF_SHOW_H

#include <stdio.h>
#include <user/tarnprof/tarnprof.h>

/* Prints on standard output whose time it was, the routines with the most exclusive time first, at most
 * `lines` of them. Sorts the sum's rows. */
void tarnprof_show(struct tarnprof_sum *sum, uint32_t lines);
/* Prints the routines of the programs, those with the most time of their own first, and below each the
 * routines of the kernel that were entered from it. Sorts the sum's rows. */
void tarnprof_show_merged(FILE *file, struct tarnprof_sum *sum);
/* The same of the calling process, ended threads included. */
void tarnprof_show_own(FILE *file);

#endif
