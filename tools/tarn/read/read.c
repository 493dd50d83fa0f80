/*
 * read.c - opens the files of a trace directory, detects changes, and reads packets; see read.h.
 *
 * A file in the place of a stream that is none becomes a report, which judge.h gives on. Nothing here
 * blocks: files are opened with O_NONBLOCK, and only regular ones are read.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/out.h>
#include <tools/tarn/read/read.h>
#include <unistd.h>

#define STREAMS_MAX  4096u
#define ODDITIES_MAX 256u

static void add_oddity(struct trace *trace, enum anomaly anomaly, const char *file, uint64_t count)
{
    if (trace->report_count == ODDITIES_MAX)
        return;
    trace->reports =
        array_grow(trace->reports, trace->report_count, &trace->report_size, sizeof(trace->reports[0]));
    trace->reports[trace->report_count++] = (struct report){
        .anomaly = anomaly, .file = arena_string(&trace->schema.arena, file, strlen(file)), .count = count};
}

/* ---- the time that a stream covers ----------------------------------------------------------------- */

/* Returns when the packet ends. If the header claims a length of 2^32 ticks or more, computes it from the
 * events, since each is less than 2^32 ticks after the one before; a header that disagrees is damaged. */
static uint64_t find_end(const struct trace *trace, const struct stream *stream, uint64_t offset,
                         const struct trace_packet *header)
{
    struct packet_buffer buffer = {.bytes = NULL};
    uint64_t ticks = header->timestamp_begin;
    struct packet packet;
    if (header->timestamp_end - header->timestamp_begin < 1ull << 32)
        return header->timestamp_end;
    if (!anomaly_is_fatal(stream_packet(trace, stream, offset, &buffer, &packet)))
        for (uint64_t at = sizeof(*header); at < packet.content_bytes;) {
            struct event_head head = event_head(&trace->schema, packet.bytes + at);
            ticks += head.time - (uint32_t)ticks;
            at += head.words != 0 ? head.words * 8ull : packet.content_bytes;
        }
    free(buffer.bytes);
    return ticks < header->timestamp_end ? ticks : header->timestamp_end;
}

static void take_end(struct trace *trace, struct stream *stream, uint64_t offset)
{
    struct trace_packet header;
    enum anomaly anomaly = stream_header(trace, stream, offset, &header);
    uint64_t end;
    stream->last_packet = anomaly_is_fatal(anomaly) ? ~0ull : header.packet_seq_num;
    if (anomaly_is_fatal(anomaly) || anomaly == ANOMALY_PACKET_TIME)
        return;
    end = find_end(trace, stream, offset, &header);
    if (end != header.timestamp_end)
        add_oddity(trace, ANOMALY_END_TIME, stream->name, 0);
    trace->end = end > trace->end ? end : trace->end;
}

/* Reads the first and the last packet: CPU, packet size, the
 * time covered. Returns the anomaly of the first header. */
static enum anomaly survey_stream(struct trace *trace, struct stream *stream)
{
    struct trace_packet header;
    enum anomaly anomaly;
    stream->last_packet = stream->pulled_last = ~0ull;
    anomaly = stream_header(trace, stream, 0, &header);
    if (anomaly_is_fatal(anomaly))
        return anomaly;
    stream->begin = header.timestamp_begin;
    stream->first_packet_bytes = header.packet_size / 8;
    if (anomaly != ANOMALY_PACKET_TIME && header.timestamp_begin < trace->begin)
        trace->begin = header.timestamp_begin;
    take_end(trace, stream, 0);
    take_end(trace, stream, stream_seek(trace, stream, UINT64_MAX));
    return anomaly;
}

/* No stream begins with a packet of the metadata's schema: metadata and streams do not belong together. */
static bool refuse_schema(const struct trace *trace, struct fail *fail)
{
    struct trace_packet header;
    char theirs[37], ours[37];
    stream_header(trace, &trace->streams[0], 0, &header);
    format_uuid(header.uuid, theirs);
    format_uuid(trace->schema.uuid, ours);
    return fail_set(fail, "%s: its packets have schema %s, but the metadata has schema %s", trace->directory,
                    theirs, ours);
}

