/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * traced_test.c - runs traced and `tarn pull` against each other on the host.
 *
 * The rings are real (tests/unit/trace/ring_harness.h): threads log numbered events, traced's own files serve
 * the rings over TCP, and `tarn pull` of the host tool pulls. This file replaces the kernel's system calls
 * and traced's channel. The test counts events: each must be in the trace once or among the discarded. Built
 * with sanitizers; prints TAP.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#include <servers/lib/server.h>
#include <servers/traced/drain.h>
#include <servers/traced/traced.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tarn/runtime.h>
#include <tarn/trace_control.h>
#include <tests/unit/scratch.h>
#include <tests/unit/stub.h>
#include <tests/unit/trace/ring_harness.h>
#include <time.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/source/source.h>
#include <trace/event/previous.h>
#include <trace/events.h>
#include <trace/format/metadata.h>
#include <trace/ring/resize.h>
#include <trace/user.h>
#include <unistd.h>

/* ---- the kernel ------------------------------------------------------------------------------------ */

uint64_t deadline_after(uint64_t ns)
{
    return clock_monotonic_ns() + ns;
}

int64_t sys_thread_sleep(uint64_t deadline)
{
    uint64_t now = clock_monotonic_ns();
    if (deadline > now)
        usleep((useconds_t)((deadline - now) / 1000));
    return 0;
}

uint64_t clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t clock_realtime_ns(void)
{
    return (int64_t)clock_monotonic_ns();
}

RETURNS(1, int64_t sys_notification_create(void));
RETURNS(0, int64_t sys_notification_signal(cap_t notification, uint64_t bits));

/* The pull in its wait, at the low-water mark. */
static _Atomic uint64_t drain_bits;
static _Atomic unsigned waits;

/* Half of a ring is full, and a packet was begun since `seen`. */
static bool is_low(uint64_t seen[TEST_CPUS])
{
    bool is = false;
    for (uint32_t cpu = 0; cpu < TEST_CPUS && !trace_geometry_is_changing(test_info.geometry); cpu++) {
        struct trace_reader reader = ring_of(cpu);
        uint64_t head = trace_reader_head(&reader);
        is |= head != seen[cpu] && head - test_info.consumed[cpu] >= test_info.buffer_count / 2;
        seen[cpu] = head;
    }
    return is && test_info.mode == TRACE_MODE_STREAM;
}

int64_t sys_notification_wait(cap_t notification, uint64_t deadline)
{
    static _Thread_local uint64_t seen[TEST_CPUS];

    waits++;
    while (clock_monotonic_ns() < deadline) {
        if (drain_bits && is_low(seen))
            return (int64_t)drain_bits;
        usleep(1000);
    }
    return -E_TIMEOUT;
}
RETURNS(0, int64_t sys_cap_close(cap_t slot));

/* ---- marks (drain.h): not logged, because tests count events ---- */

static _Atomic uint64_t marked_packets, marks_wrong;
static _Atomic unsigned drains_ended;

void drain_begin(struct drain *drain, uint32_t cpu)
{
    drain->is_marked = drain->has_begun = true;
}

void drain_count(struct drain *drain, size_t bytes)
{
    drain->packets++;
    marks_wrong += !drain->is_marked || bytes == 0;
}

void drain_end(struct drain *drain, bool is_last)
{
    marks_wrong += !drain->is_marked && drain->packets != 0;
    marked_packets += drain->packets;
    drains_ended += is_last && drain->has_begun;
    drain->is_marked = false;
    drain->packets = 0;
}

int64_t sys_trace_control(cap_t trace, uint32_t operation, uint64_t a, uint64_t b)
{
    switch (operation) {
    case TRACE_OP_SET_MASK:
        __atomic_store_n(&test_info.mask, a, __ATOMIC_SEQ_CST);
        return 0;
    case TRACE_OP_SET_MODE:
        if (a > TRACE_MODE_ONCE)
            return -E_BAD_ARGUMENT;
        for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++) {
            struct trace_reader reader = ring_of(cpu);
            uint64_t head = trace_reader_head(&reader), history = test_info.buffer_count / 4;
            uint64_t first = a == TRACE_MODE_STREAM ? head > history ? head - history : 0 : head;
            if (first > test_info.consumed[cpu])
                __atomic_store_n(&test_info.consumed[cpu], first, __ATOMIC_RELEASE);
        }
        __atomic_store_n(&test_info.mode, (uint32_t)a, __ATOMIC_RELEASE);
        return 0;
    case TRACE_OP_FLUSH:
        for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++)
            if (a == cpu || a == ~0ull)
                trace_ring_flush(ring_of_cpu(cpu));
        return 0;
    case TRACE_OP_STATEDUMP:
        return 0;
    case TRACE_OP_SET_DRAIN:
        drain_bits = b;
        return 0;
    default:
        return -E_BAD_ARGUMENT;
    }
}

