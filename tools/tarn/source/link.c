/*
 * link.c - frames over a file descriptor, and the sources over links to servers/traced: tcp:HOST:PORT over
 * the network, serial:PATH over a virtual serial port of the guest, as a unix socket of QEMU. A tty will not
 * do: QEMU does not tell the guest when another host opens it.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <tools/tarn/source/link.h>
#include <unistd.h>

#define BUFFER_BYTES (2 * (size_t)(WIRE_FRAME_BYTES + WIRE_PAYLOAD_MAX))
#define SEND_SECONDS 10.0 /* a guest that accepts nothing for so long is dead */
#define REST_SECONDS 15.0 /* a link that joins: so is one that sends nothing in the middle of a frame */

void link_open(struct link *link, int fd, bool joins)
{
    *link = (struct link){.fd = fd, .joins = joins, .buffer = alloc_zero(BUFFER_BYTES, 1)};
}

void link_close(struct link *link)
{
    if (link->fd >= 0)
        close(link->fd);
    free(link->buffer);
    *link = (struct link){.fd = -1};
}

int wait_ready(int fd, short events, double until)
{
    for (;;) {
        double left = until - now_seconds();
        struct pollfd poller = {.fd = fd, .events = events};
        int ready = poll(&poller, 1, left > 0 ? (int)(left * 1000) + 1 : 0);
        if (ready >= 0)
            return ready;
        if (errno != EINTR)
            return -1;
        if (events == POLLIN)
            return 0; /* Ctrl-C: the caller checks for it */
    }
}

int send_all(int fd, const void *bytes, size_t size, double until)
{
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent > 0)
            bytes = (const char *)bytes + sent, size -= (size_t)sent;
        else if (errno != EAGAIN && errno != EINTR)
            return -1;
        else if (wait_ready(fd, POLLOUT, until) == 0 && now_seconds() >= until)
            return 0;
    }
    return 1;
}

static bool link_send(struct link *link, uint16_t type, const void *payload, size_t size, struct fail *fail)
{
    uint8_t frame[WIRE_FRAME_BYTES + WIRE_REQUEST_MAX];
    if (size > WIRE_REQUEST_MAX)
        return fail_set(fail, "a request of %zu bytes is too large", size);
    wire_put_frame(frame, type, (uint32_t)size, link->sent++, wire_hash(payload, size));
    if (size > 0)
        memcpy(frame + WIRE_FRAME_BYTES, payload, size);
    int sent = send_all(link->fd, frame, WIRE_FRAME_BYTES + size, now_seconds() + SEND_SECONDS);
    return sent > 0 || (sent == 0 ? fail_set(fail, "the guest accepts no data")
                                  : fail_set(fail, "cannot send: %s", strerror(errno)));
}

/* Drops the bytes before the first whole header of HELLO. */
static void find_hello(struct link *link)
{
    struct wire_frame frame;
    for (; link->end - link->start >= WIRE_FRAME_BYTES; link->start++)
        if (wire_get_frame(link->buffer + link->start, WIRE_PAYLOAD_MAX, &frame) == WIRE_OK &&
            frame.type == WIRE_HELLO && frame.sequence == 0)
            return;
}

/* Takes the frame at `start` if it is complete. NOTHING: more bytes are needed. */
static enum source_got take_frame(struct link *link, struct wire_frame *frame, const uint8_t **payload,
                                  struct fail *fail)
{
    if (link->joins && link->received == 0)
        find_hello(link);
    const uint8_t *at = link->buffer + link->start;
    size_t there = link->end - link->start;

    if (there < WIRE_FRAME_BYTES)
        return SOURCE_NOTHING;
    switch (wire_get_frame(at, WIRE_PAYLOAD_MAX, frame)) {
    case WIRE_OK:
        break;
    case WIRE_NO_MAGIC:
        return fail_set(fail, "the peer does not speak the link protocol, or bytes were lost"), SOURCE_BROKEN;
    case WIRE_BAD_HEADER:
        return fail_set(fail, "a frame header has a wrong checksum"), SOURCE_BROKEN;
    case WIRE_TOO_LONG:
        return fail_set(fail, "a frame of %u bytes is too long", frame->length), SOURCE_BROKEN;
    }
    if (frame->sequence != link->received)
        return fail_set(fail, "received frame %u instead of %u", frame->sequence, link->received),
               SOURCE_BROKEN;
    if (there < WIRE_FRAME_BYTES + frame->length)
        return SOURCE_NOTHING;
    *payload = at + WIRE_FRAME_BYTES;
    if (wire_hash(*payload, frame->length) != frame->payload_hash)
        return fail_set(fail, "the payload of frame %u has a wrong checksum", frame->sequence), SOURCE_BROKEN;
    link->received++;
    link->start += WIRE_FRAME_BYTES + frame->length;
    return SOURCE_ITEM;
}