static int compare_streams(const void *left, const void *right)
{
    return strcmp(((const struct stream *)left)->name, ((const struct stream *)right)->name);
}

/* Whether a file is named after a CPU. */
static bool is_stream_name(const char *name, uint32_t *cpu)
{
    char again[16] = "";
    if (sscanf(name, "cpu%" SCNu32, cpu) == 1 && *cpu < STREAMS_MAX)
        snprintf(again, sizeof(again), "cpu%" PRIu32, *cpu);
    return strcmp(name, again) == 0;
}

static void close_stream(struct stream *stream)
{
    if (stream->fd >= 0)
        close(stream->fd);
    free(stream->path);
}

/* Takes a stream; another file is noted. False: FAIL. */
static bool take_entry(struct trace *trace, const char *name, struct fail *fail)
{
    const size_t length = strlen(trace->directory) + strlen(name) + 2;
    struct stream stream = {.path = alloc_zero(1, length), .fd = -1};
    struct stat status = {.st_mode = 0};
    bool ok = true;
    snprintf(stream.path, length, "%s/%s", trace->directory, name);
    stream.name = stream.path + strlen(trace->directory) + 1;
    /* a dangling or circular link has no mode */
    if (stat(stream.path, &status) == 0 && S_ISREG(status.st_mode) && is_stream_name(name, &stream.cpu)) {
        stream.fd = open(stream.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        ok = stream.fd >= 0 || fail_set(fail, "%s: %s", stream.path, strerror(errno));
        if (ok && fstat(stream.fd, &status) == 0 && S_ISREG(status.st_mode))
            stream.size = (uint64_t)status.st_size;
    }
    if (stream.size == 0) {
        if (ok && !S_ISDIR(status.st_mode))
            add_oddity(trace, stream.fd >= 0 && S_ISREG(status.st_mode) ? ANOMALY_EMPTY : ANOMALY_FILE, name,
                       0);
        close_stream(&stream);
        return ok;
    }
    trace->streams = alloc_more(trace->streams, trace->stream_count + 1, sizeof(stream));
    trace->streams[trace->stream_count++] = stream;
    return true;
}

/* Every file but the metadata and hidden files should be a stream. */
static bool open_streams(struct trace *trace, struct fail *fail)
{
    DIR *directory = opendir(trace->directory);
    struct dirent *entry;
    bool ok = true;
    if (directory == NULL)
        return fail_set(fail, "%s: %s", trace->directory, strerror(errno));
    while (ok && (entry = readdir(directory)) != NULL)
        ok = entry->d_name[0] == '.' || strcmp(entry->d_name, "metadata") == 0 ||
             take_entry(trace, entry->d_name, fail);
    closedir(directory);
    if (trace->stream_count > 0)
        qsort(trace->streams, trace->stream_count, sizeof(trace->streams[0]), compare_streams);
    for (unsigned i = 0; i < trace->stream_count; i++)
        trace->streams[i].rank = i;
    return ok;
}

unsigned trace_find_cpu(const struct trace *trace, uint64_t cpu)
{
    unsigned rank = 0;
    while (rank < trace->stream_count && trace->streams[rank].cpu != cpu)
        rank++;
    return rank;
}

/* Notes missing streams. The metadata has the number of CPUs, and each logs from its start. A pull that has
 * just begun has written none. If that number is wrong, nobody knows what is missing. */
static void look_for_missing(struct trace *trace, bool is_written)
{
    uint64_t count = schema_cpu_count(&trace->schema), missing = 0;
    char names[200] = "";
    size_t used = 0;
    for (uint64_t cpu = 0; cpu < count && cpu < STREAMS_MAX; cpu++) {
        if (trace_find_cpu(trace, cpu) < trace->stream_count)
            continue;
        missing++;
        if (used < sizeof(names))
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%scpu%u", used ? ", " : "",
                                     (unsigned)cpu);
    }
    if (missing != 0 && (trace->stream_count != 0 || !is_written))
        add_oddity(trace, ANOMALY_MISSING, names, missing);
    trace->missing_count = (uint32_t)missing;
    for (unsigned i = 0; i < trace->stream_count; i++) {
        if (trace->streams[i].cpu >= count) {
            add_oddity(trace, ANOMALY_CPU_COUNT, "metadata", 0);
            break;
        }
    }
}