RETURNS(-E_BAD_ARGUMENT, int64_t sys_system_read(uint32_t kind, uint64_t index, void *buffer, uint64_t size));

int64_t sys_trace_consume(cap_t trace, uint32_t cpu, uint64_t packet)
{
    struct trace_reader reader = ring_of(cpu);
    if (packet < test_info.consumed[cpu] || packet > trace_reader_head(&reader))
        return -E_BAD_ARGUMENT;
    __atomic_store_n(&test_info.consumed[cpu], packet, __ATOMIC_RELEASE);
    return 0;
}

RETURNS(0, int64_t sys_routines_read(cap_t of, uint64_t serial, void *buffer, uint64_t size));
RETURNS(0, int64_t sys_routine_names(uint32_t from, void *buffer, uint64_t size));

int64_t sys_trace_metadata(cap_t trace, uint32_t part, uint64_t offset, void *buffer, uint64_t size)
{
    static char text[1 << 18];
    struct trace_metadata_values values = {.byte_order = "le",
                                           .hostname = "test",
                                           .architecture = "test",
                                           .cpu_count = TEST_CPUS,
                                           .clock_hz = 1000000000};
    uint64_t all = trace_metadata_expand(text, sizeof(text), trace_metadata_template,
                                         trace_metadata_template_size, &values);
    uint64_t left = offset < all ? all - offset : 0;
    if (left > size)
        left = size;
    memcpy(buffer, text + (left ? offset : 0), left);
    return (int64_t)left;
}

/* There is no trace of a previous boot. */
RETURNS(-E_NOT_FOUND, int trace_previous_read_store(cap_t trace, struct trace_previous *previous));
RETURNS(-E_NOT_FOUND, int trace_previous_open(cap_t trace, struct trace_previous *previous));
DOES_NOTHING(void trace_previous_close(struct trace_previous *previous));

struct trace_reader trace_previous_ring(const struct trace_previous *previous, uint32_t cpu)
{
    return trace_reader_open(&test_info, ring_of_cpu(cpu), cpu, ~0ull);
}

RETURNS(-E_NOT_FOUND, int64_t trace_previous_metadata(cap_t trace, uint32_t part, void *buffer, size_t size));
RETURNS(-E_NOT_FOUND, int64_t trace_previous_tables(cap_t trace, uint32_t cpu, void *buffer, size_t size));
DOES_NOTHING(void debug_printf(const char *format, ...));

/* ---- the channel: TCP on the host ------------------------------------------------------------------ */

struct host_channel {
    struct channel channel;
    int fd;
    uint8_t *frame;
};

/* Action to run when space for the `countdown`th frame with
 * a trace packet has been reserved, before it is filled. */
static struct {
    _Atomic int countdown;
    void (*action)(void);
} on_reserve;

static size_t receive(struct channel *channel, void *bytes, size_t size)
{
    ssize_t got = recv(((struct host_channel *)channel)->fd, bytes, size, 0);
    return got > 0 ? (size_t)got : 0;
}

static void *reserve(struct channel *channel, size_t size)
{
    struct host_channel *host = (struct host_channel *)channel;
    free(host->frame);
    if (size > trace_buffer_bytes(&test_info) && atomic_fetch_sub(&on_reserve.countdown, 1) == 1)
        on_reserve.action();
    return host->frame = malloc(size);
}

