/*
 * tests/unit/trace/ring_test.c - tests the logging path under its own races, on the host, with sanitizers.
 *
 * The tests cause interrupts, preemption, migration and thread death at the path's named race windows
 * (ring.h, enum trace_test_point): an action logs events of its own, moves the thread to another CPU, or
 * never returns. Each event carries a number, so a reader knows which arrived.
 */
#include "ring_harness.h"
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stddef.h>
#include <tests/unit/scratch.h>
#include <trace/format/sum.h>
#include <trace/lock.h>
#include <trace/user.h>

#define SMALL             TRACE_BUFFER_BYTES_MIN
#define EVENTS_PER_BUFFER (SMALL / 16) /* events of two words, a little less */

static char directory[64], text_of_babeltrace2[64]; /* a trace that babeltrace2 reads, and what it prints */

static uint64_t copy[SMALL / 8]; /* of a packet */

/* Numbers seen: how often each was read. */
static uint8_t seen[1 << 20];
static uint64_t wrong_order, last_number;

static void note_number(const struct trace_header *event, uint64_t time, void *context)
{
    uint64_t number = *(const uint64_t *)(event + 1);
    if (event->id == TRACE_ID(TRACE_CLASS_USER, 3) && number < sizeof(seen)) {
        seen[number]++;
        wrong_order += number < last_number;
        last_number = number;
    }
}

static void forget_numbers(void)
{
    memset(seen, 0, sizeof(seen));
    wrong_order = last_number = 0;
}

static bool seen_once(uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++)
        if (seen[i] != 1)
            return false;
    return true;
}

static void log_numbers(uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++)
        trace_user_stopwatch_start(i);
}

/* ---- one writer ----------------------------------------------------------------------------------- */

static void test_tails(void)
{
    setup_rings(SMALL, 8, TRACE_MODE_FLIGHT);
    static char text[20000];
    static uint64_t chain[2000];
    memset(text, 'x', sizeof(text) - 1);
    trace_user_text("");
    for (unsigned i = 0; i < 40; i++)
        trace_user_mark(i, text + sizeof(text) - 1 - i);
    trace_user_text(text);
    trace_lock_contended(1, 2, 3, 4, 5, 6, 7, 8, 9, 2000, chain);
    trace_lock_contended(1, 2, 3, 4, 5, 6, 7, 8, 9, 0, chain);
    struct findings f = read_all(NULL, NULL, directory);
    check(f.events == 44 && !f.incomplete && !f.disorder, "tails: strings and arrays of any length");
    check(count_by_babeltrace2(directory, text_of_babeltrace2) == 44, "tails: babeltrace2 agrees");
}

static void note_time(const struct trace_header *event, uint64_t time, void *context)
{
    uint64_t *times = context;
    times[++times[0]] = time;
}

static void test_time_gaps(void)
{
    static const uint64_t gaps[] = {
        1, 1u << 30, (1ull << 31) - 1000, (1ull << 31) + 1000, (1ull << 32) + 5, 1ull << 40};
    static uint64_t times[100];
    uint64_t expected[7], worst = 0;
    setup_rings(SMALL, 32, TRACE_MODE_FLIGHT);
    memset(times, 0, sizeof(times));
    for (unsigned i = 0; i < 6; i++) {
        expected[i] = test_clock();
        trace_user_stopwatch_start(i);
        jump_clock(gaps[i]);
    }
    expected[6] = test_clock();
    trace_user_stopwatch_start(6);
    struct findings f = read_all(note_time, times, directory);
    for (unsigned i = 0; i < 7 && times[0] == 7; i++)
        if (times[i + 1] - expected[i] > worst)
            worst = times[i + 1] - expected[i];
    check(times[0] == 7 && worst <= 20, "time gaps up to 2^40 ticks: every time right (worst %lu off)",
          worst);
    check(!f.incomplete && !f.disorder && count_by_babeltrace2(directory, text_of_babeltrace2) == 7,
          "time gaps: babeltrace2 agrees");
}

/* ---- interrupted writers -------------------------------------------------------------------------- */

static const char *const point_names[] = {"after index read", "before reserve",   "after reserve",
                                          "before commit",    "after state read", "before change",
                                          "after change",     "before open",      "before limit",
                                          "before stop",      "after stop"};

/* Two threads after a gap: one opens the next packet and stops, another closes that packet and stops at
 * `second`, and they finish in the order in which they came. */
static struct {
    enum trace_test_point second;
    sem_t is_stopped, may_finish;
} in_order;

static void stop_in_second(void)
{
    sem_post(&in_order.is_stopped);
    sem_wait(&in_order.may_finish);
}

static void *log_second(void *argument)
{
    test_ring = argument;
    log_numbers(10000, 10001);
    return NULL;
}

static pthread_t second_thread;

static void start_second(void)
{
    jump_clock(1000);
    set_hook(in_order.second, 1, stop_in_second);
    pthread_create(&second_thread, NULL, log_second, test_ring);
    sem_wait(&in_order.is_stopped);
}

