/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serial.c - the link over a virtual serial port: the frames of WIRE.md, with nothing below them.
 *
 * A port has no connections, so its opening is one: when a host has opened the port, a thread passes a
 * channel to `serve`, and HELLO is sent. A host sends nothing before HELLO, so whatever was received until
 * then is for an earlier connection and is dropped. When the guest ends a connection whose host still has the
 * port open, the next one begins at once: its HELLO tells the host. A connection that was refused is not
 * tried again before the host opens the port again.
 *
 * Locking: `lock` covers the port and the fields after it and is an innermost lock; `frame` belongs to the
 * sender (channel.h).
 */
#include "channel.h"
#include "virtio_serial.h"
#include <pthread.h>
#include <servers/lib/server.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>

enum { BIT_DEVICE = 1, BIT_CLOSED = 2 };

static struct {
    cap_t wakeup; /* of the thread */
    void (*serve)(struct channel *channel);

    pthread_mutex_t lock;
    pthread_cond_t changed; /* the device has done something, or the connection was told to end */
    unsigned changes_seen;
    bool in_use;  /* a connection uses the channel */
    bool hung_up; /* it has to end, or its host has closed the port */
    const uint8_t *received;
    size_t received_size; /* the part of the oldest received buffer that was not read; 0: no such buffer */

    uint8_t *frame;
    size_t frame_size;
} serial = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Whether the connection has ended. */
static bool has_ended(void)
{
    unsigned changes = port_changes();

    if (changes != serial.changes_seen)
        serial.hung_up = true;
    serial.changes_seen = changes;
    return serial.hung_up;
}

static void consume(size_t size)
{
    serial.received += size;
    serial.received_size -= size;
    if (serial.received_size == 0) {
        port_receive_done();
        port_flush();
    }
}

/* ---- channel --------------------------------------------------------------------------------------- */

static size_t receive_serial(struct channel *channel, void *bytes, size_t size)
{
    size_t got = 0;

    pthread_mutex_lock(&serial.lock);
    while (serial.received_size == 0 && !port_receive(&serial.received, &serial.received_size) &&
           !has_ended())
        pthread_cond_wait(&serial.changed, &serial.lock);
    if (!has_ended()) { /* the bytes are of this connection's host */
        got = serial.received_size < size ? serial.received_size : size;
        memcpy(bytes, serial.received, got);
        consume(got);
    }
    pthread_mutex_unlock(&serial.lock);
    return got;
}

static void *reserve_serial(struct channel *channel, size_t size)
{
    if (size > serial.frame_size) {
        free(serial.frame);
        serial.frame = malloc(size);
        serial.frame_size = serial.frame ? size : 0;
    }
    return serial.frame;
}

/* Returns the number of bytes sent; 0: all buffers are at the device. */
static size_t send_part(const uint8_t *bytes, size_t size)
{
    uint8_t *buffer = port_send_buffer();

    if (!buffer)
        return 0;
    if (size > PORT_SEND_BYTES)
        size = PORT_SEND_BYTES;
    memcpy(buffer, bytes, size);
    port_send(size);
    return size;
}

static bool commit_serial(struct channel *channel, size_t size)
{
    size_t done = 0;
    bool ended;

    pthread_mutex_lock(&serial.lock);
    while (!(ended = has_ended()) && done < size) {
        size_t part = send_part(serial.frame + done, size - done);
        done += part;
        port_flush();
        if (part == 0)
            pthread_cond_wait(&serial.changed, &serial.lock);
    }
    pthread_mutex_unlock(&serial.lock);
    return !ended;
}

static void account_serial(struct channel *channel, uint64_t *committed, uint64_t *arrived)
{
    pthread_mutex_lock(&serial.lock);
    port_account(committed, arrived);
    pthread_mutex_unlock(&serial.lock);
}

static void hang_up_serial(struct channel *channel)
{
    pthread_mutex_lock(&serial.lock);
    serial.hung_up = true;
    pthread_cond_broadcast(&serial.changed);
    pthread_mutex_unlock(&serial.lock);
}

/* Committed bytes are at the device already, which keeps their order. */
static void close_serial(struct channel *channel)
{
    pthread_mutex_lock(&serial.lock);
    serial.in_use = false;
    pthread_mutex_unlock(&serial.lock);
    sys_notification_signal(serial.wakeup, BIT_CLOSED);
}

static struct channel serial_channel = {receive_serial, reserve_serial, commit_serial,
                                        account_serial, hang_up_serial, close_serial};

/* ---- the thread ------------------------------------------------------------------------------------ */

static void drop_received(void)
{
    if (serial.received_size > 0)
        consume(serial.received_size);
    while (port_receive(&serial.received, &serial.received_size))
        consume(serial.received_size);
    serial.received_size = 0;
}

/* Returns true if a host has the port open and needs a connection. */
static bool begin_connection(void)
{
    bool ended = has_ended();

    if (serial.in_use || !ended || !port_is_open())
        return false;
    drop_received();
    serial.hung_up = false;
    return serial.in_use = true;
}

static void *run_port(void *argument)
{
    for (;;) {
        pthread_mutex_lock(&serial.lock);
        port_acknowledge();
        bool begins = begin_connection();
        pthread_cond_broadcast(&serial.changed);
        pthread_mutex_unlock(&serial.lock);
        if (begins)
            serial.serve(&serial_channel);
        sys_notification_wait(serial.wakeup, TARN_FOREVER);
    }
    return NULL;
}

bool start_serial(void (*serve)(struct channel *channel))
{
    int64_t wakeup = sys_notification_create();
    pthread_t thread;

    if (wakeup < 0 || !port_start((cap_t)wakeup, BIT_DEVICE)) {
        if (wakeup >= 0)
            sys_cap_close((cap_t)wakeup);
        return false;
    }
    serial.wakeup = (cap_t)wakeup;
    serial.serve = serve;
    if (pthread_create(&thread, NULL, run_port, NULL) != 0) {
        debug_printf("traced: cannot start the serial link\n");
        return false;
    }
    debug_printf("traced: trace link on the virtual serial port\n");
    return true;
}
