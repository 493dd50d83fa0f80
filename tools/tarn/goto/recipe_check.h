/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/recipe_check.h - can a run be started again? */
#ifndef TARN_GOTO_RECIPE_CHECK_H
#define TARN_GOTO_RECIPE_CHECK_H

#include <tools/tarn/command/recipe.h>

/* Are kernel, archive and emulator still what they were? False: fail says what differs, and what to do. */
bool recipe_check(const struct recipe *recipe, struct fail *fail);

#endif
