/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/guest_memory.h - a guest's memory, read in its emulator. */
#ifndef TARN_GOTO_GUEST_MEMORY_H
#define TARN_GOTO_GUEST_MEMORY_H

#include <sys/types.h>
#include <tools/tarn/source/memory.h>

/* Process PID has it at BASE, from end to end. Places are bytes behind that. NULL: fail. */
struct memory *guest_memory_open(pid_t pid, uint64_t base, uint64_t bytes, struct fail *fail);

#endif
