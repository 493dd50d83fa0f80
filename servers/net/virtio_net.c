/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/net/virtio_net.c - driver of virtio-net over PCI, modern interface (disable-legacy=on).
 *
 * start_virtio: find -> reset -> features -> two queues -> interrupt -> go. Receive buffers are given to the
 * device once and again after each frame was copied out; frames to send are given where they lie, behind one
 * empty virtio header that never changes. Sent frames are collected when the next ones are queued, so sending
 * needs no interrupts unless the queue is full.
 *
 * No offloads: QEMU's user network gives virtio no header of its own (peer_has_vnet_hdr), so it offers
 * neither checksums nor segmentation. What helps there instead is in netif.c: frames beyond 1514 bytes.
 */
#include "device.h"
#include "dma.h"
#include "pci.h"
#include "registers.h"
#include "virtio.h"
#include <string.h>
#include <tarn/syscall.h>

#define QUEUE_SIZE_MAX 256u
#define RECEIVE_BYTES  2048u

enum { QUEUE_RECEIVE, QUEUE_TRANSMIT, QUEUES };

struct queue {
    uint16_t size;
    uint16_t free_head, free_count; /* transmit: unused descriptors, linked by next */
    uint16_t used_seen;
    uint16_t given; /* our copy of available->index */
    bool must_notify;
    struct virtq_descriptor *descriptors;
    struct virtq_available *available;
    volatile struct virtq_used *used;
    volatile uint16_t *doorbell;
    void *cookies[QUEUE_SIZE_MAX]; /* transmit: by first descriptor */
    struct dma memory;
};

static struct {
    uint32_t pci;
    volatile struct virtio_common *common;
    volatile uint8_t *mac;
    volatile char *notify;
    uint32_t notify_multiplier;
    int64_t irq;
    struct queue queue[QUEUES];
    struct dma receive_buffers, header;
} device;

/* ---- start --------------------------------------------------------------------------------------- */

/* Maps what a vendor capability of the wanted type names. */
static volatile void *map_part(uint8_t type, uint32_t *capability)
{
    for (uint32_t at = 0; (at = pci_capability(device.pci, PCI_CAP_VENDOR, at)) != 0;)
        if (pci_read(device.pci, at + VIRTIO_CAP_TYPE, 1) == type) {
            *capability = at;
            return pci_map(device.pci, pci_read(device.pci, at + VIRTIO_CAP_BAR, 1),
                           pci_read(device.pci, at + VIRTIO_CAP_OFFSET, 4),
                           pci_read(device.pci, at + VIRTIO_CAP_LENGTH, 4));
        }
    return NULL;
}

static bool map_device(void)
{
    uint32_t capability;

    device.common = map_part(VIRTIO_COMMON, &capability);
    device.mac = map_part(VIRTIO_DEVICE, &capability);
    device.notify = map_part(VIRTIO_NOTIFY, &capability);
    if (!device.common || !device.mac || !device.notify)
        return false;
    device.notify_multiplier = pci_read(device.pci, capability + VIRTIO_CAP_MULTIPLIER, 4);
    return true;
}

static bool negotiate(void)
{
    volatile struct virtio_common *common = device.common;
    uint64_t offered;

    register_write8(&common->status, 0);
    while (register_read8(&common->status) != 0)
        sys_thread_yield();
    register_write8(&common->status, VIRTIO_STATUS_ACKNOWLEDGE | VIRTIO_STATUS_DRIVER);
    register_write32(&common->device_feature_select, 0);
    offered = register_read32(&common->device_feature);
    register_write32(&common->device_feature_select, 1);
    offered |= (uint64_t)register_read32(&common->device_feature) << 32;
    uint64_t wanted = VIRTIO_F_VERSION_1 | VIRTIO_NET_F_MAC;
    if ((offered & wanted) != wanted)
        return false;
    register_write32(&common->driver_feature_select, 0);
    register_write32(&common->driver_feature, (uint32_t)wanted);
    register_write32(&common->driver_feature_select, 1);
    register_write32(&common->driver_feature, (uint32_t)(wanted >> 32));
    register_write8(&common->status,
                    VIRTIO_STATUS_ACKNOWLEDGE | VIRTIO_STATUS_DRIVER | VIRTIO_STATUS_FEATURES_OK);
    return (register_read8(&common->status) & VIRTIO_STATUS_FEATURES_OK) != 0;
}

