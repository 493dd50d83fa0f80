/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/ipc.h - what the files of `tarn ipc` share: ipc.c counts, ipc_path.c follows one call. */
#ifndef TARN_IPC_H
#define TARN_IPC_H

#include <tools/tarn/answer/answer.h>
#include <tools/tarn/answer/functions.h>

/* A call that was seen whole. */
struct ipc_request {
    uint64_t id, label, whom; /* whom: functions_whom */
    uint64_t called, returned;
    uint32_t client; /* a thread's number in the model */
    int64_t result;
};

/* Walks the trace once more up to the end of REQUEST and fills the tables: one row about it, its time line,
 * and the sums of that. The client is followed and all threads of servers that FUNCTIONS has seen. */
void ipc_follow(const struct answer *answer, const struct ipc_request *request,
                const struct functions *functions, struct table *about, struct table *path,
                struct table *work);

extern const struct table_column ipc_request_columns[8], ipc_path_columns[7], ipc_work_columns[4];
/* The place of the total in the last. */
#define IPC_WORK_TOTAL 2

/* What a call came to: an error of the kernel's, or a negative answer. */
static inline int64_t ipc_result(const struct model_call *call)
{
    return call->error != 0 ? call->error : (int64_t)call->reply_label;
}

#endif
