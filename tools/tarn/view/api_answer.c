/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/api_answer.c - /api/answer: what the subcommands answer, of a range. /api/answers: which
 * there are.
 *
 * The walk begins at the checkpoint before the range; what was told before, which processes there are and
 * which program files they have, comes from the index.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/answer/answer.h>
#include <tools/tarn/symbols/symbols.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/walk.h>

#define ROWS_USUAL 100u

struct asker {
    struct walk_range range;
    struct reporter reporter;
    struct losses losses; /* in the range */
    const struct view *view;
    struct filter filter;
    struct symbols *symbols;
    struct answer *answer;
};

/* ---- losses -------------------------------------------------------------------------------------- */

/* The walk begins before the range: what was lost until then is not this answer's. */
static void take_report(struct reporter *reporter, const struct report *report)
{
    struct asker *asker = (struct asker *)((char *)reporter - offsetof(struct asker, reporter));
    bool is_loss = anomaly_kinds[report->anomaly].is_loss;

    if (!is_loss || (report->end >= asker->range.from && report->begin < asker->range.to))
        asker->losses.reporter.report(&asker->losses.reporter, report);
}

/* ---- the walk ------------------------------------------------------------------------------------ */

static bool begin(struct walk_range *range, struct model *model, struct fail *fail)
{
    struct asker *asker = (struct asker *)((char *)range - offsetof(struct asker, range));

    index_teach(&asker->view->index, model);
    return answers_open(&asker->answer, 1, model, &asker->filter, asker->symbols, fail);
}

static void finished(struct walk_range *range)
{
    struct asker *asker = (struct asker *)((char *)range - offsetof(struct asker, range));

    answers_finish(&asker->answer, 1);
}

static void set_filter(struct filter *filter, const struct request *request)
{
    filter->cpus = request_text(request, "cpu");
    filter->pids = request_text(request, "pid");
    filter->process = request_text(request, "process");
    filter->tids = request_text(request, "tid");
    filter->classes = request_text(request, "class");
    filter->events = request_text(request, "event");
}

static bool set_options(struct answer *answer, const struct request *request, struct fail *fail)
{
    for (const struct answer_option *option = answer->kind->options; option != NULL && option->name != NULL;
         option++) {
        const char *value = request_text(request, option->name);

        if (value != NULL && !answer_set(answer, option->name, option->has_argument ? value : NULL, fail))
            return false;
    }
    return answer_choose_tables(answer, request_text(request, "by"), fail);
}

static bool ask(struct asker *asker, const struct request *request, struct fail *fail)
{
    const struct trace *trace = &asker->view->trace;
    bool fine;

    set_filter(&asker->filter, request);
    if (!filter_resolve(&asker->filter, trace, fail))
        return false;
    asker->filter.from_ticks = asker->range.from;
    asker->filter.to_ticks = asker->range.to > 0 ? asker->range.to - 1 : 0;
    fine = set_options(asker->answer, request, fail) &&
           walk_range(&asker->range, trace, &asker->view->index, fail) &&
           (request_text(request, "sort") == NULL ||
            answer_sort(asker->answer, request_text(request, "sort"),
                        request_text(request, "reverse") != NULL, fail));
    filter_free(&asker->filter);
    return fine;
}

bool api_with_answer(const struct view *view, const struct request *request, struct answer *answer,
                     api_teller *tell, void *context, struct fail *fail)
{
    struct asker asker = {.range = {.reporter = &asker.reporter, .begin = begin, .finished = finished},
                          .reporter = {take_report},
                          .view = view,
                          .answer = answer};
    struct range range;
    bool fine;

    if (!request_range(view, request, &range, fail))
        return false;
    asker.range.from = range.from_ticks;
    asker.range.to = range.to_ticks;
    losses_open(&asker.losses, &view->trace);
    asker.losses.quiet = true;
    asker.symbols = symbols_open(view->trace.directory, NULL);
    fine = ask(&asker, request, fail) && tell(answer, &asker.losses, context, fail);
    symbols_close(asker.symbols);
    return fine;
}

struct answer_out {
    struct json *json;
    uint64_t top;
};

static bool add_answer(struct answer *answer, const struct losses *losses, void *context, struct fail *fail)
{
    struct answer_out *out = context;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    answer_print(stream, answer, ANSWER_JSON, out->top, losses);
    fclose(stream);
    while (size > 0 && text[size - 1] == '\n')
        size--;
    json_key(out->json, "answer");
    json_raw(out->json, text, size);
    free(text);
    return true;
}

bool api_answer_range(struct view *view, const struct request *request, struct json *json, struct fail *fail)
{
    const char *name = request_text(request, "name");
    const struct answer_kind *kind = name != NULL ? answer_find(name) : NULL;
    struct answer_out out = {.json = json, .top = ROWS_USUAL};
    struct answer *answer;
    bool fine;

    if (kind == NULL)
        return fail_set(fail, "name is none of those that /api/answers tells");
    if (!request_number(request, "top", &out.top, UINT32_MAX, fail))
        return false;
    if (out.top == 0)
        out.top = UINT64_MAX;
    answer = answer_new(kind);
    fine = api_with_answer(view, request, answer, add_answer, &out, fail);
    answer_free(answer);
    return fine;
}

/* ---- which there are ----------------------------------------------------------------------------- */

static void add_tables(const struct answer_kind *kind, struct json *json)
{
    json_key(json, "tables");
    json_open(json, '[');
    for (unsigned i = 0; i < kind->table_count; i++) {
        json_open(json, '{');
        json_key_text(json, "key", kind->tables[i].key);
        json_key_text(json, "heading", kind->tables[i].heading);
        json_key(json, "extra");
        json_bool(json, kind->tables[i].is_extra);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_options(const struct answer_kind *kind, struct json *json)
{
    json_key(json, "options");
    json_open(json, '[');
    for (const struct answer_option *option = kind->options; option != NULL && option->name != NULL;
         option++) {
        json_open(json, '{');
        json_key_text(json, "name", option->name);
        json_key(json, "argument");
        json_bool(json, option->has_argument);
        json_key_text(json, "help", option->help);
        json_close(json, '}');
    }
    json_close(json, ']');
}

bool api_answers(struct view *view, const struct request *request, struct json *json, struct fail *fail)
{
    json_key(json, "answers");
    json_open(json, '[');
    for (size_t i = 0; answer_kinds[i] != NULL; i++) {
        json_open(json, '{');
        json_key_text(json, "name", answer_kinds[i]->name);
        json_key_text(json, "summary", answer_kinds[i]->summary);
        add_tables(answer_kinds[i], json);
        add_options(answer_kinds[i], json);
        json_close(json, '}');
    }
    json_close(json, ']');
    return true;
}
