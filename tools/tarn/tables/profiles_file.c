/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles_file.c - files of profiles; see profiles_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/output.h>
#include <tools/tarn/tables/profiles_file.h>
#include <unistd.h>

/* ---- reading --------------------------------------------------------------------------------------- */

static const char *describe_end(const struct profiles_file *file, enum trace_profile_got got)
{
    if (ferror(file->reader.file))
        return strerror(errno);
    return got == TRACE_PROFILE_GOT_CUT ? "the file ends in the middle of it" : file->reader.wrong;
}

static void scan(struct profiles_file *file)
{
    struct trace_profile_snapshot snapshot;
    enum trace_profile_got got;

    while ((got = trace_profile_read_snapshot(&file->reader, &snapshot, NULL, NULL)) ==
           TRACE_PROFILE_GOT_SNAPSHOT) {
        file->snapshots = array_grow(file->snapshots, file->count, &file->size, sizeof(snapshot));
        file->snapshots[file->count++] = snapshot;
    }
    if (got == TRACE_PROFILE_GOT_NOTHING && !ferror(file->reader.file))
        return;
    file->is_damaged = true;
    fail_set(&file->why, "%s: snapshot %zu is damaged at byte %llu: %s", file->path, file->count + 1,
             (unsigned long long)file->reader.offset, describe_end(file, got));
}

static FILE *open_regular(const char *path, struct fail *fail)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        fail_set(fail, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(fd);
        fail_set(fail,
                 S_ISDIR(about.st_mode) ? "%s is a directory, neither a source nor a file of profiles"
                                        : "%s is not a regular file",
                 path);
        return NULL;
    }
    return fdopen(fd, "rb");
}

bool profiles_file_open(struct profiles_file *file, const char *path, struct fail *fail)
{
    FILE *stream = open_regular(path, fail);

    if (stream == NULL)
        return false;
    *file = (struct profiles_file){
        .path = path, .reader = {.file = stream, .payload = alloc_zero(1, TRACE_PROFILE_BYTES_MAX)}};
    scan(file);
    if (file->count > 0)
        return true;
    if (file->is_damaged && file->reader.offset > 0)
        *fail = file->why;
    else
        fail_set(fail,
                 file->is_damaged ? "%s is no file of profiles: `tarn profiles SOURCE --save FILE` makes one"
                                  : "%s has no snapshot of profiles",
                 path);
    profiles_file_close(file);
    return false;
}

void profiles_file_close(struct profiles_file *file)
{
    fclose(file->reader.file);
    free(file->reader.payload);
    free(file->snapshots);
    *file = (struct profiles_file){0};
}

static bool take_profile(void *context, const struct trace_profile *head,
                         const struct trace_profile_row *rows)
{
    profiles_append(context, head, rows);
    return true;
}

static bool take_names(void *context, const struct trace_routine *list, uint32_t count)
{
    profiles_append_names(context, list, count);
    return true;
}

bool profiles_file_load(struct profiles_file *file, size_t number, struct profiles *profiles,
                        struct fail *fail)
{
    struct trace_profile_snapshot snapshot;

    *profiles = (struct profiles){.begin = file->snapshots[number].begin,
                                  .is_cut = file->snapshots[number].end.is_cut != 0};
    file->reader.offset = file->snapshots[number].offset;
    file->reader.take_names = take_names;
    if (profiles->is_cut)
        fail_set(&profiles->why, "the others could not be read when the snapshot was taken");
    if (fseeko(file->reader.file, (off_t)file->reader.offset, SEEK_SET) == 0 &&
        trace_profile_read_snapshot(&file->reader, &snapshot, take_profile, profiles) ==
            TRACE_PROFILE_GOT_SNAPSHOT)
        return true;
    profiles_free(profiles);
    return fail_set(fail, "%s was changed while it was read", file->path);
}

/* ---- writing --------------------------------------------------------------------------------------- */

