/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/traced/channel.h - one link to a host, as bytes: what TCP and a serial port owe traced.
 *
 * Sending is in place: reserve gives room for the next bytes, the caller writes them there, commit sends
 * them. Only one thread at a time may be between the two (connection.send_lock); receive may run beside it.
 */
#ifndef TRACED_CHANNEL_H
#define TRACED_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct channel {
    /* Waits for bytes: how many came, 0 at the end or when the link broke. */
    size_t (*receive)(struct channel *channel, void *bytes, size_t size);
    /* Waits for room. NULL: the link broke. `size` is at most the largest frame. */
    void *(*reserve)(struct channel *channel, size_t size);
    bool (*commit)(struct channel *channel, size_t size);
    /* How many bytes were committed, and how many of them have arrived, ever. May be called by any thread. */
    void (*account)(struct channel *channel, uint64_t *committed, uint64_t *arrived);
    /* Ends both directions: a receive under way returns 0. May be called by any thread. */
    void (*hang_up)(struct channel *channel);
    /* Gives what was committed a chance to arrive, then forgets the channel. */
    void (*close)(struct channel *channel);
};

/* tcp.c: the network link. listen_tcp returns at once, so that who asks whether traced runs is told when
 * hosts can connect; accept_tcp hands each connection to `serve`. */
struct tcp_listener {
    uint64_t handle;
};
bool listen_tcp(struct tcp_listener *listener, uint16_t port);
_Noreturn void accept_tcp(const struct tcp_listener *listener, void (*serve)(struct channel *channel));

/* serial.c: the link over a virtual serial port, one host at a time. False: there is no such port. */
bool start_serial(void (*serve)(struct channel *channel));

#endif
