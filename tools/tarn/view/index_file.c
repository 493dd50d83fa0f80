/* SPDX-License-Identifier: BSD-2-Clause */
/* index_file.c - an index in a file; see index_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tools/tarn/output.h>
#include <tools/tarn/view/index_file.h>
#include <unistd.h>

/* FORMAT changes with the index; BUILD depends on
 * everything else that determines the meaning of the bytes. */
#define FORMAT 9u
#define BUILD                                                                                                \
    (sizeof(struct index_block) ^ sizeof(struct index_thread) << 8 ^ sizeof(struct index_process) << 16 ^    \
     sizeof(struct model_thread) << 24 ^ sizeof(struct model_frame) << 32 ^ sizeof(struct model_cpu) << 40 ^ \
     (size_t)INDEX_STRIDE << 48 ^ (size_t)INDEX_FANOUT << 56)

struct head {
    char magic[8];
    uint32_t order, format;
    uint64_t build, size, checksum; /* of what follows */
};

static const char magic[8] = "tarnidx";
#define ORDER 0x01020304u

/* Not secure against forgery: data is validated wherever it is used. */
static uint64_t checksum_of(const uint8_t *bytes, size_t size)
{
    uint64_t sum = 0x9e3779b97f4a7c15u, word;

    for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        sum = (sum ^ word) * 0xff51afd7ed558ccdu;
        sum ^= sum >> 32;
    }
    for (; size > 0; bytes++, size--)
        sum = (sum ^ *bytes) * 0xff51afd7ed558ccdu;
    return sum ^ sum >> 29;
}

/* ---- streams --------------------------------------------------------------------------------------- */

/* Identifies a stream, at the size that it had. */
struct stream_mark {
    uint64_t size, begin, last_begin, last_seq;
};

static struct stream_mark mark_of(const struct trace *trace, const struct stream *stream, uint64_t size)
{
    struct stream_mark mark = {.size = size, .begin = stream->begin};
    struct trace_packet header;
    uint64_t bytes = stream->first_packet_bytes;

    if (bytes != 0 && size >= bytes &&
        !anomaly_is_fatal(stream_header(trace, stream, size - bytes, &header))) {
        mark.last_begin = header.timestamp_begin;
        mark.last_seq = header.packet_seq_num;
    }
    return mark;
}

static void write_streams(const struct trace *trace, struct buffer *out)
{
    uint32_t numbers[] = {trace->stream_count, trace->schema.event_count};

    buffer_add(out, numbers, sizeof(numbers));
    buffer_add(out, trace->schema.tsdl.uuid, sizeof(trace->schema.tsdl.uuid));
    buffer_add(out, &trace->schema.clock_freq, sizeof(trace->schema.clock_freq));
    buffer_add(out, &trace->schema.clock_base_ns, sizeof(trace->schema.clock_base_ns));
    buffer_add(out, &trace->metadata_bytes, sizeof(trace->metadata_bytes));
    for (unsigned i = 0; i < trace->stream_count; i++) {
        const struct stream *stream = &trace->streams[i];
        struct stream_mark mark = mark_of(trace, stream, stream->size);
        uint32_t length = (uint32_t)strlen(stream->name);

        buffer_add(out, &mark, sizeof(mark));
        buffer_add(out, &length, sizeof(length));
        buffer_add(out, stream->name, length);
    }
}

static enum index_state compare_stream(const struct trace *trace, const struct stream *stream,
                                       const struct stream_mark *mark, uint64_t *from)
{
    struct stream_mark now = mark_of(trace, stream, mark->size);
    struct trace_packet header;

    if (mark->size > stream->size || memcmp(&now, mark, sizeof(now)) != 0)
        return INDEX_NONE;
    if (mark->size == stream->size)
        return INDEX_WHOLE;
    if (anomaly_is_fatal(stream_header(trace, stream, mark->size, &header)))
        return INDEX_NONE;
    *from = header.timestamp_begin < *from ? header.timestamp_begin : *from;
    return INDEX_SHORT;
}

static enum index_state compare_streams(const struct trace *trace, struct buffer_reader *reader,
                                        uint64_t *from)
{
    enum index_state state = INDEX_WHOLE;
    uint32_t numbers[2];
    uint8_t uuid[16];
    uint64_t freq, metadata_bytes;
    int64_t base;

    buffer_get(reader, numbers, sizeof(numbers));
    buffer_get(reader, uuid, sizeof(uuid));
    buffer_get(reader, &freq, sizeof(freq));
    buffer_get(reader, &base, sizeof(base));
    buffer_get(reader, &metadata_bytes, sizeof(metadata_bytes));
    if (reader->failed || numbers[0] != trace->stream_count || numbers[1] != trace->schema.event_count ||
        memcmp(uuid, trace->schema.tsdl.uuid, sizeof(uuid)) != 0 || freq != trace->schema.clock_freq ||
        base != trace->schema.clock_base_ns || metadata_bytes != trace->metadata_bytes)
        return INDEX_NONE;
    for (unsigned i = 0; i < trace->stream_count; i++) {
        const struct stream *stream = &trace->streams[i];
        struct stream_mark mark;
        uint32_t length;
        enum index_state one;

        buffer_get(reader, &mark, sizeof(mark));
        buffer_get(reader, &length, sizeof(length));
        if (reader->failed || length != strlen(stream->name) || length > reader->left ||
            memcmp(reader->at, stream->name, length) != 0)
            return INDEX_NONE;
        buffer_skip(reader, length);
        one = compare_stream(trace, stream, &mark, from);
        if (one == INDEX_NONE)
            return INDEX_NONE;
        state = one == INDEX_SHORT ? INDEX_SHORT : state;
    }
    return state;
}

