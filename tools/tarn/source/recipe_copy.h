/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recipe_copy.h - copies the recipe of a deterministic run (tools/recipe.py) into its trace.
 */
#ifndef TARN_RECIPE_COPY_H
#define TARN_RECIPE_COPY_H

#include <tools/tarn/tarn.h>

/* If SOURCE reads memory from a file and FILE.recipe exists, copies it as TRACE_RECIPE_NAME into the
 * directory. False: it exists but cannot be copied; FAIL says why. */
bool copy_recipe(const char *source, int directory_fd, struct fail *fail);

#endif
