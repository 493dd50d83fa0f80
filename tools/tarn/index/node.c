/* node.c - summaries: adding up, writing, reading; see node.h. */
#include <tools/tarn/index/node.h>

void tally_open(struct tally *tally, const struct trace *trace)
{
    memset(tally, 0, sizeof(*tally));
    tally->cpu_count = trace->stream_count;
    tally->cpus = alloc_zero(tally->cpu_count + 1, sizeof(tally->cpus[0]));
    tally->event_count = trace->schema.event_count;
    tally->events = alloc_zero(tally->event_count + 1, sizeof(tally->events[0]));
    tally_begin(tally, 0);
}

void tally_close(struct tally *tally)
{
    for (unsigned i = 0; i < tally->cpu_count; i++)
        free(tally->cpus[i].ran);
    free(tally->cpus);
    free(tally->events);
    free(tally->threads);
    free(tally->touched);
}

void tally_begin(struct tally *tally, uint64_t begin)
{
    tally->begin = begin;
    tally->stamp++;
    tally->touched_count = 0;
    for (unsigned i = 0; i < tally->cpu_count; i++) {
        memset(tally->cpus[i].ticks, 0, sizeof(tally->cpus[i].ticks));
        tally->cpus[i].count = 0;
    }
    memset(tally->events, 0, tally->event_count * sizeof(tally->events[0]));
}

struct tally_thread *tally_add_thread(struct tally *tally, uint32_t number)
{
    struct tally_thread *thread;
    if (number >= tally->thread_size) {
        uint32_t capacity = number < 128 ? 256 : 2 * number;
        tally->threads = alloc_more(tally->threads, capacity, sizeof(tally->threads[0]));
        memset(tally->threads + tally->thread_size, 0,
               (capacity - tally->thread_size) * sizeof(tally->threads[0]));
        tally->thread_size = capacity;
    }
    tally->touched =
        array_grow(tally->touched, tally->touched_count, &tally->touched_size, sizeof(tally->touched[0]));
    tally->touched[tally->touched_count++] = number;
    thread = &tally->threads[number];
    memset(thread, 0, sizeof(*thread));
    thread->stamp = tally->stamp;
    return thread;
}

const uint64_t *tally_ticks(const struct tally *tally, uint32_t number)
{
    static const uint64_t none[NODE_KINDS];
    bool is_known = number < tally->thread_size && tally->threads[number].stamp == tally->stamp;
    return is_known ? tally->threads[number].ticks : none;
}

/* Returns the thread's index in the list of threads that ran, perhaps GUESS. */
static uint32_t find_ran(struct tally_cpu *cpu, uint32_t thread, uint32_t guess)
{
    uint32_t low;
    if (guess < cpu->count && cpu->ran[guess].thread == thread)
        return guess;
    low = (uint32_t)FIRST_WHERE(0, cpu->count, n, cpu->ran[n].thread >= thread);
    if (low < cpu->count && cpu->ran[low].thread == thread)
        return low;
    cpu->ran = array_grow(cpu->ran, cpu->count, &cpu->size, sizeof(cpu->ran[0]));
    memmove(&cpu->ran[low + 1], &cpu->ran[low], (cpu->count++ - low) * sizeof(cpu->ran[0]));
    cpu->ran[low] = (struct tally_ran){.thread = thread};
    return low;
}

/* Returns the record of a thread that has been in its state since FROM. For a running one, the previous node
 * has its kind. */
static inline struct tally_thread *touch(struct tally *tally, const struct model_thread *thread,
                                         uint64_t from)
{
    bool is_new;
    struct tally_thread *sum = tally_touch(tally, thread->number, &is_new);
    if (__builtin_expect(is_new, 0))
        sum->first = thread->state != MODEL_RUNNING && from <= tally->begin ? node_kind(thread) : NODE_ABSENT;
    return sum;
}

/* Adds the thread's run time since the last call to its CPU. */
static void give_to_cpu(struct tally *tally, struct tally_thread *sum, uint32_t number, bool is_idle)
{
    struct tally_cpu *cpu = &tally->cpus[sum->cpu];
    uint64_t all = 0;
    for (int mode = 0; mode < MODEL_MODES; mode++) {
        uint64_t ticks = sum->ticks[mode] - sum->given[mode];
        cpu->ticks[mode == MODE_USER && is_idle ? CPU_IDLE : mode] += ticks;
        sum->given[mode] = sum->ticks[mode];
        all += ticks;
    }
    if (all != 0) {
        uint32_t at = find_ran(cpu, number, UINT32_MAX);
        cpu->ran[at].ticks += all;
    }
}

