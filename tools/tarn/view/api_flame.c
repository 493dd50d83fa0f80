/* SPDX-License-Identifier: BSD-2-Clause */
/* api_flame.c - /api/flame?from=&to=: the profile of a range as a flame graph (image/svg+xml), as `tarn
 * profile
 * --flame` draws it, with the parameters of /api/analysis. */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/view/api.h>

static bool print_flame(struct analysis *analysis, const struct losses *losses, void *context,
                        struct fail *fail)
{
    struct json *json = context;
    char *text = NULL;
    size_t size = 0;
    bool is_all, ok;
    FILE *out;

    (void)losses;
    if (analysis->note[0] != '\0')
        return fail_set(fail, "%s", analysis->note);
    out = open_memstream(&text, &size);
    ok = analysis->kind->print(analysis, out, &is_all, fail);
    fclose(out);
    if (ok)
        buffer_add(&json->text, text, size);
    free(text);
    return ok;
}

bool api_flame(struct view *view, const struct request *request, struct json *json, struct fail *fail)
{
    struct analysis *analysis;
    bool ok;

    if (request_text(request, "flame") != NULL || request_text(request, "folded") != NULL)
        return fail_set(fail, "the picture cannot be written to a file here");
    analysis = analysis_new(analysis_find("profile"));
    ok = analysis_set(analysis, "flame", "-", fail) &&
         api_with_analysis(view, request, analysis, print_flame, json, fail);
    analysis_free(analysis);
    return ok;
}
