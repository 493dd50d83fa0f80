/*
 * channel.h - a link to a host as a byte stream, implemented by TCP and by a serial port.
 *
 * Sending is in place: reserve returns space for the next bytes, the caller
 * writes them there, commit sends them. Only one thread at a time may be
 * between the two (connection.send_lock); receive may run concurrently.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>

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

/* tcp.c: the network link. listen_tcp returns at once, so traced starts to reply to requests when hosts can
 * connect. accept_tcp passes each connection to `serve`. */
struct tcp_listener {
    uint64_t handle;
    cap_t readable; /* notification: a host connects */
};
bool listen_tcp(struct tcp_listener *listener, uint16_t port);
void admit_port(uint16_t port); /* TRACED_ADMIT */
_Noreturn void accept_tcp(const struct tcp_listener *listener, void (*serve)(struct channel *channel));

/* serial.c: the link over a virtual serial port, one host at a time, if there is such a port. */
void start_serial(void (*serve)(struct channel *channel));
