/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/ipc_path.h - one call from its begin to its end, through all threads that it waited for:
 * its critical path.
 *
 * A second walk (ipc_record.c) remembers, for the time of the request, the segments of its client and of
 * servers' threads and the calls that these made. From those the time line is put together (ipc_path.c):
 * until a server took the call, what the thread did that took it; then what that did, and where it waited for
 * a call of its own, the same for that; then what kept the client from going on. Each step begins where the
 * one before ended. ipc_path_tables.c says it in words.
 */
#ifndef TARN_IPC_PATH_H
#define TARN_IPC_PATH_H

#include <tools/tarn/answer/answer.h>
#include <tools/tarn/answer/delays.h>
#include <tools/tarn/answer/functions.h>

/* A call that was seen whole. */
struct ipc_request {
    uint64_t id, label, whom; /* whom: functions_whom */
    uint64_t called, returned;
    uint32_t client; /* a thread's number in the model */
    int64_t result;
};

/* The tables that one call fills. */
struct ipc_path_tables {
    struct table *about, *share, *path, *step, *work;
};
extern const struct table_column ipc_request_columns[8], ipc_share_columns[6], ipc_path_columns[7],
    ipc_work_columns[4];
/* The place of the total. */
#define IPC_SHARE_TOTAL 1
#define IPC_WORK_TOTAL  2

/* Walks the time of REQUEST once more and fills the tables: one row about it, its time line,
 * and the sums of that. The client is followed and all threads of servers that FUNCTIONS has seen. */
void ipc_follow(const struct answer *answer, const struct ipc_request *request,
                const struct functions *functions, const struct ipc_path_tables *tables);

/* What a call came to: an error of the kernel's, or a negative answer. */
static inline int64_t ipc_result(const struct model_call *call)
{
    return call->error != 0 ? call->error : (int64_t)call->reply_label;
}

/* ---- for the files that follow a call ---- */

#define NO_THREAD     UINT32_MAX
#define PIECE_UNKNOWN MODEL_STATES

/* A segment of a thread. */
struct piece {
    uint64_t from, to;
    uint64_t serving, calling; /* calls' ids; 0: none */
    uint32_t other;            /* running, and is ready: who runs there; blocked: who woke it; NO_THREAD */
    uint32_t detail;
    uint16_t cpu;
    uint8_t state, activity; /* ACTIVITIES: none */
};

struct pieces {
    struct piece *items;
    size_t count, size;
};

struct path_call {
    uint64_t id, label, whom;
    uint64_t called, received, parked, replied, returned;
    uint32_t client, server, replier; /* threads */
    uint64_t replier_serving;
};

/* What a step of the time line is for. */
enum phase { PHASE_CALL, PHASE_TO_SERVER, PHASE_SERVES, PHASE_DEFERRED, PHASE_BACK };

struct step {
    struct piece piece; /* cut to the step */
    uint32_t thread, depth;
    enum phase phase;
    const struct path_call *call;
};

struct path {
    struct answer answer; /* an observer as answers are */
    const struct answer *owner;
    const struct ipc_request *request;
    const struct functions *functions;
    struct map servers; /* pids */
    struct delays delays;
    struct slots threads; /* struct pieces by number */
    size_t piece_count;
    struct map calls;                /* struct path_call by id */
    const struct model_thread *here; /* who logged the event at hand */
    struct step *steps;
    size_t step_count, step_size;
    uint64_t nested;                         /* calls on the way */
    const struct field *details[ACTIVITIES]; /* whose labels name what a thread does */
};
/* Fills threads and calls. MODEL stays open. False: given up. */
bool path_record(struct path *path, struct model *model);
/* Fills TABLES from the steps. */
void path_tell(const struct path *path, const struct path_call *call, const struct ipc_path_tables *tables);

static inline const struct path_call *path_call_of(const struct path *path, uint64_t id)
{
    return id != 0 ? map_find(&path->calls, id, 0, 0) : NULL;
}

#endif
