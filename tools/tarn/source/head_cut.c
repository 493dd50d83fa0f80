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

/* The offset of the packet at PLACE, or of the end of the file. */
static uint64_t stream_offset(const struct stream_writer *stream, uint64_t place)
{
    return place < stream->packets ? stream->places[place].offset : stream->bytes;
}

uint64_t stream_find(const struct trace_writer *writer, uint32_t cpu, uint64_t time)
{
    const struct stream_writer *stream = &writer->cpu[cpu];
    const uint64_t behind = FIRST_WHERE(0, stream->packets, n, stream->places[n].begin > time);
    return behind > 0 ? behind - 1 : 0;
}

uint64_t bytes_kept(const struct trace_writer *writer, uint64_t time)
{
    uint64_t bytes = 0;
    for (uint32_t cpu = 0; cpu < writer->hello.cpu_count; cpu++) {
        const struct stream_writer *stream = &writer->cpu[cpu];
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

/* A count that is smaller, which is damage of the guest's, becomes 0: readers still find that it decreased.
 */
static uint64_t rebase(uint64_t count, uint64_t base)
{
    return count > base ? count - base : 0;
}

bool stream_copy(const struct trace_writer *writer, uint32_t cpu, uint64_t from, uint64_t count, int fd,
                 uint64_t to, uint64_t base)
{
    const struct stream_writer *stream = &writer->cpu[cpu];
    const uint64_t begin = stream_offset(stream, from);
    if (!copy_bytes(stream->fd, (off_t)begin, fd, (off_t)to, stream_offset(stream, from + count) - begin))
        return false;
    for (uint64_t i = from; i < from + count && base != 0; i++) {
        const uint64_t discarded = writer_64(writer, rebase(stream->places[i].discarded, base));
        const uint64_t packet = to + stream->places[i].offset - begin;
        if (pwrite(fd, &discarded, sizeof(discarded),
                   (off_t)(packet + offsetof(struct trace_packet, events_discarded))) !=
            (ssize_t)sizeof(discarded))
            return false;
    }
    return true;
}

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

/* Creates the file for the packets to keep, from `from` on. */
static bool open_new(struct head_cut *cut, const struct trace_writer *writer)
{
    char name[24];
    name_new(cut->cpu, name);
    cut->fd = openat(writer->directory_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    cut->base = writer->cpu[cut->cpu].places[cut->from].discarded;
    cut->copied = 0;
    return cut->fd >= 0;
}

/* The copy has all packets: it takes the stream's place. */
static bool replace_stream(struct head_cut *cut, struct trace_writer *writer)
{
    struct stream_writer *stream = &writer->cpu[cut->cpu];
    char old[24], new[24];
    const uint64_t from = stream_offset(stream, cut->from);
    name_new(cut->cpu, new);
    snprintf(old, sizeof(old), "cpu%u", cut->cpu);
    if (renameat(writer->directory_fd, new, writer->directory_fd, old) != 0)
        return false;
    close(stream->fd);
    stream->fd = cut->fd;
    cut->fd = -1;
    stream->packets -= cut->from;
    for (uint64_t i = 0; i < stream->packets; i++) {
        const struct packet_place *place = &stream->places[cut->from + i];
        stream->places[i] =
            (struct packet_place){place->offset - from, place->begin, rebase(place->discarded, cut->base)};
    }
    stream->bytes -= from;
    stream->removed_bytes += from;
    cut->removed_bytes += from;
    stream->discarded_base += cut->base;
    return true;
}

bool head_cut_step(struct head_cut *cut, struct trace_writer *writer, uint64_t bytes, struct fail *fail)
{
    for (; cut->is_active && bytes > 0 && cut->cpu < writer->hello.cpu_count; cut->cpu++) {
        const struct stream_writer *stream = &writer->cpu[cut->cpu];
        if (cut->fd < 0) {
            cut->from = stream_find(writer, cut->cpu, cut->time);
            if (cut->from == 0)
                continue;
            if (!open_new(cut, writer))
                return give_up(cut, writer, "create", fail);
        }
        const uint64_t place = cut->from + cut->copied, at = stream_offset(stream, place);
        uint64_t count = 1; /* of packets that hold about BYTES */
        while (place + count < stream->packets && stream_offset(stream, place + count) - at < bytes)
            count++;
        if (!stream_copy(writer, cut->cpu, place, count, cut->fd, at - stream_offset(stream, cut->from),
                         cut->base))
            return give_up(cut, writer, "copy", fail);
        cut->copied += count;
        bytes -= sooner(stream_offset(stream, place + count) - at, bytes);
        if (place + count < stream->packets)
            return true;
        if (!replace_stream(cut, writer))
            return give_up(cut, writer, "replace", fail);
    }
    if (cut->is_active && cut->cpu == writer->hello.cpu_count) {
        cut->is_active = false;
        cut->count++;
    }
    return true;
}