static void test_order_behind_gap(void)
{
    static uint64_t times[40];
    sem_init(&in_order.is_stopped, 0, 0);
    sem_init(&in_order.may_finish, 0, 0);
    for (int first = TRACE_AFTER_CHANGE; first <= TRACE_BEFORE_LIMIT; first++) {
        for (int second = TRACE_AFTER_CHANGE; second <= TRACE_BEFORE_LIMIT; second++) {
            setup_rings(SMALL, 16, TRACE_MODE_FLIGHT);
            memset(times, 0, sizeof(times));
            log_numbers(0, 5);
            jump_clock(5ull << 32);
            in_order.second = (enum trace_test_point)second;
            set_hook(first, 1, start_second);
            log_numbers(5, 6);
            sem_post(&in_order.may_finish);
            pthread_join(second_thread, NULL);
            log_numbers(6, 11);
            struct findings f = read_all(note_time, times, NULL);
            check(!f.incomplete && !f.lost && !f.disorder && times[0] == 12,
                  "behind a gap, stopped %s, another then %s, both go on in this order", point_names[first],
                  point_names[second]);
        }
    }
}

static jmp_buf death;

static void die(void)
{
    longjmp(death, 1);
}

static struct trace_reader reader_of(uint32_t cpu, uint64_t latest)
{
    return trace_reader_open(&test_info, ring_of_cpu(cpu), cpu, latest);
}

/* ---- writers a lap late --------------------------------------------------------------------------- */

#define LAP_BUFFERS 4

static struct {
    uint64_t beyond;  /* packets closed after the one that it hits */
    uint64_t further; /* laps */
    bool hole;        /* a thread is killed in the packet that it hits */
    bool was_read;
    uint64_t wrong;    /* events never logged with these values */
    struct findings f; /* after its stores, before its commit */
} lap;

static void log_checkable(uint64_t number)
{
    trace_lock_held(number, ~number, (uint32_t)number, (uint32_t)~number);
}

static void check_checkable(const struct trace_header *event, uint64_t time, void *context)
{
    const uint64_t *word = (const uint64_t *)(event + 1);
    const uint32_t *half = (const uint32_t *)(word + 2);
    if (event->length == 4)
        lap.wrong += word[0] != ~word[1] || half[0] != ~half[1] || half[0] != (uint32_t)word[0];
    else if (event->id != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_HEARTBEAT))
        lap.wrong += event->length != 2 || word[0] != 77;
}

static void read_what_is_there(void)
{
    struct trace_reader reader = reader_of(0, ~0ull);
    lap.f = (struct findings){0};
    lap.was_read = true;
    for (uint64_t i = trace_reader_tail(&reader); i < trace_reader_head(&reader); i++)
        read_packet(0, i, check_checkable, NULL, NULL, &lap.f);
}

static void log_to_packet(uint64_t number)
{
    struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(0), 0, ~0ull);
    for (uint64_t i = 0; trace_reader_head(&reader) < number; i++)
        log_checkable(i);
}

/* While the writer is stopped the ring goes round; the packet is read after its stores and before its commit.
 */
static void let_lap_pass(void)
{
    struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(0), 0, ~0ull);
    const uint64_t hit = trace_reader_head(&reader) + LAP_BUFFERS;
    log_to_packet(hit);
    if (lap.hole) {
        for (unsigned i = 0; i < 200; i++)
            log_checkable(i);
        set_hook(TRACE_AFTER_RESERVE, 1, die);
        if (!setjmp(death))
            log_checkable(200);
    }
    log_to_packet(hit + 1 + lap.beyond + lap.further * LAP_BUFFERS);
    set_hook(TRACE_BEFORE_COMMIT, 1, read_what_is_there);
}

/* Logs so that the event is stopped at `point`, its words where a later event of four words has its header
 * (`shift` 0) or its data. */
static void be_a_lap_late(enum trace_test_point point, unsigned shift)
{
    setup_rings(SMALL, LAP_BUFFERS, TRACE_MODE_FLIGHT);
    lap.was_read = false;
    lap.wrong = 0;
    log_to_packet(3);
    if (shift)
        trace_ring_heartbeat();
    set_hook(point, 1, let_lap_pass);
    while (!lap.was_read)
        trace_user_stopwatch_start(77);
}

/* A writer stopped for a whole lap stores over a packet that is not its own. */
static void test_late_writers(void)
{
    static const enum trace_test_point points[] = {TRACE_AFTER_RESERVE, TRACE_AFTER_CHANGE,
                                                   TRACE_BEFORE_OPEN};
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned variant = 0; variant < 16; variant++) {
            lap.beyond = variant / 4 % 2;
            lap.further = variant / 8;
            lap.hole = variant & 2;
            be_a_lap_late(points[i], variant & 1);
            check(lap.was_read && !lap.wrong && !lap.f.disorder && lap.f.whole >= 1 && lap.f.lost >= 1,
                  "%s late %s%s%s%s: nothing that is read is wrong (%lu whole, %lu cut, %lu lost)",
                  lap.further ? "two laps" : "a lap", point_names[points[i]],
                  variant & 1 ? ", into data" : "", lap.hole ? ", beside a hole" : "",
                  lap.beyond ? ", a packet further" : "", lap.f.whole, lap.f.cut, lap.f.lost);
            read_what_is_there();
            check(!lap.wrong && !lap.f.disorder && control_of_cpu(0)->torn > 0,
                  "also when he has committed, and the missing words were counted");
        }
    }
}

