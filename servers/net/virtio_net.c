/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio_net.c - driver for virtio-net over PCI, modern interface (disable-legacy=on).
 *
 * Start: virtio_open, interrupt, two queues, virtio_go. Receive buffers are given to the device at the start
 * and again after each frame has been copied out. Frames to send are given in place, behind one constant
 * empty virtio header. Completed transmissions are collected when further frames are queued, so sending needs
 * no interrupts unless the queue is full.
 *
 * No offloads: QEMU's user network gives virtio no header of its own (peer_has_vnet_hdr), so it offers
 * neither checksums nor segmentation. netif.c sends frames beyond 1514 bytes instead.
 */
#include "device.h"
#include <servers/virtio/registers.h>
#include <servers/virtio/virtio.h>
#include <tarn/syscall.h>

#define VIRTIO_NET_F_MAC (1ull << 5)
#define RECEIVE_BYTES    2048u

enum { QUEUE_RECEIVE, QUEUE_TRANSMIT };

/* Precedes every frame. */
struct virtio_net_header {
    uint8_t flags, gso_type;
    uint16_t header_length, gso_size, checksum_start, checksum_offset, buffers;
};
_Static_assert(sizeof(struct virtio_net_header) == 12, "virtio 1.0, 5.1.6");

static struct virtio_device device;
static struct virtio_queue receive_queue, transmit_queue;
static uint16_t free_head, free_count;  /* transmit: unused descriptors, linked by next */
static void *cookies[VIRTIO_QUEUE_MAX]; /* transmit: by first descriptor */
static struct dma receive_buffers, header;

/* ---- queues ---------------------------------------------------------------------------------------- */

static void fill_receive_queue(void)
{
    struct virtio_queue *queue = &receive_queue;

    for (uint16_t i = 0; i < queue->size; i++) {
        queue->descriptors[i] = (struct virtq_descriptor){
            .address = le64(receive_buffers.physical + i * (uint64_t)RECEIVE_BYTES),
            .length = le32(RECEIVE_BYTES),
            .flags = le16(VIRTQ_WRITE),
        };
        virtio_offer(queue, i);
    }
}

static void collect_sent(void)
{
    struct virtio_queue *queue = &transmit_queue;
    uint32_t head, length;

    while (virtio_take_used(queue, &head, &length)) {
        uint16_t last = (uint16_t)head, count = 1;
        for (; queue->descriptors[last].flags & le16(VIRTQ_NEXT); count++)
            last = le16(queue->descriptors[last].next);
        queue->descriptors[last].next = le16(free_head);
        free_head = (uint16_t)head;
        free_count += count;
        net_frame_sent(cookies[head]);
    }
}

bool device_transmit(const struct net_piece *pieces, unsigned count, void *cookie)
{
    struct virtio_queue *queue = &transmit_queue;

    if (free_count < queue->size / 2)
        collect_sent();
    if (free_count < count + 1) {
        queue->available->flags = 0; /* interrupt when descriptors become free */
        /* Check once more after enabling interrupts; pairs with the device's write of the index. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        collect_sent();
        if (free_count < count + 1)
            return false;
    }
    uint16_t head = free_head, at = head;
    queue->descriptors[at].address = le64(header.physical);
    queue->descriptors[at].length = le32(sizeof(struct virtio_net_header));
    for (unsigned i = 0; i < count; i++) {
        queue->descriptors[at].flags = le16(VIRTQ_NEXT);
        at = le16(queue->descriptors[at].next);
        queue->descriptors[at].address = le64(pieces[i].physical);
        queue->descriptors[at].length = le32(pieces[i].size);
    }
    queue->descriptors[at].flags = 0;
    free_head = le16(queue->descriptors[at].next);
    free_count -= count + 1;
    cookies[head] = cookie;
    virtio_offer(queue, head);
    return true;
}

void device_flush(void)
{
    virtio_notify(&transmit_queue);
    virtio_notify(&receive_queue);
}

static void receive_frames(void)
{
    struct virtio_queue *queue = &receive_queue;
    uint32_t id, length;

    while (virtio_take_used(queue, &id, &length)) {
        const char *buffer = receive_buffers.address + id * (uint64_t)RECEIVE_BYTES;
        if (length > sizeof(struct virtio_net_header) && length <= RECEIVE_BYTES)
            net_frame_received(buffer + sizeof(struct virtio_net_header),
                               length - (uint32_t)sizeof(struct virtio_net_header));
        virtio_offer(queue, (uint16_t)id);
    }
}

void device_poll(void)
{
    struct virtio_queue *receive = &receive_queue;

    sys_irq_acknowledge((cap_t)device.irq);
    transmit_queue.available->flags = le16(VIRTQ_NO_INTERRUPT);
    collect_sent();
    do {
        receive->available->flags = le16(VIRTQ_NO_INTERRUPT);
        receive_frames();
        receive->available->flags = 0;
        /* Check once more after enabling interrupts; pairs with the device's write of the index. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } while (le16(receive->used->index) != receive->used_seen);
}

static bool make_buffers(void)
{
    if (!dma_allocate(&receive_buffers, (uint64_t)RECEIVE_BYTES * receive_queue.size) ||
        !dma_allocate(&header, sizeof(struct virtio_net_header)))
        return false;
    free_count = transmit_queue.size;
    transmit_queue.available->flags = le16(VIRTQ_NO_INTERRUPT);
    return true;
}

bool device_start(uint8_t mac[6], cap_t notification, uint64_t bits)
{
    if (!virtio_open(&device, SLOT_DEVICE, VIRTIO_NET_F_MAC))
        return false;
    if (!virtio_enable_interrupt(&device, notification, bits) ||
        !virtio_make_queue(&device, &receive_queue, QUEUE_RECEIVE) ||
        !virtio_make_queue(&device, &transmit_queue, QUEUE_TRANSMIT) || !make_buffers()) {
        virtio_fail(&device);
        return false;
    }
    const volatile uint8_t *address = device.config;
    for (int i = 0; i < 6; i++)
        mac[i] = register_read8(&address[i]);
    virtio_go(&device);
    fill_receive_queue();
    device_flush();
    return true;
}
