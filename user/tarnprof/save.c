/* SPDX-License-Identifier: BSD-2-Clause */
/* save.c - writes and reads files of recorded replies (trace/format/WIRE.md). Interface: save.h. */
#include <arch/trace.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tarn/syscall.h>
#include <trace/format/wire.h>
#include <unistd.h>
#include <user/tarnprof/save.h>

/* ---- Writing ---- */

static bool fail(struct tarnprof_saver *saver, const char *text)
{
    snprintf(saver->wrong, sizeof saver->wrong, "%s", text);
    return false;
}

static bool write_all(struct tarnprof_saver *saver, const void *data, size_t size)
{
    for (const char *at = data; size;) {
        const ssize_t n = write(saver->fd, at, size);
        if (n == 0 || (n < 0 && errno != EINTR))
            return fail(saver, n == 0 ? "nothing more can be written" : strerror(errno));
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return true;
}

static bool write_frame(struct tarnprof_saver *saver, uint16_t type, const void *payload, size_t size)
{
    uint8_t head[WIRE_FRAME_BYTES];
    wire_put_frame(head, type, (uint32_t)size, saver->frames++, wire_hash(payload, size));
    saver->written += sizeof head + size;
    return write_all(saver, head, sizeof head) && write_all(saver, payload, size);
}

static bool write_hello(struct tarnprof_saver *saver)
{
    const struct trace_info *info = arch_trace_info();
    const uint64_t geometry = __atomic_load_n(&info->geometry, __ATOMIC_RELAXED);
    struct wire_hello hello = {.version = WIRE_VERSION,
                               .byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 2,
                               .cpu_count = info->cpu_count,
                               .buffer_bytes = trace_geometry_words(geometry) * 8,
                               .buffer_count = trace_geometry_buffers(geometry),
                               .clock_hz = info->clock_hz,
                               .clock_offset_ns = info->clock_offset_ns,
                               .machine = TARN_MACHINE};
    uint8_t payload[WIRE_HELLO_BYTES];
    memcpy(hello.uuid, info->uuid, sizeof hello.uuid);
    wire_put_hello(payload, &hello);
    return write_frame(saver, WIRE_HELLO, payload, sizeof payload);
}

/* A reply whose data are in saver->payload, behind its head. */
static bool write_reply(struct tarnprof_saver *saver, int64_t bytes)
{
    if (bytes < 0)
        return fail(saver, tarn_error_text((int)bytes));
    memset(saver->payload, 0, WIRE_REPLY_BYTES);
    return write_frame(saver, WIRE_REPLY, saver->payload, WIRE_REPLY_BYTES + (size_t)bytes);
}

static bool write_routines(struct tarnprof_saver *saver)
{
    struct trace_routines *head = (void *)(saver->payload + WIRE_REPLY_BYTES);
    uint64_t serial = 0;
    int64_t bytes;
    while ((bytes = sys_routines_read(saver->of, serial, head, TRACE_ROUTINES_BYTES_MAX)) > 0) {
        serial = head->serial;
        if ((!saver->choose || saver->choose(saver->context, head)) && !write_reply(saver, bytes))
            return false;
    }
    return write_reply(saver, bytes);
}

static bool write_names(struct tarnprof_saver *saver)
{
    struct trace_routine *list = (void *)(saver->payload + WIRE_REPLY_BYTES);
    uint32_t number = TRACE_CONTEXT_NAMED;
    int64_t bytes;
    do {
        bytes = sys_routine_names(number, list, TRACE_ROUTINES_BYTES_MAX);
        number += bytes > 0 ? (uint32_t)((size_t)bytes / sizeof *list) : 0;
        if (!write_reply(saver, bytes))
            return false;
    } while (bytes > 0);
    return true;
}

bool tarnprof_save(struct tarnprof_saver *saver)
{
    saver->frames = 0;
    saver->written = 0;
    if (!saver->payload && !(saver->payload = malloc(WIRE_REPLY_BYTES + TRACE_ROUTINES_BYTES_MAX)))
        return fail(saver, "no memory");
    const bool ok = write_hello(saver) && write_routines(saver) && write_names(saver);
    if (ok) {
        saver->bytes += saver->written;
        saver->snapshots++;
    } else if (ftruncate(saver->fd, (off_t)saver->bytes) == 0) {
        lseek(saver->fd, (off_t)saver->bytes, SEEK_SET);
    }
    return ok;
}

/* ---- Reading ---- */

struct loader {
    FILE *file;
    uint8_t *payload; /* of the last frame */
    struct wire_frame frame;
    struct tarnprof_sum sum; /* of the snapshot so far */
    uint64_t serial;         /* of the last table */
    const char *wrong;
};

static bool find_wrong(struct loader *loader, const char *wrong)
{
    loader->wrong = wrong;
    return false;
}

/* False: the file ends before it, and `wrong` is NULL, or `wrong` says how it is damaged. */
static bool read_frame(struct loader *loader, uint16_t type, uint32_t sequence)
{
    struct wire_frame *frame = &loader->frame;
    uint8_t head[WIRE_FRAME_BYTES];
    const size_t got = fread(head, 1, sizeof head, loader->file);
    if (got < sizeof head)
        return find_wrong(loader, got || sequence ? "the file ends in the middle of it" : NULL);
    if (wire_get_frame(head, WIRE_REPLY_BYTES + TRACE_ROUTINES_BYTES_MAX, frame) != WIRE_OK ||
        frame->type != type || frame->sequence != sequence ||
        frame->length < (type == WIRE_HELLO ? WIRE_HELLO_BYTES : WIRE_REPLY_BYTES))
        return find_wrong(loader, "no recorded tables");
    if (fread(loader->payload, 1, frame->length, loader->file) < frame->length)
        return find_wrong(loader, "the file ends in the middle of it");
    return wire_hash(loader->payload, frame->length) == frame->payload_hash ||
           find_wrong(loader, "a wrong checksum");
}

static bool take_hello(struct loader *loader)
{
    struct wire_hello hello;
    wire_get_hello(loader->payload, &hello);
    loader->sum.clock_hz = hello.clock_hz;
    return (hello.version == WIRE_VERSION && hello.clock_hz && !strcmp(hello.machine, TARN_MACHINE)) ||
           find_wrong(loader, "of another machine, or of another version of Tarn");
}

static bool take_table(struct loader *loader, const void *data, uint64_t bytes)
{
    const struct tarnprof table = {.head = data,
                                   .rows = (const void *)((const char *)data + sizeof *table.head)};
    if (bytes < sizeof *table.head || table.head->row_bytes != sizeof *table.rows ||
        bytes != sizeof *table.head + table.head->rows * (uint64_t)sizeof *table.rows ||
        table.head->serial <= loader->serial)
        return find_wrong(loader, "a table whose rows do not fit");
    loader->serial = table.head->serial;
    return tarnprof_add(&loader->sum, &table) || find_wrong(loader, "no memory");
}

static bool take_names(struct loader *loader, const void *data, uint64_t bytes)
{
    struct trace_routine_names *names = &loader->sum.names;
    const uint32_t count = (uint32_t)(bytes / sizeof *names->list);
    struct trace_routine *list = realloc((void *)names->list, (names->count + count + 1) * sizeof *list);
    if (!list)
        return find_wrong(loader, "no memory");
    names->list = list;
    memcpy(list += names->count, data, count * sizeof *list);
    for (uint32_t i = 0; i < count; i++) {
        list[i].program[sizeof list->program - 1] = list[i].name[sizeof list->name - 1] = 0;
        if (list[i].number != TRACE_CONTEXT_NAMED + names->count++)
            return find_wrong(loader, "names out of order");
    }
    return true;
}

/* Reads the next snapshot to loader->sum. False: as read_frame(). */
static bool read_snapshot(struct loader *loader)
{
    const void *data = loader->payload + WIRE_REPLY_BYTES;
    uint64_t bytes;
    tarnprof_free_sum(&loader->sum);
    loader->serial = 0;
    if (!read_frame(loader, WIRE_HELLO, 0) || !take_hello(loader))
        return false;
    /* replies with tables until an empty one, then with names */
    for (uint32_t sequence = 1, empty = 0; empty < 2; sequence++) {
        if (!read_frame(loader, WIRE_REPLY, sequence))
            return false;
        bytes = loader->frame.length - WIRE_REPLY_BYTES;
        empty += bytes == 0;
        if (bytes && !(empty ? take_names : take_table)(loader, data, bytes))
            return false;
    }
    return true;
}

bool tarnprof_load(struct tarnprof_sum *sum, const char *path, uint64_t number, char wrong[80])
{
    struct loader loader = {.file = fopen(path, "rb"),
                            .payload = malloc(WIRE_REPLY_BYTES + TRACE_ROUTINES_BYTES_MAX)};
    uint64_t count = 0;
    wrong[0] = 0;
    if (!loader.file || !loader.payload)
        snprintf(wrong, 80, "%s", loader.file ? "no memory" : strerror(errno));
    while (!wrong[0] && (!number || count < number) && read_snapshot(&loader)) {
        tarnprof_free_sum(sum);
        *sum = loader.sum;
        loader.sum = (struct tarnprof_sum){0};
        count++;
    }
    if (loader.wrong)
        snprintf(wrong, 80, "snapshot %llu: %s", (unsigned long long)count + 1, loader.wrong);
    else if (!wrong[0] && (!count || count < number))
        snprintf(wrong, 80, "it has %llu snapshots", (unsigned long long)count);
    tarnprof_free_sum(&loader.sum);
    if (loader.file)
        fclose(loader.file);
    free(loader.payload);
    return count && (!number || count == number);
}
