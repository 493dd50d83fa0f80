/*
 * link_source.c - a source over a link: HELLO, pulls and requests in frames (WIRE.md).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/source/link.h>

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

/* Connects repeatedly, for WAIT_SECONDS, until a HELLO arrives. */
static struct source *open_link_source(const struct source_class *class, const char *address,
                                       double wait_seconds, struct fail *fail)
{
    struct link_source *link = alloc_zero(1, sizeof(*link));
    double until = now_seconds() + wait_seconds;
    link->source.class = class;
    for (;;) {
        int fd = class->link->connect(address, fail);
        if (fd >= 0) {
            double left = until - now_seconds();
            link_open(&link->link, fd, class->link->start_with);
            if (receive_hello(link, left > HELLO_SECONDS ? left : HELLO_SECONDS, fail))
                return &link->source;
            link_close(&link->link);
        } else if (errno == EINVAL) {
            break;
        }
        if (now_seconds() >= until)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    free(link);
    return NULL;
}

static void link_close_source(struct source *source)
{
    link_close(&link_of(source)->link);
    free(source);
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

static enum source_got link_control(struct source *source, const struct wire_request *request,
                                    int32_t *status, const uint8_t **data, size_t *size, struct fail *fail)
{
    struct link_source *link = link_of(source);
    struct wire_frame frame;
    const uint8_t *reply;
    if (!link_request(source, request, fail))
        return SOURCE_BROKEN;
    enum source_got got = link_receive(&link->link, &frame, &reply, (int)(REPLY_SECONDS * 1000), fail);
    if (got == SOURCE_NOTHING)
        fail_set(fail, "the guest does not answer");
    if (got != SOURCE_ITEM)
        return SOURCE_BROKEN;
    if (frame.type != WIRE_REPLY || frame.length < WIRE_REPLY_BYTES || wire_get32(reply) != link->tag)
        return bad_frame(&frame, fail);
    *status = (int32_t)wire_get32(reply + 4);
    *data = reply + WIRE_REPLY_BYTES, *size = frame.length - WIRE_REPLY_BYTES;
    return SOURCE_ITEM;
}

#define LINK_CLASS(name, starts)                                                             \
    const struct source_class source_##name = {                                              \
        .scheme = #name,                                                                     \
        .link = &(const struct link_class){.connect = connect_##name, .start_with = starts}, \
        .open = open_link_source,                                                            \
        .begin_pull = link_begin_pull,                                                       \
        .end_pull = link_end_pull,                                                           \
        .next = link_next,                                                                   \
        .request = link_request,                                                             \
        .control = link_control,                                                             \
        .close = link_close_source,                                                          \
    }
LINK_CLASS(tcp, LINK_BEGINS);
LINK_CLASS(serial, LINK_JOINS);