static struct findings read_after_laps(uint64_t count)
{
    struct trace_reader reader = reader_of(0, ~0ull);
    /* the last buffer, where these tests are late, is closed and not yet taken again */
    log_to_packet((trace_reader_head(&reader) / LAP_BUFFERS + 1 + count) * LAP_BUFFERS);
    read_what_is_there();
    return lap.f;
}

/* Until when a packet inherits uncommitted words: until the late writer has committed, or must be dead. */
static void test_doubt_ends(void)
{
    lap.hole = false;
    lap.beyond = lap.further = 0;
    be_a_lap_late(TRACE_AFTER_RESERVE, 0);
    struct findings f = read_after_laps(1);
    check(f.whole == LAP_BUFFERS - 1 && !f.lost, "when he has committed the next lap is whole");

    setup_rings(SMALL, LAP_BUFFERS, TRACE_MODE_FLIGHT);
    lap.wrong = 0;
    log_to_packet(3);
    set_hook(TRACE_AFTER_RESERVE, 1, die);
    if (!setjmp(death))
        log_checkable(0);
    f = read_after_laps(5);
    check(f.whole == LAP_BUFFERS - 2 && f.lost == 1, "after a death one buffer is in doubt, lap after lap");
    for (unsigned i = 0; i < TRACE_PATIENCE_SECONDS * 4 - 1; i++) {
        jump_clock(test_info.clock_hz / 4);
        trace_ring_heartbeat();
        f = read_after_laps(1);
    }
    check(f.lost == 1, "as long as the writer may only be slow");
    jump_clock(test_info.clock_hz / 2);
    trace_ring_heartbeat();
    read_after_laps(1);
    f = read_after_laps(1);
    check(f.whole == LAP_BUFFERS - 1 && !f.lost && !lap.wrong, "but not for ever");
}

/* The writer of two words of packet 3, which it commits when all is too late. */
static struct trace_slot late;

static void reserve_late(void)
{
    setup_rings(SMALL, LAP_BUFFERS, TRACE_MODE_FLIGHT);
    log_to_packet(3);
    trace_reserve(&late, 2);
}

static void commit_late(void)
{
    trace_put_64(&late, 0, 77);
    trace_commit(&late, TRACE_ID(TRACE_CLASS_USER, 3), 2);
}

/* Its words were written off, and its buffer holds a whole packet, when it stores and commits. */
static void test_commit_while_copied(void)
{
    reserve_late();
    log_to_packet(3 + LAP_BUFFERS + 1);
    jump_clock((TRACE_PATIENCE_SECONDS + 1) * test_info.clock_hz);
    log_to_packet(3 + 2 * LAP_BUFFERS + 1);
    const struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(0), 0, ~0ull);
    const bool was_whole = trace_packet_state(&reader, 3 + 2 * LAP_BUFFERS) == TRACE_PACKET_WHOLE;
    set_hook(TRACE_AFTER_COPY, 1, commit_late);
    check(was_whole && trace_packet_copy(&reader, 3 + 2 * LAP_BUFFERS, copy) == TRACE_PACKET_GONE,
          "given up, and committed while its buffer is copied: the copy is not used");
}

static void test_snapshot_in_doubt(void)
{
    reserve_late();
    const struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(0), 0, ~0ull);
    const bool before = trace_packet_snapshot(&reader, copy);
    log_to_packet(3 + LAP_BUFFERS);
    log_checkable(1);
    const bool meanwhile = trace_packet_snapshot(&reader, copy);
    commit_late();
    log_to_packet(3 + 2 * LAP_BUFFERS);
    check(before && !meanwhile && trace_packet_snapshot(&reader, copy),
          "no snapshot while a writer a lap late may store there");
}

/* Reads what the rings hold after all writers have died, whatever the control page contains. */
static struct findings salvage(void)
{
    struct findings f = {0};
    struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(0), 0, ~0ull);
    uint64_t first, last;
    forget_numbers();
    if (!trace_salvage_range(&reader, &first, &last))
        return f;
    for (uint64_t number = first; number <= last; number++) {
        if (!trace_packet_salvage(&reader, number, copy)) {
            f.lost++;
            continue;
        }
        f.whole++;
        f.cut += ((struct trace_packet *)copy)->flags & TRACE_PACKET_CUT;
        f.disorder += ((struct trace_packet *)copy)->committed != SMALL / 8; /* readers take it for damaged */
        visit_packet((struct trace_packet *)copy, note_number, NULL, &f);
    }
    return f;
}

/* A writer is stopped before it writes, and interrupts log after it. The event of an earlier lap in its place
 * looks as if it came next: its time is 2^32 ticks ago, and some. The events behind it do not. */
