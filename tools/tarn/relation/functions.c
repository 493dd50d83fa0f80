/* functions.c - names of the functions that servers offer; see relation.h. */
#include <stdio.h>
#include <tools/tarn/relation/relation.h>

void functions_open(struct functions *functions, struct analysis *analysis)
{
    functions->analysis = analysis;
    functions->labels = analysis_field(analysis, "ipc_call", "label");
    analysis_map(analysis, &functions->servers, sizeof(uint64_t));
}

void functions_learn(struct functions *functions, const struct model_call *call)
{
    if (call->received != 0 && call->server != NULL)
        *(uint64_t *)map_at(&functions->servers, call->endpoint, 0, 0) = (uint64_t)call->server->pid + 1;
}

uint32_t functions_pid(const struct functions *functions, uint64_t whom)
{
    const uint64_t *pid;
    if (!(whom & FUNCTION_BY_ENDPOINT))
        return (uint32_t)whom;
    pid = map_find(&functions->servers, whom & UINT32_MAX, 0, 0);
    return pid != NULL ? (uint32_t)(*pid - 1) : MODEL_NOBODY;
}

const char *functions_server(const struct functions *functions, uint64_t whom, char text[FUNCTION_NAME_BYTES])
{
    uint32_t pid = functions_pid(functions, whom);
    if (pid == MODEL_NOBODY && (whom & FUNCTION_BY_ENDPOINT))
        snprintf(text, FUNCTION_NAME_BYTES, "endpoint %u", (unsigned)whom);
    else
        snprintf(text, FUNCTION_NAME_BYTES, "%s", analysis_process_name(functions->analysis, pid));
    return text;
}

static const char *without_prefix(const char *label, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(label, prefix, length) == 0 && label[length] == '_' ? label + length + 1 : label;
}

/* The names of requests in the metadata begin with the server's name, or apply to all servers. */
const char *functions_name(const struct functions *functions, uint64_t whom, uint64_t label,
                           char text[FUNCTION_NAME_BYTES])
{
    char number[ANALYSIS_NAME_BYTES];
    const char *name = label_of(functions->labels, label, number);
    size_t length = strlen(functions_server(functions, whom, text));
    name = without_prefix(without_prefix(name, text), "server");
    snprintf(text + length, FUNCTION_NAME_BYTES - length, " %s", name);
    return text;
}