static inline void add_run(struct tally *tally, const struct model_thread *thread, struct tally_thread *sum,
                           const uint64_t run_ticks[MODEL_MODES])
{
    if (__builtin_expect(sum->cpu != thread->cpu, 0)) {
        give_to_cpu(tally, sum, thread->number, thread->is_idle);
        sum->cpu = thread->cpu;
    }
    for (int mode = 0; mode < MODEL_MODES; mode++)
        sum->ticks[mode] += run_ticks[mode];
}

/* Touches the running threads, which may have logged no event. */
static void touch_running(struct tally *tally, const struct model *model, const struct merge *merge,
                          uint64_t end)
{
    for (unsigned i = 0; i < tally->cpu_count; i++) {
        const struct model_thread *thread = model->cpus[i].thread;
        if (thread != NULL && thread->state == MODEL_RUNNING &&
            (walk_limit(merge, model, i, end) > tally->begin || thread->segment > tally->begin))
            touch(tally, thread, thread->since);
    }
}

static void add_open(struct tally *tally, const struct model *model, const struct model_thread *thread,
                     struct tally_thread *sum, const struct merge *merge, uint64_t end)
{
    bool is_running = thread->state == MODEL_RUNNING;
    uint64_t from = is_running ? thread->segment : thread->since;
    uint64_t until = is_running ? walk_limit(merge, model, thread->cpu, end) : end;
    sum->last = until < end ? NODE_ABSENT : node_kind(thread); /* unknown from there on */
    from = from > tally->begin ? from : tally->begin;
    if (from < until)
        sum->ticks[node_kind(thread)] += until - from;
}

/* Adds the model's sums since it last reported the thread. */
static void add_waited(struct tally *tally, const struct model *model, const struct model_thread *thread,
                       struct tally_thread *sum)
{
    if (thread->state == MODEL_RUNNING || model_has_waited(model, thread))
        add_run(tally, thread, sum, thread->run_ticks);
    for (int state = MODEL_READY; model_has_waited(model, thread) && state < MODEL_STATES; state++)
        sum->ticks[node_kind_of_state((enum model_state)state)] += thread->waited[state];
}

void tally_open_segments(struct tally *tally, const struct model *model, const struct merge *merge,
                         uint64_t end)
{
    touch_running(tally, model, merge, end);
    for (uint32_t i = 0; i < tally->touched_count; i++) {
        const struct model_thread *thread = model->threads[tally->touched[i]];
        struct tally_thread *sum = &tally->threads[tally->touched[i]];
        sum->last = NODE_ABSENT;
        sum->until = end;
        if (thread != NULL)
            add_waited(tally, model, thread, sum);
        if (thread != NULL && !thread->has_ended)
            add_open(tally, model, thread, sum, merge, end);
        give_to_cpu(tally, sum, tally->touched[i], thread != NULL && thread->is_idle);
    }
}

static void on_state_interval(struct model_observer *observer, const struct model_thread *thread,
                              uint64_t from, uint64_t to)
{
    struct tally *tally = (struct tally *)observer;
    struct tally_thread *sum = touch(tally, thread, from);
    from = from > tally->begin ? from : tally->begin;
    if (thread->state == MODEL_RUNNING)
        add_run(tally, thread, sum, thread->run_ticks);
    else if (from < to)
        sum->ticks[node_kind_of_state(thread->state)] += to - from;
}

static void on_move(struct model_observer *observer, const struct model_thread *thread)
{
    struct tally *tally = (struct tally *)observer;
    add_run(tally, thread, touch(tally, thread, thread->since), thread->run_ticks);
}

/* A new thread was absent before, whatever it does next. */
static void on_thread(struct model_observer *observer, const struct model_thread *thread, bool has_ended,
                      uint64_t ticks)
{
    struct tally_thread *sum;
    bool is_new;
    if (thread->tid == MODEL_NOBODY)
        return;
    sum = tally_touch((struct tally *)observer, thread->number, &is_new);
    if (is_new)
        sum->first = NODE_ABSENT;
}

void tally_observe(struct tally *tally, struct model *model)
{
    tally->observer =
        (struct model_observer){.state_interval = on_state_interval, .moves = on_move, .thread = on_thread};
    model_observe(model, &tally->observer);
}

/* Variable-length numbers have seven bits per byte, low ones first; the last byte lacks the high bit. */
#define VARINT_BYTES_MAX 10u

/* Spreads VALUE, below 2^56, to the low seven bits of eight bytes. */
static inline uint64_t varint_spread(uint64_t value)
{
    value = (value & 0x000000000fffffff) | (value & 0x00fffffff0000000) << 4;
    value = (value & 0x00003fff00003fff) | (value & 0x0fffc0000fffc000) << 2;
    return (value & 0x007f007f007f007f) | (value & 0x3f803f803f803f80) << 1;
}

