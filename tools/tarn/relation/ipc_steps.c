/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ipc_steps.c - the relations `ipc_request` and `ipc_step`: one call, and its critical path (ipc_path.h), in
 * words.
 *
 * The parameter `request` chooses the call among those that the others select.
 */
#include <stdio.h>
#include <tools/tarn/relation/ipc_path.h>
#include <tools/tarn/relation/maker.h>

#define QUEUE_NAMED 3u   /* how many of the threads that ran first are named */
#define RANKS_MAX   100u /* of the longest calls */

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

/* ---- steps in words ---- */

static const char *const phase_names[] = {"calls", "to server", "serves", "deferred", "back"};
static const struct model_thread *thread_of(const struct path *path, uint32_t number)
{
    return number < path->analysis.model->thread_count ? path->analysis.model->threads[number] : NULL;
}

static const char *thread_name(const struct path *path, uint32_t number)
{
    const struct model_thread *thread = thread_of(path, number);

    return thread != NULL ? analysis_thread_name(&path->analysis, thread) : "(nobody)";
}

static const char *call_name(const struct path *path, const struct path_call *call,
                             char text[FUNCTION_NAME_BYTES])
{
    return call != NULL ? functions_name(path->functions, call->whom, call->label, text) : "another call";
}

static void describe_running(const struct field *const *details, const struct piece *piece, char *text,
                             size_t size)
{
    char number[ANALYSIS_NAME_BYTES];

    switch (piece->activity) {
    case ACTIVITY_LIBC:
        snprintf(text, size, "runs, POSIX call %s", label_of(details[ACTIVITY_LIBC], piece->detail, number));
        break;
    case ACTIVITY_SYSCALL:
        snprintf(text, size, "runs, system call %s",
                 label_of(details[ACTIVITY_SYSCALL], piece->detail, number));
        break;
    case ACTIVITY_FAULT:
        snprintf(text, size, "runs, page fault %s",
                 piece->detail != UINT32_MAX ? label_of(details[ACTIVITY_FAULT], piece->detail, number) : "");
        break;
    case ACTIVITY_IRQ:
        snprintf(text, size, "runs, interrupt %u", piece->detail);
        break;
    case ACTIVITY_IPI:
        snprintf(text, size, "runs, IPI %s", label_of(details[ACTIVITY_IPI], piece->detail, number));
        break;
    case ACTIVITIES:
        snprintf(text, size, "runs");
        break;
    default:
        snprintf(text, size, "runs, %s", model_activity_names[piece->activity]);
    }
}

static void describe_ready(const struct path *path, const struct piece *piece, char *text, size_t size)
{
    const struct model_thread *by = thread_of(path, piece->other);

    if (by == NULL)
        snprintf(text, size, "ready");
    else if (by->is_idle)
        snprintf(text, size, "ready, the CPU wakes up");
    else
        snprintf(text, size, "ready behind %s/%u", analysis_thread_name(&path->analysis, by), by->tid);
}

static void describe(const struct path *path, const struct field *const *details, const struct step *step,
                     char *text, size_t size)
{
    const struct piece *piece = &step->piece;
    const struct path_call *served = path_call_of(path, piece->serving);
    const struct model_thread *waker = thread_of(path, piece->other);
    char name[FUNCTION_NAME_BYTES];
    size_t used;

    if (step->phase == PHASE_DEFERRED) {
        snprintf(text, size, "replies later%s%s%s", piece->serving ? ", while it serves " : "",
                 piece->serving ? call_name(path, served, name) : "",
                 served != NULL && thread_of(path, served->client) != NULL ? " of " : "");
        used = strlen(text);
        if (served != NULL && thread_of(path, served->client) != NULL)
            snprintf(text + used, size - used, "%s", thread_name(path, served->client));
        return;
    }
    if (piece->state == MODEL_RUNNING)
        describe_running(details, piece, text, size);
    else if (piece->state == MODEL_READY)
        describe_ready(path, piece, text, size);
    else if (piece->state == PIECE_UNKNOWN || piece->state == MODEL_UNKNOWN)
        snprintf(text, size, "unknown");
    else if (waker != NULL)
        snprintf(text, size, "%s, woken by %s/%u", model_state_names[piece->state],
                 analysis_thread_name(&path->analysis, waker), waker->tid);
    else
        snprintf(text, size, "%s", model_state_names[piece->state]);
    used = strlen(text);
    if (step->phase == PHASE_TO_SERVER && step->thread != step->call->client && piece->serving != 0 &&
        piece->serving != step->call->id)
        snprintf(text + used, size - used, "; serves %s of %s", call_name(path, served, name),
                 served != NULL ? thread_name(path, served->client) : "another");
}

/* Returns how many consecutive steps from FIRST on its thread is ready. */
static size_t count_ready(const struct path *path, size_t first)
{
    const struct step *step = &path->steps[first];
    size_t count = 1;

    while (step->piece.state == MODEL_READY && first + count < path->step_count &&
           step[count].piece.state == MODEL_READY && step[count].thread == step->thread &&
           step[count].phase == step->phase && step[count].call == step->call &&
           step[count].piece.from == step[count - 1].piece.to)
        count++;
    return count;
}

