/* SPDX-License-Identifier: BSD-2-Clause */
/* recipe_copy.c - copies FILE.recipe into the trace; see recipe_copy.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/output.h>
#include <tools/tarn/read/read.h>
#include <tools/tarn/source/recipe_copy.h>

/* NULL: SOURCE names no file. */
static const char *file_of(const char *source)
{
    static const char *const schemes[] = {"ram:", "core:"};

    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
        if (strncmp(source, schemes[i], strlen(schemes[i])) == 0)
            return source + strlen(schemes[i]);
    return NULL;
}

bool copy_recipe(const char *source, int directory_fd, struct fail *fail)
{
    char path[4096], *text;
    const char *file = file_of(source);
    size_t size;

    if (file == NULL)
        return true;
    snprintf(path, sizeof(path), "%s.recipe", file);
    text = file_read(AT_FDCWD, path, TRACE_RECIPE_BYTES_MAX, &size);
    if (text == NULL)
        return errno == ENOENT || fail_set(fail, "%s: %s", path, strerror(errno));
    bool ok = output_write_file(directory_fd, TRACE_RECIPE_NAME, text, size) ||
              fail_set(fail, "cannot copy %s into the trace: %s", path, strerror(errno));
    free(text);
    return ok;
}