static bool commit(struct channel *channel, size_t size)
{
    struct host_channel *host = (struct host_channel *)channel;
    for (size_t at = 0; at < size;) {
        ssize_t sent = send(host->fd, host->frame + at, size - at, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += (size_t)sent;
    }
    return true;
}

/* The test has no watch_connections. */
static void account(struct channel *channel, uint64_t *committed, uint64_t *arrived)
{
    *committed = *arrived = 0;
}

static void hang_up(struct channel *channel)
{
    shutdown(((struct host_channel *)channel)->fd, SHUT_RDWR);
}

static void close_channel(struct channel *channel)
{
    struct host_channel *host = (struct host_channel *)channel;
    close(host->fd);
    free(host->frame);
    free(host);
}

static void serve_host(int fd)
{
    struct host_channel *host = calloc(1, sizeof(*host));

    *host = (struct host_channel){{receive, reserve, commit, account, hang_up, close_channel}, dup(fd), NULL};
    serve_channel(&host->channel);
}

static int listener;
static char source_name[40];

static void *serve_hosts(void *unused)
{
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; close(fd)) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        serve_host(fd);
    }
    return unused;
}

static void start_guest(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    pthread_t thread;

    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0 ||
        listen(listener, 4) != 0 || getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        pthread_create(&thread, NULL, serve_hosts, NULL) != 0) {
        printf("Bail out! no listening socket: %s\n", strerror(errno));
        exit(1);
    }
    snprintf(source_name, sizeof(source_name), "tcp:127.0.0.1:%u", ntohs(address.sin_port));
}

/* ---- writers --------------------------------------------------------------------------------------- */

static _Atomic bool writers_stop;
static _Atomic unsigned writer_pause_ns;

/* One writer per CPU; its events are numbered from 0 without gaps. */
static uint64_t written[TEST_CPUS]; /* events of a writer that has stopped */

static void *run_writer(void *argument)
{
    uint32_t cpu = (uint32_t)(uintptr_t)argument;

    test_ring = ring_of_cpu(cpu);
    uint64_t number = 0;
    for (; !writers_stop; number++) {
        trace_user_stopwatch_start(number);
        if (writer_pause_ns && number % 16 == 0)
            nanosleep(&(struct timespec){.tv_nsec = writer_pause_ns}, NULL);
    }
    written[cpu] = number;
    return NULL;
}

static pthread_t writers[TEST_CPUS];

static void start_writers(unsigned pause_ns)
{
    writers_stop = false;
    writer_pause_ns = pause_ns;
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++)
        pthread_create(&writers[cpu], NULL, run_writer, (void *)(uintptr_t)cpu);
}

static void stop_writers(void)
{
    writers_stop = true;
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++)
        pthread_join(writers[cpu], NULL);
}

/* ---- what arrived ---------------------------------------------------------------------------------- */

struct arrived {
    bool sound;
    uint64_t events, first, last; /* number of the writer's events; their first and last number */
    uint64_t jumps;               /* numbers missing between first and last */
    uint64_t discarded;           /* as counted by the packets, from the first to the last */
    uint64_t packets, cut;
};

static void count_mark(struct arrived *arrived, const struct trace_header *event)
{
    uint64_t number;
    memcpy(&number, event + 1, sizeof(number));
    if (arrived->events++ == 0)
        arrived->first = number;
    else if (number <= arrived->last)
        arrived->sound = false;
    else
        arrived->jumps += number - arrived->last - 1;
    arrived->last = number;
}

static struct arrived count_arrived(uint32_t cpu)
{
    struct arrived arrived = {.sound = true};
    uint64_t discarded_first = 0;
    char path[128], *buffer = malloc(TRACE_BUFFER_BYTES_MAX);

    snprintf(path, sizeof(path), "%s/out/cpu%u", scratch, cpu);
    FILE *file = fopen(path, "r");
    const struct trace_packet *packet = (const struct trace_packet *)buffer;
    while (file && fread(buffer, sizeof(*packet), 1, file) == 1 &&
           fread(buffer + sizeof(*packet), packet->packet_size / 8 - sizeof(*packet), 1, file) == 1) {
        struct trace_walk walk;
        const struct trace_header *event;
        if (arrived.packets++ == 0)
            discarded_first = packet->events_discarded;
        arrived.cut += (packet->flags & TRACE_PACKET_CUT) != 0;
        arrived.discarded = packet->events_discarded - discarded_first;
        trace_walk_begin(&walk, packet, packet->content_size / 64, packet->timestamp_end);
        while ((event = trace_walk_next(&walk)))
            if (TRACE_ID_CLASS(event->id) == TRACE_CLASS_USER)
                count_mark(&arrived, event);
        arrived.sound &= !walk.broken;
    }
    if (file)
        fclose(file);
    free(buffer);
    return arrived;
}

