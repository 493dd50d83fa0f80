/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/source/recipe_copy.h - takes the recipe of a run (tools/recipe.py) along with its trace.
 */
#ifndef TARN_RECIPE_COPY_H
#define TARN_RECIPE_COPY_H

#include <tools/tarn/tarn.h>

/* If SOURCE reads memory from a file and FILE.recipe lies beside it, that becomes TRACE_RECIPE_NAME in the
 * directory. False: it is there and cannot be copied; fail says why. */
bool copy_recipe(const char *source, int directory_fd, struct fail *fail);

#endif
