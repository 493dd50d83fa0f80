/* SPDX-License-Identifier: BSD-2-Clause */
/* recorded.c - files of a guest's replies; see recorded.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/output.h>
#include <tools/tarn/tables/recorded.h>
#include <unistd.h>

/* ---- reading --------------------------------------------------------------------------------------- */

static bool read_bytes(struct recorded *recorded, void *to, size_t size, struct fail *fail)
{
    if (fread(to, 1, size, recorded->file) == size)
        return true;
    return fail_set(fail, "%s",
                    ferror(recorded->file) ? strerror(errno) : "the file ends in the middle of it");
}

/* Reads the next frame of a snapshot to recorded->payload. */
static bool read_frame(struct recorded *recorded, uint16_t type, struct wire_frame *frame, struct fail *fail)
{
    uint8_t head[WIRE_FRAME_BYTES];

    if (!read_bytes(recorded, head, sizeof(head), fail))
        return false;
    if (wire_get_frame(head, WIRE_PAYLOAD_MAX, frame) != WIRE_OK || frame->type != type ||
        frame->sequence != recorded->sequence)
        return fail_set(fail, "there is no frame %u of a snapshot", recorded->sequence);
    if (!read_bytes(recorded, recorded->payload, frame->length, fail))
        return false;
    if (wire_hash(recorded->payload, frame->length) != frame->payload_hash)
        return fail_set(fail, "a wrong checksum");
    recorded->sequence++;
    recorded->at += sizeof(head) + frame->length;
    return true;
}

static bool begin_snapshot(struct recorded *recorded, struct fail *fail)
{
    struct wire_frame frame;

    recorded->sequence = 0;
    if (!read_frame(recorded, WIRE_HELLO, &frame, fail))
        return false;
    if (frame.length < WIRE_HELLO_BYTES)
        return fail_set(fail, "a HELLO of %u bytes", frame.length);
    wire_get_hello(recorded->payload, &recorded->source.hello);
    return check_hello(&recorded->source.hello, fail);
}

/* Replies come in the order of the requests. */
static enum source_got replay(struct source *source, const struct wire_request *request, int32_t *status,
                              const uint8_t **data, size_t *size, struct fail *fail)
{
    struct recorded *recorded = (struct recorded *)source;
    struct wire_frame frame;

    (void)request;
    recorded->is_broken = !read_frame(recorded, WIRE_REPLY, &frame, fail) ||
                          (frame.length < WIRE_REPLY_BYTES && !fail_set(fail, "a reply without its head"));
    if (recorded->is_broken)
        return SOURCE_BROKEN;
    *status = (int32_t)wire_get32(recorded->payload + 4);
    *data = recorded->payload + WIRE_REPLY_BYTES;
    *size = frame.length - WIRE_REPLY_BYTES;
    return SOURCE_ITEM;
}

/* Reads the snapshot that begins here, of which nothing may be missing. */
static bool read_snapshot(struct recorded *recorded, struct routines *routines, struct fail *fail)
{
    if (!begin_snapshot(recorded, fail) || !routines_read(routines, &recorded->source, fail))
        return false;
    if (recorded->is_broken)
        routines_free(routines);
    return !recorded->is_broken;
}

static void scan(struct recorded *recorded, uint64_t size)
{
    struct routines routines;
    struct fail why;

    while (recorded->at < size && !recorded->is_damaged) {
        const uint64_t at = recorded->at;
        if (!read_snapshot(recorded, &routines, &why)) {
            recorded->is_damaged = true;
            fail_set(&recorded->why, "%s: snapshot %zu is damaged at byte %llu: %s", recorded->path,
                     recorded->count + 1, (unsigned long long)recorded->at, why.text);
            continue;
        }
        recorded->snapshots =
            array_grow(recorded->snapshots, recorded->count, &recorded->size, sizeof(recorded->snapshots[0]));
        recorded->snapshots[recorded->count++] = (struct recorded_snapshot){
            at, recorded->at - at, routines.moment, routines.count, recorded->source.hello};
        routines_free(&routines);
    }
}

static FILE *open_regular(const char *path, uint64_t *size, struct fail *fail)
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
                 S_ISDIR(about.st_mode) ? "%s is a directory, neither a source nor a file of routines"
                                        : "%s is not a regular file",
                 path);
        return NULL;
    }
    *size = (uint64_t)about.st_size;
    return fdopen(fd, "rb");
}

bool recorded_open(struct recorded *recorded, const char *path, struct fail *fail)
{
    static const struct source_class class = {.scheme = "file", .control = replay};
    uint64_t size;
    FILE *file = open_regular(path, &size, fail);

    if (file == NULL)
        return false;
    *recorded = (struct recorded){
        .source.class = &class, .path = path, .file = file, .payload = alloc_zero(1, WIRE_PAYLOAD_MAX)};
    scan(recorded, size);
    if (recorded->count > 0)
        return true;
    if (recorded->at > 0)
        *fail = recorded->why;
    else
        fail_set(fail,
                 size > 0 ? "%s is no file of routines: `tarn routines SOURCE --save FILE` makes one"
                          : "%s has no snapshot of routines",
                 path);
    recorded_close(recorded);
    return false;
}

