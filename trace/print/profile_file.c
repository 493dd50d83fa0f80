/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/print/profile_file.c - reads and makes records of profiles; see profile_file.h. */
#include <string.h>
#include <trace/print/profile_file.h>

struct trace_profile_record trace_profile_record_make(enum trace_profile_record_kind kind,
                                                      const void *payload, uint32_t bytes)
{
    struct trace_profile_record record = {.magic = TRACE_PROFILE_FILE_MAGIC, .kind = kind, .bytes = bytes};
    record.checksum = trace_profile_record_checksum(&record, payload, bytes);
    return record;
}

/* ---- Byte order ---- */

static void swap64(void *word)
{
    uint64_t value;
    memcpy(&value, word, sizeof value);
    value = __builtin_bswap64(value);
    memcpy(word, &value, sizeof value);
}

static void swap32(uint32_t *word)
{
    *word = __builtin_bswap32(*word);
}

static void swap_begin(struct trace_profile_begin *begin)
{
    swap32(&begin->version), swap32(&begin->row_bytes);
    swap64(&begin->moment), swap64(&begin->clock_hz), swap64(&begin->clock_offset_ns);
    swap32(&begin->cpu_count), swap32(&begin->is_part);
}

static void swap_profile(struct trace_profile *head, uint32_t bytes)
{
    swap64(&head->serial), swap64(&head->life), swap64(&head->ran), swap64(&head->until),
        swap64(&head->refused);
    swap32(&head->of), swap32(&head->pid), swap32(&head->tid), swap32(&head->threads);
    swap32(&head->rows), swap32(&head->row_bytes);
    for (uint32_t at = sizeof *head; at < bytes; at += 8)
        swap64((char *)head + at);
}

/* ---- Records ---- */

static enum trace_profile_got say(struct trace_profile_reader *reader, const char *wrong)
{
    reader->wrong = wrong;
    return TRACE_PROFILE_GOT_DAMAGED;
}

/* NOTHING: the file ends before the record. SNAPSHOT: there is one. */
static enum trace_profile_got read_record(struct trace_profile_reader *reader,
                                          struct trace_profile_record *record, bool *swaps)
{
    const size_t got = fread(record, 1, sizeof *record, reader->file);
    if (got < sizeof *record)
        return got == 0 ? TRACE_PROFILE_GOT_NOTHING : TRACE_PROFILE_GOT_CUT;
    const struct trace_profile_record as_written = *record;
    *swaps = record->magic == __builtin_bswap32(TRACE_PROFILE_FILE_MAGIC);
    if (*swaps)
        swap32(&record->magic), swap32(&record->kind), swap32(&record->bytes), swap32(&record->checksum);
    if (record->magic != TRACE_PROFILE_FILE_MAGIC)
        return say(reader, "no record of profiles begins here");
    if (record->bytes % 8 || record->bytes > TRACE_PROFILE_BYTES_MAX)
        return say(reader, "a record of an impossible size");
    if (fread(reader->payload, 1, record->bytes, reader->file) < record->bytes)
        return TRACE_PROFILE_GOT_CUT;
    if (trace_profile_record_checksum(&as_written, reader->payload, record->bytes) != record->checksum)
        return say(reader, "a wrong checksum");
    reader->offset += sizeof *record + record->bytes;
    return TRACE_PROFILE_GOT_SNAPSHOT;
}

static enum trace_profile_got take_begin(struct trace_profile_reader *reader, uint32_t bytes, bool swaps,
                                         struct trace_profile_begin *begin)
{
    if (bytes < sizeof *begin)
        return say(reader, "a snapshot without its head");
    memcpy(begin, reader->payload, sizeof *begin);
    if (swaps)
        swap_begin(begin);
    if (begin->version != TRACE_PROFILE_FILE_VERSION)
        return say(reader, "another version of the format");
    if (begin->row_bytes != sizeof(struct trace_profile_row))
        return say(reader, "rows of another version");
    return begin->clock_hz ? TRACE_PROFILE_GOT_SNAPSHOT : say(reader, "a clock without a rate");
}

