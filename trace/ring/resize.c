/* trace/ring/resize.c - see resize.h. */
#include <trace/ring/resize.h>

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Makes packet `first` the first one that the eras know. */
static void drop_before(struct trace_eras *eras, uint64_t first)
{
    while (eras->count > 1 && eras->era[eras->count - 2].number <= first)
        eras->count--;
    struct trace_era *oldest = &eras->era[eras->count - 1];
    if (first > oldest->number) {
        oldest->start += (first - oldest->number) * oldest->words;
        oldest->number = first;
    }
}

/* False: no space for another era. */
static bool begin_era(struct trace_eras *eras, struct trace_era era)
{
    const bool is_empty = eras->era[0].number == era.number;
    if (!is_empty && eras->count == TRACE_ERAS)
        return false;
    for (uint32_t i = is_empty ? 0 : eras->count++; i > 0; i--)
        eras->era[i] = eras->era[i - 1];
    eras->era[0] = era;
    return true;
}

bool trace_resize_plan(struct trace_resize *resize, const struct trace_eras *eras, uint64_t index,
                       uint64_t unread, uint64_t geometry)
{
    const uint64_t words = trace_geometry_words(geometry), old = eras->era[0].words;
    const uint64_t ring_words = words * trace_geometry_buffers(geometry);
    const uint64_t head = trace_eras_head(eras, index), end = trace_index_head_start(index, old);
    const uint64_t start = (end + words - 1) & ~(words - 1); /* of the next packet */
    const uint64_t fits = start > ring_words ? start - ring_words : 0, there = trace_eras_low(eras, index);
    const uint64_t low = least(fits > there ? fits : there, end);
    const uint64_t first = trace_eras_number(eras, low);
    if (unread < low)
        return false;
    *resize = (struct trace_resize){.eras = *eras,
                                    .index = trace_index_at(start - 1, 0) | (index & TRACE_INDEX_EVENTS) |
                                             TRACE_INDEX_CLOSED,
                                    .old_words = eras->ring_words,
                                    .end = end};
    resize->from = first < head ? trace_eras_start(eras, first) : end;
    resize->kept = first < head ? resize->from : start;
    resize->eras.ring_words = ring_words;
    drop_before(&resize->eras, first);
    return (words == old && start == end) || begin_era(&resize->eras, (struct trace_era){head, start, words});
}

bool trace_resize_move(struct trace_resize *resize, char *buffers, uint64_t *most)
{
    const uint64_t old_mask = resize->old_words - 1, mask = resize->eras.ring_words - 1;
    while (resize->from < resize->end) {
        const uint64_t at = resize->from & old_mask, to = resize->from & mask;
        const uint64_t whole = least(resize->old_words - at, resize->eras.ring_words - to);
        uint64_t words = least(resize->end - resize->from, whole);
        if (at != to) {
            words = least(words, *most);
            if (!words)
                return false;
            __builtin_memcpy(buffers + to * 8, buffers + at * 8, words * 8);
            *most -= words;
        }
        resize->from += words;
    }
    return true;
}

void trace_resize_forget(const struct trace_resize *resize, char *buffers)
{
    const struct trace_eras *eras = &resize->eras;
    const uint64_t words = eras->era[0].words, next = trace_index_head_start(resize->index, words);
    const uint64_t kept = next - (resize->kept & ~(words - 1)); /* words from the first kept buffer on */
    for (uint64_t back = eras->ring_words; back > kept; back -= words) {
        struct trace_packet *packet =
            (struct trace_packet *)(void *)(buffers + trace_eras_place(eras, next - back));
        __atomic_store_n(&packet->packet_seq_num, TRACE_NO_PACKET, __ATOMIC_RELAXED);
        __atomic_store_n(&packet->committed, words, __ATOMIC_RELAXED);
    }
}
