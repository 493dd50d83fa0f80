/* SPDX-License-Identifier: BSD-2-Clause */
/* show.h - prints profiles of routines as a table, for utilities: libtarnprof. */
#ifndef TARNPROF_SHOW_H
#define TARNPROF_SHOW_H

#include <user/tarnprof/tarnprof.h>

/* Prints on standard output whose time it was, the routines with the most exclusive time first, at most
 * `lines` of them. Sorts the sum's rows. */
void tarnprof_show(struct tarnprof_sum *sum, uint32_t lines);

#endif
