/*
 * kernel_pager.c - memory whose pages a pager supplies: in a thread of ours, in another process, late, not at
 * all, and by one that dies.
 */
#include "probe.h"
#include "threads.h"

#define MS         1000000ull
#define PAGES      32ull
#define SIZE       (PAGES * TARN_PAGE_SIZE)
#define LABEL_QUIT 77u

/* The word at each offset of a paged object. */
static uint64_t word_of(uint64_t offset)
{
    return 0x7a9e000000000000ull | offset;
}

/* ---- a pager --------------------------------------------------------------------------------------- */

static struct pager {
    cap_t endpoint, paged, source;
    unsigned refusals; /* replies without a page, before each page is supplied */
    _Atomic unsigned asked;
    unsigned refused[PAGES];
    pthread_t thread;
} pager;

static void give_page(uint64_t offset)
{
    uint64_t words[TARN_PAGE_SIZE / 8];
    for (uint64_t i = 0; i < TARN_PAGE_SIZE / 8; i++)
        words[i] = word_of(offset + 8 * i);
    sys_memory_write(pager.source, offset, words, sizeof words);
    must(sys_memory_supply(pager.paged, offset, pager.source, offset, TARN_PAGE_SIZE));
}

static void *serve_pages(void *unused)
{
    struct ipc_message message;
    int64_t error = ipc_receive(pager.endpoint, &message);
    while (error == 0 && message.label != LABEL_QUIT) {
        uint64_t offset = message.word[1] & ~(TARN_PAGE_SIZE - 1);
        pager.asked++;
        if (message.label == IPC_LABEL_PAGE && offset < SIZE &&
            pager.refused[offset / TARN_PAGE_SIZE]++ >= pager.refusals)
            give_page(offset);
        message = (struct ipc_message){.label = FAULT_REPLY_RESUME};
        error = ipc_reply_receive(pager.endpoint, &message);
    }
    ipc_reply(&(struct ipc_message){0});
    return unused;
}

static void start_pager(unsigned refusals)
{
    pager = (struct pager){.refusals = refusals};
    pager.endpoint = must(sys_endpoint_create());
    pager.paged = must(sys_memory_create_paged(SIZE, pager.endpoint));
    pager.source = must(sys_memory_create(SIZE));
    start_thread(&pager.thread, serve_pages, NULL);
}

static void end_pager(void)
{
    struct ipc_message message = {.label = LABEL_QUIT};
    ipc_call(pager.endpoint, &message);
    pthread_join(pager.thread, NULL);
    sys_cap_close(pager.endpoint);
    sys_cap_close(pager.paged);
    sys_cap_close(pager.source);
}

/* ---- supplying pages ------------------------------------------------------------------------------- */

static void test_pages(struct child *child)
{
    start_pager(0);
    child_map(child, pager.paged, PLACE, SIZE, RW);
    bool good = true;
    for (uint64_t i = 0; i < PAGES; i += 2) {
        uint64_t offset = i * TARN_PAGE_SIZE + 8 * i;
        good &= probe_word(child, PLACE + offset) == word_of(offset);
    }
    check(good && pager.asked == PAGES / 2, "each page is requested once and has the pager's contents");
    probe_store(child, PLACE, 5);
    check(probe_word(child, PLACE) == 5 && pager.asked == PAGES / 2, "and can be written");
    must(sys_space_unmap(child->space, PLACE, SIZE));
    child_map(child, pager.paged, PLACE, SIZE, COW);
    uint64_t there = 2 * TARN_PAGE_SIZE, missing = 3 * TARN_PAGE_SIZE;
    probe_store(child, PLACE + there, 6);
    probe_store(child, PLACE + missing, 7);
    uint64_t first = 0, second = 0;
    sys_memory_read(pager.paged, there, &first, 8);
    sys_memory_read(pager.paged, missing, &second, 8);
    check(probe_word(child, PLACE + there) == 6 && probe_word(child, PLACE + missing) == 7 &&
              probe_word(child, PLACE + missing + 8) == word_of(missing + 8) && first == word_of(there) &&
              second == word_of(missing),
          "copied on write, the pager's page stays");
    must(sys_space_unmap(child->space, PLACE, SIZE));

    check(sys_memory_supply(pager.paged, 0, pager.source, 0, TARN_PAGE_SIZE) == (int64_t)TARN_PAGE_SIZE &&
              sys_memory_read(pager.paged, 0, &first, 8) == 8 && first == 5,
          "an existing page is not replaced");
    uint64_t word = 4711;
    sys_memory_write(pager.source, 0, &word, 8);
    sys_memory_supply(pager.paged, 0, pager.source, 0, TARN_PAGE_SIZE);
    word = 0;
    check(sys_memory_supply(pager.paged, SIZE, pager.source, 0, TARN_PAGE_SIZE) == -E_BAD_ARGUMENT &&
              sys_memory_read(pager.source, 0, &word, 8) == 8 && word == 4711,
          "pages that do not fit stay with their owner");
    volatile uint64_t *mapped = memory_map(pager.source, SIZE, MAP_READ);
    check(sys_memory_supply(pager.paged, 5 * TARN_PAGE_SIZE, pager.source, 0, TARN_PAGE_SIZE) == -E_BUSY,
          "mapped pages cannot be supplied");
    memory_unmap((void *)mapped, SIZE);
    check(all_return(-E_BAD_ARGUMENT, sys_memory_supply(pager.paged, 1, pager.source, 0, TARN_PAGE_SIZE),
                     sys_memory_supply(pager.paged, 0, pager.source, 1, TARN_PAGE_SIZE),
                     sys_memory_supply(pager.paged, 0, pager.source, 0, 5),
                     sys_memory_supply(pager.paged, 0, pager.source, 0, ~0ull - 4095)) &&
              all_return(-E_BAD_TYPE, sys_memory_supply(pager.source, 0, pager.paged, 0, TARN_PAGE_SIZE),
                         sys_memory_supply(pager.paged, 0, pager.paged, 0, TARN_PAGE_SIZE)),
          "supply refuses odd ranges and wrong kinds");
    end_pager();
}