static void test_old_event_in_hole(void)
{
    setup_rings(SMALL, 16, TRACE_MODE_FLIGHT);
    log_numbers(0, 20 * EVENTS_PER_BUFFER);
    jump_clock((1ull << 32) - (1u << 29));
    log_numbers(100000, 100000 + 2 * EVENTS_PER_BUFFER);
    set_hook(TRACE_AFTER_RESERVE, 30, die);
    if (!setjmp(death))
        log_numbers(200000, 200000 + EVENTS_PER_BUFFER);
    log_numbers(300000, 300003);
    struct findings f = salvage();
    check(hook_was_run() && f.cut == 1 && !f.disorder && !wrong_order &&
              seen_once(100000, 100000 + 2 * EVENTS_PER_BUFFER) && seen_once(200000, 200028),
          "an event of an earlier lap in a hole is not taken for a new one");
}

/* Kills a thread in each window. Everything logged before is there for a reader of the dead system; in a live
 * one, others continue. */
static void test_deaths(void)
{
    static uint64_t logged; /* survives longjmp */
    for (int point = TRACE_AFTER_INDEX_READ; point <= TRACE_BEFORE_LIMIT; point++) {
        setup_rings(SMALL, 16, TRACE_MODE_FLIGHT);
        /* the hole will have stale events of an earlier lap */
        log_numbers(0, 20 * EVENTS_PER_BUFFER);
        set_hook(point, point >= TRACE_AFTER_STATE_READ ? 1 : 30, die);
        if (!setjmp(death))
            for (logged = 100000;; logged++)
                log_numbers(logged, logged + 1);
        struct findings f = salvage();
        check(hook_was_run() && f.whole >= 15 && !f.disorder && !wrong_order && seen_once(100000, logged) &&
                  seen_once(10 * EVENTS_PER_BUFFER, 20 * EVENTS_PER_BUFFER) && f.cut <= 1 && f.lost <= 1,
              "dead %s: %lu packets, all events up to the last; %lu cut, %lu lost", point_names[point],
              f.whole, f.cut, f.lost);
        const uint64_t index = control_of_cpu(0)->index;
        control_of_cpu(0)->index = 0xdeadbeef00ull << TRACE_INDEX_SHIFT;
        f = salvage();
        check(!f.disorder && !wrong_order && seen_once(10 * EVENTS_PER_BUFFER, 19 * EVENTS_PER_BUFFER),
              "dead %s, index destroyed: still there", point_names[point]);
        control_of_cpu(0)->index = index;
        forget_numbers();
        log_numbers(200000, 200000 + 3 * EVENTS_PER_BUFFER);
        f = read_all(note_number, NULL, NULL);
        const bool harmless = point == TRACE_AFTER_INDEX_READ || point == TRACE_BEFORE_RESERVE ||
                              point == TRACE_AFTER_STATE_READ || point == TRACE_BEFORE_CHANGE;
        check(!f.disorder &&
                  (harmless ? !f.incomplete : f.incomplete >= 1 && f.incomplete <= 2 && f.whole >= 10) &&
                  seen_once(200000 + 2 * EVENTS_PER_BUFFER, 200000 + 3 * EVENTS_PER_BUFFER),
              "killed %s: %lu packets incomplete, %lu cut, %lu lost, the others whole; logging continues",
              point_names[point], f.incomplete, f.cut, f.lost);
    }
}

static void move_away(void)
{
    test_ring = ring_of_cpu(1);
}

/* Clocks that differ show whether a time was read on the CPU of its ring. */
static void test_migration(void)
{
    for (int point = TRACE_AFTER_INDEX_READ; point <= TRACE_BEFORE_LIMIT; point++) {
        skew_clock(5000);
        setup_rings(SMALL, 16, TRACE_MODE_FLIGHT);
        forget_numbers();
        set_hook(point, point >= TRACE_AFTER_STATE_READ ? 1 : 100, move_away);
        log_numbers(0, 3 * EVENTS_PER_BUFFER);
        struct findings f = read_all(note_number, NULL, NULL);
        skew_clock(0);
        check(hook_was_run() && !f.incomplete && !f.disorder && seen_once(0, 3 * EVENTS_PER_BUFFER),
              "moved to another processor %s: every event once, times in order", point_names[point]);
    }
}

/* The same in the slow path: the event is in the ring of the CPU where its time was read. */
static void test_migration_slow(void)
{
    setup_rings(SMALL, 16, TRACE_MODE_FLIGHT);
    const struct trace_reader here = reader_of(0, 0), there = reader_of(1, 0);
    const uint64_t before = trace_reader_events(&here), number = 1;
    const bool alike = trace_reader_events(&there) == before;
    set_hook(TRACE_AFTER_INDEX_READ, 1, move_away);
    trace_log_slow(TRACE_ID(TRACE_CLASS_USER, 3), &number, 2);
    check(hook_was_run() && alike && trace_reader_events(&here) == before &&
              trace_reader_events(&there) == before + 1,
          "moved to another processor in the slow path: logged there");
}

