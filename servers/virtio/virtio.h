/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/virtio/virtio.h - what drivers of virtio 1.0 devices over PCI share: start, features, queues.
 *
 * In order: virtio_open -> virtio_enable_interrupt -> virtio_make_queue for each -> virtio_go. A driver fills
 * descriptors and offers chains of them; virtio_notify tells the device of everything offered since the last
 * time; virtio_take_used gives back what the device has finished. No locks: one thread drives a device. All
 * fields that the device sees are little-endian (registers.h).
 */
#ifndef VIRTIO_VIRTIO_H
#define VIRTIO_VIRTIO_H

#include <servers/virtio/dma.h>
#include <stdbool.h>
#include <stdint.h>

#define VIRTIO_VENDOR 0x1af4

/* struct virtio_pci_cap: vendor capability in configuration space */
#define VIRTIO_CAP_TYPE       3
#define VIRTIO_CAP_BAR        4
#define VIRTIO_CAP_OFFSET     8
#define VIRTIO_CAP_LENGTH     12
#define VIRTIO_CAP_MULTIPLIER 16
enum { VIRTIO_COMMON = 1, VIRTIO_NOTIFY = 2, VIRTIO_ISR = 3, VIRTIO_DEVICE = 4 };

struct virtio_common {
    uint32_t device_feature_select, device_feature, driver_feature_select, driver_feature;
    uint16_t config_vector, queue_count;
    uint8_t status, config_generation;
    uint16_t queue_select, queue_size, queue_vector, queue_enable, queue_notify_offset;
    uint32_t queue_descriptors_low, queue_descriptors_high;
    uint32_t queue_driver_low, queue_driver_high, queue_device_low, queue_device_high;
};
_Static_assert(sizeof(struct virtio_common) == 56, "virtio 1.0, 4.1.4.3");

#define VIRTIO_STATUS_ACKNOWLEDGE 1
#define VIRTIO_STATUS_DRIVER      2
#define VIRTIO_STATUS_DRIVER_OK   4
#define VIRTIO_STATUS_FEATURES_OK 8
#define VIRTIO_STATUS_FAILED      128

#define VIRTIO_F_VERSION_1 (1ull << 32)
#define VIRTIO_NO_VECTOR   0xffff

struct virtq_descriptor {
    uint64_t address;
    uint32_t length;
    uint16_t flags, next;
};
#define VIRTQ_NEXT  1
#define VIRTQ_WRITE 2

struct virtq_available {
    uint16_t flags, index;
    uint16_t ring[];
};
#define VIRTQ_NO_INTERRUPT 1

struct virtq_used {
    uint16_t flags, index;
    struct {
        uint32_t id, length;
    } ring[];
};
#define VIRTQ_NO_NOTIFY 1

#define VIRTIO_QUEUE_MAX 256u /* entries that a queue gets at most */

struct virtio_device {
    uint32_t pci;
    volatile struct virtio_common *common;
    volatile void *config; /* what the kind of device has there */
    volatile char *notify;
    uint32_t notify_multiplier;
    int64_t irq;
};

struct virtio_queue {
    uint16_t number, size;
    uint16_t used_seen;
    uint16_t given; /* our copy of available->index */
    bool must_notify;
    struct virtq_descriptor *descriptors; /* made linked by `next`, one behind the other */
    struct virtq_available *available;
    volatile struct virtq_used *used;
    volatile uint16_t *doorbell;
    struct dma memory;
};

/* Finds the device with this PCI number, resets it and agrees on `features`, all of which it must offer. */
bool virtio_open(struct virtio_device *device, uint16_t id, uint64_t features);
/* Every queue's interrupt signals `bits`; the driver acknowledges device->irq. Before any queue is made. */
bool virtio_enable_interrupt(struct virtio_device *device, cap_t notification, uint64_t bits);
bool virtio_make_queue(struct virtio_device *device, struct virtio_queue *queue, uint16_t number);
void virtio_go(struct virtio_device *device);
void virtio_fail(struct virtio_device *device); /* the driver gives up */

void virtio_offer(struct virtio_queue *queue, uint16_t head);
void virtio_notify(struct virtio_queue *queue);
/* The next finished chain by its head, and how much the device wrote. False: none. */
bool virtio_take_used(struct virtio_queue *queue, uint32_t *id, uint32_t *length);

#endif