static bool check_old(struct profiles_writer *writer, struct fail *fail)
{
    struct profiles_file file;
    struct stat about;

    if (fstat(writer->fd, &about) != 0)
        return fail_set(fail, "%s: %s", writer->path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return fail_set(fail, "%s is not a regular file", writer->path);
    if (about.st_size == 0)
        return true;
    if (!profiles_file_open(&file, writer->path, fail))
        return false;
    const bool is_whole = !file.is_damaged;
    const struct trace_profile_snapshot *last = &file.snapshots[file.count - 1];
    writer->bytes = last->offset + last->bytes;
    if (!is_whole)
        fail_set(fail, "%s; nothing can be added to it: save to another file", file.why.text);
    profiles_file_close(&file);
    return is_whole;
}

bool profiles_writer_open(struct profiles_writer *writer, const char *path, struct fail *fail)
{
    *writer = (struct profiles_writer){.path = path};
    writer->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (writer->fd < 0)
        return fail_set(fail, "%s: %s", path, strerror(errno));
    if (check_old(writer, fail))
        return true;
    close(writer->fd);
    return false;
}

static void put_record(FILE *to, enum trace_profile_record_kind kind, const void *payload, size_t bytes)
{
    const struct trace_profile_record record = trace_profile_record_make(kind, payload, (uint32_t)bytes);

    fwrite(&record, sizeof(record), 1, to);
    fwrite(payload, bytes, 1, to);
}

static void put_names(FILE *to, const struct trace_routine_names *names)
{
    const uint32_t most = TRACE_PROFILE_BYTES_MAX / sizeof(struct trace_routine);

    for (uint32_t done = 0; done < names->count; done += most) {
        const uint32_t part = names->count - done < most ? names->count - done : most;
        put_record(to, TRACE_PROFILE_NAMES, names->list + done, part * sizeof(struct trace_routine));
    }
}

static void put_snapshot(FILE *to, const struct profiles *profiles, bool is_part)
{
    struct trace_profile_begin begin = profiles->begin;
    const struct trace_profile_end end = {(uint32_t)profiles->count, profiles->is_cut};
    char *payload = alloc_zero(1, TRACE_PROFILE_BYTES_MAX);

    begin.is_part |= is_part;
    put_record(to, TRACE_PROFILE_BEGIN, &begin, sizeof(begin));
    for (size_t i = 0; i < profiles->count; i++) {
        const struct profile_copy *copy = &profiles->copies[i];
        const size_t bytes = copy->head.rows * sizeof(copy->rows[0]);
        memcpy(payload, &copy->head, sizeof(copy->head));
        memcpy(payload + sizeof(copy->head), copy->rows, bytes);
        put_record(to, TRACE_PROFILE_ONE, payload, sizeof(copy->head) + bytes);
    }
    put_names(to, &profiles->names);
    put_record(to, TRACE_PROFILE_END, &end, sizeof(end));
    free(payload);
}

/* In one write, so that the file ends with a whole snapshot whenever this program is killed. */
static bool add_bytes(struct profiles_writer *writer, const void *bytes, size_t size, struct fail *fail)
{
    if (lseek(writer->fd, (off_t)writer->bytes, SEEK_SET) >= 0 && output_write(writer->fd, bytes, size)) {
        writer->bytes += size;
        writer->added++;
        return true;
    }
    const int error = errno;
    const bool is_whole = ftruncate(writer->fd, (off_t)writer->bytes) == 0;
    return fail_set(fail, "%s: %s; %s", writer->path, strerror(error),
                    is_whole ? "it ends with the last snapshot before" : "it ends with a part of a snapshot");
}

bool profiles_writer_add(struct profiles_writer *writer, const struct profiles *profiles, bool is_part,
                         struct fail *fail)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&bytes, &size);

    if (to == NULL)
        return fail_set(fail, "%s", strerror(errno));
    put_snapshot(to, profiles, is_part);
    bool ok = fclose(to) == 0 || fail_set(fail, "%s", strerror(errno));
    ok = ok && add_bytes(writer, bytes, size, fail);
    free(bytes);
    return ok;
}

bool profiles_writer_close(struct profiles_writer *writer, struct fail *fail)
{
    return output_close(writer->fd, writer->path) || fail_set(fail, "%s: %s", writer->path, strerror(errno));
}