/* The puller replaces the metadata when a program declares its own events. */
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

/* ---- the mark of a pull ---------------------------------------------------------------------------- */

enum mark { MARK_NONE, MARK_HELD, MARK_LEFT }; /* HELD: a pull writes the trace; LEFT: it ended early */

/* TEXT: its part about the link; NULL: not wanted. */
static enum mark read_mark(const char *directory, char text[TRACE_MARK_BYTES + 1])
{
    struct flock writer = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    char path[PATH_MAX];
    bool is_left;
    int fd;
    snprintf(path, sizeof(path), "%s/%s", directory, TRACE_UNFINISHED_NAME);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno != ENOENT ? MARK_LEFT : MARK_NONE;
    if (text != NULL && pread(fd, text, TRACE_MARK_BYTES, sizeof(TRACE_MARK_TEXT) - 1) < 0)
        text[0] = '\0';
    is_left = fcntl(fd, F_OFD_GETLK, &writer) != 0 || writer.l_type == F_UNLCK;
    close(fd);
    return is_left ? MARK_LEFT : MARK_HELD;
}

struct trace_link trace_find_link(const char *directory)
{
    struct trace_link link = {.state = TRACE_LINK_NONE};
    char text[TRACE_MARK_BYTES + 1] = "", state = TRACE_LINK_NONE;
    link.is_held = read_mark(directory, text) == MARK_HELD;
    if (sscanf(text, "link %c, heard at %lf", &state, &link.heard) == 2)
        link.state = state;
    return link;
}

bool trace_is_unfinished(const struct trace *trace)
{
    return read_mark(trace->directory, NULL) == MARK_LEFT;
}

/* Reads the pull's notes about each CPU from file NAME. */
static void read_record(struct trace *trace, const char *name)
{
    const bool is_end = strcmp(name, TRACE_END_NAME) == 0;
    char path[PATH_MAX];
    unsigned long long of, number, hash;
    FILE *file;
    int fd, got;
    snprintf(path, sizeof(path), "%s/%s", trace->directory, name);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return;
    file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (file != NULL && is_end && fscanf(file, TRACE_END_METADATA "%llx", &hash) == 1 &&
        hash != trace->schema.text_hash)
        add_oddity(trace, ANOMALY_METADATA, "metadata", 0);
    while (file != NULL && (got = fscanf(file, "%llu %llu", &of, &number)) == 2) {
        struct stream *stream = &trace->streams[trace_find_cpu(trace, of)];
        if (stream < trace->streams + trace->stream_count)
            *(is_end ? &stream->pulled_last : &stream->discarded_before) = number;
    }
    if (file == NULL || got != EOF || ferror(file))
        add_oddity(trace, ANOMALY_RECORD, name, 0);
    if (file != NULL)
        fclose(file);
}

