/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/recipe_check.c - is what a recipe names still what it was? See recipe_check.h. */
#include <limits.h>
#include <string.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/recipe_check.h>

static bool check_file(const char *what, const struct recipe_file *file, struct fail *fail)
{
    char *words[] = {"sha256sum", "--", (char *)file->path, NULL}, line[PATH_MAX + 80];

    if (!child_first_line(words, line, sizeof(line)))
        return fail_set(fail, "the run's %s, %.300s, cannot be read; build it again", what, file->path);
    size_t skip = line[0] == '\\'; /* of an odd name */
    if (strncmp(line + skip, file->sha256, 64) == 0)
        return true;
    return fail_set(fail,
                    "%.200s is not the %s of the run: its SHA-256 begins with %.16s, the run's with %.16s. "
                    "Build the version that ran (make ARCH=...), or run again with this one",
                    file->path, what, line + skip, file->sha256);
}

bool recipe_check(const struct recipe *recipe, struct fail *fail)
{
    char *words[] = {(char *)recipe->command[0], "--version", NULL}, line[200];

    if (!check_file("kernel", &recipe->kernel, fail) || !check_file("archive", &recipe->archive, fail))
        return false;
    if (!child_first_line(words, line, sizeof(line)))
        return fail_set(fail, "cannot run %s; `make deps` installs it", recipe->command[0]);
    if (strcmp(line, recipe->emulator) == 0)
        return true;
    return fail_set(fail,
                    "the emulator is '%s', the run's was '%s': install that one, or run again with this one",
                    line, recipe->emulator);
}
