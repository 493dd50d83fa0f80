/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * functions.h - names of the functions that servers offer: "fs read".
 *
 * A function is identified by the target of the call and its label. The target is the server's process, or
 * the endpoint while no server has received the call. An endpoint is named after a server that was seen on
 * it at another time.
 */
#ifndef TARN_FUNCTIONS_H
#define TARN_FUNCTIONS_H

#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/map.h>

#define FUNCTION_BY_ENDPOINT (1ull << 32)

struct functions {
    const struct analysis *analysis;
    const struct field *labels;
    struct map servers; /* pid + 1, by endpoint */
};

void functions_open(struct functions *functions, struct analysis *analysis);
/* Call it from the observer's `call`. */
void functions_learn(struct functions *functions, const struct model_call *call);
static inline uint64_t functions_whom(const struct model_call *call)
{
    return call->server != NULL ? call->server->pid : FUNCTION_BY_ENDPOINT | call->endpoint;
}
/* Returns the result of a call: an error of the kernel, or the reply's label, which is negative for errors.
 */
static inline int64_t ipc_result(const struct model_call *call)
{
    return call->error != 0 ? call->error : (int64_t)call->reply_label;
}
/* MODEL_NOBODY: unknown. */
uint32_t functions_pid(const struct functions *functions, uint64_t whom);
/* Both write to TEXT. The server's name is "fs", or "endpoint 7". */
#define FUNCTION_NAME_BYTES 128u
const char *functions_server(const struct functions *functions, uint64_t whom,
                             char text[FUNCTION_NAME_BYTES]);
const char *functions_name(const struct functions *functions, uint64_t whom, uint64_t label,
                           char text[FUNCTION_NAME_BYTES]);

#endif
