/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio_serial.c - driver for one port of a virtio-serial device with several ports, over PCI.
 *
 * The device announces its ports on the control queues: after PORT_ADD the driver sends PORT_READY and
 * PORT_OPEN; the device's own PORT_OPEN then says whether a host has opened the other end. Buffer i always
 * belongs to descriptor i. If the host does not read, the device keeps the buffers: nothing is lost, and
 * sending waits.
 */
#include "virtio_serial.h"
#include <servers/virtio/registers.h>
#include <servers/virtio/virtio.h>
#include <tarn/syscall.h>

#define VIRTIO_CONSOLE_F_MULTIPORT (1ull << 1)
#define PORT                       1u

enum { QUEUE_CONTROL_RECEIVE = 2, QUEUE_CONTROL_SEND = 3, QUEUE_RECEIVE = 4, QUEUE_SEND = 5 }; /* of PORT */

enum control_event { DEVICE_READY = 0, PORT_ADD = 1, PORT_READY = 3, PORT_OPEN = 6 };
struct control_message {
    uint32_t port;
    uint16_t event, value;
};

/* One direction of a port: a queue and its `count` buffers of `bytes` each. */
struct line {
    struct virtio_queue queue;
    struct dma memory;
    uint32_t bytes;
    uint16_t count;
};

#define BUFFERS       16u
#define RECEIVE_BYTES 4096u
#define CONTROL_BYTES 128u /* a message with a port's name */

static struct virtio_device device;
static struct line control_receive = {.bytes = CONTROL_BYTES}, control_send = {.bytes = CONTROL_BYTES},
                   receive = {.bytes = RECEIVE_BYTES}, transmit = {.bytes = PORT_SEND_BYTES};
static uint16_t free_buffers[BUFFERS], free_count; /* of transmit */
static uint32_t received_buffer;                   /* valid between port_receive and port_receive_done */
static unsigned changes;
static bool is_open;
static uint64_t bytes_sent, bytes_taken;

static char *buffer_of(const struct line *line, uint32_t number)
{
    return line->memory.address + (uint64_t)number * line->bytes;
}

static void offer_buffer(struct line *line, uint32_t number, uint32_t size, uint16_t flags)
{
    line->queue.descriptors[number] = (struct virtq_descriptor){
        .address = le64(line->memory.physical + (uint64_t)number * line->bytes),
        .length = le32(size),
        .flags = le16(flags),
    };
    virtio_offer(&line->queue, (uint16_t)number);
}

/* ---- control --------------------------------------------------------------------------------------- */

/* Waits until the device has taken the message; only three are sent per port. */
static void send_control(uint32_t port, uint16_t event, uint16_t value)
{
    struct control_message *message = (void *)buffer_of(&control_send, 0);
    uint32_t id, length;

    *message = (struct control_message){le32(port), le16(event), le16(value)};
    offer_buffer(&control_send, 0, sizeof(*message), 0);
    virtio_notify(&control_send.queue);
    while (!virtio_take_used(&control_send.queue, &id, &length))
        sys_thread_yield();
}

static void on_control(const struct control_message *message)
{
    if (le32(message->port) != PORT)
        return;
    switch (le16(message->event)) {
    case PORT_ADD:
        send_control(PORT, PORT_READY, 1);
        send_control(PORT, PORT_OPEN, 1);
        break;
    case PORT_OPEN:
        is_open = le16(message->value) != 0;
        changes++;
        break;
    }
}

void port_acknowledge(void)
{
    sys_irq_acknowledge((cap_t)device.irq);
}

unsigned port_changes(void)
{
    uint32_t id, length;

    while (virtio_take_used(&control_receive.queue, &id, &length)) {
        if (length >= sizeof(struct control_message))
            on_control((const void *)buffer_of(&control_receive, id));
        offer_buffer(&control_receive, id, CONTROL_BYTES, VIRTQ_WRITE);
    }
    virtio_notify(&control_receive.queue);
    return changes;
}

bool port_is_open(void)
{
    return is_open;
}

/* ---- data ------------------------------------------------------------------------------------------ */

bool port_receive(const uint8_t **bytes, size_t *size)
{
    uint32_t length;

    if (!virtio_take_used(&receive.queue, &received_buffer, &length))
        return false;
    *bytes = (const uint8_t *)buffer_of(&receive, received_buffer);
    *size = length < RECEIVE_BYTES ? length : RECEIVE_BYTES;
    return true;
}

void port_receive_done(void)
{
    offer_buffer(&receive, received_buffer, RECEIVE_BYTES, VIRTQ_WRITE);
}

static void collect_sent(void)
{
    uint32_t id, length;

    while (virtio_take_used(&transmit.queue, &id, &length)) {
        bytes_taken += le32(transmit.queue.descriptors[id].length);
        free_buffers[free_count++] = (uint16_t)id;
    }
}

uint8_t *port_send_buffer(void)
{
    transmit.queue.available->flags = le16(VIRTQ_NO_INTERRUPT);
    collect_sent();
    if (free_count == 0) {
        transmit.queue.available->flags = 0;
        /* Check once more after enabling interrupts; pairs with the device's write of the index. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        collect_sent();
    }
    return free_count > 0 ? (uint8_t *)buffer_of(&transmit, free_buffers[free_count - 1]) : NULL;
}

void port_send(size_t size)
{
    offer_buffer(&transmit, free_buffers[--free_count], (uint32_t)size, 0);
    bytes_sent += size;
}

void port_account(uint64_t *sent, uint64_t *taken)
{
    collect_sent();
    *sent = bytes_sent;
    *taken = bytes_taken;
}

void port_flush(void)
{
    virtio_notify(&transmit.queue);
    virtio_notify(&receive.queue);
}

/* ---- start ----------------------------------------------------------------------------------------- */

static bool make_line(struct line *line, uint16_t queue)
{
    if (!virtio_make_queue(&device, &line->queue, queue))
        return false;
    line->count = line->queue.size < BUFFERS ? line->queue.size : BUFFERS;
    return dma_allocate(&line->memory, (uint64_t)line->count * line->bytes);
}

bool port_start(cap_t notification, uint64_t bits)
{
    if (!virtio_open(&device, SLOT_DEVICE, VIRTIO_CONSOLE_F_MULTIPORT))
        return false;
    if (!virtio_enable_interrupt(&device, notification, bits) ||
        !make_line(&control_receive, QUEUE_CONTROL_RECEIVE) ||
        !make_line(&control_send, QUEUE_CONTROL_SEND) || !make_line(&receive, QUEUE_RECEIVE) ||
        !make_line(&transmit, QUEUE_SEND)) {
        virtio_fail(&device);
        return false;
    }
    control_send.queue.available->flags = le16(VIRTQ_NO_INTERRUPT);
    virtio_go(&device);
    for (uint16_t i = 0; i < receive.count; i++)
        offer_buffer(&receive, i, RECEIVE_BYTES, VIRTQ_WRITE);
    for (uint16_t i = 0; i < control_receive.count; i++)
        offer_buffer(&control_receive, i, CONTROL_BYTES, VIRTQ_WRITE);
    for (free_count = 0; free_count < transmit.count; free_count++)
        free_buffers[free_count] = free_count;
    virtio_notify(&receive.queue);
    virtio_notify(&control_receive.queue);
    send_control(0, DEVICE_READY, 1);
    return true;
}
