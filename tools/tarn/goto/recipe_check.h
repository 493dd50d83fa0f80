/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/recipe_check.h - checks whether a run can be repeated. */
#ifndef TARN_GOTO_RECIPE_CHECK_H
#define TARN_GOTO_RECIPE_CHECK_H

#include <tools/tarn/command/recipe.h>

/* Whether kernel, archive and emulator are unchanged. False: FAIL says what differs, and what to do. */
bool recipe_check(const struct recipe *recipe, struct fail *fail);

#endif
