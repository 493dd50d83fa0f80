/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/net/device.h - what a driver owes: one file for each kind of network device.
 *
 * A driver finds its device, and moves Ethernet frames between it and netif.c. drivers[] in netif.c lists
 * them; the first whose start succeeds is used. Everything runs in the server's one thread.
 */
#ifndef NET_DEVICE_H
#define NET_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

#define NET_PIECES_MAX 8

struct net_piece { /* of a frame to be sent */
    uint64_t physical;
    uint32_t size;
};

struct net_driver {
    const char *name;
    /* Finds and starts the device, which from then on signals `bits` when there is work. False: none. */
    bool (*start)(uint8_t mac[6], cap_t notification, uint64_t bits);
    /* Queues a frame; its memory must stay until net_frame_sent(cookie). False: the queue is full. */
    bool (*transmit)(const struct net_piece *pieces, unsigned count, void *cookie);
    /* Tells the device of everything queued since the last flush. */
    void (*flush)(void);
    /* Hands up what was received and what was sent. */
    void (*poll)(void);
};

extern const struct net_driver virtio_net_driver;

/* netif.c, called by drivers */
void net_frame_received(const void *frame, uint32_t size);
void net_frame_sent(void *cookie);

#endif
