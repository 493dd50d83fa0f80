/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ipc.h - shared by the files of `tarn ipc`: ipc.c counts calls, ipc_tables.c prints them, ipc_graph.c draws
 * them; ipc_path.h follows one call.
 */
#ifndef TARN_IPC_H
#define TARN_IPC_H

#include <tools/tarn/analysis/functions.h>
#include <tools/tarn/analysis/ipc_path.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/spans.h>

enum ipc_part {
    PART_TO_SERVER, /* no server has received it */
    PART_RUNNING,   /* its server runs */
    PART_CALLS,     /* its server waits for a call of its own */
    PART_READY,     /* its server waits for a CPU */
    PART_LOCKS,     /* its server waits for a futex */
    PART_FAULTS,    /* its server waits for a pager or fault handler */
    PART_WAITS,     /* its server waits for something else, or is in an unknown state */
    PART_DEFERRED,  /* its server received it and works on something else */
    PART_BACK,      /* replied, the client does not run yet */
    IPC_PARTS
};

/* Calls from one process to one function. Times are in ticks. */
struct ipc_edge {
    uint64_t errors, cut; /* cut: begin or end was not seen */
    uint64_t parts[IPC_PARTS];
    struct distribution latency;
};

/* A function called from another node's function, or from a process that serves no call: NODE_ROOT. */
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
    struct analysis analysis;
    struct functions functions;
    struct map edges;            /* struct ipc_edge by the client's pid, target, label */
    struct map nodes;            /* struct ipc_node by parent number or NODE_ROOT, target, label */
    struct slots flights;        /* see ipc.c */
    struct longest_list longest; /* args: id, label; what: target */
    const char *client, *server, *function, *request; /* options */
    enum { REQUEST_NONE, REQUEST_ID, REQUEST_LONGEST, REQUEST_AT } request_by;
    uint64_t request_id;
    unsigned request_rank; /* 0: the longest */
    uint64_t request_at;   /* ticks: the first call that begins then or later */
    bool wants_dot;
    char *dot; /* the output of --dot; NULL: none */
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
    return analysis_process_name(&ipc->analysis, (uint32_t)entry->key[0]);
}

#endif
