/*
 * serial.c - the link over a virtual serial port: the frames of WIRE.md, with nothing below them; and the
 * driver of the port, the first generic one of a virtio-serial device over PCI. QEMU options: -device
 * virtio-serial-pci,disable-legacy=on -device virtserialport,chardev=...,nr=1.
 *
 * A port has no connections, so its opening is one: when a host has opened the port, a thread passes a
 * channel to serve_channel(), and HELLO is sent. A host sends nothing before HELLO, so whatever was received
 * until then is for an earlier connection and is dropped. When the guest ends a connection whose host still
 * has the port open, the next one begins at once: its HELLO tells the host. A connection that was refused is
 * not tried again before the host opens the port again.
 *
 * The device announces its ports on the control queues: after PORT_ADD the driver sends PORT_READY and
 * PORT_OPEN; the device's own PORT_OPEN then says whether a host has opened the other end. Buffer i always
 * belongs to descriptor i. If the host does not read, the device keeps the buffers, and sending waits. Bytes
 * sent while no host has the port open are lost.
 *
 * Locking: `lock` covers the device and all variables but the constant ones, and is an innermost lock;
 * `frame` belongs to the sender (struct channel).
 */
#include "traced.h"
#include <servers/lib/server.h>
#include <servers/virtio/registers.h>
#include <servers/virtio/virtio.h>
#include <string.h>
#include <tarn/runtime.h>
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
#define SEND_BYTES    16384u
#define RECEIVE_BYTES 4096u
#define CONTROL_BYTES 128u /* a message with a port's name */

enum { BIT_DEVICE = 1, BIT_CLOSED = 2 };

static cap_t wakeup; /* of the thread */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* the device has done something, or the connection was told to end */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct virtio_device device;
static struct line control_receive = {.bytes = CONTROL_BYTES}, control_send = {.bytes = CONTROL_BYTES},
                   receive = {.bytes = RECEIVE_BYTES}, transmit = {.bytes = SEND_BYTES};
static uint16_t free_buffers[BUFFERS], free_count; /* of transmit */
static uint64_t bytes_given, bytes_taken;          /* since the start; by the device */
static bool is_open;                               /* by a host */
static bool in_use;                                /* a connection uses the channel */
static bool hung_up;                               /* it has to end, or its host has closed the port */
static const char *received;                    /* the part of the oldest received buffer that was not read */
static uint32_t received_size, received_buffer; /* size 0: no such buffer */

static struct frame_space frame;

/* ---- the device ------------------------------------------------------------------------------------ */

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
        hung_up = true;
        break;
    }
}

/* Whether the connection has ended. After receive_buffer() it counts that a host has opened or closed the
 * port before those bytes. */
static bool has_ended(void)
{
    uint32_t id, length;
    while (virtio_take_used(&control_receive.queue, &id, &length)) {
        if (length >= sizeof(struct control_message))
            on_control((const void *)buffer_of(&control_receive, id));
        offer_buffer(&control_receive, id, CONTROL_BYTES, VIRTQ_WRITE);
    }
    virtio_notify(&control_receive.queue);
    return hung_up;
}

/* Takes the oldest received buffer, unless there is one. False: there is none. */
static bool receive_buffer(void)
{
    uint32_t length;
    if (received_size > 0)
        return true;
    if (!virtio_take_used(&receive.queue, &received_buffer, &length))
        return false;
    received = buffer_of(&receive, received_buffer);
    received_size = length < RECEIVE_BYTES ? length : RECEIVE_BYTES;
    return true;
}

static void consume(size_t size)
{
    received += size;
    received_size -= size;
    if (received_size == 0) {
        offer_buffer(&receive, received_buffer, RECEIVE_BYTES, VIRTQ_WRITE);
        virtio_notify(&receive.queue);
    }
}

static void collect_sent(void)
{
    uint32_t id, length;
    while (virtio_take_used(&transmit.queue, &id, &length)) {
        bytes_taken += le32(transmit.queue.descriptors[id].length);
        free_buffers[free_count++] = (uint16_t)id;
    }
}