static void remove_output(void)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/out", scratch);
    remove_tree(path);
}

static int pull(const char *option, const char *value)
{
    char output[128];
    snprintf(output, sizeof(output), "%s/out", scratch);
    char *words[] = {"pull",     source_name, "-q",           "-o",          output,
                     "--resume", "0",         (char *)option, (char *)value, NULL};
    remove_output();
    return command_run(option ? value ? 9 : 8 : 7, words);
}

static int ctl(const char *command, const char *argument)
{
    char *words[] = {"ctl", source_name, (char *)command, (char *)argument, NULL};
    return command_run(argument ? 4 : 3, words);
}

/* ---- tests ----------------------------------------------------------------------------------------- */

/* When traced reads the earlier ones no longer: it may, a little longer than the host that gave up. */
static void wait_for_pull_to_end(void)
{
    while (pull_is_running())
        usleep(1000);
}

static void new_rings(uint64_t buffer_bytes, uint64_t buffer_count, enum trace_mode mode)
{
    wait_for_pull_to_end();
    setup_rings(buffer_bytes, buffer_count, mode);
}

/* A pull of a quiet system wakes up to look for little that was logged, ten times a second, and for STATUS.
 */
static void test_quiet(void)
{
    new_rings(16384, 64, TRACE_MODE_STREAM);
    check(drain_bits == 0, "after a pull no drain is registered");
    waits = 0;
    int status = pull("--duration", "2");
    unsigned counted = waits;
    check(status == 0 && counted > 10 && counted < 50,
          "a pull of a quiet system sleeps (status %d, %u waits)", status, counted);
}

/* Pulls until a packet of CPU 0 arrives, and breaks the link. Returns its number, or TRACE_NO_PACKET. */
static uint64_t first_packet(uint32_t flags)
{
    const uint64_t want[TEST_CPUS] = {0};
    struct source_item item;
    struct fail fail;
    uint64_t number = TRACE_NO_PACKET;
    struct source *source = open_source(source_name, 0, &fail);
    enum source_got got = source && source->class->begin_pull(source, flags, TRACE_MODE_STREAM, want, &fail)
                              ? SOURCE_ITEM
                              : SOURCE_BROKEN;

    while (number == TRACE_NO_PACKET && got != SOURCE_BROKEN)
        if ((got = source->class->next(source, &item, 10, &fail)) == SOURCE_ITEM &&
            item.kind == SOURCE_PACKET && item.packet.cpu == 0)
            number = item.packet.sequence;
    if (source)
        source->class->close(source);
    return number;
}

/* The link breaks when the guest has sent packets of a CPU, and none has arrived. The mode is that of before
 * until the host comes again. */
static void test_resumed(void)
{
    new_rings(16384, 64, TRACE_MODE_FLIGHT);
    start_writers(1000);
    first_packet(WIRE_PULL_MODE);
    wait_for_pull_to_end();
    const uint64_t began = first_packet(WIRE_PULL_MODE);
    wait_for_pull_to_end();
    const uint64_t resumed = first_packet(WIRE_PULL_MODE | WIRE_PULL_RESUME);
    stop_writers();
    check(began != TRACE_NO_PACKET && began > 0 && resumed == began,
          "a host that has got no packet of a CPU resumes with its first one: %lu and %lu",
          (unsigned long)began, (unsigned long)resumed);
}

/* A writer that dies between reserve and commit. */
static void die_here(void)
{
    pthread_exit(NULL);
}
static void *run_dying_writer(void *argument)
{
    test_ring = ring_of_cpu(0);
    for (uint64_t number = 1000000;; number++)
        trace_user_stopwatch_start(number);
    return NULL;
}

/* The tests' clock counts readings. Uncommitted words are given up when the consumer has waited long enough
 * by the same clock. Here it runs ahead of the consumer's clock, however late this thread is. */
static void *pass_time(void *argument)
{
    const _Atomic bool *stop = argument;
    uint64_t last = clock_monotonic_ns();
    while (!atomic_load(stop)) {
        usleep(10000);
        const uint64_t now = clock_monotonic_ns();
        jump_clock((now - last) * 4); /* one tick is a nanosecond */
        last = now;
    }
    return NULL;
}

