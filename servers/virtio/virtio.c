/*
 * virtio.c - starts virtio devices over PCI and manages their queues (virtio.h). A PCI device is a capability
 * (SLOT_DEVICE of a server), with which a driver reaches nothing else.
 */
#include <servers/virtio/registers.h>
#include <servers/virtio/virtio.h>
#include <stddef.h>
#include <tarn/syscall.h>

/* ---- PCI ------------------------------------------------------------------------------------------- */

#define PCI_CAP_VENDOR      0x09
#define PCI_CAP_MSIX        0x11
#define PCI_COMMAND         0x04
#define PCI_COMMAND_MEMORY  0x02u
#define PCI_COMMAND_MASTER  0x04u
#define PCI_COMMAND_NO_INTX 0x400u
#define PCI_CAPABILITIES    0x34

#define MSIX_CONTROL        2
#define MSIX_CONTROL_ENABLE 0x8000u
#define MSIX_TABLE          4
#define MSIX_ENTRY_BYTES    16u

static uint32_t pci_read(cap_t device, uint32_t offset, uint32_t width)
{
    int64_t value = sys_device_read(device, offset, width);
    return value < 0 ? ~0u : (uint32_t)value;
}

/* Memory decoding and bus mastering on, INTx off. */
static void pci_enable(cap_t device)
{
    uint32_t command = pci_read(device, PCI_COMMAND, 2);
    sys_device_write(device, PCI_COMMAND, 2,
                     command | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_NO_INTX);
}

/* Returns the offset of the first capability `id` after `after` (0: from the start), or 0. */
static uint32_t pci_capability(cap_t device, uint8_t id, uint32_t after)
{
    uint32_t at = pci_read(device, after ? after + 1 : PCI_CAPABILITIES, 1) & 0xfc;
    /* Stops at a loop in the list: at most 48 capabilities fit the space. */
    for (int left = 48; at != 0 && left > 0; left--) {
        if (pci_read(device, at, 1) == id)
            return at;
        at = pci_read(device, at + 1, 1) & 0xfc;
    }
    return 0;
}

/* Maps a part of a memory BAR. Returns NULL on failure. */
static volatile void *pci_map(cap_t device, unsigned bar, uint64_t offset, uint64_t size)
{
    uint64_t start = offset & ~(TARN_PAGE_SIZE - 1), skip = offset - start;
    size = (skip + size + TARN_PAGE_SIZE - 1) & ~(TARN_PAGE_SIZE - 1);
    int64_t memory = sys_device_memory(device, bar);
    if (memory < 0)
        return NULL;
    int64_t mapped =
        sys_space_map(SLOT_SPACE, (cap_t)memory, 0, size, start, MAP_READ | MAP_WRITE | MAP_UNCACHED);
    sys_cap_close((cap_t)memory);
    if (mapped < 0)
        return NULL;
    return (volatile void *)(uintptr_t)((uint64_t)mapped + skip);
}

static int write_entry(cap_t device, uint32_t capability, const struct irq_message *message)
{
    uint32_t place = pci_read(device, capability + MSIX_TABLE, 4);
    volatile uint32_t *entry = pci_map(device, place & 7, place & ~7u, MSIX_ENTRY_BYTES);
    if (!entry)
        return -1;
    const uint32_t words[4] = {(uint32_t)message->address, (uint32_t)(message->address >> 32), message->data,
                               0};
    for (int i = 0; i < 4; i++)
        register_write32(&entry[i], words[i]);
    return 0;
}

/* Makes vector 0 of the device's MSI-X table signal the notification. Returns the interrupt's slot, or a
 * negative error. */
static int64_t pci_enable_msix(cap_t device, cap_t notification, uint64_t bits)
{
    uint32_t capability = pci_capability(device, PCI_CAP_MSIX, 0);
    struct irq_message message;
    if (capability == 0)
        return -1;
    int64_t irq = sys_irq_create_message(device, &message);
    if (irq < 0)
        return irq;
    int64_t bound = sys_irq_bind((cap_t)irq, notification, bits);
    if (bound < 0)
        return bound;
    if (message.address && write_entry(device, capability, &message))
        return -1;
    uint32_t control = pci_read(device, capability + MSIX_CONTROL, 2);
    sys_device_write(device, capability + MSIX_CONTROL, 2, control | MSIX_CONTROL_ENABLE);
    return irq;
}

/* ---- start ----------------------------------------------------------------------------------------- */

/* Maps the region that the first vendor capability of this type describes. */
static volatile void *map_part(struct virtio_device *device, uint8_t type, uint32_t *capability)
{
    for (uint32_t at = 0; (at = pci_capability(device->pci, PCI_CAP_VENDOR, at)) != 0;)
        if (pci_read(device->pci, at + VIRTIO_CAP_TYPE, 1) == type) {
            *capability = at;
            return pci_map(device->pci, pci_read(device->pci, at + VIRTIO_CAP_BAR, 1),
                           pci_read(device->pci, at + VIRTIO_CAP_OFFSET, 4),
                           pci_read(device->pci, at + VIRTIO_CAP_LENGTH, 4));
        }
    return NULL;
}

