/* file.c - an index in a file; see index.h. */
#include <fcntl.h>
#include <sys/stat.h>
#include <tools/tarn/index/index.h>
#include <tools/tarn/out.h>
#include <unistd.h>

#define SLOTS 64u /* files at most */

static uint64_t hash_words(uint64_t hash, const uint8_t *bytes, size_t size)
{
    uint64_t word;
    for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        hash = hash_number(hash, word);
    }
    return hash_bytes(hash, (const char *)bytes, size);
}

static uint64_t hash_file(uint64_t hash, const struct stat *file)
{
    const uint64_t words[] = {file->st_ino, (uint64_t)file->st_mtim.tv_sec, (uint64_t)file->st_mtim.tv_nsec};
    return hash_words(hash, (const uint8_t *)words, sizeof(words));
}

/* Of this build of the tool, and of the trace. */
static uint64_t identify(const struct trace *trace)
{
    struct stat file = {0};
    uint64_t hash = hash_bytes(HASH_SEED, (const char *)trace->schema.uuid, sizeof(trace->schema.uuid));
    stat("/proc/self/exe", &file);
    hash = hash_number(hash_file(hash, &file), trace->metadata_bytes);
    for (unsigned i = 0; i < trace->stream_count; i++) {
        fstat(trace->streams[i].fd, &file);
        hash = hash_number(hash_file(hash, &file), trace->streams[i].size);
    }
    return hash;
}

_Static_assert(sizeof(((struct index *)0)->parts) == offsetof(struct index, model),
               "the parts are all arrays");

void index_write(const struct index *index, const struct trace *trace, struct buffer *out)
{
    struct index head = *index;
    uint64_t hash;
    head.model = NULL;
    for (unsigned i = 0; i < INDEX_PARTS; i++)
        head.parts[i] = (struct buffer){.used = index->parts[i].used};
    buffer_add(out, &head, sizeof(head));
    for (unsigned i = 0; i < INDEX_PARTS; i++)
        if (index->parts[i].used != 0)
            buffer_add(out, index->parts[i].bytes, index->parts[i].used);
    hash = hash_words(identify(trace), out->bytes, out->used);
    buffer_add(out, &hash, sizeof(hash));
}

bool index_read(struct index *index, const struct trace *trace, const uint8_t *bytes, size_t size)
{
    struct buffer_reader reader = {.at = bytes, .left = size - sizeof(uint64_t)};
    uint64_t hash;
    if (size < sizeof(hash))
        return false;
    memcpy(&hash, bytes + reader.left, sizeof(hash));
    if (hash != hash_words(identify(trace), bytes, reader.left))
        return false;
    buffer_get(&reader, index, sizeof(*index));
    for (unsigned i = 0; i < INDEX_PARTS; i++) {
        size_t used = index->parts[i].used;
        index->parts[i].used = 0;
        buffer_add(&index->parts[i], reader.at, used);
        buffer_skip(&reader, used);
    }
    index_open_model(index, trace, blob_array_count(&index->snapshots));
    model_restore_snapshot(index->model, index->ending.bytes, index->ending.used, false);
    return true;
}

bool index_path(const struct trace *trace, char path[PATH_MAX])
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
    if (mkdir(path, 0700) != 0 && access(path, W_OK) != 0)
        return false;
    snprintf(path + length, (size_t)(PATH_MAX - length), "/%u.index",
             (unsigned)(hash_text(HASH_SEED, real) % SLOTS));
    return true;
}

bool index_load(struct index *index, const struct trace *trace)
{
    char path[PATH_MAX], *bytes;
    size_t size;
    bool ok;
    if (!index_path(trace, path) || (bytes = file_read(AT_FDCWD, path, SIZE_MAX, &size)) == NULL)
        return false;
    ok = index_read(index, trace, (const uint8_t *)bytes, size);
    free(bytes);
    return ok;
}

void index_save(const struct index *index, const struct trace *trace)
{
    struct buffer bytes = {0};
    char path[PATH_MAX], other[PATH_MAX + 16];
    index_write(index, trace, &bytes);
    if (index_path(trace, path)) {
        snprintf(other, sizeof(other), "%s.%ld", path, (long)getpid());
        if (!output_write_file(AT_FDCWD, other, bytes.bytes, bytes.used) || rename(other, path) != 0)
            unlink(other);
    }
    free(bytes.bytes);
}