/* ---- the index ------------------------------------------------------------------------------------- */

static void write_part(const struct buffer *part, struct buffer *out)
{
    uint64_t size = part->used;

    buffer_add(out, &size, sizeof(size));
    if (size != 0)
        buffer_add(out, part->bytes, size);
}

static bool read_part(struct buffer *part, struct buffer_reader *reader, size_t unit)
{
    uint64_t size;

    buffer_get(reader, &size, sizeof(size));
    if (reader->failed || size > reader->left || size % unit != 0)
        return false;
    if (size != 0)
        buffer_add(part, reader->at, size);
    buffer_skip(reader, size);
    return true;
}

static bool read_blob_array(struct blob_array *array, struct buffer_reader *reader)
{
    uint64_t before = 0, end;

    if (!read_part(&array->bytes, reader, 1) || !read_part(&array->ends, reader, sizeof(uint64_t)))
        return false;
    for (size_t i = 0; i < blob_array_count(array); i++, before = end) {
        memcpy(&end, array->ends.bytes + i * sizeof(end), sizeof(end));
        if (end < before || end > array->bytes.used)
            return false;
    }
    return before == array->bytes.used;
}

static bool is_bool(const bool *value)
{
    return *(const uint8_t *)value <= 1;
}

static bool check_records(const struct index *index, const struct trace *trace)
{
    if (index_thread_count(index) > NODE_THREADS_MAX || index_process_count(index) > MODEL_PROCESSES_MAX + 1)
        return false;
    for (uint32_t i = 0; i < index_thread_count(index); i++) {
        const struct index_thread *thread = index_thread(index, i);

        if (thread->cpu >= trace->stream_count || !is_bool(&thread->is_idle) ||
            !is_bool(&thread->was_created) || memchr(thread->name, 0, sizeof(thread->name)) == NULL)
            return false;
    }
    for (size_t i = 0; i < index_process_count(index); i++) {
        const struct index_process *process = index_process(index, i);

        if (!is_bool(&process->was_created) || memchr(process->name, 0, sizeof(process->name)) == NULL)
            return false;
    }
    for (size_t i = 0; i < index_block_count(index); i++)
        if (index_begin(index, i) > index_begin(index, i + 1) ||
            index_first(index, i) > index_first(index, i + 1))
            return false;
    return is_bool(&index->losses.before) &&
           blob_array_count(&index->levels[0]) == index_block_count(index) &&
           blob_array_count(&index->checkpoints) <= index_block_count(index) / INDEX_STRIDE &&
           blob_array_count(&index->knowledge) == blob_array_count(&index->checkpoints);
}

static bool read_index(struct index *index, const struct trace *trace, struct buffer_reader *reader)
{
    uint64_t numbers[4];
    bool fine;

    buffer_get(reader, numbers, sizeof(numbers));
    buffer_get(reader, &index->losses, sizeof(index->losses));
    index->events = numbers[0];
    index->begin = numbers[1];
    index->end = numbers[2];
    index->has_beginning = numbers[3] != 0;
    fine = !reader->failed && read_part(&index->blocks, reader, sizeof(struct index_block)) &&
           read_part(&index->threads, reader, sizeof(struct index_thread)) &&
           read_part(&index->processes, reader, sizeof(struct index_process)) &&
           read_part(&index->irqs, reader, sizeof(struct model_irq)) &&
           read_part(&index->lock_classes, reader, sizeof(struct model_lock_class)) &&
           read_blob_array(&index->checkpoints, reader) && read_blob_array(&index->knowledge, reader) &&
           read_part(&index->beginning, reader, 1);
    for (unsigned level = 0; fine && level < INDEX_LEVELS; level++)
        fine = read_blob_array(&index->levels[level], reader);
    return fine && index->begin == trace->begin && index->begin <= index->end && check_records(index, trace);
}

void index_write(const struct index *index, const struct trace *trace, struct buffer *out)
{
    struct head head = {.order = ORDER, .format = FORMAT, .build = BUILD};
    uint64_t numbers[4] = {index->events, index->begin, index->end, index->has_beginning};
    size_t at = out->used;

    memcpy(head.magic, magic, sizeof(magic));
    buffer_add(out, &head, sizeof(head));
    write_streams(trace, out);
    buffer_add(out, numbers, sizeof(numbers));
    buffer_add(out, &index->losses, sizeof(index->losses));
    write_part(&index->blocks, out);
    write_part(&index->threads, out);
    write_part(&index->processes, out);
    write_part(&index->irqs, out);
    write_part(&index->lock_classes, out);
    write_part(&index->checkpoints.bytes, out);
    write_part(&index->checkpoints.ends, out);
    write_part(&index->knowledge.bytes, out);
    write_part(&index->knowledge.ends, out);
    write_part(&index->beginning, out);
    for (unsigned level = 0; level < INDEX_LEVELS; level++) {
        write_part(&index->levels[level].bytes, out);
        write_part(&index->levels[level].ends, out);
    }
    head.size = out->used - at - sizeof(head);
    head.checksum = checksum_of(out->bytes + at + sizeof(head), head.size);
    memcpy(out->bytes + at, &head, sizeof(head));
}

