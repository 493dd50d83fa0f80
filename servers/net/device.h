/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * device.h - the interface of network device drivers, one file for each kind of device.
 *
 * A driver finds its device and moves Ethernet frames between it and netif.c. drivers[] in netif.c lists the
 * drivers; the first one whose start succeeds is used. Everything runs in the server's only thread.
 */
#ifndef NET_DEVICE_H
#define NET_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

#define NET_PIECES_MAX 8

/* A part of a frame to be sent. */
struct net_piece {
    uint64_t physical;
    uint32_t size;
};

struct net_driver {
    const char *name;
    /* Finds and starts the device. From then on the device
     * signals `bits` when there is work. False: no device. */
    bool (*start)(uint8_t mac[6], cap_t notification, uint64_t bits);
    /* Queues a frame. Its memory must stay valid until net_frame_sent(cookie). False: the queue is full. */
    bool (*transmit)(const struct net_piece *pieces, unsigned count, void *cookie);
    /* Notifies the device of everything queued since the last flush. */
    void (*flush)(void);
    /* Passes received frames to net_frame_received and sent ones to net_frame_sent. */
    void (*poll)(void);
};

extern const struct net_driver virtio_net_driver;

/* In netif.c, called by drivers. */
void net_frame_received(const void *frame, uint32_t size);
void net_frame_sent(void *cookie);

#endif
