/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles_record.c - writes files of profiles; see profiles_record.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <tools/tarn/command/profiles_record.h>
#include <tools/tarn/command/row_options.h>

void profiles_keep(struct profiles *profiles, uint64_t pid)
{
    size_t kept = 0;

    for (size_t i = 0; i < profiles->count; i++) {
        if (pid == UINT64_MAX || profiles->copies[i].head.pid == pid)
            profiles->copies[kept++] = profiles->copies[i];
        else
            free(profiles->copies[i].rows);
    }
    profiles->count = kept;
}

void profiles_complain(const struct profiles *profiles)
{
    const uint64_t unfinished = profiles_unfinished(profiles);

    if (unfinished != 0)
        complain("%" PRIu64 " row%s updated while they were read: they may lack a part of an update",
                 unfinished, unfinished == 1 ? " was being" : "s were being");
    if (profiles->is_cut)
        complain("only %zu profiles could be read: %s", profiles->count, profiles->why.text);
}

static bool add_snapshot(const struct profiles_record *record, struct profiles_writer *writer,
                         struct source *source, struct fail *fail)
{
    struct profiles profiles;

    if (!profiles_read(&profiles, source, fail))
        return false;
    profiles_complain(&profiles);
    bool ok = profiles.count > 0 || fail_set(fail, PROFILES_ARE_OFF);
    profiles_keep(&profiles, record->pid);
    ok = ok && profiles_writer_add(writer, &profiles, record->pid != UINT64_MAX, fail);
    profiles_free(&profiles);
    return ok;
}

bool profiles_record(const struct profiles_record *record, struct source *source, struct fail *fail)
{
    struct profiles_writer writer;
    struct fail other;

    if (!profiles_writer_open(&writer, record->path, fail))
        return false;
    double due = now_seconds();
    bool ok = add_snapshot(record, &writer, source, fail);
    while (ok && record->interval_ns != 0 && (record->count == 0 || writer.added < record->count)) {
        due += (double)record->interval_ns * 1e-9;
        ok = rows_wait(source, due, fail) && add_snapshot(record, &writer, source, fail);
    }
    if (!ok && writer.added > 0)
        complain("%s has %zu snapshots", record->path, writer.added);
    return profiles_writer_close(&writer, ok ? fail : &other) && ok;
}
