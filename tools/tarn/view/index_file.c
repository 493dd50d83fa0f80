/* SPDX-License-Identifier: BSD-2-Clause */
/* index_file.c - an index in a file; see index.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tools/tarn/output.h>
#include <tools/tarn/view/index.h>
#include <unistd.h>

/* FORMAT changes with the index; BUILD depends on
 * everything else that determines the meaning of the bytes. */
#define FORMAT 14u
#define BUILD                                                                                            \
    (sizeof(struct index_block) ^ sizeof(struct index_thread) << 8 ^ sizeof(struct model_thread) << 24 ^ \
     sizeof(struct model_frame) << 32 ^ sizeof(struct model_cpu) << 40 ^ (size_t)INDEX_STRIDE << 48 ^    \
     (size_t)INDEX_FANOUT << 56)

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

/* The identity of the trace, apart from its streams. */
struct identity {
    uint32_t stream_count, event_count;
    uint8_t uuid[16];
    uint64_t clock_freq;
    int64_t clock_base_ns;
    uint64_t metadata_bytes;
};

static struct identity identity_of(const struct trace *trace)
{
    struct identity identity = {.stream_count = trace->stream_count,
                                .event_count = trace->schema.event_count,
                                .clock_freq = trace->schema.clock_freq,
                                .clock_base_ns = trace->schema.clock_base_ns,
                                .metadata_bytes = trace->metadata_bytes};

    memcpy(identity.uuid, trace->schema.tsdl.uuid, sizeof(identity.uuid));
    return identity;
}

/* Identifies a stream, at the size that it had. */
struct stream_mark {
    uint64_t size, begin, last_begin, last_seq, name /* its checksum */;
};

static struct stream_mark mark_of(const struct trace *trace, const struct stream *stream, uint64_t size)
{
    struct stream_mark mark = {.size = size,
                               .begin = stream->begin,
                               .name = checksum_of((const uint8_t *)stream->name, strlen(stream->name))};
    struct trace_packet header;
    uint64_t bytes = stream->first_packet_bytes;

    if (bytes != 0 && size >= bytes &&
        !anomaly_is_fatal(stream_header(trace, stream, size - bytes, &header))) {
        mark.last_begin = header.timestamp_begin;
        mark.last_seq = header.packet_seq_num;
    }
    return mark;
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
    struct identity identity, now = identity_of(trace);
    enum index_state state = INDEX_WHOLE, one;

    buffer_get(reader, &identity, sizeof(identity));
    if (memcmp(&identity, &now, sizeof(now)) != 0)
        return INDEX_NONE;
    for (unsigned i = 0; i < trace->stream_count; i++) {
        struct stream_mark mark;

        buffer_get(reader, &mark, sizeof(mark));
        one = compare_stream(trace, &trace->streams[i], &mark, from);
        if (one == INDEX_NONE)
            return INDEX_NONE;
        state = one == INDEX_SHORT ? INDEX_SHORT : state;
    }
    return state;
}

/* ---- the index ------------------------------------------------------------------------------------- */

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

static bool check_blobs(const struct blob_array *array)
{
    uint64_t before = 0, end;

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
    if (index_thread_count(index) > NODE_THREADS_MAX)
        return false;
    for (uint32_t i = 0; i < index_thread_count(index); i++) {
        const struct index_thread *thread = index_thread(index, i);

        if (thread->cpu >= trace->stream_count || !is_bool(&thread->is_idle) ||
            memchr(thread->name, 0, sizeof(thread->name)) == NULL)
            return false;
    }
    for (size_t i = 0; i < index_block_count(index); i++)
        if (index_begin(index, i) > index_begin(index, i + 1) ||
            index_first(index, i) > index_first(index, i + 1))
            return false;
    for (unsigned level = 0; level < INDEX_LEVELS; level++)
        if (!check_blobs(&index->levels[level]))
            return false;
    return is_bool(&index->losses.before) && check_blobs(&index->checkpoints) &&
           check_blobs(&index->snapshots) && check_blobs(&index->reports) &&
           blob_array_count(&index->levels[0]) == index_block_count(index) &&
           blob_array_count(&index->checkpoints) <= index_block_count(index) / INDEX_STRIDE &&
           blob_array_count(&index->snapshots) == blob_array_count(&index->checkpoints);
}