static void test_torn(void)
{
    pthread_t dying, time;
    _Atomic bool stop = false;

    new_rings(16384, 64, TRACE_MODE_STREAM);
    set_hook(TRACE_AFTER_RESERVE, 100, die_here);
    pthread_create(&dying, NULL, run_dying_writer, NULL);
    pthread_join(dying, NULL);
    pthread_create(&time, NULL, pass_time, &stop);
    start_writers(20000);
    int status = pull("--duration", "4");
    stop_writers();
    atomic_store(&stop, true);
    pthread_join(time, NULL);
    struct arrived arrived = count_arrived(0);
    check(status == 0 && arrived.cut == 1 && arrived.packets > 2 && arrived.events > 1000,
          "a packet with a hole is cut, the rest follows (status %d, %lu packets)", status,
          (unsigned long)arrived.packets);
}

/* Like start_over() of kernel/trace/rings.c. */
static void clear_rings(void)
{
    const uint64_t sizes = test_info.geometry & 0xffffffff, words = trace_geometry_words(sizes);
    const uint64_t changes = trace_geometry_changes(test_info.geometry) + 1, mask = test_info.mask;

    test_info.mask = 0;
    __atomic_store_n(&test_info.geometry, sizes | changes << 32, __ATOMIC_SEQ_CST);
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++) {
        uint64_t number = trace_index_words(control_of_cpu(cpu)->index) / words + 2;
        for (uint64_t i = 0; i < trace_geometry_buffers(sizes); i++) {
            struct trace_packet *packet =
                (struct trace_packet *)(ring_of_cpu(cpu) + TRACE_BUFFERS_OFFSET + i * words * 8);
            packet->packet_seq_num = TRACE_NO_PACKET;
            packet->committed = words;
        }
        trace_ring_open(ring_of_cpu(cpu), number * words);
        test_info.consumed[cpu] = number;
    }
    test_info.generation++;
    __atomic_store_n(&test_info.geometry, sizes | (changes + 1) << 32, __ATOMIC_SEQ_CST);
    test_info.mask = mask;
}

static bool is_incomplete(uint32_t cpu)
{
    const struct trace_reader reader = ring_of(cpu);
    for (uint64_t n = trace_reader_oldest(&reader); n < trace_reader_head(&reader); n++)
        if (trace_packet_state(&reader, n) == TRACE_PACKET_INCOMPLETE)
            return true;
    return false;
}

/* The ring is stopped, but on a busy host a writer may stay in the middle of an event for long. What it
 * writes after the packets have moved is lost, and a packet with a hole is cut. */
static void wait_for_writers(uint32_t cpu)
{
    for (unsigned turn = 0; turn < 20 || (turn < 10000 && is_incomplete(cpu)); turn++)
        usleep(1000);
}

static struct trace_resize resize[TEST_CPUS];
static unsigned refusals;

static bool plan_resize(uint64_t geometry)
{
    bool fits = true;

    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++) {
        struct trace_control *control = control_of_cpu(cpu);
        struct trace_eras eras;
        trace_ring_stop(ring_of_cpu(cpu));
        wait_for_writers(cpu);
        trace_eras_load(&eras, control, test_info.geometry);
        fits &= trace_resize_plan(&resize[cpu], &eras, control->index,
                                  trace_eras_start(&eras, test_info.consumed[cpu]), geometry, true);
    }
    return fits;
}

/* Like kernel/trace/resize.c. The writers are stopped as long as the geometry is odd. If what is unread does
 * not fit, the rings stay as they are, and a later packet tries again: each change makes the one that is sent
 * begin anew. */
