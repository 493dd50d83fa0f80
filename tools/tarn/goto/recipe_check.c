/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/recipe_check.c - checks the files and the emulator of a recipe; see recipe_check.h. */
#include <limits.h>
#include <string.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/recipe_check.h>

#define WORDS_MAX 8u

static bool check_file(const char *what, const struct recipe_file *file, struct fail *fail)
{
    char *words[] = {"sha256sum", "--", (char *)file->path, NULL}, line[PATH_MAX + 80];

    if (!child_first_line(words, line, sizeof(line)))
        return fail_set(fail, "cannot read the run's %s, %.300s; build it again", what, file->path);
    size_t skip = line[0] == '\\'; /* sha256sum escapes the name */
    if (strncmp(line + skip, file->sha256, 64) == 0)
        return true;
    return fail_set(fail,
                    "%.200s is not the %s of the run: its SHA-256 begins with %.16s, the run's with %.16s. "
                    "Build the version that ran (make ARCH=...), or run again with this one",
                    file->path, what, line + skip, file->sha256);
}

/* The words before the command's first option start the emulator. */
bool recipe_check(const struct recipe *recipe, struct fail *fail)
{
    char *words[WORDS_MAX + 2] = {NULL}, line[200];
    size_t n = 0;

    if (!check_file("kernel", &recipe->kernel, fail) || !check_file("archive", &recipe->archive, fail) ||
        !check_file("library", &recipe->library, fail))
        return false;
    for (; n < WORDS_MAX && n < recipe->command_count && recipe->command[n][0] != '-'; n++)
        words[n] = (char *)recipe->command[n];
    const char *emulator = n > 0 ? words[n - 1] : "";
    words[n] = "--version";
    if (n == 0 || !child_first_line(words, line, sizeof(line)))
        return fail_set(fail, "cannot run '%s'; `make deps` installs it", emulator);
    if (strcmp(line, recipe->emulator) == 0)
        return true;
    return fail_set(fail,
                    "the emulator is '%s', the run's was '%s': install that one, or run again with this one",
                    line, recipe->emulator);
}