static bool make_queue(unsigned number, uint16_t vector)
{
    volatile struct virtio_common *common = device.common;
    struct queue *queue = &device.queue[number];

    register_write16(&common->queue_select, number);
    queue->size = register_read16(&common->queue_size);
    if (queue->size == 0)
        return false;
    if (queue->size > QUEUE_SIZE_MAX)
        queue->size = QUEUE_SIZE_MAX;
    uint64_t available = sizeof(struct virtq_descriptor) * queue->size;
    uint64_t used = (available + sizeof(struct virtq_available) + 2 * queue->size + 2 + 63) & ~63ull;
    if (!dma_allocate(&queue->memory, used + sizeof(struct virtq_used) + 8 * queue->size + 2))
        return false;
    queue->descriptors = (void *)queue->memory.address;
    queue->available = (void *)(queue->memory.address + available);
    queue->used = (void *)(queue->memory.address + used);
    for (uint16_t i = 0; i < queue->size; i++)
        queue->descriptors[i].next = le16(i + 1);
    queue->free_count = queue->size;
    queue->doorbell = (void *)(device.notify + (uint64_t)register_read16(&common->queue_notify_offset) *
                                                   device.notify_multiplier);
    register_write16(&common->queue_size, queue->size);
    register_write16(&common->queue_vector, vector);
    register_write32(&common->queue_descriptors_low, (uint32_t)queue->memory.physical);
    register_write32(&common->queue_descriptors_high, (uint32_t)(queue->memory.physical >> 32));
    register_write32(&common->queue_driver_low, (uint32_t)(queue->memory.physical + available));
    register_write32(&common->queue_driver_high, (uint32_t)((queue->memory.physical + available) >> 32));
    register_write32(&common->queue_device_low, (uint32_t)(queue->memory.physical + used));
    register_write32(&common->queue_device_high, (uint32_t)((queue->memory.physical + used) >> 32));
    register_write16(&common->queue_enable, 1);
    return true;
}

/* ---- queues -------------------------------------------------------------------------------------- */

/* The device sees descriptors before the index that offers them. */
static void offer(struct queue *queue, uint16_t head)
{
    queue->available->ring[queue->given % queue->size] = le16(head);
    queue->given++;
    __atomic_store_n(&queue->available->index, le16(queue->given), __ATOMIC_RELEASE);
    queue->must_notify = true;
}

