/*
 * api_trace.c - facts that do not depend on a range.
 *
 * /api/trace: begin_clock_ns: a text, because it exceeds the exact integers of JavaScript. busy: the shortest
 * range with 98 % of the events (index_find_busy). live: it grows; indexing: the index is being made, and
 * duration and events_total are those so far. styles: the legend. sizes: pixels and limits (layout.h,
 * paint.h). threads: pid -1: unknown; cpu: the rank where it last ran; begin: when it is first known. lost:
 * the number of reports of losses and damage, and the first of them, as `tarn check` prints them. goto:
 * {directory, opens}: the directory for `tarn goto`, and whether /api/goto may run it; or {why} not.
 *
 * /api/changes: {version, generation, duration, events, live, indexing, link: {state, silent_ms, boots}}. The
 * version increases with each change. States of the link to the guest of the pull that writes the trace: ""
 * (no pull), following (a word came within 1.2 s), silent, broken (the pull connects again), restarted (the
 * guest was reset; the view goes on with its next boot). boots: how many it went on with. With --output DIR
 * their traces are in DIR.2, DIR.3, ...
 *
 * /api/goto?n=NUMBER, by POST: runs `tarn goto` at an event in the terminal of `tarn view --goto`. {event};
 * 400 while another one runs.
 */
#include <signal.h>
#include <tools/tarn/goto/recipe.h>
#include <tools/tarn/source/source.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/layout.h>
#include <tools/tarn/view/paint.h>
#include <unistd.h>

/* CPUs without a stream come last. */
static void add_cpus(const struct view *view, struct json *json)
{
    json_add(json, "cpus:[");
    for (uint32_t rank = 0; rank < lanes_cpu_count(view); rank++)
        json_add(json, "{rank:%u cpu:%u}", rank, lanes_cpu(view, rank));
    json_add(json, "]");
}

static void add_events(const struct view *view, struct json *json)
{
    const struct schema *schema = &view->trace.schema;
    json_add(json, "events:[");
    for (unsigned i = 0; i < schema->event_count; i++) {
        const struct event_type *type = schema->events[i];
        const char *class = schema->classes[TRACE_ID_CLASS(type->id)].name;
        json_add(json, "{index:%u name:%s class:%s}", i, type->name, class != NULL ? class : "");
    }
    json_add(json, "]");
}

static void add_styles(struct json *json)
{
    json_add(json, "styles:[");
    for (unsigned i = 0; i < STYLES; i++)
        if (styles[i].shape != NULL)
            json_add(json, "{property:%s shape:%s name:%s}", styles[i].property, styles[i].shape,
                     styles[i].text);
    json_add(json, "] arrows:[");
    for (unsigned i = 0; i < ARROW_KINDS; i++)
        json_add(json, "{name:%s color:%s dashed:%d}", paint_arrows[i].name,
                 styles[paint_arrows[i].style].property, paint_arrows[i].is_dashed);
    json_add(json, "] sizes:{cpu:%u head:%u strip:%u call:%u padding:%u mark:%u", LAYOUT_CPU, LAYOUT_HEAD,
             LAYOUT_STRIP, LAYOUT_CALL, LAYOUT_PADDING, LAYOUT_MARK);
    json_add(json, "brief:%u least:%u whole:%u calm:%u arrows:%u}", PAINT_BRIEF, PAINT_LEAST, PAINT_WHOLE,
             PAINT_CALM, PAINT_ARROWS);
}

static void add_threads(const struct view *view, struct json *json)
{
    const struct model *model = view->index.model;
    char text[VIEW_NAME_BYTES];
    json_add(json, "process_count:%lu threads:[", model != NULL ? model->processes.count : 0);
    for (uint32_t i = 0; i < index_thread_count(&view->index); i++) {
        const struct index_thread *thread = index_thread(&view->index, i);
        if (thread->tid != MODEL_NOBODY)
            json_add(json, "{n:%u tid:%u pid:%ld cpu:%u name:%s idle:%d begin:%lu}", i, thread->tid,
                     thread->pid == MODEL_NOBODY ? -1 : (long)thread->pid, thread->cpu,
                     view_thread_name(view, i, text), thread->is_idle, view_ns(view, thread->begin));
    }
    json_add(json, "]");
}

static void add_texts(const struct blob_array *texts, struct json *json)
{
    for (size_t i = 0; i < blob_array_count(texts); i++) {
        struct buffer_reader text = blob_array_get(texts, i);
        json_text(json, (const char *)text.at, text.left);
    }
}

static void add_losses(const struct view *view, struct json *json)
{
    json_add(json, "lost:{reports:%lu texts:[", view->index.report_count + view->judged_count);
    add_texts(&view->judged, json);
    add_texts(&view->index.reports, json);
    json_add(json, "]}");
}

static void add_link(const struct view *view, struct json *json)
{
    double silent = now_seconds() - view->heard_at;
    json_add(json, "link:{state:%s silent_ms:%lu boots:%u}", view->link,
             silent > 0 ? (uint64_t)(silent * 1000) : 0, view->boots);
}

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

static void add_goto(const struct view *view, struct json *json)
{
    struct fail why = {""};
    char *path = realpath(view->options.directory, NULL);
    if (path != NULL && may_go(view, &why))
        json_add(json, "goto:{directory:%s opens:%d}", path, view->goto_event != GOTO_FORBIDDEN);
    else
        json_add(json, "goto:{why:%s}", why.text);
    free(path);
}

bool api_trace(struct view *view, struct request *request, struct json *json)
{
    const char *architecture = schema_env(&view->trace.schema, "architecture", true);
    char begin[PUT_NUMBER_MAX + 1];
    uint64_t from, to;
    *put_signed(begin, schema_ns(&view->trace.schema, view->index.begin)) = '\0';
    index_find_busy(&view->index, &from, &to);
    json_add(json, "name:%s title:%s arch:%s begin_clock_ns:%s busy:{from:%lu to:%lu}", view_name(view),
             view_title(view), architecture != NULL ? architecture : "", begin, view_ns(view, from),
             view_ns(view, to));
    json_add(json, "duration:%lu events_total:%lu generation:%lu version:%lu live:%d indexing:%d",
             view_duration(view), view->index.events, view->generation, view->version, view->is_live,
             view->index.is_partial);
    add_cpus(view, json);
    add_events(view, json);
    add_styles(json);
    add_threads(view, json);
    add_losses(view, json);
    add_link(view, json);
    add_goto(view, json);
    return true;
}

bool api_changes(struct view *view, struct request *request, struct json *json)
{
    json_add(json, "version:%lu generation:%lu duration:%lu events:%lu live:%d indexing:%d", view->version,
             view->generation, view_duration(view), view->index.events, view->is_live,
             view->index.is_partial);
    add_link(view, json);
    return true;
}

bool api_goto(struct view *view, struct request *request, struct json *json)
{
    uint64_t event = request_number(request, "n", UINT64_MAX, INT64_MAX);
    struct fail *fail = &request->fail;
    if (view->goto_event == GOTO_FORBIDDEN)
        return fail_set(fail, "tarn view was started without --goto");
    if (!may_go(view, fail))
        return false;
    if (event >= view->index.events)
        return fail_set(fail, "the trace has no such event");
    if (!atomic_compare_exchange_strong(&view->goto_event, &(uint64_t){GOTO_FREE}, event))
        return fail_set(fail, "gdb is open in the terminal of tarn view: quit it first");
    kill(getpid(), SIGCHLD); /* the main thread waits for it */
    json_add(json, "event:%lu", event);
    return true;
}
