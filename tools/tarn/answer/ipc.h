/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/ipc.h - what the files of `tarn ipc` share: ipc.c counts calls, ipc_tables.c shows them,
 * ipc_graph.c draws them; ipc_path.h follows one of them.
 */
#ifndef TARN_IPC_H
#define TARN_IPC_H

#include <tools/tarn/answer/functions.h>
#include <tools/tarn/answer/ipc_path.h>
#include <tools/tarn/answer/kinds.h>
#include <tools/tarn/answer/spans.h>

/* What happens between call and return. */
enum ipc_part {
    PART_TO_SERVER, /* no server has taken it */
    PART_RUNNING,   /* its server runs */
    PART_CALLS,     /* ... is inside a call of its own */
    PART_READY,     /* ... waits for a processor */
    PART_LOCKS,     /* ... for a futex */
    PART_FAULTS,    /* ... for a pager or fault handler */
    PART_WAITS,     /* ... for something else, or it is not known what it did */
    PART_DEFERRED,  /* its server took it and works on something else */
    PART_BACK,      /* answered, client does not run yet */
    IPC_PARTS
};

/* Calls of one process to one function. Ticks. */
struct ipc_edge {
    uint64_t errors, cut; /* cut: its begin or end was not seen */
    uint64_t parts[IPC_PARTS];
    struct distribution latency;
};

/* A function called from the function of another node; or from a process that serves nobody: NODE_ROOT. */
struct ipc_node {
    uint64_t number; /* from 1 */
    uint64_t depth;
    uint64_t errors;
    struct distribution latency;
};
#define NODE_ROOT (1ull << 63) /* | pid */

enum {
    BY_PROGRAM,
    BY_EDGE,
    BY_TIME,
    BY_FUNCTION,
    BY_SERVER,
    BY_CLIENT,
    BY_PROCESS,
    BY_CHAIN,
    BY_DURATION,
    BY_LONGEST,
    ABOUT_REQUEST,
    SHARE,
    PATH,
    STEP,
    WORK,
    IPC_TABLES
};
extern const struct table ipc_tables[IPC_TABLES], ipc_totals;

struct ipc {
    struct answer answer;
    struct functions functions;
    struct map edges;            /* struct ipc_edge by client's pid, whom, label */
    struct map nodes;            /* struct ipc_node by parent's number or NODE_ROOT, whom, label */
    struct slots flights;        /* see ipc.c */
    struct longest_list longest; /* args: id, label; what: whom */
    const char *client, *server, *function, *request; /* options */
    enum { REQUEST_NONE, REQUEST_ID, REQUEST_LONGEST, REQUEST_AT } request_by;
    uint64_t request_id;
    unsigned request_rank; /* 0: the longest */
    uint64_t request_at;   /* ticks: the first that begins then or later */
    bool wants_dot;
    char *dot; /* what --dot asked for; NULL: nothing */
    struct ipc_request found;
};

void ipc_fill_tables(struct ipc *ipc);
void ipc_draw_graph(struct ipc *ipc); /* sets dot */

static inline const struct ipc_edge *ipc_edge_in(const struct map_entry *entry)
{
    return (const struct ipc_edge *)(const void *)entry->value;
}

static inline const struct ipc_node *ipc_node_in(const struct map_entry *entry)
{
    return (const struct ipc_node *)(const void *)entry->value;
}

static inline const char *ipc_client_name(const struct ipc *ipc, const struct map_entry *entry)
{
    return answer_process_name(&ipc->answer, (uint32_t)entry->key[0]);
}

#endif
