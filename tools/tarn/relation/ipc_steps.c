/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ipc_steps.c - the relations `ipc_request` and `ipc_step`: one call, and its critical path (ipc_path.h).
 *
 * The parameter `request` chooses the call among those that the others select.
 */
#include <stdio.h>
#include <tools/tarn/relation/ipc_path.h>
#include <tools/tarn/relation/maker.h>

#define RANKS_MAX 100u /* of the longest calls */

enum { REQUEST_ROW, STEP_ROW };
enum { REQUEST, CLIENT, SERVER, FUNCTION }; /* parameters */

struct wish {
    enum { BY_RANK, BY_ID, BY_TIME } by;
    uint64_t number; /* how many calls are longer; the ID; ticks: the first call that begins then or later */
};

struct follower {
    struct making making; /* first */
    struct wish wish;
    struct ipc_request found[RANKS_MAX]; /* best first */
    unsigned count;
};

/* ---- which call ---- */

static bool parse_wish(struct wish *wish, const struct trace *trace, const char *text, struct fail *fail)
{
    bool has_rank = text != NULL && strncmp(text, "longest:", 8) == 0;

    *wish = (struct wish){.by = BY_RANK};
    if (text == NULL || strcmp(text, "longest") == 0)
        return true;
    if (strncmp(text, "at:", 3) == 0) {
        wish->by = BY_TIME;
        return filter_time(trace, text + 3, &wish->number, fail);
    }
    wish->by = has_rank ? BY_RANK : BY_ID;
    if (option_count(has_rank ? text + 8 : text, &wish->number, fail) && wish->number != 0 &&
        (!has_rank || wish->number-- <= RANKS_MAX))
        return true;
    return fail_set(fail,
                    "--request %.40s: expected a call's ID, longest, longest:N with N up to %u, or at:TIME",
                    text, RANKS_MAX);
}

static bool check_request(const struct trace *trace, const char *const *parameters, struct fail *fail)
{
    struct wish wish;

    return parse_wish(&wish, trace, parameters[REQUEST], fail);
}

static bool is_wanted(const struct making *making, const struct model_call *call)
{
    const struct functions *functions = &making->relations->functions;
    const char *const *parameters = making->parameters;
    uint64_t whom = functions_whom(call);
    char text[FUNCTION_NAME_BYTES];

    if (!analysis_wants(making->analysis, call->client) &&
        (call->server == NULL || !analysis_wants(making->analysis, call->server)))
        return false;
    return (parameters[CLIENT] == NULL ||
            match_glob(parameters[CLIENT], analysis_process_name(making->analysis, call->client->pid))) &&
           (parameters[SERVER] == NULL ||
            match_glob(parameters[SERVER], functions_server(functions, whom, text))) &&
           (parameters[FUNCTION] == NULL ||
            match_words(parameters[FUNCTION], functions_name(functions, whom, call->label, text)));
}

static bool is_better(const struct follower *follower, const struct ipc_request *a,
                      const struct ipc_request *b)
{
    uint64_t ticks = a->returned - a->called, other = b->returned - b->called;

    return follower->wish.by == BY_RANK && ticks != other ? ticks > other : a->called < b->called;
}

static void take_call(struct follower *follower, const struct ipc_request *call)
{
    unsigned limit = follower->wish.by == BY_RANK ? RANKS_MAX : 1, place = follower->count;

    if ((follower->wish.by == BY_ID && call->id != follower->wish.number) ||
        (follower->wish.by == BY_TIME && call->called < follower->wish.number))
        return;
    while (place > 0 && is_better(follower, call, &follower->found[place - 1])) {
        if (place < limit)
            follower->found[place] = follower->found[place - 1];
        place--;
    }
    if (place < limit)
        follower->found[place] = *call;
    follower->count += follower->count < limit;
}

static void on_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                    bool has_ended)
{
    struct follower *follower = MAKING_OF(self, struct follower);
    struct making *making = &follower->making;

    functions_learn(&making->relations->functions, call);
    if (has_ended && call->returned != 0 && call->called >= making->analysis->from && is_wanted(making, call))
        take_call(follower, &(struct ipc_request){call->id, call->label, functions_whom(call), call->called,
                                                  call->returned, call->client->number, ipc_result(call)});
}

/* ---- steps ---- */