/* Names the threads that ran meanwhile: the first ones, and the number of others. */
static void describe_queue(const struct path *path, const struct step *steps, size_t count, char *text,
                           size_t size)
{
    uint32_t others[QUEUE_NAMED + 1];
    size_t known = 0, used = (size_t)snprintf(text, size, "ready behind ");

    for (size_t i = 0; i < count && known <= QUEUE_NAMED; i++) {
        size_t at = 0;

        while (at < known && others[at] != steps[i].piece.other)
            at++;
        if (at == known)
            others[known++] = steps[i].piece.other;
    }
    for (size_t i = 0; i < known && i < QUEUE_NAMED && used < size; i++) {
        const struct model_thread *by = thread_of(path, others[i]);

        used += (size_t)snprintf(text + used, size - used, i == 0 ? "%s" : ", %s",
                                 by != NULL ? analysis_thread_name(&path->analysis, by) : "(unknown)");
        if (by != NULL && used < size)
            used += (size_t)snprintf(text + used, size - used, "/%u", by->tid);
    }
    if (used < size)
        snprintf(text + used, size - used, known > QUEUE_NAMED ? ", ...: %zu intervals" : ": %zu intervals",
                 count);
}

/* Describes COUNT steps from FIRST on, which are one row of the time line. */
static void give_steps(struct making *making, const struct path *path, size_t first, size_t count,
                       uint64_t row, struct analysis_accumulator *accumulator)
{
    const struct field *const *details = making->relations->details;
    char text[400], queue[400], name[FUNCTION_NAME_BYTES];

    if (count > 1)
        describe_queue(path, &path->steps[first], count, queue, sizeof(queue));
    for (size_t i = first; i < first + count; i++) {
        const struct step *step = &path->steps[i];
        const struct model_thread *thread = thread_of(path, step->thread);
        const struct value none = value_text(NULL);
        bool is_on_cpu = step->piece.state == MODEL_RUNNING || step->piece.state == MODEL_READY;

        describe(path, details, step, text, sizeof(text));
        MAKING_GIVE(
            making, STEP_ROW, path->request->called, VALUE_NUMBER(i), VALUE_NUMBER(row),
            VALUE_NUMBER(step->depth), VALUE_TICKS(step->piece.from - path->request->called, 0),
            VALUE_NUMBER(analysis_add(accumulator, step->piece.to - step->piece.from)),
            value_text(thread_name(path, step->thread)),
            value_text(thread ? analysis_process_name(&path->analysis, thread->pid) : "(nobody)"),
            thread != NULL ? VALUE_NUMBER(thread->tid) : none,
            thread != NULL ? VALUE_NUMBER(thread->pid) : none,
            is_on_cpu ? VALUE_NUMBER(path->owner->trace->streams[step->piece.cpu].cpu) : none,
            value_text(
                phase_names[step->depth == 0 && step->phase == PHASE_TO_SERVER ? PHASE_CALL : step->phase]),
            value_text(call_name(path, step->call, name)),
            value_text(step->phase == PHASE_DEFERRED || !is_on_cpu ? "waiting"
                       : step->piece.state == MODEL_RUNNING        ? "running"
                                                                   : "ready"),
            value_text(text), value_text(count > 1 ? queue : text));
    }
}

static void give_request(struct making *making, const struct path *path, const struct path_call *call)
{
    const struct ipc_request *request = path->request;
    const struct model_thread *server = thread_of(path, call->server);
    char name[FUNCTION_NAME_BYTES];

    MAKING_GIVE(making, REQUEST_ROW, request->called, VALUE_OF(VALUE_WHEN, request->called),
                VALUE_TICKS(request->returned - request->called, 0), VALUE_OF(VALUE_HEX, request->id),
                value_text(thread_name(path, call->client)), value_text(call_name(path, call, name)),
                value_of_thread(thread_of(path, call->client)), value_of_thread(server),
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
    uint64_t rows = 0;

    if (rank >= follower->count)
        return;
    call = path_open(&path, making->analysis, &follower->found[rank], &making->relations->functions, &model);
    if (call != NULL)
        give_request(making, &path, call);
    for (size_t i = 0, count; call != NULL && i < path.step_count; i += count) {
        count = count_ready(&path, i);
        give_steps(making, &path, i, count, rows++, &accumulator);
    }
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
    MADE_COLUMN("result", UNIT_NUMBER, "what the call or the server returned; negative: an error"),
    PARAMETERS};
static const struct relation_column step_columns[] = {
    MADE_COLUMN("number", UNIT_NUMBER, "number of the step, from 0 on"),
    MADE_COLUMN("row", UNIT_NUMBER, "the same for successive waits of a thread for a CPU"),
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
    MADE_COLUMN("state", UNIT_TEXT, "running, ready or waiting"),
    MADE_COLUMN("doing", UNIT_TEXT, "what the thread did"),
    MADE_COLUMN("doing_row", UNIT_TEXT, "what it did in all steps of the row"),
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