/* Reads what is available. False: the peer closed the connection, or an error. */
static bool fill_buffer(struct link *link, struct fail *fail)
{
    if (link->start == link->end) {
        link->start = link->end = 0;
    } else if (BUFFER_BYTES - link->end < BUFFER_BYTES / 2) {
        memmove(link->buffer, link->buffer + link->start, link->end - link->start);
        link->end -= link->start, link->start = 0;
    }
    ssize_t got = recv(link->fd, link->buffer + link->end, BUFFER_BYTES - link->end, 0);
    if (got > 0)
        link->end += (size_t)got, link->heard_at = now_seconds();
    else if (got == 0)
        return fail_set(fail, "the link was closed%s",
                        link->start != link->end ? " in the middle of a frame"
                        : link->received         ? ""
                                                 : " before HELLO");
    else if (errno != EAGAIN && errno != EINTR)
        return fail_set(fail, "cannot receive: %s", strerror(errno));
    return true;
}

enum source_got link_receive(struct link *link, struct wire_frame *frame, const uint8_t **payload,
                             int timeout_ms, struct fail *fail)
{
    double until = now_seconds() + timeout_ms * 1e-3;
    bool tried = false;
    for (;;) {
        enum source_got got = take_frame(link, frame, payload, fail);
        if (got != SOURCE_NOTHING)
            return got;
        if (tried && now_seconds() >= until)
            return SOURCE_NOTHING; /* the time limit holds even if bytes keep arriving */
        int ready = wait_ready(link->fd, POLLIN, until);
        if (ready < 0)
            return fail_set(fail, "cannot wait: %s", strerror(errno)), SOURCE_BROKEN;
        if (ready == 0 && link->joins && link->start != link->end &&
            now_seconds() - link->heard_at > REST_SECONDS)
            return fail_set(fail, "a frame stopped arriving in its middle"), SOURCE_BROKEN;
        if (ready == 0)
            return SOURCE_NOTHING;
        if (!fill_buffer(link, fail))
            return SOURCE_BROKEN;
        tried = true;
    }
}

/* ---- connections ---- */

/* -1: errno. */
static int connect_one(int family, const void *address, socklen_t size)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0)
        return -1;
    if (connect(fd, address, size) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    if (family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

/* For a wrong address. IGNORED: of fail_set. */
static int refuse(bool ignored)
{
    (void)ignored;
    errno = EINVAL;
    return -1;
}

int connect_tcp(const char *address, struct fail *fail)
{
    char host[256];
    const char *colon = strrchr(address, ':');
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC}, *list = NULL;
    int fd = -1;
    if (!colon || colon == address || colon[1] == 0 || (size_t)(colon - address) >= sizeof(host))
        return refuse(fail_set(fail, "'%s' is not HOST:PORT", address));
    if (strtoul(colon + 1, NULL, 10) > UINT16_MAX) /* getaddrinfo would use its low bits */
        return refuse(fail_set(fail, "'%s': the port is above %u", address, UINT16_MAX));
    memcpy(host, address, (size_t)(colon - address));
    host[colon - address] = 0;
    int error = getaddrinfo(host, colon + 1, &hints, &list);
    if (error != 0)
        return refuse(fail_set(fail, "no address for '%s': %s", address, gai_strerror(error)));
    for (struct addrinfo *info = list; info && fd < 0; info = info->ai_next)
        fd = connect_one(info->ai_family, info->ai_addr, info->ai_addrlen);
    if (fd < 0)
        fail_set(fail, "cannot connect to %s: %s%s", address, strerror(errno),
                 errno == ECONNREFUSED
                     ? "; does a guest run there? `make run PORT=7000` starts one for port 7000"
                     : "");
    freeaddrinfo(list);
    return fd;
}

int connect_socket(const char *path, struct fail *fail)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path))
        return refuse(fail_set(fail, "the path '%s' is too long for a socket", path));
    strcpy(address.sun_path, path);
    int fd = connect_one(AF_UNIX, &address, sizeof(address)), error = errno;
    if (fd < 0)
        fail_set(fail, "cannot connect to %s: %s", path, strerror(error));
    errno = error;
    return fd;
}

