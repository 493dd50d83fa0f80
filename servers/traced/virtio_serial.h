/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio_serial.h - the first generic port of a virtio-serial device, as buffers of bytes.
 *
 * QEMU options: -device virtio-serial-pci,disable-legacy=on -device virtserialport,chardev=...,nr=1. No
 * locks: one thread at a time. Bytes sent while no host has the port open are lost.
 */
#ifndef TRACED_VIRTIO_SERIAL_H
#define TRACED_VIRTIO_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>

#define PORT_SEND_BYTES 16384u /* size of a send buffer */

/* Finds and starts the device. From then on the device
 * signals `bits` when there is work. False: no device. */
bool port_start(cap_t notification, uint64_t bits);
void port_acknowledge(void); /* call after a signal */
/* How often a host has opened or closed the port so far. After port_receive it includes every change that
 * came before those bytes. */
unsigned port_changes(void);
bool port_is_open(void); /* after the changes that port_changes has seen */
/* Returns the oldest received buffer, valid until port_receive_done. False: none. */
bool port_receive(const uint8_t **bytes, size_t *size);
void port_receive_done(void);
/* Returns a buffer to fill and send. NULL: none is free; a signal follows when one is. */
uint8_t *port_send_buffer(void);
void port_send(size_t size); /* sends the buffer that port_send_buffer returned last */
/* Bytes sent since the start, and how many of them the device has taken. */
void port_account(uint64_t *sent, uint64_t *taken);
void port_flush(void); /* notifies the device of everything since the last flush */

#endif
