/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/read/read.c - files to packets; see read.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/read/read.h>
#include <unistd.h>

#define STREAMS_MAX 4096u

const struct anomaly_kind anomaly_kinds[ANOMALY_COUNT] = {
    [ANOMALY_NONE] = {"none", "nothing is wrong", false},
    [ANOMALY_TRUNCATED] = {"truncated", "the file ends inside a packet", false},
    [ANOMALY_MAGIC] = {"magic", "no packet starts here", false},
    [ANOMALY_UUID] = {"uuid", "the packet was logged under another schema than the metadata's", false},
    [ANOMALY_STREAM_ID] = {"stream-id", "the packet is of an unknown stream class", false},
    [ANOMALY_SIZE] = {"size", "packet or content size is impossible", false},
    [ANOMALY_OPEN] = {"open", "the packet was never closed", false},
    [ANOMALY_CPU] = {"cpu", "the packet is of another processor than the file's first", false},
    [ANOMALY_COMMITTED] = {"committed", "words were reserved and not committed: the packet has a hole",
                           false},
    [ANOMALY_PACKET_TIME] = {"packet-time", "the packet ends before it begins", false},
    [ANOMALY_PACKET_ORDER] = {"packet-order", "the packet begins before the one before it ended", false},
    [ANOMALY_SEQUENCE] = {"sequence", "the sequence number does not grow", false},
    [ANOMALY_DISCARDED] = {"discarded", "the counter of discarded events went back", false},
    [ANOMALY_CONTEXT] = {"context", "the packet does not start with a context event", false},
    [ANOMALY_END] = {"end", "the packet's content does not end with an end event", false},
    [ANOMALY_FILLER] = {"filler", "what follows the content is no filler", false},
    [ANOMALY_EVENT_LENGTH] = {"event-length", "an event reaches beyond the content or has no length", false},
    [ANOMALY_EVENT_ID] = {"event-id", "the metadata has no such event", false},
    [ANOMALY_EVENT_LAYOUT] = {"event-layout", "an event's length does not fit its fields", false},
    [ANOMALY_EVENT_TIME] = {"event-time", "an event is later than its packet's end, or time went back",
                            false},
    [ANOMALY_LOST_PACKETS] = {"lost-packets", "sequence numbers are missing", true},
    [ANOMALY_LOST_EVENTS] = {"lost-events", "events found no room and were counted as discarded", true},
    [ANOMALY_CUT] = {"cut", "a reader cut the content at a hole", true},
};

static void swap_header(struct trace_packet *header)
{
    uint64_t *words[] = {&header->timestamp_begin, &header->timestamp_end,    &header->content_size,
                         &header->packet_size,     &header->events_discarded, &header->packet_seq_num,
                         &header->committed};

    header->magic = __builtin_bswap32(header->magic);
    header->stream_id = __builtin_bswap32(header->stream_id);
    header->cpu_id = __builtin_bswap32(header->cpu_id);
    header->flags = __builtin_bswap32(header->flags);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        *words[i] = __builtin_bswap64(*words[i]);
}

/* All of SIZE bytes, or false. */
static bool read_at(const struct stream *stream, uint64_t offset, void *bytes, uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        ssize_t got = pread(stream->fd, (char *)bytes + done, size - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (uint64_t)got;
    }
    return true;
}

/* What can be said of a header in host order; LEFT is what the file has from its offset on. */
static enum anomaly judge_header(const struct trace *trace, const struct stream *stream,
                                 const struct trace_packet *header, uint64_t left)
{
    if (header->magic != TRACE_CTF_MAGIC)
        return ANOMALY_MAGIC;
    if (memcmp(header->uuid, trace->schema.tsdl.uuid, sizeof(header->uuid)) != 0)
        return ANOMALY_UUID;
    if (header->stream_id != TRACE_STREAM_ID)
        return ANOMALY_STREAM_ID;
    if (header->packet_size % 64 != 0 || header->packet_size < sizeof(*header) * 8 ||
        header->packet_size > PACKET_BYTES_MAX * 8ull)
        return ANOMALY_SIZE;
    if (header->content_size == 0)
        return ANOMALY_OPEN;
    if (header->content_size % 64 != 0 || header->content_size < sizeof(*header) * 8 ||
        header->content_size > header->packet_size)
        return ANOMALY_SIZE;
    if (header->packet_size / 8 > left)
        return ANOMALY_TRUNCATED;
    if (header->timestamp_end < header->timestamp_begin)
        return ANOMALY_PACKET_TIME;
    if (stream->cpu != ~0u && header->cpu_id != stream->cpu)
        return ANOMALY_CPU;
    if (!(header->flags & TRACE_PACKET_CUT) && header->committed != header->packet_size / 64)
        return ANOMALY_COMMITTED;
    return ANOMALY_NONE;
}

