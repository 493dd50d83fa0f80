/* SPDX-License-Identifier: BSD-2-Clause */
/* head_cut.c - removes the oldest packets of a trace that is being written; see head_cut.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <tools/tarn/read/read.h>
#include <tools/tarn/source/head_cut.h>
#include <trace/format/format.h>
#include <unistd.h>

/* ---- packets in the files ---- */

/* The offset of the packet at PLACE, or of the end of the file. */
static uint64_t stream_offset(const struct stream_writer *stream, uint64_t place)
{
    return place < stream->packets ? stream->places[place] : stream->bytes;
}

static bool read_word(const struct trace_writer *writer, int fd, off_t offset, uint64_t *value)
{
    errno = EIO;
    if (pread(fd, value, sizeof(*value), offset) != (ssize_t)sizeof(*value))
        return false;
    *value = writer_64(writer, *value);
    return true;
}

bool stream_discarded(const struct trace_writer *writer, uint32_t cpu, uint64_t place, uint64_t *count)
{
    const struct stream_writer *stream = &writer->cpu[cpu];
    uint64_t offset = stream_offset(stream, place) + offsetof(struct trace_packet, events_discarded);

    return read_word(writer, stream->fd, (off_t)offset, count);
}

uint64_t stream_find(const struct trace_writer *writer, uint32_t cpu, uint64_t time)
{
    const struct stream_writer *stream = &writer->cpu[cpu];
    uint64_t low = 0, high = stream->packets;

    /* Invariant: packet `low` begins at or before `time`, or is the first; packet `high` does not. */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2, begin;
        uint64_t offset = stream_offset(stream, middle) + offsetof(struct trace_packet, timestamp_begin);

        if (read_word(writer, stream->fd, (off_t)offset, &begin) && begin <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint64_t bytes_kept(const struct trace_writer *writer, uint64_t time)
{
    uint64_t bytes = 0;

    for (uint32_t cpu = 0; cpu < writer->hello.cpu_count; cpu++) {
        const struct stream_writer *stream = &writer->cpu[cpu];

        if (stream->packets > 0)
            bytes += stream->bytes - stream_offset(stream, stream_find(writer, cpu, time));
    }
    return bytes;
}

static bool copy_bytes(int from_fd, off_t from, int to_fd, off_t to, uint64_t size)
{
    if (lseek(to_fd, to, SEEK_SET) < 0)
        return false;
    while (size > 0) {
        ssize_t got = sendfile(to_fd, from_fd, &from, size);

        errno = got == 0 ? EIO : errno;
        if (got <= 0)
            return false;
        size -= (uint64_t)got;
    }
    return true;
}

/* The packet begins at an offset of the file. A count that is smaller, which is damage of the guest's,
 * becomes 0: readers still find that it decreased. */
static bool rebase(const struct trace_writer *writer, int fd, uint64_t packet, uint64_t base)
{
    off_t offset = (off_t)(packet + offsetof(struct trace_packet, events_discarded));
    uint64_t count;

    if (!read_word(writer, fd, offset, &count))
        return false;
    count = writer_64(writer, count > base ? count - base : 0);
    return pwrite(fd, &count, sizeof(count), offset) == (ssize_t)sizeof(count);
}

bool stream_copy(const struct trace_writer *writer, uint32_t cpu, uint64_t from, uint64_t count, int fd,
                 uint64_t to, uint64_t base)
{
    const struct stream_writer *stream = &writer->cpu[cpu];
    const uint64_t begin = stream_offset(stream, from);

    if (!copy_bytes(stream->fd, (off_t)begin, fd, (off_t)to, stream_offset(stream, from + count) - begin))
        return false;
    for (uint64_t i = 0; i < count && base != 0; i++)
        if (!rebase(writer, fd, to + stream_offset(stream, from + i) - begin, base))
            return false;
    return true;
}

/* ---- a cut ---- */

static void name_new(uint32_t cpu, char name[24])
{
    snprintf(name, 24, TRACE_NEW_STREAM_NAME "%u", cpu);
}

void head_cut_begin(struct head_cut *cut, uint64_t time)
{
    cut->is_active = true;
    cut->time = time;
    cut->cpu = 0;
    cut->fd = -1;
}

void head_cut_drop(struct head_cut *cut, const struct trace_writer *writer)
{
    char name[24];

    if (cut->is_active && cut->fd >= 0) {
        name_new(cut->cpu, name);
        unlinkat(writer->directory_fd, name, 0);
        close(cut->fd);
        cut->fd = -1;
    }
    cut->is_active = false;
}

static bool give_up(struct head_cut *cut, const struct trace_writer *writer, const char *what,
                    struct fail *fail)
{
    int error = errno;

    head_cut_drop(cut, writer);
    return fail_set(fail, "cannot %s cpu%u in %s without its oldest packets: %s", what, cut->cpu,
                    writer->directory, strerror(error));
}

/* Chooses the first packet to keep; false: nothing is to be removed. */
static bool choose_from(struct head_cut *cut, const struct trace_writer *writer)
{
    cut->from = writer->cpu[cut->cpu].packets > 0 ? stream_find(writer, cut->cpu, cut->time) : 0;
    cut->copied = 0;
    return cut->from > 0;
}

static bool open_new(struct head_cut *cut, const struct trace_writer *writer)
{
    char name[24];

    name_new(cut->cpu, name);
    cut->fd = openat(writer->directory_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return cut->fd >= 0 && stream_discarded(writer, cut->cpu, cut->from, &cut->base);
}

/* The copy has all packets: it takes the stream's place. */
static bool replace_stream(struct head_cut *cut, struct trace_writer *writer)
{
    struct stream_writer *stream = &writer->cpu[cut->cpu];
    char old[24], new[24];
    const uint64_t from = stream_offset(stream, cut->from),
                   begin = offsetof(struct trace_packet, timestamp_begin);
    uint64_t first, second = UINT64_MAX;

    name_new(cut->cpu, new);
    snprintf(old, sizeof(old), "cpu%u", cut->cpu);
    if (!read_word(writer, cut->fd, (off_t)begin, &first) ||
        (cut->copied > 1 &&
         !read_word(writer, cut->fd, (off_t)(begin + stream_offset(stream, cut->from + 1) - from),
                    &second)) ||
        renameat(writer->directory_fd, new, writer->directory_fd, old) != 0)
        return false;
    close(stream->fd);
    stream->fd = cut->fd;
    cut->fd = -1;
    stream->first = first;
    stream->second = second;
    stream->packets -= cut->from;
    for (uint64_t i = 0; i < stream->packets; i++)
        stream->places[i] = stream->places[cut->from + i] - from;
    stream->bytes -= from;
    stream->removed += cut->from;
    stream->removed_bytes += from;
    cut->removed_bytes += from;
    stream->discarded_base += cut->base;
    cut->removed += cut->from;
    return true;
}

/* Returns the number of packets, at least one, that hold about BYTES. */
static uint64_t packets_of(const struct stream_writer *stream, uint64_t from, uint64_t bytes)
{
    uint64_t count = 1;

    while (from + count < stream->packets &&
           stream_offset(stream, from + count) - stream_offset(stream, from) < bytes)
        count++;
    return count;
}

/* Returns the number of bytes that were copied; 0: FAIL. */
static uint64_t copy_some(struct head_cut *cut, struct trace_writer *writer, uint64_t most, struct fail *fail)
{
    const struct stream_writer *stream = &writer->cpu[cut->cpu];
    const uint64_t place = cut->from + cut->copied, count = packets_of(stream, place, most);
    const uint64_t to = stream_offset(stream, place) - stream_offset(stream, cut->from);

    if (cut->fd < 0 && !open_new(cut, writer)) {
        give_up(cut, writer, "create", fail);
        return 0;
    }
    if (!stream_copy(writer, cut->cpu, place, count, cut->fd, to, cut->base)) {
        give_up(cut, writer, "copy", fail);
        return 0;
    }
    cut->copied += count;
    return stream_offset(stream, place + count) - stream_offset(stream, place);
}

bool head_cut_step(struct head_cut *cut, struct trace_writer *writer, uint64_t bytes, struct fail *fail)
{
    while (cut->is_active && bytes > 0) {
        if (cut->cpu == writer->hello.cpu_count) {
            cut->is_active = false;
            cut->count++;
            return true;
        }
        if (cut->fd < 0 && !choose_from(cut, writer)) {
            cut->cpu++;
            continue;
        }
        uint64_t copied = copy_some(cut, writer, bytes, fail);
        if (copied == 0)
            return false;
        bytes -= copied < bytes ? copied : bytes;
        if (cut->from + cut->copied < writer->cpu[cut->cpu].packets)
            continue;
        if (!replace_stream(cut, writer))
            return give_up(cut, writer, "replace", fail);
        cut->cpu++;
    }
    return true;
}