static const char *const phase_names[] = {"calls", "to server", "serves", "deferred", "back"};
static const char *thread_name(const struct path *path, const struct model_thread *thread)
{
    return thread != NULL ? analysis_thread_name(&path->analysis, thread) : "(nobody)";
}

static const char *call_name(const struct path *path, const struct path_call *call,
                             char text[FUNCTION_NAME_BYTES])
{
    return call != NULL ? functions_name(path->functions, functions_whom(&call->call), call->call.label, text)
                        : "another call";
}

/* "name/tid"; NULL: nobody. */
static struct value thread_text(const struct path *path, const struct model_thread *thread, char text[80])
{
    if (thread != NULL)
        snprintf(text, 80, "%s/%u", analysis_thread_name(&path->analysis, thread), thread->tid);
    return value_text(thread != NULL ? text : NULL);
}

static struct value detail_text(const struct field *const *details, const struct piece *piece,
                                char text[ANALYSIS_NAME_BYTES])
{
    if (piece->activity == ACTIVITIES)
        return NOTHING;
    return value_text(piece->detail != UINT32_MAX ? label_of(details[piece->activity], piece->detail, text)
                                                  : "");
}

/* Whether the thread serves another call instead: before it takes this one, or before it replies. */
static bool serves_another(const struct step *step)
{
    return step->piece.serving != 0 &&
           (step->phase == PHASE_DEFERRED ||
            (step->phase == PHASE_TO_SERVER && step->thread != step->call->call.client &&
             step->piece.serving != step->call->call.id));
}

static void give_step(struct making *making, const struct path *path, size_t number, uint64_t ns)
{
    const struct step *step = &path->steps[number];
    const struct piece *piece = &step->piece;
    const struct model_thread *thread = step->thread, *other = piece->other;
    const struct path_call *served = path_call_of(path, piece->serving);
    const struct model_thread *client = served != NULL ? served->call.client : NULL;
    bool is_on_cpu = piece->state == MODEL_RUNNING || piece->state == MODEL_READY;
    bool is_call = step->depth == 0 && step->phase == PHASE_TO_SERVER, serves = serves_another(step);
    char name[FUNCTION_NAME_BYTES], serving[FUNCTION_NAME_BYTES], text[80], detail[ANALYSIS_NAME_BYTES];

    MAKING_GIVE(making, STEP_ROW, path->request->called, VALUE_NUMBER(number), VALUE_NUMBER(step->depth),
                VALUE_TICKS(piece->from - path->request->called, 0), VALUE_NUMBER(ns),
                value_text(thread_name(path, thread)),
                value_text(thread ? analysis_process_name(&path->analysis, thread->pid) : "(nobody)"),
                VALUE_IF(thread != NULL, VALUE_NUMBER(thread->tid)),
                VALUE_IF(thread != NULL, VALUE_NUMBER(thread->pid)),
                VALUE_IF(is_on_cpu, VALUE_NUMBER(path->owner->trace->streams[piece->cpu].cpu)),
                value_text(phase_names[is_call ? PHASE_CALL : step->phase]),
                value_text(call_name(path, step->call, name)),
                value_text(model_state_names[piece->state == PIECE_UNKNOWN ? MODEL_UNKNOWN : piece->state]),
                value_text(piece->activity != ACTIVITIES ? model_activity_names[piece->activity] : NULL),
                detail_text(making->relations->details, piece, detail), thread_text(path, other, text),
                VALUE_NUMBER(other != NULL && other->is_idle),
                value_text(serves ? call_name(path, served, serving) : NULL),
                value_text(client != NULL ? analysis_thread_name(&path->analysis, client) : NULL));
}

static void give_request(struct making *making, const struct path *path, const struct path_call *call)
{
    const struct ipc_request *request = path->request;
    char name[FUNCTION_NAME_BYTES];

    MAKING_GIVE(making, REQUEST_ROW, request->called, VALUE_OF(VALUE_WHEN, request->called),
                VALUE_TICKS(request->returned - request->called, 0), VALUE_OF(VALUE_HEX, request->id),
                value_text(thread_name(path, call->call.client)), value_text(call_name(path, call, name)),
                value_of_thread(call->call.client), value_of_thread(call->call.server),
                VALUE_NUMBER(path->nested), VALUE_NUMBER(path->step_count),
                VALUE_OF(VALUE_SIGNED, request->result));
}

static void open_follower(struct making *making)
{
    struct fail fail;

    parse_wish(&((struct follower *)making)->wish, making->analysis->trace, making->parameters[REQUEST],
               &fail);
    making->observer.call = on_call;
}

