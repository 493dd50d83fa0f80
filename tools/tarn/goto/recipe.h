/*
 * recipe.h - the recipe of a deterministic run: everything that decides it.
 *
 * tools/recipe.py writes it; `tarn pull` copies it into the trace's directory (TRACE_RECIPE_NAME). The
 * trace's environment contains a summary, which reveals a recipe of another trace.
 */
#pragma once

#include <tools/tarn/read/schema.h>

struct recipe {
    uint64_t version, seed, processors;
    const char *arch, *memory, *options, *emulator; /* emulator: its name and version as it prints them */
    struct recipe_file {
        const char *path, *sha256;
    } kernel, archive, library; /* library: is loaded into the emulator */
    const char **command; /* starts the emulator, without consoles and the memory file; ends with NULL */
    size_t command_count;
    struct arena arena; /* holds all of the above */
};

/* Reads the recipe of the trace in DIRECTORY; on failure FAIL says why. Call recipe_free in either case. */
bool recipe_read(struct recipe *recipe, const char *directory, struct fail *fail);
void recipe_free(struct recipe *recipe);

/* Compares the recipe in the trace's directory with the trace. RECIPE_DIFFERS: it cannot be read or belongs
 * to another run; WHY says which. */
enum recipe_state { RECIPE_NONE, RECIPE_AGREES, RECIPE_DIFFERS };
enum recipe_state recipe_judge(const char *directory, const struct schema *schema, struct fail *why);

/* If SOURCE reads memory from a file and FILE.recipe exists, copies it as TRACE_RECIPE_NAME into the
 * directory. False: it exists but cannot be copied; FAIL says why. */
bool recipe_copy(const char *source, int directory_fd, struct fail *fail);
