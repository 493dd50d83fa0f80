/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_serial.c - the source serial:PATH: a virtual serial port of the guest, as a unix socket of QEMU or a
 * tty.
 *
 * The port may lose or change bytes, so segments (trace/format/segment.h) make a reliable stream of it. A
 * thread does that between the port and one end of a socket pair; the other end is the link. So the guest
 * gets timely acknowledgements, however long the caller takes for a packet.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <tools/tarn/source/link.h>
#include <trace/format/segment.h>
#include <unistd.h>

#define OUT_BYTES   (64u << 10)
#define IN_BYTES    (1u << 20)
#define RAW_BYTES   (64u << 10)
#define DRAIN_NS    1000000000ull /* time for acknowledgements when the link is closed */
#define FOREVER_NS  3600000000000ull
#define NANOSECONDS 1000000000.0

struct pump {
    int port, inner;
    pthread_t thread;
    struct segment_stream stream;
    bool inner_ended;   /* the caller has closed the link */
    uint64_t finish_by; /* then: when to stop at the latest */
    size_t raw_start, raw_end, piece_start, piece_end;
    uint8_t raw[RAW_BYTES];   /* for the port */
    uint8_t piece[RAW_BYTES]; /* for the caller */
    uint8_t received[RAW_BYTES], out[OUT_BYTES], in[IN_BYTES];
};

/* one at a time: two would take each other's bytes from a tty */
static struct pump *running;

static uint64_t now_ns(void)
{
    return (uint64_t)(now_seconds() * NANOSECONDS);
}

/* ---- the thread ------------------------------------------------------------------------------------ */

/* Writes the bytes from *START to *END. False: the peer is gone. */
static bool push(int fd, const uint8_t *bytes, size_t *start, size_t *end)
{
    while (*start < *end) {
        ssize_t done = send(fd, bytes + *start, *end - *start, MSG_NOSIGNAL);
        if (done < 0 && errno == ENOTSOCK)
            done = write(fd, bytes + *start, *end - *start);
        if (done > 0)
            *start += (size_t)done;
        else
            return done < 0 && (errno == EAGAIN || errno == EINTR);
    }
    *start = *end = 0;
    return true;
}

static bool push_to_port(struct pump *pump)
{
    for (;;) {
        if (!push(pump->port, pump->raw, &pump->raw_start, &pump->raw_end))
            return false;
        if (pump->raw_end > 0)
            return true;
        pump->raw_end = segment_output(&pump->stream, pump->raw, sizeof(pump->raw), now_ns());
        if (pump->raw_end == 0)
            return true;
    }
}

static bool push_to_caller(struct pump *pump)
{
    while (!pump->inner_ended) {
        if (!push(pump->inner, pump->piece, &pump->piece_start, &pump->piece_end))
            return false;
        if (pump->piece_end > 0)
            return true;
        pump->piece_end = segment_read(&pump->stream, pump->piece, sizeof(pump->piece));
        if (pump->piece_end == 0)
            return true;
    }
    return true;
}

static bool take_from_port(struct pump *pump)
{
    ssize_t got = read(pump->port, pump->received, sizeof(pump->received));

    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    segment_input(&pump->stream, pump->received, (size_t)got, now_ns());
    return true;
}

static size_t room_to_send(const struct pump *pump)
{
    return OUT_BYTES - segment_unsent(&pump->stream);
}

