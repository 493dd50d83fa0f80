/* SPDX-License-Identifier: BSD-2-Clause */
/* ipc_path_tables.c - the time line of a call, in words and sums; see ipc_path.h. */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/analysis/ipc_path.h>
#include <tools/tarn/analysis/rows.h>

#define QUEUE_NAMED 3u /* how many of the threads that ran first are named */

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

static void describe_running(const struct path *path, const struct piece *piece, char *text, size_t size)
{
    char number[ANALYSIS_NAME_BYTES];

    switch (piece->activity) {
    case ACTIVITY_LIBC:
        snprintf(text, size, "runs, POSIX call %s",
                 label_of(path->details[ACTIVITY_LIBC], piece->detail, number));
        break;
    case ACTIVITY_SYSCALL:
        snprintf(text, size, "runs, system call %s",
                 label_of(path->details[ACTIVITY_SYSCALL], piece->detail, number));
        break;
    case ACTIVITY_FAULT:
        snprintf(text, size, "runs, page fault %s",
                 piece->detail != UINT32_MAX ? label_of(path->details[ACTIVITY_FAULT], piece->detail, number)
                                             : "");
        break;
    case ACTIVITY_IRQ:
        snprintf(text, size, "runs, interrupt %u", piece->detail);
        break;
    case ACTIVITY_IPI:
        snprintf(text, size, "runs, IPI %s", label_of(path->details[ACTIVITY_IPI], piece->detail, number));
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

static void describe(const struct path *path, const struct step *step, char *text, size_t size)
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
        describe_running(path, piece, text, size);
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

/* ALL: one row per step; otherwise consecutive ready steps are one row. */
static void fill_path(const struct path *path, struct table *table, bool all)
{
    struct analysis_accumulator accumulator = {.analysis = path->owner};
    char text[400], name[FUNCTION_NAME_BYTES];
    size_t count;

    for (size_t i = 0; i < path->step_count; i += count) {
        const struct step *step = &path->steps[i];
        const struct model_thread *thread = thread_of(path, step->thread);
        struct table_row *row = table_add(table, thread_name(path, step->thread));

        count = all ? 1 : count_ready(path, i);
        if (count == 1)
            describe(path, step, text, sizeof(text));
        else
            describe_queue(path, step, count, text, sizeof(text));
        row->indent = step->depth;
        cells_put(
            row->cells, {.count = analysis_ns(path->owner, step->piece.from - path->request->called)},
            {.count = analysis_add(&accumulator, step[count - 1].piece.to - step->piece.from)},
            {.count = thread != NULL ? thread->tid : (uint64_t)TABLE_NONE},
            {.count = step->piece.state == MODEL_RUNNING || step->piece.state == MODEL_READY
                          ? path->owner->trace->streams[step->piece.cpu].cpu
                          : (uint64_t)TABLE_NONE},
            {.text =
                 phase_names[step->depth == 0 && step->phase == PHASE_TO_SERVER ? PHASE_CALL : step->phase]},
            {.text = table_text(table, call_name(path, step->call, name))},
            {.text = table_text(table, text)});
    }
}

static void fill_share(const struct path *path, struct table *table)
{
    struct analysis_accumulator accumulator = {.analysis = path->owner};
    uint64_t latency = path->request->returned - path->request->called;

    for (size_t i = 0; i < path->step_count; i++) {
        const struct step *step = &path->steps[i];
        const struct model_thread *thread = thread_of(path, step->thread);
        uint64_t ticks = step->piece.to - step->piece.from, ns = analysis_add(&accumulator, ticks);
        struct table_row *row =
            thread != NULL
                ? table_row(table, thread->pid, analysis_process_name(&path->analysis, thread->pid))
                : table_row(table, MODEL_NOBODY, "(nobody)");

        row_set(table, row, "pid", thread != NULL ? thread->pid : (uint64_t)TABLE_NONE);
        row_cell(table, row, "total_ns")->count += ns;
        row_cell(table, row, "percent")->real += latency ? 100.0 * (double)ticks / (double)latency : 0;
        row_cell(table, row,
                 step->phase == PHASE_DEFERRED        ? "waiting_ns"
                 : step->piece.state == MODEL_RUNNING ? "running_ns"
                 : step->piece.state == MODEL_READY   ? "ready_ns"
                                                      : "waiting_ns")
            ->count += ns;
    }
}

/* Adds up the same steps of threads with the same name. */
static void fill_work(const struct path *path, struct table *table)
{
    struct analysis_accumulator accumulator = {.analysis = path->owner};
    uint64_t latency = path->request->returned - path->request->called;
    char text[400];

    for (size_t i = 0; i < path->step_count; i++) {
        const struct step *step = &path->steps[i];
        uint64_t ticks = step->piece.to - step->piece.from;
        struct table_row *row;

        describe(path, step, text, sizeof(text));
        row = table_row(table, hash_text(HASH_SEED, text), thread_name(path, step->thread));
        row_cell(table, row, "doing")->text = table_text(table, text);
        row_cell(table, row, "steps")->count++;
        row_cell(table, row, "total_ns")->count += analysis_add(&accumulator, ticks);
        row_cell(table, row, "percent")->real += latency ? 100.0 * (double)ticks / (double)latency : 0;
    }
}

static void fill_about(const struct path *path, const struct path_call *call, struct table *table)
{
    const struct ipc_request *request = path->request;
    const struct model_thread *client = thread_of(path, call->client),
                              *server = thread_of(path, call->server);
    char name[FUNCTION_NAME_BYTES], text[FUNCTION_NAME_BYTES + ANALYSIS_NAME_BYTES];
    struct table_row *row;

    snprintf(text, sizeof(text), "%s -> %s", thread_name(path, call->client), call_name(path, call, name));
    row = table_add(table, text);
    cells_put(row->cells, {.count = request->id}, {.count = analysis_when(path->owner, request->called)},
              {.count = analysis_ns(path->owner, request->returned - request->called)},
              {.count = client != NULL ? client->tid : (uint64_t)TABLE_NONE},
              {.count = server != NULL ? server->tid : (uint64_t)TABLE_NONE}, {.count = path->nested},
              {.count = path->step_count}, {.number = request->result});
}

void path_tell(const struct path *path, const struct path_call *call, struct table *tables)
{
    fill_about(path, call, &tables[IPC_ABOUT]);
    fill_share(path, &tables[IPC_SHARE]);
    fill_path(path, &tables[IPC_PATH], false);
    fill_path(path, &tables[IPC_STEP], true);
    fill_work(path, &tables[IPC_WORK]);
}