/* No loop over the bytes except for very large numbers, because the number of iterations is unpredictable. */
static inline void buffer_add_varint(struct buffer *buffer, uint64_t value)
{
    uint8_t *at = buffer_reserve(buffer, VARINT_BYTES_MAX);
    unsigned more = (63u - (unsigned)__builtin_clzll(value | 1)) / 7; /* bytes after the first */
    for (; __builtin_expect(more > 7, 0); more--, value >>= 7, buffer->used++)
        *at++ = (uint8_t)(value | 0x80);
    value = htole64(varint_spread(value) | (0x8080808080808080 & ((1ull << 8 * more) - 1)));
    memcpy(at, &value, sizeof(value));
    buffer->used += more + 1;
}

static inline uint64_t buffer_get_varint(struct buffer_reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && reader->left > 0; shift += 7) {
        uint8_t byte = *reader->at++;
        reader->left--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    reader->failed = true;
    return 0;
}

static void encode_cpu(const struct tally_cpu *cpu, struct buffer *out)
{
    for (int kind = 0; kind < CPU_KINDS; kind++)
        buffer_add_varint(out, cpu->ticks[kind]);
    buffer_add_varint(out, cpu->count);
    for (uint32_t i = 0; i < cpu->count; i++) {
        buffer_add_varint(out, cpu->ran[i].thread);
        buffer_add_varint(out, cpu->ran[i].ticks);
    }
}

static void encode_thread(uint32_t number, const struct tally_thread *sum, struct buffer *out)
{
    unsigned mask = 0;
    for (unsigned kind = 0; kind < NODE_KINDS; kind++)
        mask |= (unsigned)(sum->ticks[kind] != 0) << kind;
    buffer_add_varint(out, number);
    buffer_add_varint(out, (uint64_t)mask << 8 | (uint64_t)sum->first << 4 | sum->last);
    for (; mask != 0; mask &= mask - 1)
        buffer_add_varint(out, sum->ticks[__builtin_ctz(mask)]);
}

void tally_encode(const struct tally *tally, struct buffer *out)
{
    unsigned types = 0, previous = 0;
    for (unsigned i = 0; i < tally->cpu_count; i++)
        encode_cpu(&tally->cpus[i], out);
    buffer_add_varint(out, tally->touched_count);
    for (uint32_t i = 0; i < tally->touched_count; i++)
        encode_thread(tally->touched[i], &tally->threads[tally->touched[i]], out);
    for (unsigned i = 0; i < tally->event_count; i++)
        types += tally->events[i] != 0;
    buffer_add_varint(out, types);
    for (unsigned i = 0; i < tally->event_count; i++)
        if (tally->events[i] != 0) {
            buffer_add_varint(out, i - previous);
            buffer_add_varint(out, tally->events[i]);
            previous = i;
        }
}

static void add_cpu(struct tally_cpu *cpu, struct buffer_reader *node)
{
    uint32_t at = UINT32_MAX; /* adjacent nodes often have the same list */
    for (int kind = 0; kind < CPU_KINDS; kind++)
        cpu->ticks[kind] += buffer_get_varint(node);
    for (uint64_t left = buffer_get_varint(node); left > 0; left--) {
        at = find_ran(cpu, (uint32_t)buffer_get_varint(node), at + 1);
        cpu->ran[at].ticks += buffer_get_varint(node);
    }
}

static void add_thread(struct tally *tally, struct buffer_reader *node, uint64_t begin, uint64_t end)
{
    bool is_new;
    struct tally_thread *sum = tally_touch(tally, (uint32_t)buffer_get_varint(node), &is_new);
    uint64_t head = buffer_get_varint(node);
    if (is_new) {
        sum->first = sum->last = head >> 4 & 15;
        sum->until = tally->begin;
    }
    if (sum->last != NODE_ABSENT && begin > sum->until)
        sum->ticks[sum->last] += begin - sum->until;
    for (unsigned mask = (unsigned)(head >> 8); mask != 0; mask &= mask - 1)
        sum->ticks[__builtin_ctz(mask)] += buffer_get_varint(node);
    sum->until = end;
    sum->last = head & 15;
}

void tally_add(struct tally *tally, struct buffer_reader node, uint64_t begin, uint64_t end)
{
    uint64_t type = 0;
    for (unsigned i = 0; i < tally->cpu_count; i++)
        add_cpu(&tally->cpus[i], &node);
    for (uint64_t left = buffer_get_varint(&node); left > 0; left--)
        add_thread(tally, &node, begin, end);
    for (uint64_t left = buffer_get_varint(&node); left > 0; left--) {
        type += buffer_get_varint(&node);
        tally->events[type] += buffer_get_varint(&node);
    }
}

void tally_extend(struct tally *tally, uint64_t end)
{
    for (uint32_t i = 0; i < tally->touched_count; i++) {
        struct tally_thread *sum = &tally->threads[tally->touched[i]];
        if (sum->last != NODE_ABSENT && end > sum->until)
            sum->ticks[sum->last] += end - sum->until;
        sum->until = end;
    }
}
