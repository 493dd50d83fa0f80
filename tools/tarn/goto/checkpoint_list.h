/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/checkpoint_list.h - the directory that the checkpoints of a recipe belong to, and the list
 * in it; see checkpoint.h.
 *
 * The directory is locked while the list is read or changed. A new list replaces the old one at once, so a
 * full disk leaves the old one. No file of the directory itself is deleted or renamed in between: that would
 * end the checkpoints.
 */
#ifndef TARN_GOTO_CHECKPOINT_LIST_H
#define TARN_GOTO_CHECKPOINT_LIST_H

#include <tools/tarn/goto/checkpoint.h>

#define CHECKPOINT_FIRST_SPACING 0.25 /* seconds of the emulator's processor time */

/* Sets the path of a recipe's directory, and its hash. */
void checkpoint_list_name(struct checkpoints *set, const struct recipe *recipe);
/* The directory, locked; it is made if there is none. The caller closes it. -1: FAIL. */
int checkpoint_list_open(const struct checkpoints *set, struct fail *fail);
/* Reads the checkpoints that have not ended. False: the list is damaged or of another run; SET has none then.
 */
bool checkpoint_list_read(struct checkpoints *set, int directory, struct fail *fail);
bool checkpoint_list_write(const struct checkpoints *set, int directory, struct fail *fail);
/* Removes list and directory: all checkpoints end that belong to it, also such as are not in the list. */
void checkpoint_list_remove(const struct checkpoints *set, int directory);

#endif
