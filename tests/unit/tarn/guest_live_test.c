/*
 * tests/unit/tarn/guest_live_test.c - reading rings in a file (ram:) into which, with the kernel's own code,
 * is logged between any two accesses to them. The rings are as small as they can be, so that packets are
 * overwritten before, while and after they are copied: what comes out must be right, event by event. Running
 * guests: tests/host/from_outside. Prints TAP.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <tests/unit/scratch.h>
#include <tests/unit/trace/ring_harness.h>
#include <tools/tarn/source/guest.h>
#include <trace/format/store.h>
#include <trace/user.h>
#include <unistd.h>

#define BUFFER_BYTES (16u << 10)
#define BUFFERS      2u
#define RING_BYTES   (BUFFER_BYTES * BUFFERS)
#define STORE_AT     0x100000u
#define INFO_AT      0x1000u
#define RINGS_AT     0x200000u /* control page, then buffers, for each processor */
#define WINDOW_BYTES (RING_BYTES + 4096)
#define FILE_BYTES   (4u << 20)
#define EXTENTS      (1 + RING_BYTES / 4096) /* of each processor: a ring in pages, as a reader's pieces are */

static char ram_path[96];
static char *ram;
static int ram_fd;

/* The harness' windows, but their memory is the file's. */
static void put_window_into_file(uint32_t cpu)
{
    uint64_t at = RINGS_AT + cpu * WINDOW_BYTES;
    char *window = ring_of_cpu(cpu);
    memcpy(ram + at, trace_control_of(window), 4096);
    memcpy(ram + at + 4096, window + TRACE_BUFFERS_OFFSET, RING_BYTES);
    if (mmap(trace_control_of(window), 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, ram_fd,
             (off_t)at) == MAP_FAILED ||
        mmap(window + TRACE_BUFFERS_OFFSET, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             ram_fd, (off_t)(at + 4096)) == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
}

static void write_store(void)
{
    struct trace_store *store = (struct trace_store *)(void *)(ram + STORE_AT);
    *store = (struct trace_store){.self = STORE_AT,
                                  .version = TRACE_STORE_VERSION,
                                  .bytes = sizeof(*store) + TEST_CPUS * EXTENTS * sizeof(struct trace_extent),
                                  .extent_count = TEST_CPUS * EXTENTS,
                                  .boot_id = 1,
                                  .info = INFO_AT,
                                  .cpu_count = TEST_CPUS,
                                  .mode = TRACE_MODE_FLIGHT,
                                  .buffer_bytes = BUFFER_BYTES,
                                  .buffer_count = BUFFERS,
                                  .clock_hz = 1000000000,
                                  .machine = "host"};
    memcpy(store->uuid, test_info.uuid, sizeof(store->uuid));
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++) {
        uint64_t at = RINGS_AT + cpu * WINDOW_BYTES;
        struct trace_extent *extent = &store->extents[cpu * EXTENTS];
        *extent++ = (struct trace_extent){at, TRACE_CONTROL_OFFSET, 4096, TRACE_EXTENT_RING, cpu};
        for (uint64_t page = 0; page < RING_BYTES; page += 4096)
            *extent++ = (struct trace_extent){at + 4096 + page, TRACE_BUFFERS_OFFSET + page, 4096,
                                              TRACE_EXTENT_RING, cpu};
    }
    store->magic = TRACE_STORE_MAGIC;
    store->checksum = trace_store_checksum(store, store->bytes);
    struct trace_info info = test_info;
    info.magic = TRACE_INFO_MAGIC;
    info.version = TRACE_INFO_VERSION;
    memcpy(ram + INFO_AT, &info, sizeof(info));
}

static void start_guest(void)
{
    setup_rings(BUFFER_BYTES, BUFFERS, TRACE_MODE_FLIGHT);
    ram_fd = open(ram_path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    ram = ram_fd >= 0 && ftruncate(ram_fd, FILE_BYTES) == 0
              ? mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ram_fd, 0)
              : MAP_FAILED;
    if (ram == MAP_FAILED) {
        perror(ram_path);
        exit(2);
    }
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++)
        put_window_into_file(cpu);
    write_store();
}

/* Between any two looks of the reader at memory the guest may log anything. This does, at the `act_at`th:
 * events with a count, four times. */
static unsigned looks, act_at, act_events;
static uint64_t acted;

static void act(unsigned events)
{
    test_ring = ring_of_cpu(0);
    for (; events > 0; events--, acted++) {
        const uint64_t words[4] = {acted, acted, acted, acted};
        trace_log_words(TRACE_ID(TRACE_CLASS_USER, 5), words, sizeof(words), NULL, 0);
    }
}

