/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/boot_ring.h - where the kernel's executable has the ring that its boot CPU uses first. */
#ifndef TARN_GOTO_BOOT_RING_H
#define TARN_GOTO_BOOT_RING_H

#include <stdint.h>

/* Returns its distance in bytes from the info page, for the executable PATH; 0: that has no such symbols. */
uint64_t boot_ring_behind_info(const char *path);

#endif
