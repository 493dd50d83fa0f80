/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/functions.h - what the functions are called that servers offer: "fs read".
 *
 * A function is whom a call goes to and its label. Whom: the server's process, or, as long as no server took
 * the call, the endpoint; that gets the name of the server that was seen there at another time.
 */
#ifndef TARN_FUNCTIONS_H
#define TARN_FUNCTIONS_H

#include <tools/tarn/answer/answer.h>
#include <tools/tarn/answer/map.h>

#define FUNCTION_BY_ENDPOINT (1ull << 32)

struct functions {
    const struct answer *answer;
    const struct field *labels;
    struct map servers; /* pid + 1 by endpoint */
};

void functions_open(struct functions *functions, const struct answer *answer);
void functions_close(struct functions *functions);
/* From an observer's `call`. */
void functions_learn(struct functions *functions, const struct model_call *call);
static inline uint64_t functions_whom(const struct model_call *call)
{
    return call->server != NULL ? call->server->pid : FUNCTION_BY_ENDPOINT | call->endpoint;
}
/* The process that serves, or MODEL_NOBODY. */
uint32_t functions_pid(const struct functions *functions, uint64_t whom);
/* Both in TEXT. The server: "fs", or "endpoint 7". */
#define FUNCTION_NAME_BYTES 128u
const char *functions_server(const struct functions *functions, uint64_t whom,
                             char text[FUNCTION_NAME_BYTES]);
const char *functions_name(const struct functions *functions, uint64_t whom, uint64_t label,
                           char text[FUNCTION_NAME_BYTES]);

#endif
