/*
 * stream.c - bulk sending without copies: the client writes where the device reads.
 *
 * The ring holds bytes [acknowledged, given). Those before `queued` have been passed to lwIP as references;
 * the others wait for space in its queue. Space is free when the peer has acknowledged the bytes, because
 * lwIP may have to retransmit them until then. If the socket closes first, the stream lives on until the pcb
 * is done (detach_stream). A client can change bytes in flight, but corrupts only its own stream.
 */
#include "socket.h"
#include <errno.h>
#include <stdlib.h>

#define PIECE_MAX 64000u /* limit of tcp_write, which counts in 16 bits: two large segments */

struct stream {
    struct dma memory;
    uint64_t given, queued, acknowledged; /* byte counts since the start */
};

static void free_stream(struct stream *stream)
{
    dma_free(&stream->memory);
    free(stream);
}

int64_t open_stream(struct socket *socket, cap_t *memory)
{
    if (socket->type != NET_TCP || socket->state != SOCKET_CONNECTED)
        return -ENOTCONN;
    if (socket->stream || tcp_sndqueuelen(socket->tcp) > 0)
        return -EBUSY;
    struct stream *stream = calloc(1, sizeof(*stream));
    if (!stream || !dma_allocate(&stream->memory, NET_STREAM_BYTES)) {
        free(stream);
        return -ENOMEM;
    }
    socket->stream = stream;
    *memory = stream->memory.memory;
    return 0;
}

/* Passes as many bytes to lwIP as it accepts. */
static void queue_stream(struct stream *stream, struct tcp_pcb *pcb)
{
    bool any = false;
    while (stream->queued < stream->given) {
        uint64_t place = stream->queued % NET_STREAM_BYTES, left = stream->given - stream->queued;
        if (left > NET_STREAM_BYTES - place)
            left = NET_STREAM_BYTES - place;
        if (left > PIECE_MAX)
            left = PIECE_MAX;
        if (left > tcp_sndbuf(pcb))
            left = tcp_sndbuf(pcb);
        if (left == 0 || tcp_write(pcb, stream->memory.address + place, (u16_t)left, 0) != ERR_OK)
            break;
        stream->queued += left;
        any = true;
    }
    if (any)
        tcp_output(pcb);
}

void stream_sent(struct stream *stream, struct tcp_pcb *pcb, uint32_t bytes)
{
    stream->acknowledged += bytes;
    queue_stream(stream, pcb);
}

int64_t send_stream(struct socket *socket, struct server_request *request)
{
    struct stream *stream = socket->stream;
    if (!stream)
        return -EINVAL;
    if (socket->state != SOCKET_CONNECTED || socket->write_shut)
        return -EPIPE;
    uint64_t bytes = request->word[1], want = request->word[2];
    uint64_t used = stream->given - stream->acknowledged;
    if (want > NET_STREAM_BYTES || bytes > NET_STREAM_BYTES - used)
        return -EINVAL;
    request->word[1] = 0; /* consumed: a retry only waits */
    stream->given += bytes;
    queue_stream(stream, socket->tcp);
    uint64_t free_bytes = NET_STREAM_BYTES - (stream->given - stream->acknowledged);
    return free_bytes >= want ? (int64_t)free_bytes : -EAGAIN;
}

/* ---- after the socket has closed ------------------------------------------------------------------- */

static err_t stream_on_sent(void *argument, struct tcp_pcb *pcb, u16_t length)
{
    struct stream *stream = argument;
    stream->acknowledged += length;
    if (stream->acknowledged >= stream->queued) {
        tcp_arg(pcb, NULL);
        tcp_sent(pcb, NULL);
        tcp_err(pcb, NULL);
        free_stream(stream);
    }
    return ERR_OK;
}

static void stream_on_error(void *argument, err_t error)
{
    free_stream(argument);
}

void detach_stream(struct stream *stream, struct tcp_pcb *pcb)
{
    if (!pcb || stream->acknowledged >= stream->queued) {
        free_stream(stream);
        return;
    }
    tcp_arg(pcb, stream);
    tcp_sent(pcb, stream_on_sent);
    tcp_err(pcb, stream_on_error);
}