/* Returns the number of bytes sent; 0: all buffers are at the device, which signals when it has taken one. */
static uint32_t send_part(const uint8_t *bytes, size_t size)
{
    const uint32_t part = size < SEND_BYTES ? (uint32_t)size : SEND_BYTES;
    transmit.queue.available->flags = le16(VIRTQ_NO_INTERRUPT);
    collect_sent();
    if (free_count == 0) {
        transmit.queue.available->flags = 0;
        /* Check once more after enabling interrupts; pairs with the device's write of the index. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        collect_sent();
    }
    if (free_count == 0)
        return 0;
    memcpy(buffer_of(&transmit, free_buffers[--free_count]), bytes, part);
    offer_buffer(&transmit, free_buffers[free_count], part, 0);
    virtio_notify(&transmit.queue);
    bytes_given += part;
    return part;
}

/* ---- channel --------------------------------------------------------------------------------------- */

static size_t receive_serial(struct channel *channel, void *bytes, size_t size)
{
    size_t got = 0;
    pthread_mutex_lock(&lock);
    while (!receive_buffer() && !has_ended())
        pthread_cond_wait(&changed, &lock);
    if (!has_ended()) { /* the bytes are of this connection's host */
        got = received_size < size ? received_size : size;
        memcpy(bytes, received, got);
        consume(got);
    }
    pthread_mutex_unlock(&lock);
    return got;
}

static void *reserve_serial(struct channel *channel, size_t size)
{
    return frame_space(&frame, size);
}

static bool commit_serial(struct channel *channel, size_t size)
{
    size_t done = 0;
    bool ended;
    pthread_mutex_lock(&lock);
    while (!(ended = has_ended()) && done < size) {
        size_t part = send_part(frame.bytes + done, size - done);
        done += part;
        if (part == 0)
            pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return !ended;
}

static void account_serial(struct channel *channel, uint64_t *committed, uint64_t *arrived)
{
    pthread_mutex_lock(&lock);
    collect_sent();
    *committed = bytes_given;
    *arrived = bytes_taken;
    pthread_mutex_unlock(&lock);
}

static void hang_up_serial(struct channel *channel)
{
    pthread_mutex_lock(&lock);
    hung_up = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Committed bytes are at the device already, which keeps their order. */
static void close_serial(struct channel *channel)
{
    pthread_mutex_lock(&lock);
    in_use = false;
    pthread_mutex_unlock(&lock);
    sys_notification_signal(wakeup, BIT_CLOSED);
}

static struct channel serial_channel = {receive_serial, reserve_serial, commit_serial,
                                        account_serial, hang_up_serial, close_serial};

/* ---- the thread ------------------------------------------------------------------------------------ */

/* Returns true if a host has the port open and needs a connection. */
static bool begin_connection(void)
{
    bool ended = has_ended();
    if (in_use || !ended || !is_open)
        return false;
    while (receive_buffer())
        consume(received_size);
    hung_up = false;
    return in_use = true;
}

static void *run_port(void *argument)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        sys_irq_acknowledge((cap_t)device.irq);
        bool begins = begin_connection();
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        if (begins)
            serve_channel(&serial_channel);
        sys_notification_wait(wakeup, TARN_FOREVER);
    }
    return NULL;
}

static bool make_line(struct line *line, uint16_t queue)
{
    if (!virtio_make_queue(&device, &line->queue, queue))
        return false;
    line->count = line->queue.size < BUFFERS ? line->queue.size : BUFFERS;
    return dma_allocate(&line->memory, (uint64_t)line->count * line->bytes);
}

static void fill_line(struct line *line)
{
    for (uint16_t i = 0; i < line->count; i++)
        offer_buffer(line, i, line->bytes, VIRTQ_WRITE);
    virtio_notify(&line->queue);
}

/* From now on the device signals when there is work. False: no device. */
static bool start_port(void)
{
    if (!virtio_open(&device, SLOT_DEVICE, VIRTIO_CONSOLE_F_MULTIPORT))
        return false;
    if (!virtio_enable_interrupt(&device, wakeup, BIT_DEVICE) ||
        !make_line(&control_receive, QUEUE_CONTROL_RECEIVE) ||
        !make_line(&control_send, QUEUE_CONTROL_SEND) || !make_line(&receive, QUEUE_RECEIVE) ||
        !make_line(&transmit, QUEUE_SEND)) {
        virtio_fail(&device);
        return false;
    }
    control_send.queue.available->flags = le16(VIRTQ_NO_INTERRUPT);
    virtio_go(&device);
    fill_line(&receive);
    fill_line(&control_receive);
    for (free_count = 0; free_count < transmit.count; free_count++)
        free_buffers[free_count] = free_count;
    send_control(0, DEVICE_READY, 1);
    return true;
}

void start_serial(void)
{
    int64_t notification = sys_notification_create();
    pthread_t thread;
    if (notification < 0)
        return;
    wakeup = (cap_t)notification;
    if (!start_port())
        sys_cap_close(wakeup);
    else if (pthread_create(&thread, NULL, run_port, NULL) != 0)
        debug_printf("traced: cannot start the serial link\n");
    else
        debug_printf("traced: trace link on the virtual serial port\n");
}