enum index_state index_read(struct index *index, const struct trace *trace, const uint8_t *bytes, size_t size,
                            uint64_t *from)
{
    struct buffer_reader reader = {.at = bytes, .left = size};
    struct head head;
    enum index_state state;

    *from = UINT64_MAX;
    buffer_get(&reader, &head, sizeof(head));
    if (reader.failed || memcmp(head.magic, magic, sizeof(magic)) != 0 || head.order != ORDER ||
        head.format != FORMAT || head.build != BUILD || head.size != reader.left ||
        head.checksum != checksum_of(reader.at, reader.left))
        return INDEX_NONE;
    state = compare_streams(trace, &reader, from);
    if (state != INDEX_NONE && !read_index(index, trace, &reader)) {
        index_free(index);
        state = INDEX_NONE;
    }
    return state;
}

void index_forge(uint8_t *bytes, size_t size)
{
    struct head head;

    memcpy(&head, bytes, sizeof(head));
    head.checksum = checksum_of(bytes + sizeof(head), size - sizeof(head));
    memcpy(bytes, &head, sizeof(head));
}

/* ---- the file -------------------------------------------------------------------------------------- */

static void path_beside(const struct trace *trace, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", trace->directory, INDEX_FILE_NAME);
}

/* Makes directories if MAKE. False: there is no place for it. */
static bool path_in_cache(const struct trace *trace, bool make, char path[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char real[PATH_MAX];
    int length;

    if (realpath(trace->directory, real) == NULL)
        return false;
    if (cache != NULL && *cache == '/')
        length = snprintf(path, PATH_MAX, "%s", cache);
    else if (home != NULL && *home == '/')
        length = snprintf(path, PATH_MAX, "%s/.cache", home);
    else
        return false;
    if (length < 0 || length > PATH_MAX - 64)
        return false;
    if (make)
        mkdir(path, 0700);
    length += snprintf(path + length, (size_t)(PATH_MAX - length), "/tarn");
    if (make)
        mkdir(path, 0700);
    snprintf(path + length, (size_t)(PATH_MAX - length), "/%016llx%s",
             (unsigned long long)checksum_of((const uint8_t *)real, strlen(real)), INDEX_FILE_NAME);
    return true;
}

static bool write_file(const char *path, const struct buffer *bytes)
{
    char other[PATH_MAX + 16];
    bool fine;
    int fd;

    snprintf(other, sizeof(other), "%s.%ld", path, (long)getpid());
    fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    fine = output_write(fd, bytes->bytes, bytes->used);
    fine = close(fd) == 0 && fine && rename(other, path) == 0;
    if (!fine)
        unlink(other);
    return fine;
}

static bool read_file(const char *path, const struct trace *trace, struct buffer *bytes)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    uint64_t most = 64u << 20;
    struct stat status;
    bool fine;

    for (unsigned i = 0; i < trace->stream_count; i++)
        most += trace->streams[i].size;
    fine = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (uint64_t)status.st_size <= most;
    if (fine) {
        bytes->size = (size_t)status.st_size;
        bytes->bytes = alloc_zero(bytes->size, 1);
        for (ssize_t got = 1; got > 0 && bytes->used < bytes->size;
             bytes->used += (size_t)(got > 0 ? got : 0))
            got = read(fd, bytes->bytes + bytes->used, bytes->size - bytes->used);
        fine = bytes->used == bytes->size;
    }
    if (fd >= 0)
        close(fd);
    return fine;
}

enum index_state index_load(struct index *index, const struct trace *trace, uint64_t *from)
{
    enum index_state state = INDEX_NONE;
    char paths[2][PATH_MAX];
    unsigned count = 1;

    path_beside(trace, paths[0]);
    count += path_in_cache(trace, false, paths[1]);
    for (unsigned i = 0; i < count && state == INDEX_NONE; i++) {
        struct buffer bytes = {0};

        if (read_file(paths[i], trace, &bytes))
            state = index_read(index, trace, bytes.bytes, bytes.used, from);
        free(bytes.bytes);
    }
    return state;
}

bool index_save(const struct index *index, const struct trace *trace, struct fail *fail)
{
    struct buffer bytes = {0};
    char path[PATH_MAX];
    bool fine;

    index_write(index, trace, &bytes);
    path_beside(trace, path);
    fine = write_file(path, &bytes) || (path_in_cache(trace, true, path) && write_file(path, &bytes)) ||
           fail_set(fail, "cannot save the index: %s", strerror(errno));
    free(bytes.bytes);
    return fine;
}
