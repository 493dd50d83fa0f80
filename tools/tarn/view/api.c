/* api.c - dispatches requests, and has their common parts; see api.h. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <tools/tarn/command/recipe.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/source/source.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/lanes.h>
#include <unistd.h>

#define WIDTH_DEFAULT 1000u

static const struct handler {
    const char *path;
    api_function *reply;
    bool takes_lock; /* itself, if it needs the lock */
} handlers[] = {
    {.path = "/api/trace", api_trace},
    {.path = "/api/list", api_list},
    {.path = "/api/lanes", api_lanes},
    {.path = "/api/rows", api_rows},
    {.path = API_DEED, api_goto},
    {.path = "/api/analysis", api_analysis_range, .takes_lock = true},
    {.path = "/api/analyses", api_analyses, .takes_lock = true},
    {.path = "/api/changes", api_changes},
};

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

void api_add_link(const struct view *view, struct json *json)
{
    double silent = now_seconds() - view->heard_at;
    json_add(json, "link:{state:%s silent_ms:%lu boots:%u}", view->link,
             silent > 0 ? (uint64_t)(silent * 1000) : 0, view->boots);
}

bool api_changes(struct view *view, struct request *request, struct json *json)
{
    json_add(json, "version:%lu generation:%lu duration:%lu events:%lu live:%d indexing:%d", view->version,
             view->generation, view_duration(view), view->index.events, view->is_live,
             view->index.is_partial);
    api_add_link(view, json);
    return true;
}

/* ---- tarn goto -------------------------------------------------------------------------------------- */

/* Whether the run of the trace can be repeated, given its directory. */
static bool may_go(const struct view *view, struct fail *why)
{
    if (view->options.name != NULL)
        return fail_set(why, "the trace is temporary: view it from a directory (tarn pull -o)");
    switch (recipe_judge(view->options.directory, &view->trace.schema, why)) {
    case RECIPE_AGREES:
        return true;
    case RECIPE_NONE:
        return fail_set(why, "only a deterministic run can be run again (make run DETERMINISTIC=1)");
    default:
        return false;
    }
}

void api_add_goto(const struct view *view, struct json *json)
{
    struct fail why = {""};
    char *path = realpath(view->options.directory, NULL);
    if (path != NULL && may_go(view, &why))
        json_add(json, "goto:{directory:%s opens:%d}", path, view->goto_state != GOTO_FORBIDDEN);
    else
        json_add(json, "goto:{why:%s}", why.text);
    free(path);
}

bool api_goto(struct view *view, struct request *request, struct json *json)
{
    uint64_t event = request_number(request, "n", UINT64_MAX, INT64_MAX);
    struct fail *fail = &request->fail;
    if (view->goto_state == GOTO_FORBIDDEN)
        return fail_set(fail, "tarn view was started without --goto");
    if (!may_go(view, fail))
        return false;
    if (event >= view->index.events)
        return fail_set(fail, "the trace has no such event");
    if (!atomic_compare_exchange_strong(&view->goto_state, &(enum view_goto){GOTO_FREE}, GOTO_CLAIMED))
        return fail_set(fail, "gdb is open in the terminal of tarn view: quit it first");
    view->goto_event = event;
    view->goto_state = GOTO_WANTED;
    kill(getpid(), SIGCHLD); /* the main thread waits for it */
    json_add(json, "event:%lu", event);
    return true;
}

/* ---- dispatch --------------------------------------------------------------------------------------- */

static bool reply(const struct handler *handler, struct view *view, struct request *request,
                  struct json *json)
{
    bool ok;
    if (!handler->takes_lock)
        view_read_lock(view);
    ok = handler->reply(view, request, json);
    if (!handler->takes_lock)
        view_unlock(view);
    return ok && request->fail.text[0] == '\0';
}

unsigned api_ask(struct view *view, struct request *request, struct json *json, const char **type)
{
    unsigned status = 404;
    *type = API_JSON;
    request->fail.text[0] = '\0';
    for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
        if (strcmp(request->path, handlers[i].path) != 0)
            continue;
        json_add(json, "{");
        status = reply(&handlers[i], view, request, json) ? 200 : 400;
        if (status == 200 && *json->text.bytes != '{')
            *type = API_SVG;
        else if (status == 200)
            json_add(json, "}");
    }
    if (status != 200) {
        json->text.used = 0;
        json->has_value = false;
        json_add(json, "{error:%s}", status == 404 ? "there is no such request" : request->fail.text);
    }
    return status;
}