static enum trace_profile_got take_profile(struct trace_profile_reader *reader, uint32_t bytes, bool swaps,
                                           uint64_t after, trace_profile_visit *visit, void *context)
{
    struct trace_profile *head = reader->payload;
    if (bytes < sizeof *head)
        return say(reader, "a profile without its head");
    if (swaps)
        swap_profile(head, bytes);
    if (head->row_bytes != sizeof(struct trace_profile_row) ||
        (bytes - sizeof *head) / sizeof(struct trace_profile_row) != head->rows ||
        (bytes - sizeof *head) % sizeof(struct trace_profile_row) || head->of > TRACE_PROFILE_ORPHANS)
        return say(reader, "a profile whose rows do not fit");
    if (head->serial <= after)
        return say(reader, "profiles out of order");
    return !visit || visit(context, head, (const struct trace_profile_row *)(head + 1))
               ? TRACE_PROFILE_GOT_SNAPSHOT
               : say(reader, "reading was stopped");
}

/* Checks that each name is at its place, and ends. */
static enum trace_profile_got take_names(struct trace_profile_reader *reader, uint32_t bytes, bool swaps,
                                         void *context)
{
    struct trace_routine *list = reader->payload;
    const uint32_t count = (uint32_t)(bytes / sizeof *list);
    if (bytes % sizeof *list)
        return say(reader, "names of a wrong size");
    for (uint32_t i = 0; i < count; i++) {
        struct trace_routine *routine = &list[i];
        if (swaps)
            swap32(&routine->number), swap64(&routine->address), swap64(&routine->base),
                swap64(&routine->size);
        if (routine->number != TRACE_CONTEXT_NAMED + reader->named++ || routine->number >= TRACE_CONTEXTS)
            return say(reader, "names out of order");
        routine->program[sizeof routine->program - 1] = routine->name[sizeof routine->name - 1] = 0;
    }
    return !context || !reader->take_names || reader->take_names(context, list, count)
               ? TRACE_PROFILE_GOT_SNAPSHOT
               : say(reader, "reading was stopped");
}

static enum trace_profile_got take_end(struct trace_profile_reader *reader, uint32_t bytes, bool swaps,
                                       uint32_t profiles, struct trace_profile_end *end)
{
    if (bytes < sizeof *end)
        return say(reader, "a damaged end of a snapshot");
    memcpy(end, reader->payload, sizeof *end);
    if (swaps)
        swap32(&end->profiles), swap32(&end->is_cut);
    return end->profiles == profiles ? TRACE_PROFILE_GOT_SNAPSHOT : say(reader, "profiles are missing");
}

enum trace_profile_got trace_profile_read_snapshot(struct trace_profile_reader *reader,
                                                   struct trace_profile_snapshot *snapshot,
                                                   trace_profile_visit *visit, void *context)
{
    struct trace_profile_record record;
    uint64_t after = 0;
    uint32_t profiles = 0;
    bool swaps, has_begun = false;
    enum trace_profile_got got;

    snapshot->offset = reader->offset;
    reader->named = 0;
    while ((got = read_record(reader, &record, &swaps)) == TRACE_PROFILE_GOT_SNAPSHOT) {
        if (has_begun == (record.kind == TRACE_PROFILE_BEGIN) && record.kind <= TRACE_PROFILE_NAMES)
            return say(reader, has_begun ? "a snapshot without its end" : "a snapshot without its head");
        if (record.kind == TRACE_PROFILE_BEGIN) {
            got = take_begin(reader, record.bytes, swaps, &snapshot->begin);
            has_begun = true;
        } else if (record.kind == TRACE_PROFILE_ONE) {
            got = take_profile(reader, record.bytes, swaps, after, visit, context);
            after = got == TRACE_PROFILE_GOT_SNAPSHOT ? ((struct trace_profile *)reader->payload)->serial : 0;
            profiles++;
        } else if (record.kind == TRACE_PROFILE_NAMES) {
            got = take_names(reader, record.bytes, swaps, visit ? context : NULL);
        } else if (record.kind == TRACE_PROFILE_END) {
            got = take_end(reader, record.bytes, swaps, profiles, &snapshot->end);
            snapshot->bytes = reader->offset - snapshot->offset;
            return got;
        }
        if (got != TRACE_PROFILE_GOT_SNAPSHOT)
            return got;
    }
    return got == TRACE_PROFILE_GOT_NOTHING && has_begun ? TRACE_PROFILE_GOT_CUT : got;
}
