/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/step.h - executes single instructions on one CPU of a stopped guest, until a word of its
 * memory changes.
 *
 * The other CPUs stand still, and no time passes in the guest. So a CPU that halts never continues, and QEMU
 * never reports the end of its step. How long a step takes says nothing, because it depends on the load of
 * the host. So a step that takes long is interrupted, and QEMU is asked whether the CPU is halted.
 */
#ifndef TARN_GOTO_STEP_H
#define TARN_GOTO_STEP_H

#include <tools/tarn/goto/emulator.h>

enum step_end {
    STEP_STORED, /* the word has changed */
    STEP_NEVER,  /* the CPU is halted, or has executed more instructions than any event needs */
    STEP_FAILED, /* FAIL */
};

/* CPU: its number in the guest. PLACE: offset of a 64-bit word in the guest's memory. The guest is stopped
 * before and after, except after a failure. */
enum step_end step_until_stored(struct emulator *emulator, uint32_t cpu, uint64_t place, struct fail *fail);

#endif