static void take_from_caller(struct pump *pump)
{
    uint8_t bytes[4096];
    size_t room = room_to_send(pump);
    ssize_t got = recv(pump->inner, bytes, room < sizeof(bytes) ? room : sizeof(bytes), 0);

    if (got > 0) {
        segment_write(&pump->stream, bytes, (size_t)got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        pump->inner_ended = true;
        pump->finish_by = now_ns() + DRAIN_NS;
    }
}

/* False: poll failed. */
static bool wait_for_work(struct pump *pump, struct pollfd poller[2])
{
    uint64_t now = now_ns(), until = segment_deadline(&pump->stream);
    bool wants = !pump->inner_ended && room_to_send(pump) > 0;

    if (pump->inner_ended && pump->finish_by < until)
        until = pump->finish_by;
    uint64_t left = until > now ? until - now : 0;
    poller[0] = (struct pollfd){pump->port, (short)(POLLIN | (pump->raw_end > 0 ? POLLOUT : 0)), 0};
    poller[1] = (struct pollfd){pump->inner_ended ? -1 : pump->inner,
                                (short)((wants ? POLLIN : 0) | (pump->piece_end > 0 ? POLLOUT : 0)), 0};
    return poll(poller, 2, (int)((left < FOREVER_NS ? left : FOREVER_NS) / 1000000) + 1) >= 0 ||
           errno == EINTR;
}

static bool pump_once(struct pump *pump)
{
    struct pollfd poller[2];

    if (!wait_for_work(pump, poller))
        return false;
    if (poller[0].revents & (POLLIN | POLLHUP | POLLERR) && !take_from_port(pump))
        return false;
    if (poller[1].revents & (POLLIN | POLLHUP | POLLERR))
        take_from_caller(pump);
    return push_to_caller(pump) && push_to_port(pump);
}

/* Whether the session has ended, or the caller has closed the link and the guest has received everything. */
static bool is_done(const struct pump *pump)
{
    if (pump->stream.state == SEGMENT_CLOSED)
        return true;
    return pump->inner_ended && (pump->stream.state == SEGMENT_OPENING ||
                                 segment_unsent(&pump->stream) == 0 || now_ns() >= pump->finish_by);
}

static void *run_pump(void *argument)
{
    struct pump *pump = argument;
    bool fine = push_to_port(pump);

    while (fine && !is_done(pump))
        fine = pump_once(pump);
    segment_close(&pump->stream);
    if (fine)
        push_to_port(pump); /* tells the guest; bytes that cannot be sent now are dropped */
    push_to_caller(pump);
    shutdown(pump->inner, SHUT_RDWR);
    close(pump->port);
    return NULL;
}

static void join_pump(void)
{
    if (!running)
        return;
    shutdown(running->inner, SHUT_RDWR); /* the program may exit with an open link */
    pthread_join(running->thread, NULL);
    close(running->inner);
    free(running);
    running = NULL;
}

/* Takes ownership of the port; returns the caller's end. */
static int start_pump(int port, struct fail *fail)
{
    static bool registered;
    struct pump *pump = alloc_zero(1, sizeof(*pump));
    uint32_t session = 0;
    int pair[2] = {-1, -1};

    while (session == 0)
        if (getrandom(&session, sizeof(session), 0) != sizeof(session))
            session = (uint32_t)now_ns() | 1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0) {
        pump->port = port, pump->inner = pair[0];
        segment_init(&pump->stream, pump->out, OUT_BYTES, pump->in, IN_BYTES);
        segment_open(&pump->stream, session, now_ns());
        if ((errno = pthread_create(&pump->thread, NULL, run_pump, pump)) == 0) {
            running = pump;
            if (!registered)
                atexit(join_pump); /* tells the guest that the session ends */
            registered = true;
            return pair[1];
        }
    }
    fail_set(fail, "cannot start the link: %s", strerror(errno));
    if (pair[0] >= 0)
        close(pair[0]), close(pair[1]);
    close(port);
    free(pump);
    return -1;
}

/* ---- opening --------------------------------------------------------------------------------------- */

static int open_socket(const char *path, struct fail *fail)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(address.sun_path)) {
        fail_set(fail, "the path '%s' is too long for a socket", path);
        errno = EINVAL;
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
        return fd;
    int error = errno;
    fail_set(fail, "cannot connect to %s: %s", path, strerror(error));
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* Sets raw mode: no echo, no line editing, no flow control by characters. */
static int open_tty(const char *path, struct fail *fail)
{
    struct termios settings;
    int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0) {
        fail_set(fail, "cannot open %s: %s", path, strerror(errno));
        return -1;
    }
    if (tcgetattr(fd, &settings) == 0) {
        cfmakeraw(&settings);
        if (tcsetattr(fd, TCSANOW, &settings) == 0)
            return fd;
    }
    close(fd);
    fail_set(fail, "%s is neither a socket nor a tty", path);
    errno = EINVAL;
    return -1;
}

int connect_serial(const char *address, struct fail *fail)
{
    struct stat about;

    join_pump(); /* a new link is opened only after the old one was closed */
    if (stat(address, &about) != 0) {
        int error = errno;
        fail_set(fail, "cannot open %s: %s", address, strerror(error));
        errno = error;
        return -1;
    }
    int port = S_ISSOCK(about.st_mode) ? open_socket(address, fail) : open_tty(address, fail);
    return port < 0 ? -1 : start_pump(port, fail);
}

static struct source *open_serial(const char *address, double wait_seconds, struct fail *fail)
{
    return open_link_source(&source_serial, connect_serial, address, wait_seconds, fail);
}

const struct source_class source_serial = LINK_SOURCE_CLASS("serial", open_serial);