int connect_serial(const char *path, struct fail *fail)
{
    struct stat about;
    if (stat(path, &about) != 0 || S_ISSOCK(about.st_mode))
        return connect_socket(path, fail);
    return refuse(fail_set(
        fail, "%s is not a socket: start QEMU with `-chardev socket,path=FILE,server=on,wait=off,...`",
        path));
}

/* ---- a source over a link: HELLO, pulls and requests in frames ---- */

/* time for a HELLO before the connection is retried */
#define HELLO_SECONDS 60.0 /* a busy host may not run a guest for a while */
#define REPLY_SECONDS 60.0

struct link_source {
    struct source source; /* first: a source is cast to this */
    struct link link;
    uint32_t tag;
};

static struct link_source *link_of(struct source *source)
{
    return (struct link_source *)source;
}

static bool receive_hello(struct link_source *link, double seconds, struct fail *fail)
{
    struct wire_frame frame;
    const uint8_t *payload;
    switch (link_receive(&link->link, &frame, &payload, (int)(seconds * 1000), fail)) {
    case SOURCE_BROKEN:
        return false;
    case SOURCE_NOTHING:
        return fail_set(fail,
                        "connected, but received no HELLO: has the guest booted, and is traced running?");
    case SOURCE_ITEM:
        break;
    }
    if (frame.type != WIRE_HELLO || frame.length < WIRE_HELLO_BYTES)
        return fail_set(fail, "the first frame is not HELLO");
    wire_get_hello(payload, &link->source.hello);
    return check_hello(&link->source.hello, fail);
}

static void link_close_source(struct source *source)
{
    link_close(&link_of(source)->link);
    free(source);
}

static struct source *open_link_source(const struct source_class *class, const char *address, double until,
                                       bool *is_wrong, struct fail *fail)
{
    struct link_source *link = alloc_zero(1, sizeof(*link));
    const int fd = class->link->connect(address, fail);
    *is_wrong = fd < 0 && errno == EINVAL;
    const double left = until - now_seconds();
    link->source.class = class;
    link_open(&link->link, fd, class->link->joins);
    if (fd >= 0 && receive_hello(link, left > HELLO_SECONDS ? left : HELLO_SECONDS, fail))
        return &link->source;
    link_close_source(&link->source);
    return NULL;
}

static bool link_begin_pull(struct source *source, uint32_t flags, uint32_t mode, const uint64_t *want,
                            struct fail *fail)
{
    uint8_t payload[WIRE_PULL_BYTES + 8 * WIRE_CPUS_MAX];
    uint32_t count = want ? source->hello.cpu_count : 0;
    wire_put32(payload, flags);
    wire_put32(payload + 4, mode);
    wire_put32(payload + 8, count);
    wire_put32(payload + 12, 0);
    for (uint32_t cpu = 0; cpu < count; cpu++)
        wire_put64(payload + WIRE_PULL_BYTES + 8 * cpu, want[cpu]);
    return link_send(&link_of(source)->link, WIRE_PULL, payload, WIRE_PULL_BYTES + 8 * count, fail);
}

static bool link_end_pull(struct source *source, struct fail *fail)
{
    return link_send(&link_of(source)->link, WIRE_PULL_END, NULL, 0, fail);
}

static enum source_got bad_frame(const struct wire_frame *frame, struct fail *fail)
{
    fail_set(fail, "unexpected frame %u of type %u with %u bytes", frame->sequence, frame->type,
             frame->length);
    return SOURCE_BROKEN;
}

static bool parse_status(const uint8_t *payload, uint32_t length, struct source_item *item)
{
    if (length < WIRE_STATUS_BYTES)
        return false;
    wire_get_status(payload, &item->status);
    const uint32_t count = item->status.count;
    if (count > WIRE_CPUS_MAX || length < WIRE_STATUS_BYTES + count * WIRE_CPU_STATUS_BYTES)
        return false;
    for (uint32_t cpu = 0; cpu < count; cpu++)
        wire_get_cpu_status(payload + WIRE_STATUS_BYTES + cpu * WIRE_CPU_STATUS_BYTES, &item->cpu[cpu]);
    return true;
}

