/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serial.c - the link over a virtual serial port: frames in segments (trace/format/segment.h).
 *
 * One thread moves bytes between the port and the stream of segments, runs the stream's timers, and creates a
 * connection for the host that opens a session; there is one session at a time. The channel's functions only
 * access the stream and wake that thread (`bell`). A frame is built in a separate buffer and copied, because
 * the stream keeps bytes that it may have to send again.
 *
 * Locking: `lock` covers the stream and the fields beside it and is an innermost lock. The port belongs to
 * the thread, `frame` to the sender (channel.h).
 */
#include "channel.h"
#include "virtio_serial.h"
#include <pthread.h>
#include <servers/lib/server.h>
#include <stdlib.h>
#include <tarn/runtime.h>
#include <trace/format/segment.h>

#define OUT_BYTES    (512u << 10)
#define IN_BYTES     (16u << 10)
#define DRAIN_NS     2000000000ull
#define FULL_WAIT_NS 500000000ull /* all buffers are at the device: its interrupt normally comes first */

enum { BIT_DEVICE = 1, BIT_BELL = 2 };

static struct {
    cap_t bell;
    void (*serve)(struct channel *channel);

    pthread_mutex_t lock;
    pthread_cond_t changed; /* bytes arrived or were sent, or the session ended */
    struct segment_stream stream;
    bool in_use;        /* a connection uses the channel */
    bool hung_up;       /* and was told to end */
    uint64_t committed; /* bytes, by this connection */

    uint8_t *frame;
    size_t frame_size;
} serial = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void ring_bell(void)
{
    sys_notification_signal(serial.bell, BIT_BELL);
}

/* ---- channel --------------------------------------------------------------------------------------- */

static size_t receive_serial(struct channel *channel, void *bytes, size_t size)
{
    pthread_mutex_lock(&serial.lock);
    while (!serial.hung_up && segment_readable(&serial.stream) == 0 && serial.stream.state == SEGMENT_IS_OPEN)
        pthread_cond_wait(&serial.changed, &serial.lock);
    size_t got = serial.hung_up ? 0 : segment_read(&serial.stream, bytes, size);
    bool tell = serial.stream.must_acknowledge;
    pthread_mutex_unlock(&serial.lock);
    if (tell)
        ring_bell();
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

static bool commit_serial(struct channel *channel, size_t size)
{
    size_t done = 0;

    pthread_mutex_lock(&serial.lock);
    bool open = true;
    while (done < size && (open = !serial.hung_up && serial.stream.state == SEGMENT_IS_OPEN)) {
        size_t part = segment_write(&serial.stream, serial.frame + done, size - done);
        done += part;
        serial.committed += part;
        if (part > 0)
            ring_bell();
        else
            pthread_cond_wait(&serial.changed, &serial.lock);
    }
    pthread_mutex_unlock(&serial.lock);
    return open;
}

static void account_serial(struct channel *channel, uint64_t *committed, uint64_t *arrived)
{
    pthread_mutex_lock(&serial.lock);
    *committed = serial.committed;
    *arrived = serial.committed - segment_unsent(&serial.stream);
    pthread_mutex_unlock(&serial.lock);
}

static void hang_up_serial(struct channel *channel)
{
    pthread_mutex_lock(&serial.lock);
    serial.hung_up = true;
    pthread_cond_broadcast(&serial.changed);
    pthread_mutex_unlock(&serial.lock);
}

/* The thread's timers signal `changed`, so the wait ends in time. */
static void close_serial(struct channel *channel)
{
    uint64_t until = deadline_after(DRAIN_NS);

    pthread_mutex_lock(&serial.lock);
    while (serial.stream.state == SEGMENT_IS_OPEN && segment_unsent(&serial.stream) > 0 &&
           clock_monotonic_ns() < until)
        pthread_cond_wait(&serial.changed, &serial.lock);
    segment_close(&serial.stream);
    serial.in_use = serial.hung_up = false;
    pthread_mutex_unlock(&serial.lock);
    ring_bell();
}

static struct channel serial_channel = {receive_serial, reserve_serial, commit_serial,
                                        account_serial, hang_up_serial, close_serial};

/* ---- the thread ------------------------------------------------------------------------------------ */

/* If another host, or none, has the port open, the session is over. */
static void look_for_host(void)
{
    static unsigned changes_seen;
    unsigned changes = port_changes();

    if (changes != changes_seen)
        segment_cut(&serial.stream);
    changes_seen = changes;
}

static void take_bytes(uint64_t now)
{
    const uint8_t *bytes;
    size_t size;

    port_acknowledge();
    look_for_host();
    while (port_receive(&bytes, &size)) {
        look_for_host(); /* a host that connected since then sent these bytes and must not lose its session */
        segment_input(&serial.stream, bytes, size, now);
        port_receive_done();
    }
}

/* Returns true if a new session began and needs a connection. There is one at a time: the host asks again
 * until the old one has ended. */
static bool take_session(uint64_t now)
{
    if (!serial.stream.offered)
        return false;
    if (serial.in_use) {
        segment_close(&serial.stream);
        serial.stream.offered = 0;
        return false;
    }
    segment_accept(&serial.stream, now);
    serial.committed = 0;
    return serial.in_use = true;
}

/* Returns the time of the next call. */
static uint64_t send_bytes(uint64_t now)
{
    uint8_t *buffer;

    while ((buffer = port_send_buffer()) != NULL) {
        size_t size = segment_output(&serial.stream, buffer, PORT_SEND_BYTES, now);
        if (size == 0)
            return segment_deadline(&serial.stream);
        port_send(size);
    }
    return now + FULL_WAIT_NS;
}

static void *run_port(void *argument)
{
    for (;;) {
        pthread_mutex_lock(&serial.lock);
        uint64_t now = clock_monotonic_ns();
        take_bytes(now);
        bool begun = take_session(now);
        uint64_t deadline = send_bytes(now);
        port_flush();
        pthread_cond_broadcast(&serial.changed);
        pthread_mutex_unlock(&serial.lock);
        if (begun)
            serial.serve(&serial_channel);
        sys_notification_wait(serial.bell, deadline);
    }
    return NULL;
}

bool start_serial(void (*serve)(struct channel *channel))
{
    int64_t bell = sys_notification_create();
    pthread_t thread;

    if (bell < 0 || !port_start((cap_t)bell, BIT_DEVICE)) {
        if (bell >= 0)
            sys_cap_close((cap_t)bell);
        return false;
    }
    serial.bell = (cap_t)bell;
    serial.serve = serve;
    uint8_t *out = malloc(OUT_BYTES), *in = malloc(IN_BYTES);
    if (out && in) {
        segment_init(&serial.stream, out, OUT_BYTES, in, IN_BYTES);
        if (pthread_create(&thread, NULL, run_port, NULL) == 0) {
            server_log("traced: trace link on the virtual serial port");
            return true;
        }
    }
    server_log("traced: cannot start the serial link");
    free(out);
    free(in);
    return false;
}
