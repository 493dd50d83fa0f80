/* saved.c - saves parts of a trace that is being written; see saved.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/keep/saved.h>
#include <tools/tarn/out.h>
#include <tools/tarn/read/read.h>
#include <tools/tarn/source/head_cut.h>
#include <unistd.h>

#define NEW_NAME     ".part.new"
#define DUMP_SECONDS 3 /* a part waits this long for its statedump, in the guest's time */

/* The time SPAN before TIME; not before 0. */
static uint64_t before(uint64_t time, uint64_t span)
{
    return time > span ? time - span : 0;
}

void saved_describe(struct part *part, const struct saved_trigger *trigger, const char *event)
{
    char time[40];
    size_t at;
    snprintf(time, sizeof(time), "%" PRId64 ".%09" PRId64 "\t", trigger->ns / 1000000000,
             trigger->ns % 1000000000);
    buffer_text(&part->lines, time);
    at = part->lines.used;
    buffer_text(&part->lines, trigger->text);
    buffer_text(&part->lines, "\n"); /* becomes the tab below */
    buffer_text(&part->lines, event);
    for (size_t i = at; i < part->lines.used; i++)
        if (iscntrl(part->lines.bytes[i]))
            part->lines.bytes[i] = ' ';
    part->lines.bytes[at + strlen(trigger->text)] = '\t';
    buffer_text(&part->lines, "\n");
}

static uint64_t longest_of(const struct saved *saved)
{
    return SAVED_SPANS_MAX * (saved->before + saved->after);
}

/* Returns the waiting part that TRIGGER joins; NULL: none. */
static struct part *find_part(struct saved *saved, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < saved->part_count; i++) {
        struct part *part = &saved->parts[i];
        if (from <= part->to && to >= part->from && (to <= part->to || to - part->from <= longest_of(saved)))
            return part;
    }
    return NULL;
}

static struct part *begin_part(struct saved *saved, const struct saved_trigger *trigger)
{
    struct part *part;
    if (saved->count + saved->failed + saved->part_count >= saved->most) {
        saved->skipped++;
        return NULL;
    }
    saved->parts =
        array_grow(saved->parts, saved->part_count, &saved->part_capacity, sizeof(saved->parts[0]));
    part = &saved->parts[saved->part_count++];
    *part = (struct part){.trigger = (uint64_t)trigger->ns};
    snprintf(part->event, sizeof(part->event), "%s", trigger->event);
    /* it is in the name of a directory, which has none of the letters that mean something elsewhere */
    for (char *at = part->event; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at))
            *at = '_';
    return part;
}

struct part *saved_add(struct saved *saved, const struct saved_trigger *trigger, uint64_t dump_begin)
{
    const uint64_t to = trigger->ticks + sooner(saved->after, UINT64_MAX - trigger->ticks),
                   from = later(before(trigger->begin, saved->before), before(to, longest_of(saved)));
    struct part *part = find_part(saved, from, to);
    if (part != NULL) {
        part->from = sooner(part->from, later(from, before(part->to, longest_of(saved))));
        part->to = later(part->to, to);
    } else {
        part = begin_part(saved, trigger);
        if (part == NULL)
            return NULL;
        part->from = from;
        part->to = to;
        part->needs_dump = saved->has_dumps && dump_begin < from;
    }
    return ++part->triggers <= SAVED_LINES_MAX ? part : NULL;
}

/* Finds the number of the last part in the place, which may contain those of earlier pulls. */
static void find_number(struct saved *saved, int place_fd)
{
    DIR *directory = fdopendir(dup(place_fd));
    struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        unsigned long number = strtoul(entry->d_name, NULL, 10);
        if (isdigit((unsigned char)entry->d_name[0]) && number < 1000000000 && number > saved->number)
            saved->number = (unsigned)number;
    }
    if (directory != NULL)
        closedir(directory);
}

static bool copy_file(int from_directory, int to_directory, const char *name, bool must_exist)
{
    size_t size;
    char *text = file_read(from_directory, name, SIZE_MAX - 1, &size);
    bool ok =
        text != NULL ? output_write_file(to_directory, name, text, size) : !must_exist && errno == ENOENT;
    free(text);
    return ok;
}

