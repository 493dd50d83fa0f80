/* SPDX-License-Identifier: BSD-2-Clause */
/* index_file.c - an index in a file; see index.h. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tools/tarn/map.h>
#include <tools/tarn/output.h>
#include <tools/tarn/view/index.h>
#include <unistd.h>

#define SLOTS 64u /* files at most */

static uint64_t hash_words(const uint8_t *bytes, size_t size)
{
    uint64_t hash = HASH_SEED, word;

    for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        hash = hash_number(hash, word);
    }
    return hash_bytes(hash, (const char *)bytes, size);
}

/* ---- identity -------------------------------------------------------------------------------------- */

/* Of this build of the tool, and of the trace apart from its streams. */
struct identity {
    uint64_t inode, bytes; /* of the program */
    int64_t built_s, built_ns;
    uint32_t stream_count, event_count;
    uint8_t uuid[16];
    uint64_t clock_freq;
    int64_t clock_base_ns;
    uint64_t metadata_bytes;
};

struct stream_mark {
    uint64_t size, begin, last_begin, last_seq, name /* its hash */;
};

static struct stream_mark mark_of(const struct trace *trace, const struct stream *stream)
{
    struct stream_mark mark = {
        .size = stream->size, .begin = stream->begin, .name = hash_text(HASH_SEED, stream->name)};
    struct trace_packet header;
    uint64_t bytes = stream->first_packet_bytes;

    if (bytes != 0 && stream->size >= bytes &&
        !anomaly_is_fatal(stream_header(trace, stream, stream->size - bytes, &header))) {
        mark.last_begin = header.timestamp_begin;
        mark.last_seq = header.packet_seq_num;
    }
    return mark;
}

static void add_identity(const struct trace *trace, struct buffer *out)
{
    struct identity identity = {.stream_count = trace->stream_count,
                                .event_count = trace->schema.event_count,
                                .clock_freq = trace->schema.clock_freq,
                                .clock_base_ns = trace->schema.clock_base_ns,
                                .metadata_bytes = trace->metadata_bytes};
    struct stat program;

    if (stat("/proc/self/exe", &program) == 0) {
        identity.inode = program.st_ino;
        identity.bytes = (uint64_t)program.st_size;
        identity.built_s = program.st_mtim.tv_sec;
        identity.built_ns = program.st_mtim.tv_nsec;
    }
    memcpy(identity.uuid, trace->schema.uuid, sizeof(identity.uuid));
    buffer_add(out, &identity, sizeof(identity));
    for (unsigned i = 0; i < trace->stream_count; i++) {
        struct stream_mark mark = mark_of(trace, &trace->streams[i]);

        buffer_add(out, &mark, sizeof(mark));
    }
}

/* ---- the index ------------------------------------------------------------------------------------- */

static void read_part(struct buffer *part, struct buffer_reader *reader)
{
    uint64_t size;

    buffer_get(reader, &size, sizeof(size));
    if (size != 0)
        buffer_add(part, reader->at, size);
    buffer_skip(reader, size);
}

_Static_assert(sizeof(((struct index *)0)->parts) == offsetof(struct index, model),
               "the parts are all arrays");

static void read_index(struct index *index, const struct trace *trace, struct buffer_reader *reader)
{
    uint64_t numbers[4];

    buffer_get(reader, numbers, sizeof(numbers));
    buffer_get(reader, &index->losses, sizeof(index->losses));
    index->events = numbers[0];
    index->begin = numbers[1];
    index->end = numbers[2];
    index->has_beginning = numbers[3] != 0;
    for (unsigned i = 0; i < INDEX_PARTS; i++)
        read_part(&index->parts[i], reader);
    index_open_model(index, trace, blob_array_count(&index->snapshots));
    model_restore_snapshot(index->model, index->ending.bytes, index->ending.used, false);
}

void index_write(const struct index *index, const struct trace *trace, struct buffer *out)
{
    uint64_t hash, numbers[4] = {index->events, index->begin, index->end, index->has_beginning};

    add_identity(trace, out);
    buffer_add(out, numbers, sizeof(numbers));
    buffer_add(out, &index->losses, sizeof(index->losses));
    for (unsigned i = 0; i < INDEX_PARTS; i++) {
        uint64_t size = index->parts[i].used;

        buffer_add(out, &size, sizeof(size));
        if (size != 0)
            buffer_add(out, index->parts[i].bytes, size);
    }
    hash = hash_words(out->bytes, out->used);
    buffer_add(out, &hash, sizeof(hash));
}

bool index_read(struct index *index, const struct trace *trace, const uint8_t *bytes, size_t size)
{
    struct buffer_reader reader = {.at = bytes, .left = size - sizeof(uint64_t)};
    struct buffer identity = {0};
    uint64_t hash;
    bool is_for_trace;

    if (size < sizeof(hash))
        return false;
    memcpy(&hash, bytes + reader.left, sizeof(hash));
    add_identity(trace, &identity);
    is_for_trace = hash == hash_words(bytes, reader.left) && reader.left >= identity.used &&
                   memcmp(bytes, identity.bytes, identity.used) == 0;
    buffer_skip(&reader, identity.used);
    free(identity.bytes);
    if (is_for_trace)
        read_index(index, trace, &reader);
    return is_for_trace;
}

/* ---- the file -------------------------------------------------------------------------------------- */

/* False: there is no place for it. */
static bool path_of(const struct trace *trace, char path[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool has_cache = cache != NULL && *cache == '/';
    char real[PATH_MAX];
    int length = has_cache ? snprintf(path, PATH_MAX, "%s", cache)
                           : snprintf(path, PATH_MAX, "%s/.cache", home != NULL ? home : ".");

    if (realpath(trace->directory, real) == NULL || *path != '/' || length > PATH_MAX - 64)
        return false;
    mkdir(path, 0700);
    length += snprintf(path + length, (size_t)(PATH_MAX - length), "/tarn");
    mkdir(path, 0700);
    snprintf(path + length, (size_t)(PATH_MAX - length), "/%u.index",
             (unsigned)(hash_text(HASH_SEED, real) % SLOTS));
    return true;
}

static void write_file(const char *path, const struct buffer *bytes)
{
    char other[PATH_MAX + 16];
    int fd;

    snprintf(other, sizeof(other), "%s.%ld", path, (long)getpid());
    fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    if (!output_write(fd, bytes->bytes, bytes->used) || rename(other, path) != 0)
        unlink(other);
    close(fd);
}

bool index_load(struct index *index, const struct trace *trace)
{
    char path[PATH_MAX], *bytes;
    size_t size;
    bool ok;

    if (!path_of(trace, path) || (bytes = file_read(AT_FDCWD, path, SIZE_MAX, &size)) == NULL)
        return false;
    ok = index_read(index, trace, (const uint8_t *)bytes, size);
    free(bytes);
    return ok;
}

void index_save(const struct index *index, const struct trace *trace)
{
    struct buffer bytes = {0};
    char path[PATH_MAX];

    index_write(index, trace, &bytes);
    if (path_of(trace, path))
        write_file(path, &bytes);
    free(bytes.bytes);
}
