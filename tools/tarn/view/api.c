/* SPDX-License-Identifier: BSD-2-Clause */
/* api.c - dispatches requests, and has what they share; see api.h. */
#include <errno.h>
#include <stdlib.h>
#include <tools/tarn/view/api.h>

#define CHANGES_SECONDS 20.0

static const struct {
    const char *path;
    api_function *analysis;
    /* takes the lock itself, if it needs it */
    bool takes_lock;
} analyses[] = {
    {"/api/trace", api_trace, false},     {"/api/list", api_list, false},
    {"/api/search", api_search, false},   {"/api/lanes", api_lanes, false},
    {"/api/rows", api_rows, false},       {"/api/marks", api_marks, false},
    {"/api/flags", api_flags, false},     {"/api/answer", api_analysis_range, true},
    {"/api/answers", api_analyses, true}, {"/api/progress", api_progress, true},
    {API_DEED, api_goto, false},
};

const char *request_text(const struct request *request, const char *key)
{
    for (unsigned i = 0; i < request->count; i++)
        if (strcmp(request->parameters[i].key, key) == 0)
            return request->parameters[i].value;
    return NULL;
}

bool request_number(const struct request *request, const char *key, uint64_t *number, uint64_t most,
                    struct fail *fail)
{
    const char *text = request_text(request, key);
    uint64_t value;
    char *end;

    if (text == NULL)
        return true;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value > most)
        return fail_set(fail, "%s is not a number, or too large", key);
    *number = value;
    return true;
}

bool request_range(const struct view *view, const struct request *request, struct range *range,
                   struct fail *fail)
{
    uint64_t duration = view_duration(view);

    range->from = 0;
    range->to = duration;
    if (!request_number(request, "from", &range->from, INT64_MAX, fail) ||
        !request_number(request, "to", &range->to, INT64_MAX, fail))
        return false;
    if (range->to > duration)
        range->to = duration;
    if (range->from > range->to)
        range->from = range->to;
    range->from_ticks = view_ticks(view, range->from);
    range->to_ticks = view_ticks(view, range->to);
    return true;
}

bool *request_set(const struct request *request, const char *key, uint32_t limit, bool all, uint32_t *found)
{
    const char *at = request_text(request, key);
    bool *set = alloc_zero((size_t)limit + 1, sizeof(bool));

    *found = 0;
    if (at == NULL && all) {
        memset(set, true, limit);
        *found = limit;
    }
    while (at != NULL && *at >= '0' && *at <= '9') {
        char *end;
        uint64_t first = strtoull(at, &end, 10), last = first;

        if (*end == '-')
            last = strtoull(end + 1, &end, 10);
        for (uint64_t i = first; i <= last && i < limit; i++) {
            *found += !set[i];
            set[i] = true;
        }
        at = *end == ',' ? end + 1 : end;
        if (at == end)
            break;
    }
    return set;
}

bool request_is_waiting(const struct request *request)
{
    return request->is_waiting == NULL || request->is_waiting(request);
}

static bool waits_for_news(const void *request)
{
    return request_is_waiting(request);
}

/* Waits without the lock. */
static unsigned analysis_changes(struct view *view, const struct request *request, struct json *json)
{
    uint64_t since = UINT64_MAX, version;
    struct fail fail;

    if (!request_number(request, "since", &since, UINT64_MAX, &fail))
        return 400;
    version = view_wait(view, since, CHANGES_SECONDS, waits_for_news, request);
    view_read_lock(view);
    json_open(json, '{');
    json_key_number(json, "version", version);
    json_key_number(json, "generation", view->generation);
    json_key_number(json, "duration", view_duration(view));
    json_key_number(json, "events", view->index.events);
    json_key_bool(json, "live", view->is_live);
    json_key_bool(json, "indexing", view->index.is_partial);
    json_close(json, '}');
    view_unlock(view);
    return 200;
}

static unsigned analysis_picture(struct view *view, const struct request *request, struct json *json,
                                 const char **type, struct fail *fail)
{
    bool fine = api_flame(view, request, json, fail);

    *type = fine ? API_SVG : API_JSON;
    return fine ? 200 : 400;
}

static unsigned analysis_json(struct view *view, const struct request *request, struct json *json,
                              struct fail *fail)
{
    unsigned status = 404;

    for (size_t i = 0; i < sizeof(analyses) / sizeof(analyses[0]); i++) {
        if (strcmp(request->path, analyses[i].path) != 0)
            continue;
        if (!analyses[i].takes_lock)
            view_read_lock(view);
        json_open(json, '{');
        status = analyses[i].analysis(view, request, json, fail) ? 200 : 400;
        json_close(json, '}');
        if (!analyses[i].takes_lock)
            view_unlock(view);
    }
    return status;
}

unsigned api_ask(struct view *view, const struct request *request, struct json *json, const char **type)
{
    struct fail fail = {"there is no such request"};
    unsigned status;

    *type = API_JSON;
    if (strcmp(request->path, "/api/changes") == 0)
        return analysis_changes(view, request, json);
    status = strcmp(request->path, "/api/flame") == 0 ? analysis_picture(view, request, json, type, &fail)
                                                      : analysis_json(view, request, json, &fail);
    if (status == 200)
        return status;
    json->text.used = 0;
    json->has_value = false;
    json_open(json, '{');
    json_key_text(json, "error", fail.text);
    json_close(json, '}');
    return status;
}
