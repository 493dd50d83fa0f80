/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/guest_memory.h - reads a guest's memory in its emulator. */
#ifndef TARN_GOTO_GUEST_MEMORY_H
#define TARN_GOTO_GUEST_MEMORY_H

#include <sys/types.h>
#include <tools/tarn/source/memory.h>

/* It is contiguous, at BASE in process PID. Places are offsets from there. NULL: FAIL. */
struct memory *guest_memory_open(pid_t pid, uint64_t base, uint64_t bytes, struct fail *fail);

#endif