/* restart.c has closed the packet, and not yet moved the index. */
static void test_snapshot_while_closing(void)
{
    setup_rings(SMALL, 4, TRACE_MODE_FLIGHT);
    forget_numbers();
    log_numbers(0, 5);
    const struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(0), 0, 0);
    ((struct trace_packet *)trace_packet_at(&reader, 0))->committed = SMALL / 8;
    const bool is_made = trace_packet_snapshot(&reader, copy);
    const struct trace_packet *packet = (const struct trace_packet *)copy;
    struct findings f = {0};
    if (is_made)
        visit_packet(packet, note_number, NULL, &f);
    check(is_made && !(packet->flags & TRACE_PACKET_CUT) && f.events == 5 && !f.disorder && seen_once(0, 5),
          "snapshot of a packet that is being closed: all %lu events", f.events);
}

/* A CPU that its host does not run logs nothing for so long, not even a heartbeat. */
static void test_snapshot_after_pause(void)
{
    jump_clock((1ull << 32) - (uint32_t)test_clock());
    setup_rings(SMALL, 4, TRACE_MODE_FLIGHT);
    forget_numbers();
    log_numbers(0, 3);
    jump_clock((1ull << 31) + 1000);
    log_numbers(3, 5);
    const struct findings f = salvage();
    check(f.events == 5 && !f.cut && seen_once(0, 5),
          "a pause of 2^31 ticks in an open packet: all %lu events", f.events);
}

/* ---- a full ring ---------------------------------------------------------------------------------- */

/* Losses are reported between two packets, never inside one. Each event has a number and a known time; an
 * event that no reader finds was lost at that time. */
#define FULL_EVENTS  4096
#define FULL_PACKETS 64
#define INTERRUPTS   600 /* of each race window */

static struct {
    uint64_t count;
    struct {
        uint64_t from, to; /* when the call began and ended */
        bool is_there;
    } event[FULL_EVENTS];
    uint64_t packets, next; /* read so far; to be read next */
    struct trace_packet packet[FULL_PACKETS];
    struct findings f;
} full;

/* 0 words: by the fast path. */
static void log_full(uint32_t words)
{
    const uint64_t number = full.count++, data[TRACE_LENGTH_MAX] = {number};
    full.event[number].from = test_clock();
    if (words)
        trace_log_slow(TRACE_ID(TRACE_CLASS_USER, 3), data, words);
    else
        log_numbers(number, number + 1);
    full.event[number].to = test_clock();
}

static void note_full(const struct trace_header *event, uint64_t time, void *context)
{
    const uint64_t number = *(const uint64_t *)(event + 1);
    if (event->id == TRACE_ID(TRACE_CLASS_USER, 3) && number < full.count) {
        full.f.disorder += full.event[number].is_there || time < full.event[number].from ||
                           (full.event[number].to && time > full.event[number].to);
        full.event[number].is_there = true;
    }
}

/* Reads whole packets only, for a writer may be interrupted; then frees the buffers. */
static void drain_full(void)
{
    struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(0), 0, 0);
    while (trace_packet_state(&reader, full.next) == TRACE_PACKET_WHOLE && full.packets < FULL_PACKETS) {
        full.packet[full.packets] = *trace_packet_at(&reader, full.next);
        read_packet(0, full.next++, note_full, NULL, NULL, &full.f);
        full.packets++;
    }
    test_info.consumed[0] = full.next;
}

/* A ring with `rest` words left in its second buffer. A stream has no more. */
static void fill_ring(enum trace_mode mode, uint64_t rest)
{
    setup_rings(SMALL, mode == TRACE_MODE_STREAM ? 2 : 32, mode);
    const struct trace_control *control = control_of_cpu(0);
    memset(&full, 0, sizeof(full));
    const uint64_t size = 2 * SMALL / 8;
    while (size - trace_index_words(control->index) > rest) {
        const uint64_t left = size - trace_index_words(control->index) - rest;
        const uint64_t here =
            test_info.buffer_mask + 1 - (trace_index_words(control->index) & test_info.buffer_mask);
        log_full(left < 400 ? (uint32_t)left : here > 400 && here < 800 ? (uint32_t)here - 150 : 300);
    }
}

/* Counts events that were lost while a packet was open, which readers cannot find, as they place losses
 * between packets; and packets that do not report losses which ended before they began, or report losses
 * before they happened. */
static uint64_t wrong_losses(void)
{
    uint64_t wrong = 0;
    for (const struct trace_packet *packet = full.packet; packet < full.packet + full.packets; packet++) {
        uint64_t least = 0, most = 0;
        for (uint64_t i = 0; i < full.count; i++) {
            if (full.event[i].is_there)
                continue;
            const uint64_t from = full.event[i].from, to = full.event[i].to;
            least += to < packet->timestamp_begin;
            most += from < packet->timestamp_begin;
            wrong += packet->timestamp_begin < from && to < packet->timestamp_end;
        }
        wrong += packet->events_discarded < least || packet->events_discarded > most;
    }
    return wrong;
}

static bool full_is_right(void)
{
    uint64_t there = 0;
    for (unsigned i = 0; i < 2; i++) {
        drain_full();
        trace_ring_flush(ring_of_cpu(0));
    }
    drain_full();
    for (uint64_t i = 0; i < full.count; i++)
        there += full.event[i].is_there;
    return there + control_of_cpu(0)->discarded == full.count && !wrong_losses() &&
           full.packets == full.f.whole && !full.f.disorder;
}

