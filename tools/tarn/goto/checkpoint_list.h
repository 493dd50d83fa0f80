/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/checkpoint_list.h - the directory of a recipe's checkpoints, and their list in it; see
 * checkpoint.h.
 *
 * The directory is locked while the list is read or changed. A new list replaces the old one atomically, so
 * the old one stays if the disk is full. Meanwhile no file of the directory itself is deleted or renamed,
 * which would end the checkpoints.
 */
#ifndef TARN_GOTO_CHECKPOINT_LIST_H
#define TARN_GOTO_CHECKPOINT_LIST_H

#include <tools/tarn/goto/checkpoint.h>

#define CHECKPOINT_FIRST_SPACING 0.25 /* seconds of the emulator's processor time */

/* Sets the path of a recipe's directory, and its hash. */
void checkpoint_list_name(struct checkpoints *set, const struct recipe *recipe);
/* Opens and locks the directory; creates it if needed. The caller closes it. -1: FAIL. */
int checkpoint_list_open(const struct checkpoints *set, struct fail *fail);
/* Reads the checkpoints that have not ended. False: the list is damaged or of another run; SET is empty. */
bool checkpoint_list_read(struct checkpoints *set, int directory, struct fail *fail);
bool checkpoint_list_write(const struct checkpoints *set, int directory, struct fail *fail);
/* Removes list and directory. This ends all its checkpoints, including any that are not in the list. */
void checkpoint_list_remove(const struct checkpoints *set, int directory);

#endif