/* Many threads on few pages at the same time, and a pager that first replies without a page. */
static void test_many(struct child *child)
{
    enum { READERS = 24 };
    start_pager(2);
    child_map(child, pager.paged, PLACE, SIZE, RW);
    uint64_t expected[PROBE_STACKS];
    bool good = true;
    for (int round = 0; round < 8; round++) {
        for (unsigned i = 0; i < READERS; i++) {
            uint64_t offset = (uint64_t)(round * 4 + i % 4) * TARN_PAGE_SIZE + 8 * i;
            unsigned number = probe_start(child, PROBE_READ, PLACE + offset, 0);
            expected[number] = word_of(offset);
        }
        for (unsigned i = 0; i < READERS; i++) {
            unsigned number = 0;
            struct outcome outcome = probe_finish(&number);
            good &= !outcome.faulted && (uint64_t)outcome.result == expected[number];
        }
    }
    check(good, "24 threads on the same pages, two replies without a page each: all get them in the end");
    must(sys_space_unmap(child->space, PLACE, SIZE));
    end_pager();
}

/* The kernel accesses buffers that are not supplied yet, over several pages. */
static void test_buffers(struct child *child)
{
    start_pager(1);
    child_map(child, pager.paged, PLACE, SIZE, RW);
    uint64_t words[3 * TARN_PAGE_SIZE / 8], start = 100 * 8;
    bool good = probe(child, PROBE_KERNEL_READ, PLACE + start, sizeof words).result == sizeof words;
    sys_memory_read(probe_scratch, 0, words, sizeof words);
    for (uint64_t i = 0; i < sizeof words / 8; i++)
        good &= words[i] == word_of(start + 8 * i);
    check(good && pager.asked == 8, "a system call waits for each page that it reads");
    start += 16 * TARN_PAGE_SIZE;
    for (uint64_t i = 0; i < sizeof words / 8; i++)
        words[i] = i * i;
    sys_memory_write(probe_scratch, 0, words, sizeof words);
    good = probe(child, PROBE_KERNEL_WRITE, PLACE + start, sizeof words).result == sizeof words;
    memset(words, 0, sizeof words);
    sys_memory_read(pager.paged, start, words, sizeof words);
    for (uint64_t i = 0; i < sizeof words / 8; i++)
        good &= words[i] == i * i;
    good &= probe_word(child, PLACE + start - 8) == word_of(start - 8) &&
            probe_word(child, PLACE + start + sizeof words) == word_of(start + sizeof words);
    check(good && pager.asked == 16, "and for each page that it writes, and no others");
    uint64_t word;
    check(sys_memory_read(pager.paged, 31 * TARN_PAGE_SIZE, &word, 8) == -E_AGAIN &&
              sys_memory_write(pager.paged, 31 * TARN_PAGE_SIZE, &word, 8) == -E_AGAIN,
          "memory_read and memory_write do not wait for a pager");
    must(sys_space_unmap(child->space, PLACE, SIZE));
    end_pager();
}

/* ---- pagers that die ------------------------------------------------------------------------------- */

enum { SLOT_PAGER = 20, SLOT_PAGED, SLOT_SOURCE };

/* In another process: supplies even pages and lets accesses to odd ones wait. */
static void page_evenly(uint64_t arg)
{
    struct ipc_message message;
    int64_t error = ipc_receive(SLOT_PAGER, &message);
    while (error == 0) {
        uint64_t offset = message.word[1] & ~(TARN_PAGE_SIZE - 1), word = word_of(offset);
        if (offset / TARN_PAGE_SIZE % 2) {
            ipc_save_reply();
            error = ipc_receive(SLOT_PAGER, &message);
            continue;
        }
        sys_memory_write(SLOT_SOURCE, offset, &word, sizeof word);
        sys_memory_supply(SLOT_PAGED, offset, SLOT_SOURCE, offset, TARN_PAGE_SIZE);
        message = (struct ipc_message){.label = FAULT_REPLY_RESUME};
        error = ipc_reply_receive(SLOT_PAGER, &message);
    }
    sys_thread_exit();
}

