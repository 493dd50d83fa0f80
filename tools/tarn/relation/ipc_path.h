/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ipc_path.h - the critical path of a call: what it waited for, through all threads involved.
 *
 * A second walk (ipc_record.c) records the segments of the client and of servers' threads during the
 * request, and the calls that they made. From these, ipc_path.c builds the time line: until a server
 * received the call, what that server's thread did; then what it did for the call, where time in nested
 * calls is resolved the same way; then what kept the client from continuing. Each step begins where the one
 * before ended. ipc_steps.c describes the steps.
 */
#ifndef TARN_IPC_PATH_H
#define TARN_IPC_PATH_H

#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/relation/delays.h>
#include <tools/tarn/relation/functions.h>

/* A call that was seen completely. */
struct ipc_request {
    uint64_t id, label, whom; /* whom: functions_whom */
    uint64_t called, returned;
    uint32_t client; /* thread number in the model */
    int64_t result;
};

#define PIECE_UNKNOWN MODEL_STATES

struct piece {
    uint64_t from, to;
    uint64_t serving, calling; /* ids of calls; 0: none */
    /* while it is ready: the thread that runs there; while blocked: the thread that woke it; or NULL */
    const struct model_thread *other;
    uint32_t detail;
    uint16_t cpu;
    uint8_t state, activity; /* ACTIVITIES: none */
};

struct pieces {
    struct piece *items;
    size_t count, size;
};

struct path_call {
    struct model_call call; /* as it was last: its outer one is not valid */
    const struct model_thread *replier;
    uint64_t replier_serving;
};

/* The phase of the call that a step belongs to. */
enum phase { PHASE_CALL, PHASE_TO_SERVER, PHASE_SERVES, PHASE_DEFERRED, PHASE_BACK };

struct step {
    struct piece piece;                /* cut to the step */
    const struct model_thread *thread; /* NULL: nobody */
    uint32_t depth;
    enum phase phase;
    const struct path_call *call;
};

struct path {
    struct analysis analysis; /* it is an observer, as an analysis is */
    const struct analysis *owner;
    const struct ipc_request *request;
    const struct functions *functions;
    struct map servers; /* pids */
    struct delays delays;
    struct slots threads; /* struct pieces, by thread number */
    size_t piece_count;
    struct map calls;                /* struct path_call, by id */
    const struct model_thread *here; /* the thread that logged the current event */
    struct step *steps;
    size_t step_count, step_size;
    uint64_t nested; /* number of nested calls on the path */
};
/* Walks the time of REQUEST again with ANALYSIS, and builds the time line. Follows the client and all threads
 * of the servers in FUNCTIONS. Returns the call; NULL: cancelled. Close it in both cases. */
const struct path_call *path_open(struct path *path, const struct analysis *analysis,
                                  const struct ipc_request *request, const struct functions *functions,
                                  struct model *model);
void path_close(struct path *path, struct model *model);
/* Records threads and calls. MODEL stays open. False: cancelled. */
bool path_record(struct path *path, struct model *model);

static inline const struct path_call *path_call_of(const struct path *path, uint64_t id)
{
    return id != 0 ? map_find(&path->calls, id, 0, 0) : NULL;
}

#endif
