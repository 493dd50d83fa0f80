/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/command/recipe.h - the recipe of a run that repeats itself: what decided it.
 *
 * tools/recipe.py writes it, `tarn pull` puts it into the trace's directory (TRACE_RECIPE_NAME). The trace's
 * environment says the same in short: so a recipe that belongs to another trace is noticed.
 */
#ifndef TARN_RECIPE_H
#define TARN_RECIPE_H

#include <tools/tarn/read/schema.h>

struct recipe {
    uint64_t version, seed, processors;
    const char *arch, *memory, *options, *emulator; /* emulator: its name and version, as it tells them */
    struct recipe_file {
        const char *path, *sha256;
    } kernel, archive;
    const char **command; /* starts the emulator, but for consoles and the memory's file; NULL at the end */
    size_t command_count;
    struct arena arena; /* what all that lies in */
};

/* Of the trace in DIRECTORY. False: fail says why. To be freed in either case. */
bool recipe_read(struct recipe *recipe, const char *directory, struct fail *fail);
void recipe_free(struct recipe *recipe);

/* What the file in the trace's directory is worth. DIFFERS: it cannot be read, or is of another run; `why`
 * says more. */
enum recipe_state { RECIPE_NONE, RECIPE_AGREES, RECIPE_DIFFERS };
enum recipe_state recipe_judge(const char *directory, const struct schema *schema, struct fail *why);
extern const char *const recipe_states[];

#endif