/* The packet of a full ring ends with the first loss, and no later event gets into it, however small. */
static void test_full(void)
{
    for (uint64_t rest = 1; rest <= 1000; rest = rest < 5 ? rest + 1 : rest * 3) {
        fill_ring(TRACE_MODE_STREAM, rest);
        const uint64_t first = full.count;
        log_full((uint32_t)rest + 2); /* one word is for the packet's end */
        jump_clock(100000);
        log_full(1 + (rest > 1));
        log_full(0);
        const uint64_t lost = control_of_cpu(0)->discarded;
        jump_clock(100000);
        drain_full();
        const struct trace_packet last = full.packet[full.packets - 1];
        jump_clock(100000);
        log_full(0);
        log_full(0);
        check(
            lost == 3 && full.packets == 2 && last.timestamp_end <= full.event[first].to && full_is_right() &&
                full.packet[2].events_discarded == 3 && full.event[first + 4].is_there,
            "full with %lu words left: the packet ends with the first loss, and logging continues behind it",
            rest);
    }
    fill_ring(TRACE_MODE_STREAM, 100);
    jump_clock(1ull << 40);
    log_full(2);
    jump_clock(1ull << 40);
    drain_full();
    log_full(0);
    check(control_of_cpu(0)->discarded == 1 && full_is_right() && full.packets == 3,
          "full, and behind a gap: the packet ends before the loss");
}

static void drain_and_log(void)
{
    drain_full();
    log_full(2);
}

/* A writer that found the ring full is stopped until there is space, and another writer has opened a packet.
 */
static void test_full_no_more(void)
{
    fill_ring(TRACE_MODE_STREAM, 100);
    log_full(200);
    set_hook(TRACE_BEFORE_STOP, 1, drain_and_log);
    log_full(3);
    check(hook_was_run() && control_of_cpu(0)->discarded == 1 && full_is_right(),
          "full no more when the loss is to be counted: it is none");
}

/* A writer that finds the ring full is killed before it closes the packet. */
static void test_full_death(void)
{
    fill_ring(TRACE_MODE_STREAM, 100);
    const uint64_t logged = full.count;
    set_hook(TRACE_AFTER_STOP, 1, die);
    if (!setjmp(death))
        log_full(200);
    log_full(3);
    struct findings f = salvage();
    check(control_of_cpu(0)->discarded == 2 && f.whole == 2 && f.events == logged && !f.lost && f.cut == 1,
          "full, killed after stop: all that was logged before can be read");
    f = (struct findings){0};
    for (uint64_t number = 0; number < 3; number++) {
        if (number == 2) {
            test_info.consumed[0] = 2;
            log_full(3);
            trace_ring_flush(ring_of_cpu(0));
        }
        read_packet(0, number, NULL, NULL, NULL, &f);
    }
    check(f.whole == 2 && f.cut == 1 && !f.lost && f.events == logged + 1 &&
              control_of_cpu(0)->discarded == 2,
          "full, killed after stop: logging continues");
}

/* ---- interrupted writers -------------------------------------------------------------------------- */

/* What an interrupt does, one after another; STEP_AGAIN: what comes next is interrupted at the same point. */
enum step { STEP_SMALL, STEP_BIG, STEP_MANY, STEP_FAST, STEP_DRAIN, STEP_WAIT, STEP_AGAIN, STEPS };
#define STEPS_EACH 4

static struct {
    enum trace_test_point point;
    unsigned step;
    enum step steps[STEPS_EACH];
    uint64_t pause;
} interrupt;

static void run_steps(void)
{
    while (interrupt.step < STEPS_EACH) {
        const enum step step = interrupt.steps[interrupt.step++];
        const unsigned events = step == STEP_MANY ? 4 : step <= STEP_FAST; /* many: more than a buffer */
        for (unsigned i = 0; i < events; i++)
            log_full(step == STEP_SMALL ? 2 : step == STEP_FAST ? 0 : 700);
        if (step == STEP_DRAIN)
            drain_full();
        else if (step == STEP_WAIT)
            jump_clock(interrupt.pause);
        else if (step == STEP_AGAIN)
            set_hook(interrupt.point, 1, run_steps);
    }
}

static void prepare_interrupt(enum trace_test_point point, uint64_t random)
{
    static const uint64_t pauses[] = {4000, (1ull << 31) - 5000, (1ull << 31) + 1000, (1ull << 32) - 7,
                                      3ull << 32};
    interrupt.point = point;
    interrupt.step = 0;
    interrupt.pause = pauses[random % 5];
    random /= 5;
    for (unsigned i = 0; i < STEPS_EACH; i++, random /= STEPS)
        interrupt.steps[i] = random % STEPS;
    set_hook(point, 1 + random % 2, run_steps);
}

/* Interrupts every race window of an event in a ring that is full, just drained, or flies, perhaps behind a
 * gap, in which case the packet may be closed before its begin is known. */