static void resize_rings(uint64_t bytes, uint64_t count)
{
    const uint64_t changes = trace_geometry_changes(test_info.geometry) + 1;
    const uint64_t sizes = test_info.geometry & 0xffffffff;
    const uint64_t geometry = trace_geometry_word(bytes, count, changes + 1);

    __atomic_store_n(&test_info.geometry, sizes | changes << 32, __ATOMIC_SEQ_CST);
    if (!plan_resize(geometry)) {
        for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++)
            trace_ring_go_on(ring_of_cpu(cpu));
        __atomic_store_n(&test_info.geometry, sizes | (changes + 1) << 32, __ATOMIC_SEQ_CST);
        on_reserve.countdown = 6;
        refusals++;
        return;
    }
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++) {
        struct trace_control *control = control_of_cpu(cpu);
        uint64_t most = ~0ull;
        trace_resize_move(&resize[cpu], ring_of_cpu(cpu) + TRACE_BUFFERS_OFFSET, &most);
        trace_resize_forget(&resize[cpu], ring_of_cpu(cpu) + TRACE_BUFFERS_OFFSET);
        for (uint32_t i = 0; i < TRACE_ERAS; i++)
            control->eras[i] = i < resize[cpu].eras.count ? resize[cpu].eras.era[i] : (struct trace_era){0};
        __atomic_store_n(&control->index, resize[cpu].index, __ATOMIC_SEQ_CST);
    }
    trace_set_masks(&test_info, bytes, count);
    __atomic_store_n(&test_info.geometry, geometry, __ATOMIC_SEQ_CST);
}

static void enlarge_buffers(void)
{
    resize_rings(65536, 16);
}

static void shrink_buffers(void)
{
    resize_rings(16384, 64);
}

/* ---- losses at the end ----------------------------------------------------------------------------- */

static bool rings_are_full(void)
{
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++)
        if (__atomic_load_n(&control_of_cpu(cpu)->discarded, __ATOMIC_RELAXED) == 0)
            return false;
    return true;
}

/* Writers that stop when both rings are full and events were discarded; nothing changes after that. */
static void fill_rings(void)
{
    start_writers(0);
    while (!rings_are_full())
        usleep(1000);
    stop_writers();
}

/* Checks that every event is in the trace or counted by it. */
static void check_all_told(const char *what, int status)
{
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++) {
        struct arrived arrived = count_arrived(cpu);
        check(status == 0 && arrived.sound && arrived.discarded == control_of_cpu(cpu)->discarded &&
                  arrived.events + arrived.discarded == written[cpu],
              "%s, cpu %u: status %d, %lu events and %lu discarded are all %lu", what, cpu, status,
              (unsigned long)arrived.events, (unsigned long)arrived.discarded, (unsigned long)written[cpu]);
    }
}

static void wait_for_pull(void)
{
    while (!pull_is_running())
        usleep(1000);
}

static void *fill_and_stop(void *argument)
{
    wait_for_pull();
    fill_rings();
    ctl("stop", NULL);
    return NULL;
}

/* What is unread does not fit into smaller buffers, which need one more. */
static void shrink_full_rings(void)
{
    while (!rings_are_full())
        usleep(1000);
    shrink_buffers();
}

/* A host stops reading for a while, and a program in the guest gives the rings other sizes: space was
 * reserved for a packet of the old size. The pull goes on, and nothing is missing. */
static void *write_and_stop(void *argument)
{
    start_writers(1000);
    wait_for_pull();
    usleep(1500000);
    stop_writers();
    ctl("stop", NULL);
    return argument;
}

static void test_resized(const char *what, void (*change)(void), uint64_t bytes, void *(*write)(void *))
{
    pthread_t writer;

    new_rings(32768, 32, TRACE_MODE_STREAM);
    refusals = 0;
    on_reserve.action = change;
    on_reserve.countdown = 6;
    pthread_create(&writer, NULL, write, NULL);
    int status = pull(NULL, NULL);
    pthread_join(writer, NULL);
    check(trace_buffer_bytes(&test_info) == bytes, "%s: the rings get buffers of %lu bytes", what,
          (unsigned long)bytes);
    check_all_told(what, status);
}

static void test_cleared(void)
{
    new_rings(16384, 64, TRACE_MODE_STREAM);
    on_reserve.action = clear_rings;
    on_reserve.countdown = 6;
    start_writers(1000);
    int status = pull("--duration", "20");
    check(status == EXIT_DAMAGE && count_arrived(0).sound,
          "the rings are cleared while a packet is sent: the pull ends (status %d)", status);
    check(ctl("status", NULL) == 0 && ctl("mode", "stream") == 0, "traced still replies");
    status = pull("--duration", "1");
    stop_writers();
    struct arrived arrived = count_arrived(0);
    check(status == 0 && arrived.sound && arrived.packets > 1, "the next pull is complete (status %d)",
          status);
}

