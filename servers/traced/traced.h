/*
 * traced.h - what the files of the trace server share: connections, the pull, the rings.
 *
 * connection.c runs one thread per link: HELLO, then requests, to which request.c replies. pull.c runs
 * another one during a pull. rings.c reads the memory that the kernel shares. README.md follows a packet
 * through the server.
 */
#pragma once

#include "channel.h"
#include <pthread.h>
#include <stdatomic.h>
#include <tarn/abi.h>
#include <trace/format/wire.h>
#include <trace/ring/read.h>

struct connection {
    struct channel *channel;
    uint32_t received; /* frames; its own thread only */

    pthread_mutex_t send_lock; /* innermost; covers the next two fields and the sending side of the channel */
    uint32_t sent;
    _Atomic bool broken; /* written under send_lock, read by any thread: the link is unusable */

    uint32_t generation; /* of the rings, as sent in HELLO; its own thread only */

    struct pull *pull;         /* this connection's pull, or NULL; its own thread only */
    _Atomic bool is_pulling;   /* a pull is active; set by this connection's thread, cleared by the pull's */
    _Atomic uint64_t requests; /* valid frames received; counted by its own thread */

    /* covered by connection.c's table_lock: */
    struct connection *next;
    bool is_leaving; /* ended, but its thread has not finished */
    uint64_t requests_seen, arrived_seen;
    unsigned idle_checks,
        stuck_checks; /* consecutive checks without a request; without progress in sending */
};

/* connection.c */
void serve_channel(struct channel *channel);
_Noreturn void watch_connections(void);                 /* ends connections of silent hosts */
bool is_connected(const struct connection *connection); /* it may have been freed */
/* Sends one frame. `fill` writes the payload, at most `limit` bytes, and returns its size, or 0 to send
 * nothing. Returns false if the link broke. */
bool send_frame(struct connection *connection, uint16_t type, size_t limit,
                size_t (*fill)(void *context, uint8_t *payload), void *context);
bool send_payload(struct connection *connection, uint16_t type, const void *payload, size_t size);

/* request.c: replies to a request. False: the link broke, or the request is invalid. */
bool handle_request(struct connection *connection, const uint8_t *payload, uint32_t length);

/* pull.c */
struct pull *start_pull(struct connection *connection, const struct wire_pull *request, const uint64_t *want);
void ask_end_of_pull(struct pull *pull);
void finish_pull(struct pull *pull); /* asks for the end, waits for it, frees the pull */
bool pull_is_running(void);
void say_goodbye(void); /* TRACED_GOODBYE */

/* previous.c: the trace of the previous boot. */
bool has_previous(void);
int get_previous(struct wire_previous *previous); /* 0 or -E_* */
/* Returns its metadata, to be freed, or NULL and a negative STATUS. */
char *read_previous_metadata(size_t *size, int64_t *status);
/* Sends everything except END. Returns false if the link broke or, with *status < 0, on an error. `asked`
 * stops it. */
bool send_previous(struct connection *connection, _Atomic bool *asked, int *status);

/* rings.c */
const struct trace_info *trace_info(void);
struct trace_reader ring_of(uint32_t cpu);
uint64_t settled_geometry(void); /* waits while it is changing; format: trace_geometry_word() */
void get_hello(struct wire_hello *hello);
/* Writes the header of a WIRE_PACKET payload before its packet. Returns the payload's size: only the packet's
 * content and the filler's header are sent. */
size_t put_packet_header(uint8_t *payload, const struct trace_reader *reader, uint64_t number);
size_t put_statistics(uint8_t *to); /* the data of the reply to WIRE_OP_STATISTICS */
#define STATISTICS_BYTES_MAX (WIRE_HELLO_BYTES + 8 + WIRE_CPUS_MAX * WIRE_CPU_STATUS_BYTES + 8 * WIRE_CLASSES)
/* the data of the reply to WIRE_OP_LOCK_CLASSES; returns its size or -E_* */
int64_t put_lock_classes(uint8_t *to);
#define LOCK_CLASSES_BYTES_MAX (8u + WIRE_LOCK_CLASSES_MAX * WIRE_LOCK_CLASS_BYTES)
/* Executes a command of trace/print/commands.h, whose words are separated by newlines, and writes what it
 * prints, or why it was refused. Adds to `size`; returns 0 or -E_*. */
int64_t run_command(char *text, uint8_t *to, size_t *size);
#define COMMAND_BYTES_MAX 16384u
uint64_t tables_bytes(void); /* of a CPU's tables of counters; 0: there are none */
/* Copies the first `bytes` of them. `to` need not be aligned. */
void copy_tables(uint8_t *to, uint32_t cpu, uint64_t bytes);
char *read_metadata(size_t *size); /* NULL: out of memory; size is a multiple of 8; free() it */

extern _Atomic uint64_t bytes_sent; /* by all connections; relaxed */