static void test_interrupted(enum trace_mode mode)
{
    static const uint64_t rests[] = {1, 3, 200};
    const int end = mode == TRACE_MODE_FLIGHT ? TRACE_BEFORE_STOP : TRACE_AFTER_COPY;
    unsigned seed = 1;
    for (int point = TRACE_AFTER_INDEX_READ; point < end; point++) {
        unsigned runs = 0, wrong = 0;
        for (unsigned variant = 0; variant < INTERRUPTS; variant++) {
            const unsigned start = (unsigned)rand_r(&seed) % 24;
            fill_ring(mode, rests[start % 3]);
            if (start / 3 % 2)
                log_full(700);
            prepare_interrupt((enum trace_test_point)point, (uint64_t)rand_r(&seed) << 16 ^ rand_r(&seed));
            if (start / 6 % 2)
                jump_clock(interrupt.pause);
            if (start / 12)
                drain_full();
            log_full(250);
            log_full(0);
            runs += hook_was_run();
            set_hook((enum trace_test_point)point, 0, NULL);
            jump_clock(1000);
            log_full(300);
            log_full(0);
            drain_full();
            log_full(0);
            wrong += !full_is_right();
        }
        check(runs > 0 && !wrong,
              "%s, interrupted %s: each event once, at its time, losses between packets (%u of %u wrong)",
              mode == TRACE_MODE_FLIGHT ? "flight recorder" : "full", point_names[point], wrong, runs);
    }
}

static uint64_t head_wanted;

static void log_up_to_head(void)
{
    struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(0), 0, 0);
    while (trace_reader_head(&reader) < head_wanted)
        trace_user_stopwatch_start(0);
}

/* Writers come round while a reader copies: up to the buffer before, and one packet further. */
static void test_overwritten_copy(void)
{
    enum trace_packet_state state[2];
    for (unsigned i = 0; i < 2; i++) {
        setup_rings(SMALL, 4, TRACE_MODE_FLIGHT);
        struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(0), 0, 0);
        head_wanted = 2;
        log_up_to_head();
        head_wanted = 1 + 3 + i;
        set_hook(TRACE_AFTER_COPY, 1, log_up_to_head);
        state[i] = trace_packet_copy(&reader, 1, copy);
    }
    check(state[0] == TRACE_PACKET_WHOLE, "copied while writers come up to the buffer before it: whole");
    check(state[1] == TRACE_PACKET_GONE, "copied while its buffer is taken again: gone");
}

/* A packet's buffer still has the earlier packet's header and full count when the index has left it: one
 * writer has taken it, and stopped; an event behind a gap has taken the next one. */
static uint64_t taken;
static enum trace_packet_state state_of_taken;

static void look_at_taken(void)
{
    const struct trace_reader reader = reader_of(0, 0);
    taken = trace_reader_head(&reader) - 1;
    state_of_taken = trace_packet_state(&reader, taken);
}

static void take_next(void)
{
    set_hook(TRACE_AFTER_CHANGE, 1, look_at_taken);
    jump_clock(5ull << 32);
    log_numbers(0, 1);
}

static void test_number(void)
{
    setup_rings(SMALL, 4, TRACE_MODE_FLIGHT);
    head_wanted = 6;
    log_up_to_head();
    set_hook(TRACE_AFTER_CHANGE, 1, take_next);
    head_wanted = 9;
    log_up_to_head();
    check(hook_was_run() && taken == 7 && state_of_taken == TRACE_PACKET_INCOMPLETE,
          "a buffer with an earlier packet's header and count: not whole");
}

/* ---- hostile programs ----------------------------------------------------------------------------- */

static unsigned seed = 12345;

static uint64_t random_word(void)
{
    uint64_t word = (uint64_t)rand_r(&seed) << 42 ^ (uint64_t)rand_r(&seed) << 21 ^ (uint64_t)rand_r(&seed);
    const unsigned kind = (unsigned)rand_r(&seed) % 4;
    return kind == 0 ? word : kind == 1 ? ~0ull - word % 5000 : kind == 2 ? word % 20000 : 0;
}

/* Writes garbage to control pages and buffers between and within calls; stores outside would hit unmapped
 * memory. */
static void scribble(void)
{
    for (unsigned i = 0; i < 3; i++) {
        uint64_t *control = (uint64_t *)control_of_cpu(rand_r(&seed) % TEST_CPUS);
        control[(offsetof(struct trace_control, events) + 8 * (rand_r(&seed) % 6)) / 8] = random_word();
        uint64_t *ring = (uint64_t *)(ring_of_cpu(rand_r(&seed) % TEST_CPUS) + TRACE_BUFFERS_OFFSET);
        ring[rand_r(&seed) % (test_info.ring_mask / 8 + 1)] = random_word();
        ring[(rand_r(&seed) % test_info.buffer_count) * (test_info.buffer_mask + 1) + rand_r(&seed) % 16] =
            random_word();
    }
}

