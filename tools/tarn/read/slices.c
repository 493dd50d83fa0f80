/* slices.c - where to cut a trace; see slices.h. */
#include <stdlib.h>
#include <tools/tarn/read/slices.h>

#define SLICE_BYTES     (4u << 20)
#define PACKETS_PER_CUT 6u /* minimum per stream: packets that cross a cut are read twice */
#define WORTH_CUTTING   3u /* the minimum number of slices */

struct begins {
    uint64_t *ticks;
    size_t count, size;
    uint64_t bytes; /* total of the packets */
};

/* False unless all packets are whole, of one size, and in order. */
static bool note_packets(struct begins *begins, const struct trace *trace, const struct stream *stream)
{
    uint64_t end = 0, bytes = stream->first_packet_bytes;
    if (bytes == 0 || stream->size % bytes != 0)
        return false;
    for (uint64_t offset = 0; offset < stream->size; offset += bytes) {
        struct trace_packet header;
        if (stream_header(trace, stream, offset, &header) != ANOMALY_NONE ||
            header.packet_size / 8 != bytes || header.timestamp_begin < end)
            return false;
        end = header.timestamp_end;
        begins->ticks = array_grow(begins->ticks, begins->count, &begins->size, sizeof(begins->ticks[0]));
        begins->ticks[begins->count++] = header.timestamp_begin;
    }
    begins->bytes += stream->size;
    return true;
}

static void add_slice(struct slices *slices, const struct trace *trace, uint64_t ticks)
{
    /* a microsecond: more than the rounding error */
    uint64_t slack = trace->schema.clock_freq / 1000000 + 1;
    int64_t ns = schema_ns(&trace->schema, ticks);
    if (ns <= slices->slices[slices->count - 1].from_ns)
        return;
    slices->slices = alloc_more(slices->slices, slices->count + 1, sizeof(slices->slices[0]));
    slices->slices[slices->count - 1].to_ns = ns;
    slices->slices[slices->count++] = (struct slice){ticks > slack ? ticks - slack : 0, ns, INT64_MAX};
}

static void cut_evenly(struct slices *slices, const struct trace *trace, struct begins *begins,
                       const struct filter *filter)
{
    size_t step = (size_t)(SLICE_BYTES / (begins->bytes / begins->count));
    step = step < PACKETS_PER_CUT * trace->stream_count ? PACKETS_PER_CUT * trace->stream_count : step;
    qsort(begins->ticks, begins->count, sizeof(begins->ticks[0]), compare_numbers);
    slices->slices = alloc_zero(1, sizeof(slices->slices[0]));
    slices->slices[0] = (struct slice){filter->from_ticks, INT64_MIN, INT64_MAX};
    slices->count = 1;
    for (size_t i = step; i < begins->count; i += step)
        if (begins->ticks[i] > filter->from_ticks && begins->ticks[i] < filter->to_ticks)
            add_slice(slices, trace, begins->ticks[i]);
}

void slices_plan(struct slices *slices, const struct trace *trace, const struct filter *filter)
{
    struct begins begins = {NULL, 0, 0, 0};
    uint64_t total = 0;
    bool ok = true;
    slices->slices = NULL;
    slices->count = 0;
    for (unsigned i = 0; i < trace->stream_count; i++)
        total += filter->streams == NULL || filter->streams[i] ? trace->streams[i].size : 0;
    if (total < WORTH_CUTTING * SLICE_BYTES)
        return;
    for (unsigned i = 0; i < trace->stream_count && ok; i++)
        if (filter->streams == NULL || filter->streams[i])
            ok = note_packets(&begins, trace, &trace->streams[i]);
    if (ok)
        cut_evenly(slices, trace, &begins, filter);
    free(begins.ticks);
}

void slices_free(struct slices *slices)
{
    free(slices->slices);
    slices->slices = NULL;
    slices->count = 0;
}
