/* pull_writer.c - validates pulled packets and appends them to a trace directory; see pull_writer.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <tools/tarn/map.h>
#include <tools/tarn/out.h>
#include <tools/tarn/read/decode.h>
#include <tools/tarn/read/read.h>
#include <tools/tarn/source/pull_writer.h>
#include <trace/format/layout.h>
#include <unistd.h>

#define PACKET_BYTES sizeof(struct trace_packet)

/* ---- the directory --------------------------------------------------------------------------------- */

static bool is_numbered(const char *name, const char *stem)
{
    const size_t length = strlen(stem), digits = strspn(name + strnlen(name, length), "0123456789");
    return strncmp(name, stem, length) == 0 && digits > 0 && name[length + digits] == '\0';
}

static bool is_trace_file(const char *name)
{
    return strcmp(name, "metadata") == 0 || strcmp(name, ".metadata.new") == 0 ||
           strcmp(name, TRACE_UNFINISHED_NAME) == 0 || strcmp(name, TRACE_RECIPE_NAME) == 0 ||
           strcmp(name, TRACE_SAVED_NAME) == 0 || strcmp(name, TRACE_BEFORE_NAME) == 0 ||
           strcmp(name, TRACE_END_NAME) == 0 || is_numbered(name, "cpu") ||
           is_numbered(name, TRACE_NEW_STREAM_NAME);
}