/* Before a pull is finished, the sizes of files may be older than its notes. */
static void read_records(struct trace *trace, bool is_finished)
{
    read_record(trace, TRACE_BEFORE_NAME);
    if (is_finished)
        read_record(trace, TRACE_END_NAME);
    for (unsigned i = 0; i < trace->stream_count; i++) {
        const struct stream *stream = &trace->streams[i];
        if (stream_lacks_tail(stream))
            add_oddity(trace, ANOMALY_TAIL, stream->name, stream->pulled_last - stream->last_packet);
    }
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

static bool open_files(struct trace *trace, struct fail *fail)
{
    const enum mark mark = read_mark(trace->directory, NULL); /* before the sizes are read */
    const bool is_written = mark == MARK_HELD;
    unsigned strangers = 0;
    if (!schema_load(&trace->schema, trace->directory, fail) || !open_streams(trace, fail))
        return false;
    trace->ends_early = mark == MARK_LEFT;
    trace->begin = UINT64_MAX;
    for (unsigned i = 0; i < trace->stream_count; i++)
        strangers += survey_stream(trace, &trace->streams[i]) == ANOMALY_UUID;
    if (strangers > 0 && strangers == trace->stream_count)
        return refuse_schema(trace, fail);
    if (is_written) /* a packet may be half written at this moment */
        trace_cut_partial(trace);
    look_for_missing(trace, is_written);
    read_records(trace, mark == MARK_NONE);
    if (trace->begin > trace->end)
        trace->begin = trace->end;
    return true;
}

bool trace_open(struct trace *trace, const char *directory, struct fail *fail)
{
    memset(trace, 0, sizeof(*trace));
    trace->directory = strdup(directory);
    trace->index = alloc_zero(1, sizeof(*trace->index));
    for (size_t length = strlen(directory); length > 1 && trace->directory[length - 1] == '/'; length--)
        trace->directory[length - 1] = '\0';
    /* before reading it, so that a later change is noticed */
    look_at_metadata(directory, &trace->metadata_inode, &trace->metadata_bytes);
    if (open_files(trace, fail))
        return true;
    trace_close(trace);
    return false;
}

void trace_close(struct trace *trace)
{
    for (unsigned i = 0; i < trace->stream_count; i++)
        close_stream(&trace->streams[i]);
    free(trace->streams);
    free(trace->reports);
    free(trace->directory);
    if (trace->index != NULL && trace->index->index != NULL)
        trace->index->free(trace->index->index);
    free(trace->index);
    schema_free(&trace->schema);
    memset(trace, 0, sizeof(*trace));
}

/* ---- a trace that grows ---------------------------------------------------------------------------- */

static unsigned count_stream_files(const struct trace *trace)
{
    DIR *directory = opendir(trace->directory);
    struct dirent *entry;
    struct stat status;
    unsigned count = 0;
    uint32_t cpu;
    if (directory == NULL)
        return 0;
    while ((entry = readdir(directory)) != NULL)
        count += is_stream_name(entry->d_name, &cpu) &&
                 fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode) &&
                 status.st_size != 0;
    closedir(directory);
    return count;
}

/* Adds the whole packets after the known ones. The file
 * may end inside a packet that is still being written. */
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
    uint64_t inode = 0, bytes = 0;
    look_at_metadata(trace->directory, &inode, &bytes);
    enum trace_news news = count_stream_files(trace) == trace->stream_count &&
                                   inode == trace->metadata_inode && bytes == trace->metadata_bytes
                               ? TRACE_SAME
                               : TRACE_CHANGED;
    *from = UINT64_MAX;
    for (unsigned i = 0; i < trace->stream_count && news != TRACE_CHANGED; i++) {
        enum trace_news one = refresh_stream(trace, &trace->streams[i], from);
        news = one > news ? one : news;
    }
    return news;
}

/* ---- packets --------------------------------------------------------------------------------------- */

const struct anomaly_kind anomaly_kinds[ANOMALY_COUNT] = {
#define ANOMALY(id, name, meaning) {name, meaning, ANOMALY_##id >= ANOMALY_LOST_PACKETS},
#include <tools/tarn/read/anomalies.def>
#undef ANOMALY
};

/* LEFT: bytes in the file from the header on. */
static enum anomaly judge_header(const struct trace *trace, const struct stream *stream,
                                 const struct trace_packet *header, uint64_t left)
{
    if (header->magic != TRACE_CTF_MAGIC)
        return ANOMALY_MAGIC;
    if (memcmp(header->uuid, trace->schema.uuid, sizeof(header->uuid)) != 0)
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
    if (header->timestamp_end < header->timestamp_begin || header->timestamp_begin > trace->schema.century)
        return ANOMALY_PACKET_TIME;
    if (header->cpu_id != stream->cpu)
        return ANOMALY_CPU;
    if (!(header->flags & TRACE_PACKET_CUT) && header->committed != header->packet_size / 64)
        return ANOMALY_COMMITTED;
    if (header->content_size == sizeof(*header) * 8 && !(header->flags & TRACE_PACKET_CLOSING))
        return ANOMALY_CONTEXT;
    return ANOMALY_NONE;
}