struct seen {
    uint64_t next;
    bool is_wrong;
};

static void see_event(const struct trace_header *event, uint64_t time, void *context)
{
    const uint64_t *word = (const uint64_t *)(const void *)(event + 1);
    struct seen *seen = context;
    if (event->id != TRACE_ID(TRACE_CLASS_USER, 5))
        return;
    seen->is_wrong |= event->length != 5 || word[0] < seen->next || word[1] != word[0] ||
                      word[2] != word[0] || word[3] != word[0];
    seen->next = word[0] + 1;
}

static const void *map_and_act(struct memory *memory, uint64_t place, uint64_t bytes)
{
    if (++looks == act_at)
        act(act_events);
    return memory_ram.map(memory, place, bytes);
}

/* False: it holds something else than what was logged into it. */
static bool packet_is_right(const void *packet)
{
    struct findings findings = {0};
    struct seen seen = {0};
    visit_packet(packet, see_event, &seen, &findings);
    return findings.disorder == 0 && !seen.is_wrong;
}

struct counts {
    unsigned right, wrong, none;
};

static void look_once(struct guest_ring *ring, struct counts *whole, struct counts *open)
{
    static uint64_t copy[BUFFER_BYTES / 8];
    uint64_t number;
    struct counts *counts = whole;
    act_at = act_events = 0;
    act(700); /* wherever the last one was left */
    const uint64_t newest = guest_ring_head(ring) - 1;
    for (int part = 0; part < 2; part++, counts = open) {
        static const unsigned amounts[] = {1, 40, 100, 400, 410, 820, 3000};
        looks = 0;
        act_at = 1 + (unsigned)rand() % 24;
        act_events = amounts[rand() % 7];
        bool came = part == 0 ? guest_packet_copy(ring, newest, copy) == TRACE_PACKET_WHOLE
                              : guest_packet_snapshot(ring, &number, copy);
        *(!came ? &counts->none : packet_is_right(copy) ? &counts->right : &counts->wrong) += 1;
    }
}

static void test_every_window(struct memory *memory)
{
    struct counts whole = {0}, open = {0};
    struct guest guest;
    struct guest_ring ring;
    struct fail fail = {""};
    act_at = 0;
    check(memory->live && guest_open(&guest, memory, 0, &fail) && guest_ring_open(&ring, &guest, 0, &fail),
          "the store of a running guest %s", fail.text);
    for (unsigned turn = 0; turn < 4000; turn++)
        look_once(&ring, &whole, &open);
    check(whole.right > 0 && whole.none > 0 && whole.wrong == 0,
          "overwritten at any moment of being copied: %u packets right, %u refused, %u wrong", whole.right,
          whole.none, whole.wrong);
    check(open.right > 0 && open.none > 0 && open.wrong == 0,
          "logged into at any moment of being copied: %u open packets right, %u refused, %u wrong",
          open.right, open.none, open.wrong);
    guest_close(&guest);
}

/* The index is read before the headers that it leads to, which may be gone by then. */
static void test_opening(struct memory *memory)
{
    unsigned failed = 0, bad_heads = 0, wrong_words = 0;
    struct guest guest;
    struct guest_ring ring;
    struct fail fail = {""};
    for (unsigned at = 1; at <= 40; at++) {
        looks = 0, act_at = at, act_events = 3000;
        wrong_words += guest_open(&guest, memory, 1, &fail) || !strstr(fail.text, "no previous trace");
        looks = 0;
        if (!guest_open(&guest, memory, 0, &fail)) {
            failed++;
            continue;
        }
        looks = 0;
        bad_heads += !guest_ring_open(&ring, &guest, 0, &fail) || !ring.index_is_good;
        guest_close(&guest);
    }
    check(!failed && !bad_heads && !wrong_words,
          "opened while it is overwritten: %u times not, %u times without an index, %u wrong results: %s",
          failed, bad_heads, wrong_words, fail.text);
}

int main(void)
{
    struct memory_class class = memory_ram;
    struct fail fail;
    make_scratch();
    snprintf(ram_path, sizeof(ram_path), "%s/ram", scratch);
    alarm(120);
    start_guest();
    struct memory *memory = memory_open(&memory_ram, ram_path, &fail);
    if (!memory)
        bail_out(fail.text);
    class.map = map_and_act;
    memory->class = &class;
    test_every_window(memory);
    test_opening(memory);
    memory_close(memory);
    return finish_tests();
}