static void finish_follower(struct making *making)
{
    struct follower *follower = (struct follower *)making;
    uint64_t rank = follower->wish.by == BY_RANK ? follower->wish.number : 0;
    struct analysis_accumulator accumulator = {.analysis = making->analysis};
    const struct path_call *call;
    struct model model;
    struct path path;

    if (rank >= follower->count)
        return;
    call = path_open(&path, making->analysis, &follower->found[rank], &making->relations->functions, &model);
    if (call != NULL)
        give_request(making, &path, call);
    for (size_t i = 0; call != NULL && i < path.step_count; i++)
        give_step(making, &path, i,
                  analysis_add(&accumulator, path.steps[i].piece.to - path.steps[i].piece.from));
    path_close(&path, &model);
}

/* clang-format off */
#define PARAMETERS                                                                                            \
    MADE_PARAMETER("request", REQUEST, "which call: its ID, longest (the default), longest:N, or at:SECONDS"), \
    MADE_PARAMETER("clients", CLIENT, "only calls of these programs"),                                         \
    MADE_PARAMETER("servers", SERVER, "only calls to these servers"),                                          \
    MADE_PARAMETER("functions", FUNCTION, "only calls of these functions")
static const struct relation_column request_columns[] = {
    MADE_COLUMN("ts", UNIT_WHEN, "when the client called"),
    MADE_COLUMN("dur", UNIT_SPAN, "time until the client continued"),
    MADE_COLUMN("call_id", UNIT_ADDRESS, "number of the call"),
    MADE_COLUMN("thread", UNIT_TEXT, "name of the client"),
    MADE_COLUMN("function", UNIT_TEXT, "server and function"),
    MADE_COLUMN("client_utid", UNIT_NUMBER, "thread that called"),
    MADE_COLUMN("server_utid", UNIT_NUMBER, "thread that replied"),
    MADE_COLUMN("calls", UNIT_NUMBER, "nested calls on the path"),
    MADE_COLUMN("steps", UNIT_NUMBER, "number of steps"),
    MADE_COLUMN("result", UNIT_NUMBER, "result of the call, or of the server; negative: an error"),
    PARAMETERS};
static const struct relation_column step_columns[] = {
    MADE_COLUMN("number", UNIT_NUMBER, "number of the step, from 0 on"),
    MADE_COLUMN("depth", UNIT_NUMBER, "number of calls around it"),
    MADE_COLUMN("after", UNIT_SPAN, "time from the call until the step"),
    MADE_COLUMN("dur", UNIT_NUMBER, "its nanoseconds; those of all steps add up to the latency"),
    MADE_COLUMN("thread", UNIT_TEXT, "name of the thread that the call waited for"),
    MADE_COLUMN("process", UNIT_TEXT, "name of its process"),
    MADE_COLUMN("tid", UNIT_NUMBER, "thread ID"),
    MADE_COLUMN("pid", UNIT_NUMBER, "process ID"),
    MADE_COLUMN("cpu", UNIT_NUMBER, "where it ran, or was ready"),
    MADE_COLUMN("phase", UNIT_TEXT, "phase of the call: calls, to server, serves, deferred or back"),
    MADE_COLUMN("call", UNIT_TEXT, "server and function of the call, which may be a nested one"),
    MADE_COLUMN("state", UNIT_TEXT, "state of the thread"),
    MADE_COLUMN("activity", UNIT_TEXT, "innermost activity of the thread, as in the relation activity"),
    MADE_COLUMN("detail", UNIT_TEXT, "which call, fault or interrupt that was"),
    MADE_COLUMN("other", UNIT_TEXT, "name and ID of the thread that ran while it was ready, or else that woke it"),
    MADE_COLUMN("other_is_idle", UNIT_NUMBER, "1: that is an idle thread"),
    MADE_COLUMN("serves", UNIT_TEXT, "other call that the thread served instead: server and function"),
    MADE_COLUMN("serves_client", UNIT_TEXT, "name of its client"),
    PARAMETERS};
/* clang-format on */

const struct maker ipc_path_maker = {
    .relations = {MADE_RELATION("ipc_request", "the call that is followed", request_columns),
                  MADE_RELATION("ipc_step", "the critical path of a call: steps without gaps", step_columns)},
    .size = sizeof(struct follower),
    .open = open_follower,
    .finish = finish_follower,
    .check = check_request,
};