enum anomaly stream_header(const struct trace *trace, const struct stream *stream, uint64_t offset,
                           struct trace_packet *header)
{
    memset(header, 0, sizeof(*header));
    if (offset > stream->size || stream->size - offset < sizeof(*header) ||
        !file_read_at(stream->fd, header, sizeof(*header), offset))
        return ANOMALY_TRUNCATED;
    if (trace->schema.swap)
        trace_swap(header, TRACE_PACKET_LAYOUT);
    return judge_header(trace, stream, header, stream->size - offset);
}

/* Reads a packet of the expected size together with its header. */
static bool read_expected(const struct trace *trace, const struct stream *stream, uint64_t offset,
                          struct packet_buffer *buffer, struct trace_packet *header)
{
    if (buffer->expected == 0 || offset > stream->size || stream->size - offset < buffer->expected ||
        !file_read_at(stream->fd, buffer->bytes, buffer->expected, offset))
        return false;
    memcpy(header, buffer->bytes, sizeof(*header));
    if (trace->schema.swap)
        trace_swap(header, TRACE_PACKET_LAYOUT);
    return true;
}

/* After damage, it checks the header first: thousands of places that only look like packets may be tried. */
enum anomaly stream_packet(const struct trace *trace, const struct stream *stream, uint64_t offset,
                           struct packet_buffer *buffer, struct packet *packet)
{
    bool is_read = read_expected(trace, stream, offset, buffer, &packet->header);
    enum anomaly anomaly = is_read ? judge_header(trace, stream, &packet->header, stream->size - offset)
                                   : stream_header(trace, stream, offset, &packet->header);
    packet->offset = offset;
    is_read &= packet->header.packet_size / 8 == buffer->expected;
    buffer->expected = 0;
    if (anomaly_is_fatal(anomaly))
        return anomaly;
    packet->packet_bytes = packet->header.packet_size / 8;
    packet->content_bytes = packet->header.content_size / 8;
    if (buffer->size < packet->packet_bytes) {
        buffer->bytes = alloc_more(buffer->bytes, packet->packet_bytes, 1);
        buffer->size = packet->packet_bytes;
    }
    packet->bytes = buffer->bytes;
    if (!is_read && !file_read_at(stream->fd, buffer->bytes, packet->packet_bytes, offset))
        return ANOMALY_TRUNCATED;
    buffer->expected = packet->packet_bytes;
    return anomaly;
}

uint64_t stream_resync(const struct trace *trace, const struct stream *stream, uint64_t from)
{
    uint8_t chunk[65536];
    uint32_t magic = trace->schema.swap ? __builtin_bswap32(TRACE_CTF_MAGIC) : TRACE_CTF_MAGIC;
    for (uint64_t at = from; at < stream->size && stream->size - at >= sizeof(struct trace_packet);) {
        uint64_t size = at == from ? 4096 : sizeof(chunk), i; /* the next packet is usually near */
        size = stream->size - at < size ? stream->size - at : size;
        if (!file_read_at(stream->fd, chunk, size, at))
            break;
        for (i = 0; i + 24 <= size; i += 8)
            if (memcmp(chunk + i, &magic, sizeof(magic)) == 0 &&
                memcmp(chunk + i + 8, trace->schema.uuid, 16) == 0)
                return at + i;
        at += i;
    }
    return stream->size;
}

/* Searches from header to header, for files with damage or with packets of different sizes. */
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
    struct trace_packet header;
    if (bytes == 0)
        return 0;
    high = stream->size / bytes;
    if (stream->size % bytes != 0 && !anomaly_is_fatal(stream_header(trace, stream, high * bytes, &header)))
        return seek_by_hops(trace, stream, time); /* the last packet is smaller */
    /* Invariant: packet `low` begins before `time` or is the first; packet `high` does not. */
    while (high - low > 1) {
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