void recorded_close(struct recorded *recorded)
{
    fclose(recorded->file);
    free(recorded->payload);
    free(recorded->snapshots);
    *recorded = (struct recorded){0};
}

bool recorded_load(struct recorded *recorded, size_t number, struct routines *routines, struct fail *fail)
{
    recorded->at = recorded->snapshots[number].at;
    return (fseeko(recorded->file, (off_t)recorded->at, SEEK_SET) == 0 &&
            read_snapshot(recorded, routines, fail)) ||
           fail_set(fail, "%s was changed while it was read", recorded->path);
}

/* ---- writing --------------------------------------------------------------------------------------- */

static bool check_old(struct recorded_writer *writer, struct fail *fail)
{
    struct recorded recorded;
    struct stat about;

    if (fstat(writer->fd, &about) != 0)
        return fail_set(fail, "%s: %s", writer->path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return fail_set(fail, "%s is not a regular file", writer->path);
    if (about.st_size == 0)
        return true;
    if (!recorded_open(&recorded, writer->path, fail))
        return false;
    const bool is_whole = !recorded.is_damaged;
    writer->bytes = recorded.at;
    if (!is_whole)
        fail_set(fail, "%s; nothing can be added to it: save to another file", recorded.why.text);
    recorded_close(&recorded);
    return is_whole;
}

bool recorded_writer_open(struct recorded_writer *writer, const char *path, struct fail *fail)
{
    *writer = (struct recorded_writer){.path = path};
    writer->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (writer->fd < 0)
        return fail_set(fail, "%s: %s", path, strerror(errno));
    if (check_old(writer, fail))
        return true;
    close(writer->fd);
    return false;
}

/* A source whose replies are recorded, too. */
struct tee {
    struct source source; /* first */
    struct source *from;
    FILE *to;
    uint32_t sequence;
    bool is_broken;
};

static void put_frame(struct tee *tee, uint16_t type, const uint8_t *payload, size_t size)
{
    uint8_t head[WIRE_FRAME_BYTES];

    wire_put_frame(head, type, (uint32_t)size, tee->sequence++, wire_hash(payload, size));
    fwrite(head, sizeof(head), 1, tee->to);
    fwrite(payload, size, 1, tee->to);
}

static enum source_got control_tee(struct source *source, const struct wire_request *request, int32_t *status,
                                   const uint8_t **data, size_t *size, struct fail *fail)
{
    struct tee *tee = (struct tee *)source;
    const enum source_got got = tee->from->class->control(tee->from, request, status, data, size, fail);

    tee->is_broken |= got != SOURCE_ITEM;
    if (got == SOURCE_ITEM && *size <= WIRE_PAYLOAD_MAX - WIRE_REPLY_BYTES) {
        uint8_t *payload = alloc_zero(1, WIRE_REPLY_BYTES + *size);
        wire_put32(payload + 4, (uint32_t)*status);
        if (*size > 0)
            memcpy(payload + WIRE_REPLY_BYTES, *data, *size);
        put_frame(tee, WIRE_REPLY, payload, WIRE_REPLY_BYTES + *size);
        free(payload);
    }
    return got;
}

/* Writes the replies to TO. */
static bool record(struct source *source, FILE *to, struct fail *fail)
{
    struct source_class class = *source->class;
    struct tee tee = {.source = *source, .from = source, .to = to};
    struct routines routines;
    uint8_t hello[WIRE_HELLO_BYTES];

    class.control = control_tee;
    tee.source.class = &class;
    wire_put_hello(hello, &source->hello);
    put_frame(&tee, WIRE_HELLO, hello, sizeof(hello));
    if (!routines_read(&routines, &tee.source, fail))
        return false;
    routines_complain(&routines);
    const bool is_whole = !tee.is_broken && routines.count > 0;
    if (!is_whole)
        fail_set(fail, tee.is_broken ? "nothing is saved, as not all could be read" : ROUTINES_ARE_OFF);
    routines_free(&routines);
    return is_whole;
}

/* In one write, so that the file ends with a whole snapshot whenever this program is killed. */
static bool add_bytes(struct recorded_writer *writer, const void *bytes, size_t size, struct fail *fail)
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

bool recorded_writer_add(struct recorded_writer *writer, struct source *source, struct fail *fail)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&bytes, &size);

    if (to == NULL)
        return fail_set(fail, "%s", strerror(errno));
    bool ok = record(source, to, fail);
    if (fclose(to) != 0)
        ok = fail_set(fail, "%s", strerror(errno));
    ok = ok && add_bytes(writer, bytes, size, fail);
    free(bytes);
    return ok;
}

bool recorded_writer_close(struct recorded_writer *writer, struct fail *fail)
{
    return output_close(writer->fd, writer->path) || fail_set(fail, "%s: %s", writer->path, strerror(errno));
}
