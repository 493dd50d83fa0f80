/*
 * tests/unit/trace/resize_test.c - rings whose sizes change keep their packets: random geometries, one after
 * another, in a ring of memory that a sanitizer watches. Every word of a packet tells its packet and its
 * place in it, so a wrong move shows.
 */
#include <tests/tap.h>
#include <trace/ring/resize.h>

#define LEAST       128u /* words of the smallest buffer */
#define SIZES       5u   /* buffers of LEAST << 0 to LEAST << 4 words */
#define RING_WORDS  (LEAST << 9)
#define ROUNDS      3000u
#define PACKETS_MAX 100000u

static struct trace_control control;
static uint64_t *ring;
static struct {
    uint64_t start, words;
} packets[PACKETS_MAX]; /* what the test knows of each packet */
static uint64_t logged; /* packets */
static uint64_t geometry;

static struct trace_eras eras_now(void)
{
    struct trace_eras eras;
    trace_eras_load(&eras, &control, geometry);
    return eras;
}

/* Writes the next packet where the index says, as trace_ring_open() and a close do. */
static void log_packet(void)
{
    const struct trace_eras eras = eras_now();
    const uint64_t words = trace_geometry_words(geometry);
    const uint64_t start = trace_index_head_start(control.index, words);
    for (uint64_t i = 0; i < words; i++)
        ring[(start + i) & (eras.ring_words - 1)] = logged << 32 | i;
    packets[logged].start = start;
    packets[logged++].words = words;
    control.index = trace_index_at(start + words - 1, logged) | TRACE_INDEX_CLOSED;
}

static bool is_intact(const struct trace_eras *eras, uint64_t number)
{
    const uint64_t words = trace_eras_words(eras, number), start = trace_eras_start(eras, number);
    const uint64_t place = trace_eras_place(eras, start) / 8;
    bool is = words == packets[number].words;
    for (uint64_t i = 0; i < words && is; i++)
        is = ring[place + i] == (number << 32 | i);
    return is;
}

/* From the oldest that the eras tell. */
static bool are_all_intact(uint64_t *oldest)
{
    const struct trace_eras eras = eras_now();
    bool are = trace_eras_head(&eras, control.index) == logged;
    *oldest = trace_eras_oldest(&eras, control.index);
    for (uint64_t number = *oldest; number < logged; number++)
        are &= is_intact(&eras, number);
    return are;
}

static uint64_t random_geometry(void)
{
    const uint64_t words = LEAST << (unsigned)random() % SIZES;
    uint64_t count = 2ull << (unsigned)random() % 6;
    while (words * count > RING_WORDS)
        count /= 2;
    return trace_geometry_word(words * 8, count, 0);
}

/* In steps of random length. */
static void move_all(struct trace_resize *resize)
{
    uint64_t most;
    do
        most = (uint64_t)random() % 300;
    while (!trace_resize_move(resize, (char *)ring, &most));
}

static void take(const struct trace_resize *resize, uint64_t to)
{
    for (uint32_t i = 0; i < TRACE_ERAS; i++)
        control.eras[i] = i < resize->eras.count ? resize->eras.era[i] : (struct trace_era){0};
    control.index = resize->index;
    geometry = to;
}

/* What must be there after a change to `to`: all whole packets among the newest words that it has space for.
 */
static uint64_t oldest_that_fits(uint64_t before, uint64_t next, uint64_t to)
{
    const uint64_t space = trace_geometry_words(to) * trace_geometry_buffers(to);
    while (before < logged && next > space && packets[before].start < next - space)
        before++;
    return before;
}

static void start_ring(uint64_t first)
{
    memset(&control, 0, sizeof(control));
    geometry = first;
    logged = 0;
}

static void test_random(void)
{
    unsigned wrong = 0, lost = 0, refused = 0, moved = 0, full = 0;
    start_ring(random_geometry());
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 1 + (unsigned)random() % 9; i > 0; i--)
            log_packet();
        uint64_t before, after;
        wrong += !are_all_intact(&before);
        const struct trace_eras eras = eras_now();
        const uint64_t to = random_geometry();
        const bool is_flight = random() & 1;
        const uint64_t unread = before + (uint64_t)random() % (logged + 1 - before);
        struct trace_resize resize;
        if (!trace_resize_plan(&resize, &eras, control.index,
                               is_flight ? TRACE_ALL_READ : trace_eras_start(&eras, unread), to)) {
            refused += !is_flight;
            full += is_flight;
            wrong += !are_all_intact(&after) || after != before;
            continue;
        }
        moved += resize.from < resize.end && resize.old_words != resize.eras.ring_words;
        move_all(&resize);
        take(&resize, to);
        const uint64_t next = trace_index_head_start(control.index, trace_geometry_words(to));
        trace_resize_forget(&resize, (char *)ring);
        wrong += !are_all_intact(&after);
        lost += after > oldest_that_fits(before, next, to) || (!is_flight && after > unread);
    }
    check(wrong == 0, "every packet that is there is intact, with its number and size (%u are not)", wrong);
    check(lost == 0, "none is lost for which there is space (%u are)", lost);
    check(refused > ROUNDS / 50 && moved > ROUNDS / 5 && full < ROUNDS / 10,
          "%u changes would have lost unread packets, %u moved packets, %u found too many sizes", refused,
          moved, full);
}

/* More sizes than the table holds are refused until the ring has gone round. */
static void test_many_sizes(void)
{
    struct trace_resize resize;
    unsigned changes = 0;
    const uint64_t sizes[] = {trace_geometry_word(LEAST * 8, 256, 0),
                              trace_geometry_word(LEAST * 16, 128, 0)};
    uint64_t oldest;
    start_ring(sizes[0]);
    for (;; changes++) {
        log_packet();
        const struct trace_eras eras = eras_now();
        if (!trace_resize_plan(&resize, &eras, control.index, TRACE_ALL_READ, sizes[(changes + 1) % 2]))
            break;
        take(&resize, sizes[(changes + 1) % 2]);
    }
    check(changes == TRACE_ERAS - 1 && are_all_intact(&oldest) && oldest == 0,
          "%u sizes at a time: all packets are there", changes + 1);
    while (oldest < changes) {
        log_packet();
        are_all_intact(&oldest);
    }
    const struct trace_eras eras = eras_now();
    check(trace_resize_plan(&resize, &eras, control.index, TRACE_ALL_READ, sizes[(changes + 1) % 2]),
          "and another one when the ring has gone round");
}

/* A program can write anything into the table: no place is outside the ring, no size above the largest. */
static void test_garbage(void)
{
    bool is_bounded = true;
    for (unsigned round = 0; round < ROUNDS; round++) {
        geometry = random_geometry();
        for (unsigned i = 0; i < sizeof(control.eras) / 4; i++)
            ((uint32_t *)control.eras)[i] = random() & 1 ? (uint32_t)random() : 1u << random() % 32;
        if (random() & 1)
            control.eras[0].words = trace_geometry_words(geometry);
        const struct trace_eras eras = eras_now();
        for (unsigned i = 0; i < 20; i++) {
            const uint64_t number = (uint64_t)random() << random() % 33;
            is_bounded &= trace_eras_place(&eras, trace_eras_start(&eras, number)) +
                              trace_eras_words(&eras, number) * 8 <=
                          eras.ring_words * 8;
        }
    }
    check(is_bounded, "no table leads out of the ring");
}

int main(void)
{
    ring = malloc(RING_WORDS * 8);
    srandom(1);
    memset(ring, 0, RING_WORDS * 8);
    test_random();
    test_many_sizes();
    test_garbage();
    free(ring);
    return finish_tests();
}