static bool map_device(struct virtio_device *device)
{
    uint32_t capability;
    device->common = map_part(device, VIRTIO_COMMON, &capability);
    device->config = map_part(device, VIRTIO_DEVICE, &capability);
    device->notify = map_part(device, VIRTIO_NOTIFY, &capability);
    if (!device->common || !device->config || !device->notify)
        return false;
    device->notify_multiplier = pci_read(device->pci, capability + VIRTIO_CAP_MULTIPLIER, 4);
    return true;
}

static bool negotiate(struct virtio_device *device, uint64_t wanted)
{
    volatile struct virtio_common *common = device->common;
    uint64_t offered;
    register_write8(&common->status, 0);
    while (register_read8(&common->status) != 0)
        sys_thread_yield();
    register_write8(&common->status, VIRTIO_STATUS_ACKNOWLEDGE | VIRTIO_STATUS_DRIVER);
    register_write32(&common->device_feature_select, 0);
    offered = register_read32(&common->device_feature);
    register_write32(&common->device_feature_select, 1);
    offered |= (uint64_t)register_read32(&common->device_feature) << 32;
    wanted |= VIRTIO_F_VERSION_1;
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

bool virtio_open(struct virtio_device *device, cap_t pci, uint64_t features)
{
    if (sys_cap_info(pci) < 0)
        return false;
    dma_open(pci);
    *device = (struct virtio_device){.pci = pci, .irq = -1};
    pci_enable(device->pci);
    if (!map_device(device))
        return false;
    if (negotiate(device, features))
        return true;
    virtio_fail(device);
    return false;
}

bool virtio_enable_interrupt(struct virtio_device *device, cap_t notification, uint64_t bits)
{
    device->irq = pci_enable_msix(device->pci, notification, bits);
    register_write16(&device->common->config_vector, VIRTIO_NO_VECTOR);
    return device->irq >= 0;
}

bool virtio_make_queue(struct virtio_device *device, struct virtio_queue *queue, uint16_t number)
{
    volatile struct virtio_common *common = device->common;
    register_write16(&common->queue_select, number);
    *queue = (struct virtio_queue){.number = number, .size = register_read16(&common->queue_size)};
    if (queue->size == 0)
        return false;
    if (queue->size > VIRTIO_QUEUE_MAX)
        queue->size = VIRTIO_QUEUE_MAX;
    uint64_t available = sizeof(struct virtq_descriptor) * queue->size;
    uint64_t used = (available + sizeof(struct virtq_available) + 2 * queue->size + 2 + 63) & ~63ull;
    if (!dma_allocate(&queue->memory, used + sizeof(struct virtq_used) + 8 * queue->size + 2))
        return false;
    queue->descriptors = (void *)queue->memory.address;
    queue->available = (void *)(queue->memory.address + available);
    queue->used = (void *)(queue->memory.address + used);
    for (uint16_t i = 0; i < queue->size; i++)
        queue->descriptors[i].next = le16(i + 1);
    queue->doorbell = (void *)(device->notify + (uint64_t)register_read16(&common->queue_notify_offset) *
                                                    device->notify_multiplier);
    register_write16(&common->queue_size, queue->size);
    register_write16(&common->queue_vector, 0);
    register_write32(&common->queue_descriptors_low, (uint32_t)queue->memory.physical);
    register_write32(&common->queue_descriptors_high, (uint32_t)(queue->memory.physical >> 32));
    register_write32(&common->queue_driver_low, (uint32_t)(queue->memory.physical + available));
    register_write32(&common->queue_driver_high, (uint32_t)((queue->memory.physical + available) >> 32));
    register_write32(&common->queue_device_low, (uint32_t)(queue->memory.physical + used));
    register_write32(&common->queue_device_high, (uint32_t)((queue->memory.physical + used) >> 32));
    register_write16(&common->queue_enable, 1);
    return register_read16(&common->queue_vector) != VIRTIO_NO_VECTOR;
}

void virtio_go(struct virtio_device *device)
{
    register_write8(&device->common->status, VIRTIO_STATUS_ACKNOWLEDGE | VIRTIO_STATUS_DRIVER |
                                                 VIRTIO_STATUS_FEATURES_OK | VIRTIO_STATUS_DRIVER_OK);
}

void virtio_fail(struct virtio_device *device)
{
    register_write8(&device->common->status, VIRTIO_STATUS_FAILED);
}

/* ---- queues ---------------------------------------------------------------------------------------- */

/* The device sees the descriptors before the index that offers them. */
void virtio_offer(struct virtio_queue *queue, uint16_t head)
{
    queue->available->ring[queue->given % queue->size] = le16(head);
    queue->given++;
    __atomic_store_n(&queue->available->index, le16(queue->given), __ATOMIC_RELEASE);
    queue->must_notify = true;
}

void virtio_notify(struct virtio_queue *queue)
{
    if (!queue->must_notify)
        return;
    queue->must_notify = false;
    /* Our index must be visible before the device's flag is read; pairs with the device, which sets the flag
     * and then checks the index. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!(queue->used->flags & le16(VIRTQ_NO_NOTIFY)))
        register_write16(queue->doorbell, queue->number);
}

/* Takes the next used entry. Returns false if there is none. */
bool virtio_take_used(struct virtio_queue *queue, uint32_t *id, uint32_t *length)
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