static enum source_got link_next(struct source *source, struct source_item *item, int timeout_ms,
                                 struct fail *fail)
{
    struct wire_frame frame;
    const uint8_t *payload;
    enum source_got got = link_receive(&link_of(source)->link, &frame, &payload, timeout_ms, fail);
    if (got != SOURCE_ITEM)
        return got;
    switch (frame.type) {
    case WIRE_METADATA:
        item->kind = SOURCE_METADATA;
        item->bytes = payload, item->size = frame.length;
        return got;
    case WIRE_PACKET:
        if (frame.length < WIRE_PACKET_BYTES)
            return bad_frame(&frame, fail);
        item->kind = SOURCE_PACKET;
        item->packet =
            (struct wire_packet){wire_get32(payload), wire_get32(payload + 4), wire_get64(payload + 8)};
        item->bytes = payload + WIRE_PACKET_BYTES, item->size = frame.length - WIRE_PACKET_BYTES;
        return got;
    case WIRE_STATUS:
        item->kind = SOURCE_STATUS;
        return parse_status(payload, frame.length, item) ? got : bad_frame(&frame, fail);
    case WIRE_END:
        if (frame.length < WIRE_END_BYTES)
            return bad_frame(&frame, fail);
        item->kind = SOURCE_END;
        item->end = (struct wire_end){wire_get32(payload), (int32_t)wire_get32(payload + 4)};
        return got;
    case WIRE_REPLY:
        if (frame.length < WIRE_REPLY_BYTES)
            return bad_frame(&frame, fail);
        item->kind = SOURCE_REPLY;
        item->reply = (struct wire_reply){wire_get32(payload), (int32_t)wire_get32(payload + 4)};
        return got;
    default:
        return bad_frame(&frame, fail);
    }
}

static bool link_request(struct source *source, const struct wire_request *request, struct fail *fail)
{
    struct link_source *link = link_of(source);
    uint8_t payload[WIRE_REQUEST_BYTES + WIRE_TEXT_MAX];
    size_t text_size = request->text != NULL ? strlen(request->text) : 0;
    if (text_size > WIRE_TEXT_MAX)
        return fail_set(fail, "the names are longer than %u letters", WIRE_TEXT_MAX);
    memcpy(payload + WIRE_REQUEST_BYTES, request->text != NULL ? request->text : "", text_size);
    wire_put32(payload, request->operation);
    wire_put32(payload + 4, ++link->tag);
    wire_put64(payload + 8, request->a);
    wire_put64(payload + 16, request->b);
    return link_send(&link->link, WIRE_REQUEST, payload, WIRE_REQUEST_BYTES + text_size, fail);
}

static bool link_control(struct source *source, const struct wire_request *request,
                         struct source_reply *reply, struct fail *fail)
{
    struct link_source *link = link_of(source);
    struct wire_frame frame;
    const uint8_t *bytes;
    if (!link_request(source, request, fail))
        return false;
    enum source_got got = link_receive(&link->link, &frame, &bytes, (int)(REPLY_SECONDS * 1000), fail);
    if (got != SOURCE_ITEM)
        return got == SOURCE_NOTHING && fail_set(fail, "the guest does not answer");
    if (frame.type != WIRE_REPLY || frame.length < WIRE_REPLY_BYTES || wire_get32(bytes) != link->tag)
        return bad_frame(&frame, fail) == SOURCE_ITEM;
    *reply = (struct source_reply){(int32_t)wire_get32(bytes + 4), bytes + WIRE_REPLY_BYTES,
                                   frame.length - WIRE_REPLY_BYTES};
    return true;
}

#define LINK_CLASS(name, does)                                                        \
    const struct source_class source_##name = {                                       \
        .scheme = #name,                                                              \
        .link = &(const struct link_class){.connect = connect_##name, .joins = does}, \
        .open = open_link_source,                                                     \
        .begin_pull = link_begin_pull,                                                \
        .end_pull = link_end_pull,                                                    \
        .next = link_next,                                                            \
        .request = link_request,                                                      \
        .control = link_control,                                                      \
        .close = link_close_source,                                                   \
    }
LINK_CLASS(tcp, false);
LINK_CLASS(serial, true);
