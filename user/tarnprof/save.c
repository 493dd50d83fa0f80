/* SPDX-License-Identifier: BSD-2-Clause */
/* save.c - writes and reads files of profiles. Interface: save.h. */
#include <arch/trace.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
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

static bool write_record(struct tarnprof_saver *saver, enum trace_profile_record_kind kind,
                         const void *payload, uint32_t bytes, uint64_t *written)
{
    const struct trace_profile_record record = trace_profile_record_make(kind, payload, bytes);
    *written += sizeof record + bytes;
    return write_all(saver, &record, sizeof record) && write_all(saver, payload, bytes);
}

static struct trace_profile_begin describe(const struct tarnprof_saver *saver)
{
    const struct trace_info *info = arch_trace_info();
    struct trace_profile_begin begin = {.version = TRACE_PROFILE_FILE_VERSION,
                                        .row_bytes = sizeof(struct trace_profile_row),
                                        .moment = arch_trace_clock(),
                                        .clock_hz = info->clock_hz,
                                        .clock_offset_ns = info->clock_offset_ns,
                                        .machine = TARN_MACHINE,
                                        .cpu_count = info->cpu_count,
                                        .is_part = saver->choose != NULL};
    memcpy(begin.uuid, info->uuid, sizeof begin.uuid);
    return begin;
}

static bool write_names(struct tarnprof_saver *saver, uint64_t *written)
{
    const uint32_t most = TRACE_PROFILE_BYTES_MAX / sizeof(struct trace_routine);
    struct trace_routine_names names = {0};
    const int error = tarnprof_read_names(&names);
    bool ok = error == 0 || fail(saver, tarn_error_text(error));
    for (uint32_t done = 0; ok && done < names.count;) {
        const uint32_t part = names.count - done < most ? names.count - done : most;
        ok = write_record(saver, TRACE_PROFILE_NAMES, names.list + done,
                          part * (uint32_t)sizeof(struct trace_routine), written);
        done += part;
    }
    tarnprof_free_names(&names);
    return ok;
}

static bool write_profiles(struct tarnprof_saver *saver, struct tarnprof *profile, uint64_t *written)
{
    struct trace_profile_end end = {0};
    int result;
    while ((result = tarnprof_next(profile, saver->of)) > 0) {
        if (saver->choose && !saver->choose(saver->context, profile->head))
            continue;
        const uint32_t bytes =
            (uint32_t)(sizeof *profile->head + profile->head->rows * sizeof(struct trace_profile_row));
        if (!write_record(saver, TRACE_PROFILE_ONE, profile->head, bytes, written))
            return false;
        end.profiles++;
    }
    return result < 0 ? fail(saver, tarn_error_text(result))
                      : write_names(saver, written) &&
                            write_record(saver, TRACE_PROFILE_END, &end, sizeof end, written);
}

bool tarnprof_save(struct tarnprof_saver *saver)
{
    const struct trace_profile_begin begin = describe(saver);
    struct tarnprof profile = {0};
    uint64_t written = 0;
    const bool ok = write_record(saver, TRACE_PROFILE_BEGIN, &begin, sizeof begin, &written) &&
                    write_profiles(saver, &profile, &written);
    tarnprof_free(&profile);
    if (ok) {
        saver->bytes += written;
        saver->snapshots++;
    } else if (ftruncate(saver->fd, (off_t)saver->bytes) == 0) {
        lseek(saver->fd, (off_t)saver->bytes, SEEK_SET);
    }
    return ok;
}

/* ---- Reading ---- */

static bool add(void *sum, const struct trace_profile *head, const struct trace_profile_row *rows)
{
    const struct tarnprof profile = {.head = head, .rows = rows};
    return tarnprof_add(sum, &profile);
}

static bool add_names(void *context, const struct trace_routine *list, uint32_t count)
{
    struct tarnprof_sum *sum = context;
    struct trace_routine *all = realloc((void *)sum->names.list, (sum->names.count + count) * sizeof *all);
    if (!all)
        return false;
    memcpy(all + sum->names.count, list, count * sizeof *all);
    sum->names.list = all;
    sum->names.count += count;
    return true;
}

/* Finds the snapshot. False: there is none. */
static bool find(struct trace_profile_reader *reader, uint64_t number, struct trace_profile_snapshot *found,
                 char wrong[80])
{
    struct trace_profile_snapshot snapshot;
    enum trace_profile_got got = TRACE_PROFILE_GOT_NOTHING;
    uint64_t count = 0;
    while ((!number || count < number) &&
           (got = trace_profile_read_snapshot(reader, &snapshot, NULL, NULL)) == TRACE_PROFILE_GOT_SNAPSHOT) {
        *found = snapshot;
        count++;
    }
    wrong[0] = '\0';
    if (got == TRACE_PROFILE_GOT_CUT)
        snprintf(wrong, 80, "it ends in the middle of snapshot %llu", (unsigned long long)count + 1);
    else if (got == TRACE_PROFILE_GOT_DAMAGED)
        snprintf(wrong, 80, "snapshot %llu: %s", (unsigned long long)count + 1, reader->wrong);
    else if (!count || count < number)
        snprintf(wrong, 80, "it has %llu snapshots", (unsigned long long)count);
    return count && (!number || count == number);
}

bool tarnprof_load(struct tarnprof_sum *sum, const char *path, uint64_t number, char wrong[80])
{
    struct trace_profile_reader reader = {.file = fopen(path, "rb"),
                                          .payload = malloc(TRACE_PROFILE_BYTES_MAX)};
    struct trace_profile_snapshot snapshot;
    bool ok = reader.file && reader.payload;
    if (!ok)
        snprintf(wrong, 80, "%s", reader.file ? "no memory" : strerror(errno));
    if (ok && (ok = find(&reader, number, &snapshot, wrong))) {
        reader.offset = snapshot.offset;
        reader.take_names = add_names;
        ok = fseek(reader.file, (long)snapshot.offset, SEEK_SET) == 0 &&
             trace_profile_read_snapshot(&reader, &snapshot, add, sum) == TRACE_PROFILE_GOT_SNAPSHOT;
        if (!ok)
            snprintf(wrong, 80, "it cannot be read again, or there is no memory");
        sum->clock_hz = snapshot.begin.clock_hz;
    }
    if (reader.file)
        fclose(reader.file);
    free(reader.payload);
    return ok;
}