enum anomaly stream_header(const struct trace *trace, const struct stream *stream, uint64_t offset,
                           struct trace_packet *header)
{
    memset(header, 0, sizeof(*header));
    if (offset > stream->size || stream->size - offset < sizeof(*header) ||
        !read_at(stream, offset, header, sizeof(*header)))
        return ANOMALY_TRUNCATED;
    if (trace->schema.swap)
        swap_header(header);
    return judge_header(trace, stream, header, stream->size - offset);
}

/* The header first: after damage, thousands of places may be tried that only look like packets. */
enum anomaly stream_packet(const struct trace *trace, const struct stream *stream, uint64_t offset,
                           struct packet_buffer *buffer, struct packet *packet)
{
    enum anomaly anomaly = stream_header(trace, stream, offset, &packet->header);

    packet->offset = offset;
    if (anomaly_is_fatal(anomaly))
        return anomaly;
    packet->packet_bytes = packet->header.packet_size / 8;
    packet->content_bytes = packet->header.content_size / 8;
    if (buffer->size < packet->packet_bytes) {
        buffer->bytes = alloc_more(buffer->bytes, packet->packet_bytes, 1);
        buffer->size = packet->packet_bytes;
    }
    packet->bytes = buffer->bytes;
    return read_at(stream, offset, buffer->bytes, packet->packet_bytes) ? anomaly : ANOMALY_TRUNCATED;
}

uint64_t stream_resync(const struct trace *trace, const struct stream *stream, uint64_t from)
{
    uint8_t chunk[65536];
    uint32_t magic = trace->schema.swap ? __builtin_bswap32(TRACE_CTF_MAGIC) : TRACE_CTF_MAGIC;

    for (uint64_t at = from; at < stream->size && stream->size - at >= sizeof(struct trace_packet);) {
        uint64_t size = at == from ? 4096 : sizeof(chunk), i; /* mostly it is near */

        size = stream->size - at < size ? stream->size - at : size;
        if (!read_at(stream, at, chunk, size))
            break;
        for (i = 0; i + 24 <= size; i += 8)
            if (memcmp(chunk + i, &magic, sizeof(magic)) == 0 &&
                memcmp(chunk + i + 8, trace->schema.tsdl.uuid, 16) == 0)
                return at + i;
        at += i;
    }
    return stream->size;
}

/* Hops from header to header; for files whose packets differ in size or are damaged. */
static uint64_t seek_by_hops(const struct trace *trace, const struct stream *stream, uint64_t time)
{
    uint64_t found = 0, offset = 0;

    while (offset < stream->size) {
        struct trace_packet header;
        enum anomaly anomaly = stream_header(trace, stream, offset, &header);

        if (anomaly_is_fatal(anomaly)) {
            offset = stream_resync(trace, stream, offset + 8);
            continue;
        }
        if (header.timestamp_begin >= time)
            break;
        found = offset;
        offset += header.packet_size / 8;
    }
    return found;
}

uint64_t stream_seek(const struct trace *trace, const struct stream *stream, uint64_t time)
{
    uint64_t bytes = stream->first_packet_bytes, low = 0, high;

    if (bytes == 0)
        return 0;
    high = stream->size / bytes;
    /* Invariant: packet low begins before time (or is the first), packet high does not. */
    while (high - low > 1) {
        struct trace_packet header;
        uint64_t middle = low + (high - low) / 2;

        if (anomaly_is_fatal(stream_header(trace, stream, middle * bytes, &header)) ||
            header.packet_size / 8 != bytes)
            return seek_by_hops(trace, stream, time);
        if (header.timestamp_begin < time)
            low = middle;
        else
            high = middle;
    }
    return low * bytes;
}

/* First and last packet: processor, packet size, the time that the trace covers. Returns what the first
 * packet's header is like. */
