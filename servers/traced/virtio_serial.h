/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/traced/virtio_serial.h - the first generic port of a virtio-serial device, as buffers of bytes.
 *
 * QEMU: -device virtio-serial-pci,disable-legacy=on -device virtserialport,chardev=...,nr=1. No locks: one
 * thread at a time. What is sent while no host has the port open goes nowhere.
 */
#ifndef TRACED_VIRTIO_SERIAL_H
#define TRACED_VIRTIO_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tarn/abi.h>

#define PORT_SEND_BYTES 16384u /* of a buffer to be sent */

/* Finds and starts the device, which from then on signals `bits` when there is work. False: none. */
bool port_start(cap_t notification, uint64_t bits);
void port_acknowledge(void); /* after a signal */
/* How often a host has opened or closed the port until now. Asked after port_receive it knows of every change
 * that came before those bytes. */
unsigned port_changes(void);
/* The oldest bytes that came, until port_receive_done. False: none. */
bool port_receive(const uint8_t **bytes, size_t *size);
void port_receive_done(void);
/* A buffer for bytes to be sent. NULL: none is free; a signal comes when one is. */
uint8_t *port_send_buffer(void);
void port_send(size_t size); /* the buffer got last */
void port_flush(void);       /* tells the device of everything since the last time */

#endif
