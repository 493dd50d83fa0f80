/* SPDX-License-Identifier: BSD-2-Clause */
/* measure.h - prints `bench:` lines about trace points in the kernel, if booted with measure=1. */
#ifndef KERNEL_MEASURE_H
#define KERNEL_MEASURE_H

void measure_trace_points(void); /* on the boot CPU, when tracing is set up */

#endif