static enum anomaly survey_stream(struct trace *trace, struct stream *stream)
{
    struct trace_packet header;
    enum anomaly anomaly;
    uint64_t last;

    stream->cpu = ~0u;
    anomaly = stream_header(trace, stream, 0, &header);
    if (anomaly_is_fatal(anomaly))
        return anomaly;
    stream->cpu = header.cpu_id;
    stream->begin = header.timestamp_begin;
    stream->first_packet_bytes = header.packet_size / 8;
    if (header.timestamp_begin < trace->begin)
        trace->begin = header.timestamp_begin;
    if (header.timestamp_end > trace->end)
        trace->end = header.timestamp_end;
    last = stream_seek(trace, stream, UINT64_MAX);
    if (!anomaly_is_fatal(stream_header(trace, stream, last, &header)) && header.timestamp_end > trace->end)
        trace->end = header.timestamp_end;
    return anomaly;
}

/* For a trace in which no stream begins under the schema of the metadata: the two do not belong together. */
static bool refuse_schema(const struct trace *trace, struct fail *fail)
{
    struct trace_packet header;
    char theirs[37], ours[37];

    stream_header(trace, &trace->streams[0], 0, &header);
    format_uuid(header.uuid, theirs);
    format_uuid(trace->schema.tsdl.uuid, ours);
    return fail_set(fail,
                    "%s: its packets were logged under schema %s, but the metadata is that of schema %s",
                    trace->directory, theirs, ours);
}

static int compare_streams(const void *left, const void *right)
{
    return strcmp(((const struct stream *)left)->name, ((const struct stream *)right)->name);
}

static bool is_stream_name(const char *name)
{
    return name[0] != '.' && strcmp(name, "metadata") != 0;
}

