/* SPDX-License-Identifier: BSD-2-Clause */
/* api_flame.c - /api/flame: the profile of a range as a flame graph, in SVG. */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/answer/answer.h>
#include <tools/tarn/view/api.h>

static bool print_flame(struct answer *answer, const struct losses *losses, void *context, struct fail *fail)
{
    struct json *json = context;
    char *text = NULL;
    size_t size = 0;
    bool is_all, fine;
    FILE *out;

    (void)losses;
    if (answer->note[0] != '\0')
        return fail_set(fail, "%s", answer->note);
    out = open_memstream(&text, &size);
    fine = answer->kind->print(answer, out, &is_all, fail);
    fclose(out);
    if (fine)
        buffer_add(&json->text, text, size);
    free(text);
    return fine;
}

bool api_flame(struct view *view, const struct request *request, struct json *json, struct fail *fail)
{
    struct answer *answer;
    bool fine;

    if (request_text(request, "flame") != NULL || request_text(request, "folded") != NULL)
        return fail_set(fail, "the picture cannot be written to a file here");
    answer = answer_new(answer_find("profile"));
    fine = answer_set(answer, "flame", "-", fail) &&
           api_with_answer(view, request, answer, print_flame, json, fail);
    answer_free(answer);
    return fine;
}
