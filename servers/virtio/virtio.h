/*
 * virtio.h - virtio 1.0 devices over PCI: start, features, split queues.
 *
 * Call in order: virtio_open, virtio_enable_interrupt, virtio_make_queue for each queue, virtio_go. A driver
 * fills descriptors and offers chains of them (virtio_offer). virtio_notify notifies the device of all chains
 * offered since the last call. virtio_take_used returns the chains that the device has finished. No locks:
 * one thread drives a device. All fields that the device sees are little-endian (registers.h).
 */
#pragma once

#include <servers/virtio/dma.h>
#include <stdbool.h>
#include <stdint.h>

/* Offsets in struct virtio_pci_cap, a vendor capability in configuration space. */
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

#define VIRTIO_QUEUE_MAX 256u /* maximum number of entries */

struct virtio_device {
    cap_t pci;
    volatile struct virtio_common *common;
    volatile void *config; /* device-specific registers */
    volatile char *notify;
    uint32_t notify_multiplier;
    int64_t irq;
};

struct virtio_queue {
    uint16_t number, size;
    uint16_t used_seen;
    uint16_t given; /* our copy of available->index */
    bool must_notify;
    struct virtq_descriptor *descriptors; /* initially linked by `next`, each to the one after it */
    struct virtq_available *available;
    volatile struct virtq_used *used;
    volatile uint16_t *doorbell;
    struct dma memory;
};

/* Resets a device (a capability) and negotiates `features`. Fails unless the device offers all of them. */
bool virtio_open(struct virtio_device *device, cap_t pci, uint64_t features);
/* The interrupts of all queues signal `bits`; the driver
 * acknowledges device->irq. Call before making queues. */
bool virtio_enable_interrupt(struct virtio_device *device, cap_t notification, uint64_t bits);
bool virtio_make_queue(struct virtio_device *device, struct virtio_queue *queue, uint16_t number);
void virtio_go(struct virtio_device *device);
void virtio_fail(struct virtio_device *device);

void virtio_offer(struct virtio_queue *queue, uint16_t head);
void virtio_notify(struct virtio_queue *queue);
/* Returns in *id the head of the next finished chain and in
 * *length the bytes that the device wrote. False: none. */
bool virtio_take_used(struct virtio_queue *queue, uint32_t *id, uint32_t *length);
