/* SPDX-License-Identifier: BSD-2-Clause */
/* api_goto.c - /api/goto?n=NUMBER, by POST: runs `tarn goto` at an event in the terminal of `tarn view
 * --goto`. {event}; 400 while another one runs. Also the command for the page to show. */
#include <signal.h>
#include <stdlib.h>
#include <tools/tarn/command/recipe.h>
#include <tools/tarn/view/api.h>
#include <unistd.h>

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

bool api_goto(struct view *view, const struct request *request, struct json *json, struct fail *fail)
{
    uint64_t event = UINT64_MAX;

    if (view->goto_state == GOTO_FORBIDDEN)
        return fail_set(fail, "tarn view was started without --goto");
    if (!may_go(view, fail) || !request_number(request, "n", &event, INT64_MAX, fail))
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