static void test_process(struct child *child)
{
    struct child server;
    cap_t endpoint = must(sys_endpoint_create()), source = must(sys_memory_create(SIZE));
    cap_t paged = must(sys_memory_create_paged(SIZE, endpoint));
    must(child_create(&server, "pager"));
    must(child_give(&server, endpoint, SLOT_PAGER, RIGHT_RECEIVE));
    must(child_give(&server, paged, SLOT_PAGED, RIGHT_ALL));
    must(child_give(&server, source, SLOT_SOURCE, RIGHT_ALL));
    sys_cap_close(endpoint); /* the server must be the only receiver */
    must(child_start(&server, page_evenly, 0));
    child_map(child, paged, PLACE, SIZE, RW);
    bool good = true;
    for (uint64_t i = 0; i < PAGES; i += 4)
        good &= probe_word(child, PLACE + i * TARN_PAGE_SIZE) == word_of(i * TARN_PAGE_SIZE);
    check(good, "a pager in another process supplies its pages");

    enum { WAITING = 6, IN_CALLS = 3 };
    for (unsigned i = 0; i < WAITING; i++)
        probe_start(child, PROBE_READ, PLACE + (2 * (i / 2) + 1) * TARN_PAGE_SIZE, 0);
    for (unsigned i = 0; i < IN_CALLS; i++)
        probe_start(child, PROBE_KERNEL_READ, PLACE + (2 * i + 1) * TARN_PAGE_SIZE, 64);
    struct ipc_message nothing;
    check(ipc_receive_deadline(probe_report, &nothing, deadline_after(50 * MS)) == -E_TIMEOUT,
          "threads wait for pages that are not supplied");
    child_end(&server);
    unsigned faults = 0, errors = 0;
    for (unsigned i = 0; i < WAITING + IN_CALLS; i++) {
        struct outcome outcome = probe_finish(NULL);
        faults += outcome.faulted && outcome.reason == FAULT_PAGE;
        errors += !outcome.faulted && outcome.result == -E_BAD_ADDRESS;
    }
    check(faults == WAITING && errors == IN_CALLS,
          "when the pager dies, waiting threads fault and their system calls fail");
    check(probe_word(child, PLACE + 4 * TARN_PAGE_SIZE) == word_of(4 * TARN_PAGE_SIZE) &&
              probe(child, PROBE_READ, PLACE + 10 * TARN_PAGE_SIZE, 0).faulted,
          "supplied pages stay, others fault");
    must(sys_space_unmap(child->space, PLACE, SIZE));
    sys_cap_close(paged);
    sys_cap_close(source);
}

/* Kills a space that waits for its pager; the pager's reply must have no effect. */
static void test_dead_waiter(void)
{
    struct child child;
    cap_t endpoint = must(sys_endpoint_create()), paged = must(sys_memory_create_paged(SIZE, endpoint));
    struct ipc_message message;
    probe_child(&child, "waits");
    child_map(&child, paged, PLACE, SIZE, RW);
    probe_start(&child, PROBE_READ, PLACE, 0);
    probe_start(&child, PROBE_KERNEL_WRITE, PLACE + TARN_PAGE_SIZE, 64);
    bool first = ipc_receive_deadline(endpoint, &message, deadline_after(PROBE_SECONDS)) == 0;
    check(first && message.label == IPC_LABEL_PAGE, "a pager is asked");
    child_end(&child);
    message = (struct ipc_message){.label = FAULT_REPLY_RESUME};
    check(ipc_reply(&message) == -E_DEAD &&
              ipc_receive_deadline(endpoint, &message, deadline_after(10 * MS)) == -E_TIMEOUT,
          "threads that wait for it can be killed");
    sys_cap_close(endpoint);
    sys_cap_close(paged);
}

#define WARM_TURNS 2 /* warm up slabs, page tables and servers */
#define COUNTED_TURNS \
    (1 + REPEATS(8)) /* one page frame lost in each of nine is more than FRAMES_OF_SERVERS */

int main(void)
{
    struct child child;
    child_prepare();
    probe_prepare();
    probe_child(&child, "paged");
    struct system_stats before = {0};
    for (int turn = 0; turn < WARM_TURNS + COUNTED_TURNS; turn++) {
        if (turn == WARM_TURNS)
            before = first_stats();
        test_pages(&child);
        test_many(&child);
        test_buffers(&child);
        test_process(&child);
        test_dead_waiter();
    }
    check(same_stats_soon(&before), "everything is freed");
    child_end(&child);
    return finish_tests();
}
