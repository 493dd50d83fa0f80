/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/boot_ring.h - where a kernel has the ring that its boot processor logs into at first. */
#ifndef TARN_GOTO_BOOT_RING_H
#define TARN_GOTO_BOOT_RING_H

#include <stdint.h>

/* How many bytes behind the info page, both in the image of the kernel in file PATH; 0: it does not tell. */
uint64_t boot_ring_behind_info(const char *path);

#endif
