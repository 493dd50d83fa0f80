/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/traced/traced.h - what the files of the trace server share: connections, the pull, the rings.
 *
 * connection.c runs one thread for each link: HELLO, then requests. pull.c runs one more while a pull is
 * under way. rings.c reads what the kernel shares. README.md walks a packet through.
 */
#ifndef TRACED_H
#define TRACED_H

#include "channel.h"
#include <pthread.h>
#include <stdatomic.h>
#include <tarn/abi.h>
#include <trace/format/wire.h>
#include <trace/ring/read.h>

struct connection {
    struct channel *channel;
    uint32_t received; /* frames; its own thread only */

    pthread_mutex_t send_lock; /* innermost; covers the two below and the channel's sending side */
    uint32_t sent;
    _Atomic bool broken; /* written under send_lock, read by anyone: the link is of no use any more */

    uint32_t generation; /* of the rings, as HELLO said; its own thread only */

    struct pull *pull;         /* while this connection pulls; its own thread only */
    _Atomic bool is_pulling;   /* it is not over; set by this connection's thread, cleared by the pull's */
    _Atomic uint64_t requests; /* frames that came whole; counted by its own thread */

    /* connection.c's table_lock */
    struct connection *next;
    bool is_leaving; /* hung up, and its thread has not yet ended */
    uint64_t requests_seen, arrived_seen;
    unsigned idle_looks, stuck_looks; /* how often in a row nothing had come, nothing had gone */
};

/* connection.c */
void serve_channel(struct channel *channel);
_Noreturn void watch_connections(void); /* hangs up those that have gone quiet */
/* Sends one frame whose payload `fill` writes: how many bytes, 0 to send nothing. `limit`: at most so many.
 * False: the link broke. */
bool send_frame(struct connection *connection, uint16_t type, size_t limit,
                size_t (*fill)(void *context, uint8_t *payload), void *context);
bool send_payload(struct connection *connection, uint16_t type, const void *payload, size_t size);

/* pull.c */
struct pull *start_pull(struct connection *connection, const struct wire_pull *request, const uint64_t *want);
void ask_end_of_pull(struct pull *pull);
void finish_pull(struct pull *pull); /* asks, waits, frees */
bool pull_is_running(void);

/* previous.c: the trace of the system before. */
bool has_previous(void);
int get_previous(struct wire_previous *previous); /* 0 or -E_* */
/* Sends all of it but the end. False: the link broke, or *status says why not. `asked`: to stop. */
bool send_previous(struct connection *connection, _Atomic bool *asked, int *status);

/* rings.c */
const struct trace_info *trace_info(void);
struct trace_reader ring_of(uint32_t cpu);
uint64_t settled_geometry(void); /* as trace_geometry_word(); not while it is changing */
void get_hello(struct wire_hello *hello);
size_t put_statistics(uint8_t *to); /* as WIRE_OP_STATISTICS answers */
#define STATISTICS_BYTES_MAX (WIRE_HELLO_BYTES + 8 + WIRE_CPUS_MAX * WIRE_CPU_STATUS_BYTES + 8 * WIRE_CLASSES)
int64_t put_lock_classes(uint8_t *to, size_t *size); /* as WIRE_OP_LOCK_CLASSES answers; 0 or -E_* */
#define LOCK_CLASSES_BYTES_MAX (8u + WIRE_LOCK_CLASSES_MAX * WIRE_LOCK_CLASS_BYTES)
int64_t control_trace(const struct wire_request *request);
char *read_metadata(size_t *size); /* NULL: no memory; a multiple of 8 bytes; free() it */

/* What TRACED_STATUS shows. Counters of their own: relaxed. */
extern _Atomic uint64_t packets_sent, bytes_sent, packets_lost, connections;

#endif
