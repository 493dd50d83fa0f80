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

void index_write(const struct index *index, const struct trace *trace, FILE *out)
{
    struct index head = *index;
    uint64_t hash;
    head.model = NULL;
    for (unsigned i = 0; i < INDEX_PARTS; i++)
        head.parts[i] = (struct buffer){.used = index->parts[i].used};
    hash = hash_words(identify(trace), (const uint8_t *)&head, sizeof(head));
    fwrite(&head, sizeof(head), 1, out);
    for (unsigned i = 0; i < INDEX_PARTS; i++) {
        hash = hash_words(hash, index->parts[i].bytes, index->parts[i].used);
        if (index->parts[i].used != 0)
            fwrite(index->parts[i].bytes, index->parts[i].used, 1, out);
    }
    fwrite(&hash, sizeof(hash), 1, out);
}

/* Nothing in BYTES can be trusted, not even that the parts are there. */
static bool is_whole(const struct trace *trace, struct buffer_reader bytes)
{
    struct index head;
    uint64_t hash, told;
    buffer_get(&bytes, &head, sizeof(head));
    hash = hash_words(identify(trace), (const uint8_t *)&head, sizeof(head));
    for (unsigned i = 0; i < INDEX_PARTS; i++) {
        if (head.parts[i].used > bytes.left)
            return false;
        hash = hash_words(hash, bytes.at, head.parts[i].used);
        buffer_skip(&bytes, head.parts[i].used);
    }
    buffer_get(&bytes, &told, sizeof(told));
    return !bytes.failed && bytes.left == 0 && told == hash;
}

bool index_read(struct index *index, const struct trace *trace, const uint8_t *bytes, size_t size)
{
    struct buffer_reader reader = {.at = bytes, .left = size};
    if (!is_whole(trace, reader))
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
    char path[PATH_MAX], other[PATH_MAX + 16];
    FILE *out;
    bool is_written;
    if (!index_path(trace, path))
        return;
    snprintf(other, sizeof(other), "%s.%ld", path, (long)getpid());
    out = fopen(other, "we");
    if (out == NULL)
        return;
    index_write(index, trace, out);
    is_written = !ferror(out);
    if (fclose(out) != 0 || !is_written || rename(other, path) != 0)
        unlink(other);
}
