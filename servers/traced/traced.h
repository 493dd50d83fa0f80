/*
 * traced.h - what the files of the trace server share: links, connections, the pull, the rings.
 *
 * connection.c runs one thread per link: HELLO, then requests, to which request.c replies. pull.c runs
 * another one during a pull. rings.c reads the memory that the kernel shares. README.md follows a packet
 * through the server.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>
#include <trace/format/wire.h>
#include <trace/ring/read.h>

/*
 * A link to a host as a byte stream, implemented by TCP and by a serial port.
 *
 * Sending is in place: reserve returns space for the next bytes, the caller writes them there, commit sends
 * them. Only one thread at a time may be between the two (connection.send_lock); receive may run
 * concurrently.
 */
struct channel {
    /* Waits for bytes. Returns their number, or 0 at the end or when the link broke. */
    size_t (*receive)(struct channel *channel, void *bytes, size_t size);
    /* Waits for space. Returns NULL if the link broke. `size` is at most that of the largest frame. */
    void *(*reserve)(struct channel *channel, size_t size);
    bool (*commit)(struct channel *channel, size_t size);
    /* Total bytes committed, and how many of those have arrived. Any thread may call it. */
    void (*account)(struct channel *channel, uint64_t *committed, uint64_t *arrived);
    /* Ends both directions: a pending receive returns 0. Any thread may call it. */
    void (*hang_up)(struct channel *channel);
    /* Waits a limited time for committed bytes to arrive, then frees the channel. */
    void (*close)(struct channel *channel);
};

/* tcp.c, serial.c: start threads that pass each connection to serve_channel(). */
void start_tcp(void);
void admit_port(uint16_t port); /* TRACED_ADMIT */
void start_serial(void);        /* one host at a time, if there is such a port */

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
void start_watch(void);                                 /* ends connections of silent hosts */
bool is_connected(const struct connection *connection); /* it may have been freed */
/* Returns where to write the payload of one frame, at most `limit` bytes, until end_frame(): others wait.
 * NULL: the link broke. */
uint8_t *begin_frame(struct connection *connection, size_t limit);
/* Sends the frame, but nothing if `size` is 0. Returns false if the link broke. */
bool end_frame(struct connection *connection, uint16_t type, uint8_t *payload, size_t size);
bool send_payload(struct connection *connection, uint16_t type, const void *payload, size_t size);

/* For channels: memory in which a frame is built; zero at first. */
struct frame_space {
    uint8_t *bytes;
    size_t size;
};
void *frame_space(struct frame_space *space, size_t size); /* NULL: no memory */

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
/* Marks in the trace what a pull's thread does, so that readers can leave it out (`tarn --without-drain`). A
 * round in which packets are sent is marked by trace_drain_begin and trace_drain_end. A round that sends
 * nothing logs nothing, so an idle pull does not feed itself. The last drain_end says that the thread no
 * longer drains; from its first drain_begin to that, everything that it does is the drain's. */
struct drain {
    bool is_marked;          /* this round has logged its begin */
    bool has_begun;          /* any round has */
    uint64_t packets, bytes; /* sent in this round */
};
void drain_begin(struct drain *drain, uint32_t cpu); /* before a packet of this CPU is sent */
void drain_count(struct drain *drain, size_t bytes); /* one packet was sent */
void drain_end(struct drain *drain, bool is_last);   /* ends the round or, with is_last, all rounds */
char *read_metadata(size_t *size); /* NULL: out of memory; size is a multiple of 8; free() it */

extern _Atomic uint64_t bytes_sent; /* by all connections; relaxed */