/* Bytes of an element of each part; 0: of a blob array. */
static const size_t units[INDEX_PARTS] = {sizeof(struct index_block), sizeof(struct index_thread), 1, 1};

_Static_assert(sizeof(((struct index *)0)->parts) == offsetof(struct index, model),
               "the parts are all arrays");

static bool read_index(struct index *index, const struct trace *trace, struct buffer_reader *reader)
{
    uint64_t numbers[4];
    struct fail fail;
    bool ok;

    buffer_get(reader, numbers, sizeof(numbers));
    buffer_get(reader, &index->losses, sizeof(index->losses));
    index->events = numbers[0];
    index->begin = numbers[1];
    index->end = numbers[2];
    index->has_beginning = numbers[3] != 0;
    ok = !reader->failed;
    for (unsigned i = 0; i < INDEX_PARTS && ok; i++)
        ok = read_part(&index->parts[i], reader, units[i] != 0 ? units[i] : i % 2 != 0 ? 8 : 1);
    return ok && index->begin == trace->begin && index->begin <= index->end && check_records(index, trace) &&
           index_open_model(index, trace, blob_array_count(&index->snapshots), &fail) &&
           model_restore_snapshot(index->model, index->ending.bytes, index->ending.used, false, &fail);
}

void index_write(const struct index *index, const struct trace *trace, struct buffer *out)
{
    struct head head = {.order = ORDER, .format = FORMAT, .build = BUILD};
    uint64_t numbers[4] = {index->events, index->begin, index->end, index->has_beginning};
    struct identity identity = identity_of(trace);
    size_t at = out->used;

    memcpy(head.magic, magic, sizeof(magic));
    buffer_add(out, &head, sizeof(head));
    buffer_add(out, &identity, sizeof(identity));
    for (unsigned i = 0; i < trace->stream_count; i++) {
        struct stream_mark mark = mark_of(trace, &trace->streams[i], trace->streams[i].size);

        buffer_add(out, &mark, sizeof(mark));
    }
    buffer_add(out, numbers, sizeof(numbers));
    buffer_add(out, &index->losses, sizeof(index->losses));
    for (unsigned i = 0; i < INDEX_PARTS; i++) {
        uint64_t size = index->parts[i].used;

        buffer_add(out, &size, sizeof(size));
        if (size != 0)
            buffer_add(out, index->parts[i].bytes, size);
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
    bool has_cache = cache != NULL && *cache == '/';
    char real[PATH_MAX];
    int length = has_cache ? snprintf(path, PATH_MAX, "%s", cache)
                           : snprintf(path, PATH_MAX, "%s/.cache", home != NULL ? home : ".");

    if (realpath(trace->directory, real) == NULL || *path != '/' || length > PATH_MAX - 64)
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
    bool ok;
    int fd;

    snprintf(other, sizeof(other), "%s.%ld", path, (long)getpid());
    fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    ok = output_write(fd, bytes->bytes, bytes->used);
    ok = close(fd) == 0 && ok && rename(other, path) == 0;
    if (!ok)
        unlink(other);
    return ok;
}

enum index_state index_load(struct index *index, const struct trace *trace, uint64_t *from)
{
    enum index_state state = INDEX_NONE;
    char paths[2][PATH_MAX];
    unsigned count = 1;
    size_t most = 64u << 20, size;

    for (unsigned i = 0; i < trace->stream_count; i++)
        most += trace->streams[i].size;
    path_beside(trace, paths[0]);
    count += path_in_cache(trace, false, paths[1]);
    for (unsigned i = 0; i < count && state == INDEX_NONE; i++) {
        char *bytes = file_read(AT_FDCWD, paths[i], most, &size);

        if (bytes != NULL)
            state = index_read(index, trace, (const uint8_t *)bytes, size, from);
        free(bytes);
    }
    return state;
}

bool index_save(const struct index *index, const struct trace *trace, struct fail *fail)
{
    struct buffer bytes = {0};
    char path[PATH_MAX];
    bool ok;

    index_write(index, trace, &bytes);
    path_beside(trace, path);
    ok = write_file(path, &bytes) || (path_in_cache(trace, true, path) && write_file(path, &bytes)) ||
         fail_set(fail, "cannot save the index: %s", strerror(errno));
    free(bytes.bytes);
    return ok;
}
