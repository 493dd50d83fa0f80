/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * device.h - the network device's driver (virtio_net.c), which moves Ethernet frames between it and netif.c.
 * Everything runs in the server's only thread.
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

/* Finds and starts the device. From then on the device
 * signals `bits` when there is work. False: no device. */
bool device_start(uint8_t mac[6], cap_t notification, uint64_t bits);
/* Queues a frame. Its memory must stay valid until net_frame_sent(cookie). False: the queue is full. */
bool device_transmit(const struct net_piece *pieces, unsigned count, void *cookie);
/* Notifies the device of everything queued since the last flush. */
void device_flush(void);
/* Passes received frames to net_frame_received and sent ones to net_frame_sent. */
void device_poll(void);

/* In netif.c, called by the driver. */
void net_frame_received(const void *frame, uint32_t size);
void net_frame_sent(void *cookie);

#endif