/* A program has overwritten the header of a whole packet. */
static void test_spoilt_packet(void)
{
    setup_rings(SMALL, 8, TRACE_MODE_FLIGHT);
    log_numbers(0, 3 * EVENTS_PER_BUFFER);
    const struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(0), 0, ~0ull);
    struct trace_packet *packet = (struct trace_packet *)trace_packet_at(&reader, 1);
    const struct trace_packet sound = *packet;
    const bool is_whole = trace_packet_copy(&reader, 1, copy) == TRACE_PACKET_WHOLE;
    packet->cpu_id = 99;
    const enum trace_packet_state header = trace_packet_copy(&reader, 1, copy);
    *packet = sound;
    packet->content_size = 8 * SMALL + 64;
    const enum trace_packet_state content = trace_packet_copy(&reader, 1, copy);
    check(is_whole && header == TRACE_PACKET_INCOMPLETE && content == TRACE_PACKET_INCOMPLETE,
          "a whole packet with another CPU's number, or longer than its buffer, is not taken as it is");
}

static void test_garbage(void)
{
    static const enum trace_mode modes[] = {TRACE_MODE_FLIGHT, TRACE_MODE_STREAM, TRACE_MODE_ONCE};
    uint64_t packets = 0;
    for (unsigned round = 0; round < 3; round++) {
        setup_rings(SMALL, 4, modes[round]);
        for (unsigned i = 0; i < 20000; i++) {
            set_hook(rand_r(&seed) % (TRACE_BEFORE_LIMIT + 1), 1, scribble);
            log_numbers(i, i + 3);
            trace_user_text("some text");
            trace_ring_heartbeat();
            if (i % 16)
                continue;
            struct findings f = {0};
            uint32_t cpu = i / 16 % TEST_CPUS;
            struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(cpu), cpu, 0);
            uint64_t head = trace_reader_head(&reader), next = head > 4 ? head - 4 : 0;
            read_ring(cpu, &next, NULL, NULL, NULL, &f);
            packets += f.whole + f.incomplete;
            trace_ring_flush(ring_of_cpu(cpu));
        }
    }
    check(packets > 0, "garbage everywhere: nothing written outside the ring, %lu packets looked at",
          packets);
}

/* ---- checksums: they detect damage, and identify the packet ---------------------------------------------
 */

#define WORDS (SMALL / 8)

static uint64_t packet[WORDS], changed[WORDS];

static uint64_t entry_of(const uint64_t *words, uint64_t number)
{
    struct trace_sum sum = {0};
    trace_sum_add(&sum, words, WORDS);
    return trace_sum_entry(&sum, number);
}

/* One of: a bit, a piece with what lies elsewhere or with one byte, two pieces that change places. */
static void damage(unsigned round)
{
    const unsigned size = 1 + (unsigned)random() % 512, to = (unsigned)random() % (WORDS - size),
                   from = (unsigned)random() % (WORDS - size),
                   step = (unsigned)random() % (WORDS / TRACE_SUM_STEP - 1) * TRACE_SUM_STEP;
    memcpy(changed, packet, sizeof(packet));
    if (round % 4 == 0) {
        changed[to] ^= 1ull << random() % 64;
    } else if (round % 4 == 1) {
        memcpy(changed + to, packet + from, size * 8);
    } else if (round % 4 == 2) {
        memset(changed + to, (int)random() & 0xff, size * 8);
    } else {
        memcpy(changed + step, packet + step + TRACE_SUM_STEP, TRACE_SUM_STEP * 8);
        memcpy(changed + step + TRACE_SUM_STEP, packet + step, TRACE_SUM_STEP * 8);
    }
}

static void test_sums(void)
{
    srandom(4);
    for (unsigned i = 0; i < WORDS; i++)
        packet[i] = (uint64_t)random() << 32 ^ (uint64_t)random();
    unsigned missed = 0;
    for (unsigned round = 0; round < 20000; round++) {
        damage(round);
        missed += memcmp(changed, packet, sizeof(packet)) != 0 && entry_of(changed, 7) == entry_of(packet, 7);
    }
    check(missed == 0, "changed bits, and pieces that are overwritten or moved, are detected");
    struct trace_sum sum = {0};
    for (unsigned at = 0; at < WORDS; at += 64)
        trace_sum_add(&sum, packet + at, 64);
    uint64_t entry = entry_of(packet, 7);
    check(trace_sum_entry(&sum, 7) == entry, "a sum can be taken piece by piece");
    check(trace_sum_is_of(entry, 7) && !trace_sum_is_of(entry, 7 + TRACE_SUMS) && !trace_sum_is_of(0, ~0ull),
          "an entry belongs to its packet, and no entry to none");
}

int main(void)
{
    make_scratch();
    snprintf(directory, sizeof(directory), "%s/trace", scratch);
    snprintf(text_of_babeltrace2, sizeof(text_of_babeltrace2), "%s/text", scratch);
    test_tails();
    test_time_gaps();
    test_order_behind_gap();
    test_deaths();
    test_late_writers();
    test_doubt_ends();
    test_commit_while_copied();
    test_snapshot_in_doubt();
    test_old_event_in_hole();
    test_migration();
    test_migration_slow();
    test_snapshot_while_closing();
    test_snapshot_after_pause();
    test_full();
    test_full_no_more();
    test_full_death();
    test_interrupted(TRACE_MODE_STREAM);
    test_interrupted(TRACE_MODE_FLIGHT);
    test_overwritten_copy();
    test_number();
    test_spoilt_packet();
    test_garbage();
    test_sums();
    return finish_tests();
}