/* Every file of the directory but metadata and hidden ones is a stream, as for other CTF readers. */
static bool open_streams(struct trace *trace, struct fail *fail)
{
    DIR *directory = opendir(trace->directory);
    struct dirent *entry;
    bool fine = true;

    if (directory == NULL)
        return fail_set(fail, "%s: %s", trace->directory, strerror(errno));
    while (fine && (entry = readdir(directory)) != NULL) {
        struct stream stream = {.fd = -1};
        struct stat status;
        size_t length = strlen(trace->directory) + strlen(entry->d_name) + 2;

        if (!is_stream_name(entry->d_name))
            continue;
        stream.path = alloc_zero(1, length);
        snprintf(stream.path, length, "%s/%s", trace->directory, entry->d_name);
        stream.name = stream.path + strlen(trace->directory) + 1;
        if (stat(stream.path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
            free(stream.path);
            continue;
        }
        stream.fd = open(stream.path, O_RDONLY | O_CLOEXEC);
        stream.size = (uint64_t)status.st_size;
        if (stream.fd < 0)
            fine = fail_set(fail, "%s: %s", stream.path, strerror(errno));
        else if (trace->stream_count == STREAMS_MAX)
            fine = fail_set(fail, "%s: more than %u stream files", trace->directory, STREAMS_MAX);
        trace->streams = alloc_more(trace->streams, trace->stream_count + 1, sizeof(stream));
        trace->streams[trace->stream_count++] = stream;
    }
    closedir(directory);
    return fine;
}

/* Who writes a trace replaces its metadata when a program declares events of its own. */
static void look_at_metadata(const char *directory, uint64_t *inode, uint64_t *bytes)
{
    char path[PATH_MAX];
    struct stat status = {0};

    snprintf(path, sizeof(path), "%s/metadata", directory);
    if (stat(path, &status) == 0) {
        *inode = status.st_ino;
        *bytes = (uint64_t)status.st_size;
    }
}

static bool has_other_metadata(const struct trace *trace)
{
    uint64_t inode = 0, bytes = 0;

    look_at_metadata(trace->directory, &inode, &bytes);
    return inode != trace->metadata_inode || bytes != trace->metadata_bytes;
}

bool trace_open(struct trace *trace, const char *directory, struct fail *fail)
{
    unsigned strangers = 0;

    memset(trace, 0, sizeof(*trace));
    trace->directory = strdup(directory);
    for (size_t length = strlen(directory); length > 1 && trace->directory[length - 1] == '/'; length--)
        trace->directory[length - 1] = '\0';
    look_at_metadata(directory, &trace->metadata_inode, &trace->metadata_bytes); /* before it is read */
    if (!schema_load(&trace->schema, directory, fail) || !open_streams(trace, fail)) {
        trace_close(trace);
        return false;
    }
    if (trace->stream_count > 0)
        qsort(trace->streams, trace->stream_count, sizeof(trace->streams[0]), compare_streams);
    trace->begin = UINT64_MAX;
    for (unsigned i = 0; i < trace->stream_count; i++) {
        trace->streams[i].rank = i;
        strangers += survey_stream(trace, &trace->streams[i]) == ANOMALY_UUID;
    }
    if (strangers > 0 && strangers == trace->stream_count) {
        refuse_schema(trace, fail);
        trace_close(trace);
        return false;
    }
    if (trace->begin > trace->end)
        trace->begin = trace->end;
    return true;
}

void trace_close(struct trace *trace)
{
    for (unsigned i = 0; i < trace->stream_count; i++) {
        if (trace->streams[i].fd >= 0)
            close(trace->streams[i].fd);
        free(trace->streams[i].path);
    }
    free(trace->streams);
    free(trace->directory);
    schema_free(&trace->schema);
    memset(trace, 0, sizeof(*trace));
}

static unsigned count_stream_files(const struct trace *trace)
{
    DIR *directory = opendir(trace->directory);
    struct dirent *entry;
    struct stat status;
    unsigned count = 0;

    if (directory == NULL)
        return 0;
    while ((entry = readdir(directory)) != NULL)
        count += is_stream_name(entry->d_name) && fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
                 S_ISREG(status.st_mode) && status.st_size != 0;
    closedir(directory);
    return count;
}

/* Takes in the whole packets after those that are known; a file may end within one that is being written. */
static enum trace_news refresh_stream(struct trace *trace, struct stream *stream, uint64_t *from)
{
    uint64_t bytes = stream->first_packet_bytes, old = stream->size, begin = 0, size;
    struct trace_packet header;
    struct stat here, there;

    if (fstat(stream->fd, &here) != 0 || stat(stream->path, &there) != 0 || here.st_ino != there.st_ino ||
        here.st_dev != there.st_dev || (uint64_t)here.st_size < old || (bytes == 0 && here.st_size != 0))
        return TRACE_CHANGED;
    size = bytes != 0 ? (uint64_t)here.st_size / bytes * bytes : 0;
    if (size <= old)
        return TRACE_SAME;
    stream->size = size;
    if (!anomaly_is_fatal(stream_header(trace, stream, old / bytes * bytes, &header)))
        begin = header.timestamp_begin;
    *from = begin < *from ? begin : *from;
    if (!anomaly_is_fatal(stream_header(trace, stream, size - bytes, &header)) &&
        header.timestamp_end > trace->end)
        trace->end = header.timestamp_end;
    return TRACE_GROWN;
}

void trace_cut_partial(struct trace *trace)
{
    for (unsigned i = 0; i < trace->stream_count; i++) {
        struct stream *stream = &trace->streams[i];
        uint64_t whole = stream->first_packet_bytes != 0
                             ? stream->size / stream->first_packet_bytes * stream->first_packet_bytes
                             : stream->size;
        struct trace_packet header;

        if (whole < stream->size && stream_header(trace, stream, whole, &header) == ANOMALY_TRUNCATED)
            stream->size = whole;
    }
}

unsigned trace_count_partial(const struct trace *trace)
{
    struct stat status;
    unsigned count = 0;

    for (unsigned i = 0; i < trace->stream_count; i++) {
        const struct stream *stream = &trace->streams[i];

        count += fstat(stream->fd, &status) == 0 && (uint64_t)status.st_size > stream->size &&
                 (uint64_t)status.st_size - stream->size < stream->first_packet_bytes;
    }
    return count;
}

enum trace_news trace_refresh(struct trace *trace, uint64_t *from)
{
    enum trace_news news = count_stream_files(trace) == trace->stream_count && !has_other_metadata(trace)
                               ? TRACE_SAME
                               : TRACE_CHANGED;

    *from = UINT64_MAX;
    for (unsigned i = 0; i < trace->stream_count && news != TRACE_CHANGED; i++) {
        enum trace_news one = refresh_stream(trace, &trace->streams[i], from);

        news = one > news ? one : news;
    }
    return news;
}
