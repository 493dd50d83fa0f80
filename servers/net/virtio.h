/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/net/virtio.h - the bytes of virtio 1.0 over PCI that the driver needs. All fields little-endian.
 */
#ifndef NET_VIRTIO_H
#define NET_VIRTIO_H

#include <stdint.h>

#define VIRTIO_VENDOR     0x1af4
#define VIRTIO_NET_MODERN 0x1041

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
#define VIRTIO_NET_F_MAC   (1ull << 5)
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

struct virtio_net_header { /* stands before every frame */
    uint8_t flags, gso_type;
    uint16_t header_length, gso_size, checksum_start, checksum_offset, buffers;
};
_Static_assert(sizeof(struct virtio_net_header) == 12, "virtio 1.0, 5.1.6");

#endif
