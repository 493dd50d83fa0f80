/* keep.c - decides when the head of a growing trace is cut, and where; see keep.h. */
#include <string.h>
#include <tools/tarn/keep/keep.h>

/* With fewer, half of them would not contain the packets that are being written at a cut. */
#define PACKETS_LEAST 4u /* for each CPU */

bool keep_open(struct keep *keep, const struct keep_amount *amount, const struct wire_hello *hello,
               struct fail *fail)
{
    const uint64_t least = (uint64_t)PACKETS_LEAST * hello->cpu_count;
    const double ticks = amount->seconds * (double)hello->clock_hz;
    *keep = (struct keep){.bytes = amount->bytes};
    if (amount->bytes != 0 && keep->bytes < least * hello->buffer_bytes)
        return fail_set(
            fail, "--keep: %llu bytes are too few; %u CPUs with buffers of %llu bytes need at least %lluK",
            (unsigned long long)amount->bytes, hello->cpu_count, (unsigned long long)hello->buffer_bytes,
            (unsigned long long)(least * hello->buffer_bytes / 1024));
    keep->ticks = ticks < 0x1p62 ? (uint64_t)ticks : 1ull << 62;
    if (amount->seconds != 0 && keep->ticks == 0)
        keep->ticks = 1;
    return true;
}

bool keep_wants_dump(const struct keep *keep, uint64_t now, uint64_t arrived)
{
    return (keep->ticks != 0 && now - keep->dump_time >= keep->ticks / KEEP_DUMP_TIME) ||
           (keep->bytes != 0 && arrived - keep->dump_bytes >= keep->bytes / KEEP_DUMP_PART);
}

/* Returns the earliest time at which a cut removes a packet; UINT64_MAX: there is none. The last packet of a
 * CPU, however old, always stays. */
static uint64_t find_first(const struct trace_writer *writer)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t cpu = 0; cpu < writer->hello.cpu_count; cpu++)
        if (stream_begin(&writer->cpu[cpu], 1) < first)
            first = stream_begin(&writer->cpu[cpu], 1);
    return first;
}

/* Returns the earliest time in [FIRST, NOW] at which a cut leaves at most MOST bytes. */
static uint64_t find_by_bytes(const struct trace_writer *writer, uint64_t first, uint64_t now, uint64_t most)
{
    /* a cut at NOW leaves one packet for each CPU */
    return FIRST_WHERE(sooner(first, now), now, time, bytes_kept(writer, time) <= most);
}

/* Returns the place of a statedump to cut at: the first one that leaves at most half of the limit, but at
 * least a quarter. */
static uint64_t cut_by_bytes(const struct keep *keep, const struct trace_writer *writer,
                             const struct statedumps *dumps, uint64_t first, uint64_t now)
{
    for (unsigned i = 0; i < statedumps_known(dumps); i++) {
        uint64_t kept;
        if (dumps->begins[i] < first)
            continue;
        kept = bytes_kept(writer, dumps->begins[i]);
        if (kept <= keep->bytes / 2)
            return kept >= keep->bytes / 4 ? dumps->begins[i]
                                           : find_by_bytes(writer, first, now, keep->bytes / 2);
    }
    return find_by_bytes(writer, first, now, keep->bytes / 2);
}

/* The last statedump that leaves enough. */
static uint64_t cut_by_time(const struct keep *keep, const struct statedumps *dumps, uint64_t first,
                            uint64_t now)
{
    uint64_t time = now - keep->ticks;
    for (unsigned i = statedumps_known(dumps); i-- > 0;)
        if (dumps->begins[i] <= time && dumps->begins[i] > first)
            return dumps->begins[i];
    return time;
}

bool keep_wants_cut(const struct keep *keep, const struct trace_writer *writer,
                    const struct statedumps *dumps, uint64_t now, uint64_t *time, bool *is_forced)
{
    const uint64_t first = find_first(writer), held = bytes_in_files(writer);
    const bool is_old = keep->ticks != 0 && now > first && (now - first) / KEEP_TIMES >= keep->ticks;
    *is_forced = keep->bytes != 0 && held >= keep->bytes - keep->bytes / 6;
    *time = 0;
    if (is_old)
        *time = cut_by_time(keep, dumps, first, now);
    if (*is_forced && (*time == 0 || bytes_kept(writer, *time) > keep->bytes / 2))
        *time = cut_by_bytes(keep, writer, dumps, first, now);
    return (is_old || *is_forced) && bytes_kept(writer, *time) < held;
}

/* ---- statedumps ---- */

void statedumps_ask(struct statedumps *dumps, uint64_t time)
{
    if (dumps->count == STATEDUMPS_MAX)
        memmove(dumps->begins, dumps->begins + 1, sizeof(dumps->begins[0]) * --dumps->count);
    dumps->begins[dumps->count++] = time;
    dumps->is_asked = true;
}

void statedumps_forget(struct statedumps *dumps)
{
    dumps->count -= dumps->is_asked;
    dumps->is_asked = false;
}

void statedumps_confirm(struct statedumps *dumps, bool is_done)
{
    if (dumps->is_asked && is_done)
        dumps->is_asked = false;
    else if (dumps->is_asked)
        statedumps_forget(dumps);
    dumps->is_possible &= is_done;
}