static void notify(unsigned number)
{
    struct queue *queue = &device.queue[number];

    if (!queue->must_notify)
        return;
    queue->must_notify = false;
    /* Our index must be out before the device's flag is read; pairs with the device's check of the index
     * after it has set the flag. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!(queue->used->flags & le16(VIRTQ_NO_NOTIFY)))
        register_write16(queue->doorbell, (uint16_t)number);
}

/* The next finished entry, or false. */
static bool take_used(struct queue *queue, uint32_t *id, uint32_t *length)
{
    uint16_t index = le16(queue->used->index);

    if (index == queue->used_seen)
        return false;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the entry was written before the index */
    *id = le32(queue->used->ring[queue->used_seen % queue->size].id);
    *length = le32(queue->used->ring[queue->used_seen % queue->size].length);
    queue->used_seen++;
    return *id < queue->size;
}

static void fill_receive_queue(void)
{
    struct queue *queue = &device.queue[QUEUE_RECEIVE];

    for (uint16_t i = 0; i < queue->size; i++) {
        queue->descriptors[i] = (struct virtq_descriptor){
            .address = le64(device.receive_buffers.physical + i * (uint64_t)RECEIVE_BYTES),
            .length = le32(RECEIVE_BYTES),
            .flags = le16(VIRTQ_WRITE),
        };
        offer(queue, i);
    }
}

static void collect_sent(void)
{
    struct queue *queue = &device.queue[QUEUE_TRANSMIT];
    uint32_t head, length;

    while (take_used(queue, &head, &length)) {
        uint16_t last = (uint16_t)head, count = 1;
        for (; queue->descriptors[last].flags & le16(VIRTQ_NEXT); count++)
            last = le16(queue->descriptors[last].next);
        queue->descriptors[last].next = le16(queue->free_head);
        queue->free_head = (uint16_t)head;
        queue->free_count += count;
        net_frame_sent(queue->cookies[head]);
    }
}

static bool transmit(const struct net_piece *pieces, unsigned count, void *cookie)
{
    struct queue *queue = &device.queue[QUEUE_TRANSMIT];

    if (queue->free_count < queue->size / 2)
        collect_sent();
    if (queue->free_count < count + 1) {
        queue->available->flags = 0; /* tell us when there is room */
        /* Interrupts are on before we look a last time; pairs with the device's write of the index. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        collect_sent();
        if (queue->free_count < count + 1)
            return false;
    }
    uint16_t head = queue->free_head, at = head;
    queue->descriptors[at].address = le64(device.header.physical);
    queue->descriptors[at].length = le32(sizeof(struct virtio_net_header));
    for (unsigned i = 0; i < count; i++) {
        queue->descriptors[at].flags = le16(VIRTQ_NEXT);
        at = le16(queue->descriptors[at].next);
        queue->descriptors[at].address = le64(pieces[i].physical);
        queue->descriptors[at].length = le32(pieces[i].size);
    }
    queue->descriptors[at].flags = 0;
    queue->free_head = le16(queue->descriptors[at].next);
    queue->free_count -= count + 1;
    queue->cookies[head] = cookie;
    offer(queue, head);
    return true;
}

static void flush(void)
{
    notify(QUEUE_TRANSMIT);
    notify(QUEUE_RECEIVE);
}

static void receive_frames(void)
{
    struct queue *queue = &device.queue[QUEUE_RECEIVE];
    uint32_t id, length;

    while (take_used(queue, &id, &length)) {
        const char *buffer = device.receive_buffers.address + id * (uint64_t)RECEIVE_BYTES;
        if (length > sizeof(struct virtio_net_header) && length <= RECEIVE_BYTES)
            net_frame_received(buffer + sizeof(struct virtio_net_header),
                               length - (uint32_t)sizeof(struct virtio_net_header));
        offer(queue, (uint16_t)id);
    }
}

static void poll(void)
{
    struct queue *receive = &device.queue[QUEUE_RECEIVE];

    sys_irq_acknowledge((cap_t)device.irq);
    device.queue[QUEUE_TRANSMIT].available->flags = le16(VIRTQ_NO_INTERRUPT);
    collect_sent();
    do {
        receive->available->flags = le16(VIRTQ_NO_INTERRUPT);
        receive_frames();
        receive->available->flags = 0;
        /* Interrupts are on again before we look a last time; pairs with the device's write of the index. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } while (le16(receive->used->index) != receive->used_seen);
}

static bool start(uint8_t mac[6], cap_t notification, uint64_t bits)
{
    int32_t found = pci_find(VIRTIO_VENDOR, VIRTIO_NET_MODERN);

    if (found < 0)
        return false;
    device.pci = (uint32_t)found;
    pci_enable(device.pci);
    if (!map_device() || !negotiate())
        return false;
    device.irq = pci_enable_msix(device.pci, notification, bits);
    register_write16(&device.common->config_vector, VIRTIO_NO_VECTOR);
    if (device.irq < 0 || !make_queue(QUEUE_RECEIVE, 0) || !make_queue(QUEUE_TRANSMIT, 0) ||
        register_read16(&device.common->queue_vector) == VIRTIO_NO_VECTOR ||
        !dma_allocate(&device.receive_buffers, (uint64_t)RECEIVE_BYTES * device.queue[QUEUE_RECEIVE].size) ||
        !dma_allocate(&device.header, sizeof(struct virtio_net_header))) {
        register_write8(&device.common->status, VIRTIO_STATUS_FAILED);
        return false;
    }
    for (int i = 0; i < 6; i++)
        mac[i] = register_read8(&device.mac[i]);
    device.queue[QUEUE_TRANSMIT].available->flags = le16(VIRTQ_NO_INTERRUPT);
    register_write8(&device.common->status, VIRTIO_STATUS_ACKNOWLEDGE | VIRTIO_STATUS_DRIVER |
                                                VIRTIO_STATUS_FEATURES_OK | VIRTIO_STATUS_DRIVER_OK);
    fill_receive_queue();
    flush();
    return true;
}

const struct net_driver virtio_net_driver = {
    .name = "virtio-net",
    .start = start,
    .transmit = transmit,
    .flush = flush,
    .poll = poll,
};