/* Connections that send garbage; traced must survive and serve the next one. */
static void test_hostile(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uint8_t bytes[WIRE_FRAME_BYTES + 600];

    address.sin_port = htons((uint16_t)atoi(strrchr(source_name, ':') + 1));
    for (unsigned round = 0; round < 300; round++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        connect(fd, (struct sockaddr *)&address, sizeof(address));
        uint32_t size = (uint32_t)rand() % 600;
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)rand();
        if (round % 4) {
            /* Well-formed frames with random payloads of every type. */
            uint16_t type = (uint16_t)(round % 3 ? 16 + rand() % 4 : rand() % 32);
            if (round % 4 == 1)
                memset(bytes + WIRE_FRAME_BYTES, 0, 3), bytes[WIRE_FRAME_BYTES + 3] = (uint8_t)(rand() % 12);
            wire_put_frame(bytes, type, size, 0, wire_hash(bytes + WIRE_FRAME_BYTES, size));
        }
        send(fd, bytes, WIRE_FRAME_BYTES + size, MSG_NOSIGNAL);
        if (round % 2)
            shutdown(fd, SHUT_WR);
        struct timeval wait = {.tv_usec = 2000};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
        recv(fd, bytes, sizeof(bytes), 0);
        close(fd);
        usleep(2000);
    }
    usleep(500000);
    check(ctl("status", NULL) == 0, "traced still replies after 300 hostile connections");
}

/* ---- tables of counters ---------------------------------------------------------------------------- */

/* Returns the status of the reply to a request about the system before, or 1. */
static int32_t ask_previous(struct source *source, uint32_t operation, uint64_t cpu, uint64_t bytes)
{
    const struct wire_request request = {.operation = operation, .a = cpu, .b = bytes};
    struct source_reply reply = {.status = 1};
    struct fail fail;

    source_control(source, &request, "", &reply, &fail);
    return reply.size == 0 ? reply.status : 1;
}

static bool refuses_previous(void)
{
    struct fail fail;
    struct source *source = open_source(source_name, 0, &fail);
    const uint32_t operation = WIRE_OP_PREVIOUS_TABLES;
    bool ok = source && ask_previous(source, operation, 0, 8) == -E_NOT_FOUND &&
              ask_previous(source, operation, 0, 7) == -E_BAD_ARGUMENT &&
              ask_previous(source, operation, 0, TRACE_TABLES_BYTES_MAX + 8) == -E_BAD_ARGUMENT &&
              ask_previous(source, operation, 0, UINT64_MAX - 7) == -E_BAD_ARGUMENT &&
              ask_previous(source, operation, 1ull << 32, 8) == -E_BAD_ARGUMENT &&
              ask_previous(source, WIRE_OP_PREVIOUS_METADATA, 0, 0) == -E_NOT_FOUND;

    if (source)
        source->class->close(source);
    return ok;
}

static int tables(void)
{
    char *words[] = {"tables", source_name, NULL};
    return command_run(2, words);
}

static void test_tables(void)
{
    new_rings(16384, 64, TRACE_MODE_STREAM);
    check(tables() == EXIT_USAGE, "a guest without tables of counters is refused");
    check(refuses_previous(), "so are tables of a system before that there was not, and impossible sizes");
}

static void test_marks(void)
{
    uint64_t sent = atomic_load(&packets_sent), marked = atomic_load(&marked_packets);

    check(atomic_load(&marks_wrong) == 0 && marked == sent && atomic_load(&drains_ended) > 3,
          "each packet is sent in a marked round, and each pull marks its end");
    if (marked != sent)
        printf("# %lu sent, %lu marked\n", sent, marked);
}

int main(void)
{
    make_scratch();
    __sanitizer_set_report_fd((void *)STDOUT_FILENO); /* what the host tool complains about is not wanted */
    if (!freopen("/dev/null", "w", stderr))
        return 1;
    setup_rings(16384, 64, TRACE_MODE_FLIGHT);
    start_guest();
    test_quiet();
    test_resumed();
    test_torn();
    test_resized("larger", enlarge_buffers, 65536, write_and_stop);
    test_resized("smaller", shrink_buffers, 16384, write_and_stop);
    test_resized("smaller, when full", shrink_full_rings, 16384, fill_and_stop);
    check(refusals > 0, "full rings stay as they are until what is unread fits (%u tries before)", refusals);
    test_cleared();
    test_tables();
    test_hostile();
    test_marks();
    return finish_tests();
}
