/* SPDX-License-Identifier: BSD-2-Clause */
/* loader.h - loads the first program, init, from the boot archive. */
#ifndef KERNEL_LOADER_H
#define KERNEL_LOADER_H

/* Starts init: its space, sbin/init of the boot archive, its capabilities. Panics with advice if that
 * fails. On the boot CPU, once, after everything else is set up. */
void loader_start_init(void);

#endif