static bool copy_stream(const struct saved *saved, const struct part *part, uint32_t cpu, int to_directory)
{
    const struct trace_writer *writer = saved->writer;
    const uint64_t from = stream_find(writer, cpu, part->from),
                   count = stream_find(writer, cpu, part->to) - from + 1;
    char name[16];
    bool ok;
    int fd;
    snprintf(name, sizeof(name), "cpu%u", cpu);
    fd = openat(to_directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    ok = stream_copy(writer, cpu, from, count, fd, 0, writer->cpu[cpu].places[from].discarded);
    return (close(fd) == 0) & ok;
}

static bool fill_part(const struct saved *saved, struct part *part, int to_directory)
{
    char rest[80];
    if (part->triggers > SAVED_LINES_MAX) {
        snprintf(rest, sizeof(rest), "\t\tand %u more triggers\n", part->triggers - SAVED_LINES_MAX);
        buffer_text(&part->lines, rest);
    }
    for (uint32_t cpu = 0; cpu < saved->writer->hello.cpu_count; cpu++)
        if (saved->writer->cpu[cpu].packets > 0 && !copy_stream(saved, part, cpu, to_directory))
            return false;
    return copy_file(saved->writer->directory_fd, to_directory, "metadata", true) &&
           copy_file(saved->writer->directory_fd, to_directory, TRACE_RECIPE_NAME, false) &&
           output_write_file(to_directory, TRACE_SAVED_NAME, part->lines.bytes, part->lines.used);
}

static void remove_new(int place_fd)
{
    int fd = openat(place_fd, NEW_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    if (directory == NULL)
        return;
    while ((entry = readdir(directory)) != NULL)
        unlinkat(fd, entry->d_name, 0);
    closedir(directory);
    unlinkat(place_fd, NEW_NAME, AT_REMOVEDIR);
}

static bool make_part(struct saved *saved, struct part *part, int place_fd, char name[128])
{
    const int64_t ns = (int64_t)part->trigger;
    int fd = -1;
    bool ok;
    if (saved->number == 0)
        find_number(saved, place_fd);
    snprintf(name, 128, "%04u-%s-%" PRId64 ".%09" PRId64, ++saved->number, part->event, ns / 1000000000,
             ns % 1000000000);
    remove_new(place_fd); /* of a pull that was killed */
    ok = mkdirat(place_fd, NEW_NAME, 0777) == 0;
    if (ok)
        fd = openat(place_fd, NEW_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ok = fd >= 0 && fill_part(saved, part, fd) && renameat(place_fd, NEW_NAME, place_fd, name) == 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (!ok)
        remove_new(place_fd);
    errno = error;
    return ok;
}

static void write_part(struct saved *saved, struct part *part, bool quiet)
{
    char name[128] = "";
    int place_fd = -1;
    bool ok = mkdir(saved->place, 0777) == 0 || errno == EEXIST;
    if (ok)
        place_fd = open(saved->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ok = place_fd >= 0 && make_part(saved, part, place_fd, name);
    saved->count += ok;
    saved->failed += !ok;
    if (!ok)
        complain("cannot save a part of the trace in %s: %s", saved->place, strerror(errno));
    else if (!quiet)
        complain("saved %s/%s", saved->place, name);
    if (place_fd >= 0)
        close(place_fd);
}

static void drop_part(struct saved *saved, size_t place)
{
    free(saved->parts[place].lines.bytes);
    memmove(&saved->parts[place], &saved->parts[place + 1],
            (--saved->part_count - place) * sizeof(saved->parts[0]));
}

/* Whether the part is complete. A statedump that comes after its time is included. */
static bool is_complete(struct saved *saved, struct part *part, uint64_t until, uint64_t dump_begin,
                        uint64_t dump_end)
{
    const uint64_t patience = DUMP_SECONDS * saved->writer->hello.clock_hz;
    if (part->needs_dump && dump_end != 0 && dump_begin >= part->from) {
        part->needs_dump = false;
        part->to = later(part->to, dump_end);
    }
    return until > part->to && (!part->needs_dump || !saved->has_dumps || until - part->to > patience);
}

void saved_write(struct saved *saved, uint64_t until, uint64_t dump_begin, uint64_t dump_end, uint64_t before,
                 bool quiet)
{
    for (size_t i = 0; i < saved->part_count;) {
        if (!is_complete(saved, &saved->parts[i], until, dump_begin, dump_end) &&
            saved->parts[i].from >= before) {
            i++;
            continue;
        }
        write_part(saved, &saved->parts[i], quiet);
        drop_part(saved, i);
    }
}

uint64_t saved_needs(const struct saved *saved)
{
    uint64_t from = UINT64_MAX;
    for (size_t i = 0; i < saved->part_count; i++)
        from = sooner(from, saved->parts[i].from);
    return from;
}

bool saved_needs_dump(const struct saved *saved)
{
    for (size_t i = 0; i < saved->part_count; i++)
        if (saved->parts[i].needs_dump)
            return true;
    return false;
}

void saved_close(struct saved *saved)
{
    while (saved->part_count > 0)
        drop_part(saved, saved->part_count - 1);
    free(saved->parts);
    saved->parts = NULL;
}
