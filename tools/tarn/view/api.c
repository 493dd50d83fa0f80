/* api.c - dispatches requests, and has their common parts; see api.h. */
#include <errno.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/lanes.h>

#define WIDTH_DEFAULT 1000u

static const struct {
    const char *path;
    api_function *reply;
} handlers[] = {
    {"/api/trace", api_trace},       {"/api/list", api_list},      {"/api/lanes", api_lanes},
    {"/api/rows", api_rows},         {API_DEED, api_goto},         {"/api/analysis", api_analysis_range},
    {"/api/analyses", api_analyses}, {"/api/changes", api_changes}};

const char *request_text(const struct request *request, const char *key)
{
    for (unsigned i = 0; i < request->count; i++)
        if (strcmp(request->parameters[i].key, key) == 0)
            return request->parameters[i].value;
    return NULL;
}

uint64_t request_number(struct request *request, const char *key, uint64_t otherwise, uint64_t most)
{
    const char *text = request_text(request, key);
    uint64_t value;
    char *end;
    if (text == NULL)
        return otherwise;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && value <= most)
        return value;
    fail_set(&request->fail, "%s is not a number, or too large", key);
    return otherwise;
}

struct range request_range(const struct view *view, struct request *request)
{
    uint64_t duration = view_duration(view),
             width = request_number(request, "width", WIDTH_DEFAULT, LANES_WIDTH_MAX);
    struct range range = {.from = request_number(request, "from", 0, INT64_MAX),
                          .to = request_number(request, "to", duration, INT64_MAX),
                          .width = width > 0 ? (uint32_t)width : 1};
    if (range.to > duration)
        range.to = duration;
    if (range.from > range.to)
        range.from = range.to;
    range.from_ticks = view_ticks(view, range.from);
    range.to_ticks = view_ticks(view, range.to);
    return range;
}

bool *request_set(const struct request *request, const char *key, uint32_t limit, bool all)
{
    const char *at = request_text(request, key);
    bool *set = alloc_zero((size_t)limit + 1, sizeof(bool));
    uint64_t first, last;
    memset(set, at == NULL && all, limit);
    while (at != NULL && *at != '\0' && (at = list_next(at, &first, &last)) != NULL)
        for (uint64_t i = first; i <= last && i < limit; i++)
            set[i] = true;
    return set;
}

unsigned api_ask(struct view *view, struct request *request, struct json *json, const char **type)
{
    size_t i = 0, count = sizeof(handlers) / sizeof(handlers[0]);
    bool ok = false;
    *type = API_JSON;
    request->fail.text[0] = '\0';
    while (i < count && strcmp(request->path, handlers[i].path) != 0)
        i++;
    json_add(json, "{");
    if (i < count) {
        view_read_lock(view);
        ok = handlers[i].reply(view, request, json) && request->fail.text[0] == '\0';
        view_unlock(view);
    }
    if (ok && *json->text.bytes != '{') {
        *type = API_SVG;
        return 200;
    }
    if (!ok) {
        *json = (struct json){.text = {.bytes = json->text.bytes, .size = json->text.size}};
        json_add(json, "{error:%s", i == count ? "there is no such request" : request->fail.text);
    }
    json_add(json, "}");
    return ok ? 200 : i == count ? 404 : 400;
}