static int is_listed(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Deletes an old trace. If the directory has other files, deletes nothing and returns false. */
static bool clear_directory(int directory_fd, const char *name, bool force, struct fail *fail)
{
    struct dirent **entries = NULL;
    const int count = scandirat(directory_fd, ".", &entries, is_listed, NULL);
    bool ok = count >= 0 || fail_set(fail, "cannot list %s: %s", name, strerror(errno));
    if (count > 0 && !force)
        ok = fail_set(fail, "%s is not empty; --force replaces the trace in it", name);
    for (int i = 0; i < count; i++)
        if (!is_trace_file(entries[i]->d_name))
            ok = fail_set(fail, "%s contains files that do not belong to a trace", name);
    for (int i = 0; i < count; i++) {
        if (ok && unlinkat(directory_fd, entries[i]->d_name, 0) != 0)
            ok = fail_set(fail, "cannot remove %s/%s: %s", name, entries[i]->d_name, strerror(errno));
        free(entries[i]);
    }
    free(entries);
    return ok;
}

bool open_trace_writer(struct trace_writer *writer, const char *directory, bool force,
                       const struct wire_hello *hello, struct fail *fail)
{
    *writer = (struct trace_writer){.hello = *hello, .directory_fd = -1, .unfinished_fd = -1};
    for (uint32_t cpu = 0; cpu < WIRE_CPUS_MAX; cpu++)
        writer->cpu[cpu] = (struct stream_writer){.fd = -1};
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return fail_set(fail, "cannot make %s: %s", directory, strerror(errno));
    writer->directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (writer->directory_fd < 0)
        return fail_set(fail, "cannot open %s: %s", directory, strerror(errno));
    writer->directory = strdup(directory);
    writer->zeros = alloc_zero(1, TRACE_BUFFER_BYTES_MAX);
    if (clear_directory(writer->directory_fd, directory, force, fail))
        return true;
    close_trace_writer(writer);
    return false;
}

void close_trace_writer(struct trace_writer *writer)
{
    for (uint32_t cpu = 0; cpu < WIRE_CPUS_MAX; cpu++)
        if (writer->cpu[cpu].fd >= 0)
            close(writer->cpu[cpu].fd);
    if (writer->unfinished_fd >= 0)
        close(writer->unfinished_fd);
    if (writer->directory_fd >= 0)
        close(writer->directory_fd);
    free(writer->directory);
    for (uint32_t cpu = 0; cpu < WIRE_CPUS_MAX; cpu++)
        free(writer->cpu[cpu].places);
    free(writer->zeros);
    if (writer->have_metadata)
        schema_free(&writer->schema);
    *writer = (struct trace_writer){.directory_fd = -1, .unfinished_fd = -1};
}

bool check_trace_writer(const struct trace_writer *writer, struct fail *fail)
{
    char path[4096];
    struct stat status;
    if (!output_is_there(writer->directory_fd, writer->directory))
        return fail_set(fail, "%s was removed or renamed while the pull ran: %s", writer->directory,
                        strerror(errno));
    if (writer->have_metadata && faccessat(writer->directory_fd, "metadata", F_OK, 0) != 0)
        return fail_set(fail, "%s/metadata was removed while the pull ran", writer->directory);
    for (uint32_t cpu = 0; cpu < WIRE_CPUS_MAX; cpu++) {
        const struct stream_writer *stream = &writer->cpu[cpu];
        if (stream->fd < 0)
            continue;
        snprintf(path, sizeof(path), "%s/cpu%u", writer->directory, cpu);
        if (!output_is_there(stream->fd, path))
            return fail_set(fail, "%s was removed or replaced while the pull ran: %s", path, strerror(errno));
        if (fstat(stream->fd, &status) != 0 || (uint64_t)status.st_size != stream->bytes)
            return fail_set(fail, "%s was changed while the pull ran", path);
    }
    return true;
}

/* ---- the mark of an unfinished trace --------------------------------------------------------------- */

/* The mark is written before anything else, so that a trace never exists without it. The lock shows that the
 * pull still runs; on file systems without locks, a running pull looks like one that ended early. */
static bool mark_unfinished(struct trace_writer *writer, struct fail *fail)
{
    static const char text[] = TRACE_MARK_TEXT;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (writer->unfinished_fd >= 0)
        return true;
    writer->unfinished_fd =
        openat(writer->directory_fd, TRACE_UNFINISHED_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (writer->unfinished_fd < 0 || !output_write(writer->unfinished_fd, text, sizeof(text) - 1))
        return fail_set(fail, "cannot write %s/%s: %s", writer->directory, TRACE_UNFINISHED_NAME,
                        strerror(errno));
    fcntl(writer->unfinished_fd, F_OFD_SETLK, &lock);
    return true;
}

void note_link(const struct trace_writer *writer, int state, double heard)
{
    char text[TRACE_MARK_BYTES + 1];
    int length = snprintf(text, sizeof(text), TRACE_MARK_FORMAT, state, heard);
    if (writer->unfinished_fd >= 0 && length == TRACE_MARK_BYTES &&
        pwrite(writer->unfinished_fd, text, TRACE_MARK_BYTES, sizeof(TRACE_MARK_TEXT) - 1) < 0)
        return; /* a full disk is noticed by the next packet */
}

/* NAME: TRACE_BEFORE_NAME or TRACE_END_NAME. */
static bool write_record(const struct trace_writer *writer, const char *name, struct fail *fail)
{
    const bool is_end = strcmp(name, TRACE_END_NAME) == 0;
    const int fd = openat(writer->directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool is_written = fd >= 0 && (!is_end || dprintf(fd, TRACE_END_METADATA "%016llx\n",
                                                     (unsigned long long)writer->metadata_hash) > 0);
    for (uint32_t i = 0; i < writer->hello.cpu_count && is_written; i++) {
        const struct stream_writer *cpu = &writer->cpu[i];
        if (cpu->started)
            is_written = dprintf(fd, "%u %llu\n", i,
                                 (unsigned long long)(is_end ? cpu->next - 1 : cpu->discarded_first)) > 0;
    }
    if (!is_written)
        fail_set(fail, "cannot write %s/%s: %s", writer->directory, name, strerror(errno));
    if (fd >= 0)
        close(fd);
    return is_written;
}

bool finish_trace_writer(struct trace_writer *writer, struct fail *fail)
{
    if (!write_record(writer, TRACE_END_NAME, fail))
        return false;
    if (writer->unfinished_fd < 0 || unlinkat(writer->directory_fd, TRACE_UNFINISHED_NAME, 0) == 0 ||
        errno == ENOENT)
        return true;
    return fail_set(fail, "cannot remove %s/%s: %s", writer->directory, TRACE_UNFINISHED_NAME,
                    strerror(errno));
}

bool write_metadata(struct trace_writer *writer, const uint8_t *text, size_t size, struct fail *fail)
{
    struct schema schema;
    if (!check_metadata(&writer->hello, text, size, fail))
        return false;
    if (!schema_build(&schema, (const char *)text, size, fail) || !mark_unfinished(writer, fail)) {
        schema_free(&schema);
        return false;
    }
    if (!output_write_file(writer->directory_fd, ".metadata.new", text, size) ||
        renameat(writer->directory_fd, ".metadata.new", writer->directory_fd, "metadata") != 0) {
        int error = errno;
        unlinkat(writer->directory_fd, ".metadata.new", 0);
        schema_free(&schema);
        return fail_set(fail, "cannot write %s/metadata: %s", writer->directory, strerror(error));
    }
    if (writer->have_metadata)
        schema_free(&writer->schema);
    writer->schema = schema;
    writer->have_metadata = true;
    writer->metadata_hash = hash_bytes(HASH_SEED, (const char *)text, size);
    return true;
}

/* ---- packets --------------------------------------------------------------------------------------- */

/* Checks everything that readers rely on. */
static bool check_packet(const struct trace_writer *writer, const struct source_item *item,
                         struct trace_packet *header, struct fail *fail)
{
    const struct wire_hello *hello = &writer->hello;
    const struct wire_packet *place = &item->packet;
    if (place->cpu >= hello->cpu_count)
        return fail_set(fail, "a packet of CPU %u, but there are %u CPUs", place->cpu, hello->cpu_count);
    if (item->size < PACKET_BYTES || item->size > TRACE_BUFFER_BYTES_MAX)
        return fail_set(fail, "a packet of %zu bytes", item->size);
    memcpy(header, item->bytes, PACKET_BYTES);
    if (!hello_is_native(hello))
        trace_swap(header, TRACE_PACKET_LAYOUT);
    uint64_t content = header->content_size, size = header->packet_size;
    uint64_t number = header->packet_seq_num, begin = header->timestamp_begin;
    const struct stream_writer *stream = &writer->cpu[place->cpu];

    if (header->magic != TRACE_CTF_MAGIC || header->stream_id != TRACE_STREAM_ID)
        return fail_set(fail, "a packet without the magic number");
    if (memcmp(header->uuid, hello->uuid, 16) != 0)
        return fail_set(fail, "a packet with another schema's UUID");
    /* the sizes of buffers may change during the pull */
    if (size < PACKET_BYTES * 8 || size > TRACE_BUFFER_BYTES_MAX * 8ull || size & (size - 1) ||
        item->size > size / 8 || content % 64 != 0 || content < PACKET_BYTES * 8 || content > size ||
        content / 8 > item->size)
        return fail_set(fail, "a packet with content %llu of %llu bits", (unsigned long long)content,
                        (unsigned long long)size);
    if (header->cpu_id != place->cpu || number != place->sequence)
        return fail_set(
            fail, "misplaced packet: its header says CPU %u, number %llu; it was sent as %u, %llu",
            header->cpu_id, (unsigned long long)number, place->cpu, (unsigned long long)place->sequence);
    if (stream->started && number < stream->next)
        return fail_set(fail, "packet %llu of CPU %u arrived twice or out of order",
                        (unsigned long long)number, place->cpu);
    if (begin > header->timestamp_end || (stream->started && begin < stream->begin))
        return fail_set(fail, "packet %llu of CPU %u goes back in time", (unsigned long long)number,
                        place->cpu);
    return true;
}

/*
 * Any program can write into the system's buffers, and so log an event with an undeclared id, a length that
 * does not fit its fields, or a time outside its packet. No reader gets past such an event, so the packet is
 * ended before it.
 */
static const uint32_t end_id = TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END);

struct walk {
    const uint8_t *at;     /* behind the last good event */
    uint64_t time, events; /* of that event; events up to it, including the end event */
    uint64_t step;         /* between the times of the last two events */
    size_t bytes;          /* of the last event */
    enum anomaly anomaly;  /* of the first bad event; NONE: all of it decodes */
};

/* Walks to the first event that does not decode, or to the end of the content. It runs for every pulled
 * event, so its state is in registers. */
static struct walk walk_events(const struct schema *schema, const uint8_t *end, uint64_t latest,
                               struct walk walk)
{
    enum anomaly anomaly = ANOMALY_NONE;
    struct event event;
    while (walk.at < end) {
        struct event_head head = event_head(schema, walk.at);
        const struct event_type *type = schema_event(schema, head.id);
        uint64_t step = head.time - (uint32_t)walk.time;
        size_t left = (size_t)(end - walk.at);
        if (!event_is_simple(type, head.words, left) &&
            (anomaly = event_decode(schema, walk.at, left, &event)) != ANOMALY_NONE)
            break;
        if (__builtin_expect(step > latest - walk.time, 0)) {
            anomaly = ANOMALY_EVENT_TIME;
            break;
        }
        walk.step = step;
        walk.time += step;
        walk.bytes = head.words * 8ul;
        walk.at += walk.bytes;
        walk.events++;
    }
    walk.anomaly = anomaly;
    return walk;
}

/* Walks the events of PACKET, whose HEADER is valid. */
static struct walk packet_walk(const struct schema *schema, const struct trace_packet *header,
                               const uint8_t *packet)
{
    struct walk walk =
        walk_events(schema, packet + header->content_size / 8, header->timestamp_end,
                    (struct walk){.at = packet + PACKET_BYTES, .time = header->timestamp_begin});
    /* Without an end event behind it, a string may end before its last word, and readers try to read one
     * more event from the rest. */
    if (walk.anomaly == ANOMALY_NONE && walk.events > 0 &&
        event_head(schema, walk.at - walk.bytes).id != end_id) {
        walk.anomaly = ANOMALY_END;
        walk.at -= walk.bytes;
        walk.time -= walk.step;
        walk.events--;
    }
    return walk;
}

/* ---- writing packets ------------------------------------------------------------------------------- */

struct outgoing {
    struct trace_packet header; /* from the guest, modified if the packet was cut; in host byte order */
    const uint8_t *body;        /* after the header */
    size_t body_bytes;
    uint64_t tail[2]; /* after the body, if the packet was cut here: the end event, a filler's header */
    size_t tail_bytes;
    uint64_t events;
    bool is_cut_here;
};

/* Returns the guest's count, plus events cut off earlier packets, less those before the first packet. */
static uint64_t count_for_readers(const struct trace_writer *writer, const struct stream_writer *stream,
                                  const struct trace_packet *header)
{
    const uint64_t count = header->events_discarded + stream->cut_off;
    return count > stream->discarded_base ? count - stream->discarded_base : 0;
}

/* Writes the whole packet with one system call; the part that was not sent is zeros. */
static bool append_packet(struct trace_writer *writer, uint32_t cpu, const struct outgoing *packet,
                          struct fail *fail)
{
    struct stream_writer *stream = &writer->cpu[cpu];
    size_t size = packet->header.packet_size / 8;
    size_t rest = size - PACKET_BYTES - packet->body_bytes - packet->tail_bytes;
    off_t place = (off_t)stream->bytes;
    struct trace_packet header = packet->header;
    struct iovec pieces[4] = {
        {&header, PACKET_BYTES},
        {(void *)packet->body, packet->body_bytes},
        {(void *)packet->tail, packet->tail_bytes},
        {writer->zeros, rest},
    };
    header.events_discarded = count_for_readers(writer, stream, &packet->header);
    if (!hello_is_native(&writer->hello))
        trace_swap(&header, TRACE_PACKET_LAYOUT);
    if (stream->fd < 0) {
        char name[16];
        snprintf(name, sizeof(name), "cpu%u", cpu);
        stream->fd = openat(writer->directory_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (stream->fd < 0)
            return fail_set(fail, "cannot make %s/%s: %s", writer->directory, name, strerror(errno));
    }
    ssize_t wrote = pwritev(stream->fd, pieces, 4, place);
    if (wrote == (ssize_t)size)
        return true;
    int error = wrote < 0 ? errno : ENOSPC;
    if (ftruncate(stream->fd, place) != 0)
        return fail_set(fail, "cannot write to %s, and its last packet is partial: %s", writer->directory,
                        strerror(error));
    return fail_set(fail, "cannot write to %s: %s", writer->directory, strerror(error));
}

/* Counts the events cut off the last packet, which the one with this header tells. If packets are missing in
 * between, readers find them among those packets' events. If nothing tells, at least the event is lost at
 * which the packet was cut here. */
static void settle_cut(struct trace_writer *writer, struct stream_writer *stream,
                       const struct trace_packet *header)
{
    const uint64_t before = header->events_before;
    const bool is_known = before != TRACE_EVENTS_UNKNOWN && before >= stream->events &&
                          before - stream->events <= TRACE_BUFFER_BYTES_MAX / 8;
    uint64_t lost = stream->is_cut_here;
    if (!stream->is_cut)
        return;
    if (is_known)
        lost = header->packet_seq_num == stream->next ? before - stream->events : 0;
    else
        writer->cut_off_is_least = true;
    stream->cut_off += lost;
    writer->cut_off += lost;
    stream->is_cut = false;
}

/* False: writing is impossible. */
static bool add_packet(struct trace_writer *writer, uint32_t cpu, const struct outgoing *packet,
                       struct fail *fail)
{
    const struct trace_packet *header = &packet->header;
    struct stream_writer *stream = &writer->cpu[cpu];
    uint64_t discarded = header->events_discarded;
    uint64_t number = header->packet_seq_num;
    if (!stream->started)
        stream->discarded_first = stream->discarded_base = discarded;
    settle_cut(writer, stream, header);
    if (!append_packet(writer, cpu, packet, fail))
        return false;
    if (stream->started)
        writer->missing += number - stream->next;
    stream->started = true;
    stream->places =
        array_grow(stream->places, stream->packets, &stream->place_capacity, sizeof(stream->places[0]));
    stream->places[stream->packets++] = (struct packet_place){stream->bytes, header->timestamp_begin,
                                                              count_for_readers(writer, stream, header)};
    stream->bytes += header->packet_size / 8;
    stream->next = number + 1;
    stream->begin = header->timestamp_begin;
    stream->end = header->timestamp_end;
    stream->discarded_last = discarded;
    stream->events = header->events_before + packet->events - (packet->events > 0);
    stream->is_cut = (header->flags & TRACE_PACKET_CUT) != 0;
    stream->is_closed = (header->flags & TRACE_PACKET_CLOSING) != 0;
    stream->is_cut_here = packet->is_cut_here;
    writer->packets++;
    writer->events += packet->events;
    writer->bytes += header->content_size / 8;
    writer->cut += stream->is_cut;
    return true;
}

/* Ends the content behind the body, at the time of timestamp_end. */
static void end_content(const struct trace_writer *writer, struct outgoing *packet)
{
    struct trace_packet *header = &packet->header;
    const size_t content = PACKET_BYTES + packet->body_bytes + 8, rest = header->packet_size / 8 - content;
    const bool is_little = writer->hello.byte_order == 1;
    header->content_size = content * 8;
    packet->tail[0] = writer_64(writer, trace_end_word(is_little, header->timestamp_end));
    if (rest != 0)
        packet->tail[1] = writer_64(writer, trace_filler_word(is_little, rest / 8, header->timestamp_end));
    packet->tail_bytes = rest != 0 ? 16 : 8;
    packet->events++;
}

/* False: no event is before the bad one. */
static bool cut_packet(struct trace_writer *writer, const struct source_item *item, struct outgoing *packet,
                       const struct walk *found, struct fail *fail)
{
    struct trace_packet *header = &packet->header;
    const unsigned long long number = item->packet.sequence;
    const uint32_t cpu = item->packet.cpu, id = event_head(&writer->schema, found->at).id;
    if (found->events == 0)
        return fail_set(fail, "packet %llu of CPU %u does not begin with an event", number, cpu);
    header->timestamp_end = found->time;
    header->flags |= TRACE_PACKET_CUT;
    packet->body_bytes = (size_t)(found->at - packet->body);
    end_content(writer, packet);
    packet->is_cut_here = true;
    writer->undecoded++;
    fail_set(fail, "packet %llu of CPU %u is cut at the event of class %u, minor %u: %s", number, cpu,
             TRACE_ID_CLASS(id), TRACE_ID_MINOR(id), anomaly_kinds[found->anomaly].meaning);
    return true;
}

bool write_packet(struct trace_writer *writer, const struct source_item *item, struct fail *fail)
{
    struct outgoing packet = {.body = item->bytes + PACKET_BYTES, .body_bytes = item->size - PACKET_BYTES};
    bool is_good = writer->have_metadata ? check_packet(writer, item, &packet.header, fail)
                                         : fail_set(fail, "a packet arrived before the metadata");
    if (is_good) {
        const struct walk found = packet_walk(&writer->schema, &packet.header, item->bytes);
        packet.events = found.events;
        is_good = found.anomaly == ANOMALY_NONE || cut_packet(writer, item, &packet, &found, fail);
    }
    if (is_good)
        return add_packet(writer, item->packet.cpu, &packet, fail);
    writer->refused++;
    return true;
}

/* Makes an empty packet that reports the loss. COUNTS: at packet `head`, which it stands for. */
static void make_closing(const struct trace_writer *writer, struct trace_packet *packet, uint32_t cpu,
                         const struct wire_cpu_status *counts, uint64_t time)
{
    *packet = (struct trace_packet){
        .magic = TRACE_CTF_MAGIC,
        .stream_id = TRACE_STREAM_ID,
        .timestamp_begin = time,
        .timestamp_end = time,
        .content_size = PACKET_BYTES * 8,
        .packet_size = writer->hello.buffer_bytes * 8,
        .events_discarded = counts->discarded,
        .packet_seq_num = counts->head,
        .committed = writer->hello.buffer_bytes / 8,
        .events_before = counts->events,
        .cpu_id = cpu,
        .flags = TRACE_PACKET_CLOSING,
    };
    memcpy(packet->uuid, writer->hello.uuid, sizeof(packet->uuid));
}

static bool close_stream(struct trace_writer *writer, uint32_t cpu, struct wire_cpu_status counts,
                         uint64_t time, struct fail *fail)
{
    const struct stream_writer *stream = &writer->cpu[cpu];
    struct outgoing closing = {0};
    if (!stream->started && counts.lost == 0)
        return true;
    if (!stream->started) /* a snapshot: all its packets were overwritten first */
        writer->missing += counts.lost;
    if (counts.head < stream->next) {
        counts.head = stream->next;
        counts.events = TRACE_EVENTS_UNKNOWN;
    }
    if (counts.discarded < stream->discarded_last)
        counts.discarded = stream->discarded_last;
    if (counts.head == stream->next && counts.discarded == stream->discarded_last && !stream->is_cut)
        return true;
    make_closing(writer, &closing.header, cpu, &counts, time > stream->end ? time : stream->end);
    return add_packet(writer, cpu, &closing, fail);
}

/* Writes the last counts of a CPU; if the guest did not report it, only the events cut off here. */
bool write_closing(struct trace_writer *writer, const struct wire_status *status,
                   const struct wire_cpu_status *cpu, bool is_whole, struct fail *fail)
{
    uint64_t time = status->time;
    /* a loss at the end of a stream lasts until the latest known time; if the counts are not final, after
     * the guest's report all is unknown */
    for (uint32_t i = 0; i < writer->hello.cpu_count && is_whole; i++)
        time = later(time, writer->cpu[i].end);
    if (count_discarded(writer, true) != 0 && !write_record(writer, TRACE_BEFORE_NAME, fail))
        return false;
    for (uint32_t i = 0; i < writer->hello.cpu_count; i++) {
        struct wire_cpu_status counts = {.events = TRACE_EVENTS_UNKNOWN};
        if (i < status->count && is_whole)
            counts = cpu[i];
        else if (i < status->count)
            counts = (struct wire_cpu_status){
                .head = cpu[i].head + 1, .discarded = cpu[i].discarded, .events = TRACE_EVENTS_UNKNOWN};
        if (!close_stream(writer, i, counts, time, fail))
            return false;
    }
    return true;
}

bool write_rows_packet(struct trace_writer *writer, uint32_t cpu, const struct buffer *events, uint64_t count,
                       struct fail *fail)
{
    const struct stream_writer *stream = &writer->cpu[cpu];
    const struct wire_cpu_status counts = {
        .head = stream->next, .discarded = stream->discarded_last, .events = TRACE_EVENTS_UNKNOWN};
    struct outgoing packet = {.body = events->bytes, .body_bytes = events->used, .events = count};
    make_closing(writer, &packet.header, cpu, &counts, stream->end);
    packet.header.flags = TRACE_PACKET_ROWS | (stream->is_closed ? TRACE_PACKET_CLOSING : 0);
    end_content(writer, &packet);
    return add_packet(writer, cpu, &packet, fail);
}

uint64_t count_discarded(const struct trace_writer *writer, bool is_before)
{
    uint64_t discarded = 0;
    for (uint32_t cpu = 0; cpu < writer->hello.cpu_count; cpu++) {
        const struct stream_writer *stream = &writer->cpu[cpu];
        discarded += is_before ? stream->discarded_first : stream->discarded_last - stream->discarded_first;
    }
    return discarded;
}
