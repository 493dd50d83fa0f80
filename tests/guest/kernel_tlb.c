/*
 * kernel_tlb.c - TLB shootdown as programs see it: after a system call that removed pages or rights has
 * returned, no thread on any CPU can use an old translation.
 *
 * In a child, a worker on every CPU reads and writes a few pages, also through copies by the kernel. The
 * changer maps them, waits until all workers have used them, and takes them away. The page frames are also
 * mapped at other addresses (ALIAS), where the changer, as soon as its call has returned, writes POISON to
 * pages that must not be read any more, and sums up words that must not be written any more. Threads that
 * fault wait in main(), their fault handler, until the pages are accessible again. The exploring kernel fills
 * frames of private copies with poison when they are freed.
 *
 *     kernel_tlb [ROUNDS]
 *
 * A slow worker does not invalidate the test: poison is in a page frame only while no page shows it, and a
 * delayed write is completed in the next round.
 */
#include "child.h"
#include "leak.h"
#include "tap.h"

#include <tarn/explore.h>

#define MS         1000000ull
#define US         1000ull
#define ROUNDS     4000u
#define SECONDS    4u             /* time limit: a shootdown takes 10 us, or 10 ms on a busy host */
#define ROUNDS_MIN (2 * 3 * WAYS) /* at least: each way twice with each number of pages */
#define WORKERS    32u
#define SETS       8u  /* of page frames, used in turn: a set is reused after seven other rounds */
#define PAGES      40u /* per set: more than are flushed individually */

#define ALIAS       0x0000000a00000000ull /* all sets, always mapped */
#define VIEW        0x0000000b00000000ull /* the set of this round */
#define PAGE_WORDS  (TARN_PAGE_SIZE / sizeof(uint64_t))
/* word 0 of a page is its tag; then a cache line for each worker */
#define SLOT_STRIDE (64 / sizeof(uint64_t))

#define GOOD   0x600d600d600d600dull
#define POISON EXPLORE_FREED

enum { SLOT_POOL = 16, SLOT_SCRATCH };

/* How the pages are taken away. */
enum way { UNMAP, REMAP, PROTECT, COPY, FREE, WAYS };
static const char *const way_names[WAYS] = {"unmapped", "remapped", "made read-only", "copied on write",
                                            "freed"};

struct shared {
    _Atomic uint32_t way;    /* of this round */
    _Atomic uint32_t pages;  /* of this round */
    _Atomic bool accessible; /* threads that faulted may retry */
    _Atomic bool done;       /* the changer has ended */
    int64_t error;           /* error that stopped it */
    uint32_t workers, rounds;
    _Atomic uint32_t faults;            /* of workers, received by main() */
    _Atomic uint64_t stale_reads[WAYS]; /* number of words of poison read */
    uint64_t stale_writes[WAYS];        /* rounds with forbidden writes */
    struct {
        _Alignas(64) _Atomic uint64_t accesses;
    } worker[WORKERS];
};
#define SHARED_BYTES ((sizeof(struct shared) + TARN_PAGE_SIZE - 1) & ~(TARN_PAGE_SIZE - 1))

static struct shared *const child_shared = (struct shared *)CHILD_SHARED;

/* ---- workers --------------------------------------------------------------------------------------- */

static void take(uint64_t tag)
{
    if (tag == POISON)
        child_shared->stale_reads[child_shared->way]++;
}

static void access_page(volatile uint64_t *page, uint64_t index, uint64_t turn, bool writes)
{
    take(page[0]);
    if (writes)
        page[(1 + index) * SLOT_STRIDE] = turn;
}

/* The same through the kernel, with a word per worker in the scratch object. If the page is not accessible,
 * the kernel's access faults like the worker's own. */
static void access_by_kernel(volatile uint64_t *page, uint64_t index, uint64_t turn, bool writes)
{
    uint64_t tag = 0, offset = index * sizeof tag;
    sys_memory_write(SLOT_SCRATCH, offset, (const void *)page, sizeof tag);
    sys_memory_read(SLOT_SCRATCH, offset, &tag, sizeof tag);
    take(tag);
    if (!writes)
        return;
    sys_memory_write(SLOT_SCRATCH, offset, &turn, sizeof turn);
    sys_memory_read(SLOT_SCRATCH, offset, (void *)&page[(1 + index) * SLOT_STRIDE], sizeof turn);
}

static void work(uint64_t index)
{
    struct shared *s = child_shared;
    uint64_t random = index + 1;
    for (uint64_t turn = 1;; turn++) {
        bool writes = s->way != COPY;
        volatile uint64_t *page = (volatile uint64_t *)VIEW + child_random(&random) % s->pages * PAGE_WORDS;
        if (turn % 16)
            access_page(page, index, turn, writes);
        else
            access_by_kernel(page, index, turn, writes);
        s->worker[index].accesses++;
    }
}

/* ---- the changer ----------------------------------------------------------------------------------- */

static volatile uint64_t *alias(uint32_t set, uint32_t page)
{
    return (volatile uint64_t *)ALIAS + (set * PAGES + page) * PAGE_WORDS;
}

static void put_tags(uint32_t set, uint64_t tag)
{
    for (uint32_t page = 0; page < PAGES; page++)
        alias(set, page)[0] = tag;
}

/* Sum of the workers' words in the first pages of a set; each word only grows. */
static uint64_t sum_of_writes(uint32_t set, uint32_t pages)
{
    uint64_t sum = 0;
    for (uint32_t page = 0; page < pages; page++)
        for (uint32_t i = 0; i < child_shared->workers; i++)
            sum += alias(set, page)[(1 + i) * SLOT_STRIDE];
    return sum;
}

/* Longer each time: where the kernel is explored, waking up may take longer than a short sleep, and would
 * leave no time for the worker on this CPU. */
static void pause_longer(uint64_t *ns)
{
    sys_thread_sleep(deadline_after(*ns));
    *ns *= 2;
}

/* Waits until every worker has made some accesses, which must be to this round's pages because there are no
 * others, however long a busy host delays a vCPU. */
static void wait_for_workers(void)
{
    struct shared *s = child_shared;
    uint64_t before[WORKERS], pause = 20 * US;
    for (uint32_t i = 0; i < s->workers; i++)
        before[i] = s->worker[i].accesses;
    for (uint32_t i = 0; i < s->workers; i++)
        while (s->worker[i].accesses < before[i] + 2 * PAGES)
            pause_longer(&pause);
}

/* Waits until a worker has faulted on the missing pages. All will: there is nothing else to access. */
static void wait_for_fault(uint32_t before)
{
    uint64_t pause = 20 * US;
    while (child_shared->faults == before)
        pause_longer(&pause);
}

static int64_t map_view(uint32_t set, uint32_t flags)
{
    return sys_space_map(SLOT_SPACE, SLOT_POOL, VIEW, PAGES * TARN_PAGE_SIZE, set * PAGES * TARN_PAGE_SIZE,
                         flags | MAP_READ | MAP_WRITE | MAP_FIXED);
}

/* One page, a few, or more than are flushed individually; for COPY at most a few, because each copy is a
 * shootdown of its own. The other pages of the set are not used. */
static uint32_t pages_of(uint32_t round)
{
    static const uint32_t counts[] = {1, 5, PAGES};
    uint32_t count = counts[round / WAYS % 3];
    return round % WAYS == COPY && count == PAGES ? 2 : count;
}

/* Takes away the rights to `pages` pages in this round's way; afterwards ALIAS shows forbidden accesses.
 * Returns 0 or -E_*. */
static int64_t take_away(uint32_t way, uint32_t set, uint32_t pages)
{
    int64_t error = 0;
    if (way == COPY) {
        for (uint32_t page = 0; page < pages; page++)
            ((volatile uint64_t *)VIEW)[page * PAGE_WORDS + 1] = 1;
    } else if (way == PROTECT) {
        error = sys_space_protect(SLOT_SPACE, VIEW, pages * TARN_PAGE_SIZE, MAP_READ);
    } else {
        error = sys_space_unmap(SLOT_SPACE, VIEW, pages * TARN_PAGE_SIZE);
    }
    if (way != PROTECT)
        for (uint32_t page = 0; page < pages; page++)
            alias(set, page)[0] = POISON;
    return error;
}

/* Unmaps what is still mapped of this round's set. */
static int64_t clear_view(uint32_t way, uint32_t pages)
{
    uint32_t gone = way == UNMAP || way == REMAP || way == FREE ? pages : 0;
    if (gone == PAGES)
        return 0;
    return sys_space_unmap(SLOT_SPACE, VIEW + gone * TARN_PAGE_SIZE, (PAGES - gone) * TARN_PAGE_SIZE);
}

/* Gives a thread with an old translation time to use it. */
static void watch(void)
{
    uint64_t end = deadline_after(30 * US);
    while (clock_monotonic_ns() < end)
        ;
}

static int64_t run_round(uint32_t round, uint64_t sums[SETS], uint32_t ways[SETS])
{
    struct shared *s = child_shared;
    uint32_t way = round % WAYS, set = round % SETS, pages = pages_of(round);
    if (sum_of_writes(set, PAGES) != sums[set])
        s->stale_writes[ways[set]]++;
    put_tags(set, GOOD);
    s->way = way;
    s->pages = pages;
    int64_t error = map_view(set, way == COPY || way == FREE ? MAP_PRIVATE : 0);
    if (error < 0)
        return error;
    for (uint32_t page = 0; way == FREE && page < pages; page++)
        ((volatile uint64_t *)VIEW)[page * PAGE_WORDS] = GOOD;
    s->accessible = true;
    wait_for_workers();
    bool must_fault = way == UNMAP || way == PROTECT || way == FREE;
    if (must_fault)
        s->accessible = false;
    uint32_t faults = s->faults;
    error = take_away(way, set, pages);
    uint64_t sum = sum_of_writes(set, pages);
    watch();
    if (must_fault && error >= 0)
        wait_for_fault(faults);
    if (sum_of_writes(set, pages) != sum)
        s->stale_writes[way]++;
    if (error >= 0)
        error = clear_view(way, pages);
    sums[set] = sum_of_writes(set, PAGES);
    ways[set] = way;
    return error;
}

static void change(uint64_t rounds)
{
    struct shared *s = child_shared;
    uint64_t sums[SETS];
    uint32_t ways[SETS] = {0};
    for (uint32_t set = 0; set < SETS; set++)
        sums[set] = sum_of_writes(set, PAGES);
    uint64_t end = deadline_after(SECONDS * 1000 * MS);
    for (; s->error >= 0 && s->rounds < rounds && (s->rounds < ROUNDS_MIN || clock_monotonic_ns() < end);
         s->rounds++)
        s->error = run_round(s->rounds, sums, ways);
    s->accessible = false;
    s->done = true;
    for (;;)
        sys_thread_sleep(TARN_FOREVER);
}

/* ---- the test -------------------------------------------------------------------------------------- */

/* Lets threads that fault wait until the pages are accessible, or the changer has ended. */
static void handle_faults(cap_t handler, struct shared *shared)
{
    struct ipc_message message;
    while (!shared->done) {
        if (ipc_receive_deadline(handler, &message, deadline_after(100 * MS)))
            continue;
        shared->faults++;
        while (!shared->accessible && !shared->done)
            sys_thread_sleep(deadline_after(20 * US));
        message = (struct ipc_message){.label = FAULT_REPLY_RESUME};
        ipc_reply(&message);
    }
}

static void make_child(struct child *child, cap_t handler, cap_t shared_memory)
{
    cap_t pool = must(sys_memory_create(SETS * PAGES * TARN_PAGE_SIZE));
    cap_t scratch = must(sys_memory_create(TARN_PAGE_SIZE));
    must(child_create(child, "tlb"));
    must(child_give(child, pool, SLOT_POOL, RIGHT_ALL));
    must(child_give(child, scratch, SLOT_SCRATCH, RIGHT_ALL));
    must(sys_space_set_fault_handler(child->space, handler));
    child_map(child, shared_memory, CHILD_SHARED, SHARED_BYTES, MAP_READ | MAP_WRITE);
    child_map(child, pool, ALIAS, SETS * PAGES * TARN_PAGE_SIZE, MAP_READ | MAP_WRITE);
    sys_cap_close(pool);
    sys_cap_close(scratch);
}

static void report(const struct shared *shared, uint64_t minimum)
{
    uint64_t least = ~0ull;
    for (uint32_t i = 0; i < shared->workers; i++)
        least = shared->worker[i].accesses < least ? shared->worker[i].accesses : least;
    check(shared->error >= 0, "pages are mapped and taken away: %u rounds, %u faults", shared->rounds,
          shared->faults);
    check(shared->rounds >= minimum && least / (2 * PAGES) >= shared->rounds &&
              shared->faults >= shared->rounds / 2,
          "every CPU accesses them meanwhile");
    for (unsigned way = 0; way < WAYS; way++)
        check(shared->stale_reads[way] == 0 && shared->stale_writes[way] == 0,
              "no access uses an old translation after pages were %s: %lu words of poison, %lu rounds",
              way_names[way], shared->stale_reads[way], shared->stale_writes[way]);
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : ROUNDS;
    struct child child;
    uint32_t cpus = (uint32_t)read_stats().cpus;
    child_prepare();
    cap_t memory = must(sys_memory_create(SHARED_BYTES)), handler = must(sys_endpoint_create());
    struct shared *shared = memory_map(memory, SHARED_BYTES, MAP_READ | MAP_WRITE);
    shared->workers = cpus < WORKERS ? cpus : WORKERS;
    shared->pages = 1;
    make_child(&child, handler, memory);
    for (uint32_t i = 0; i < shared->workers; i++)
        sys_cap_close(child_run(&child, work, i, 1, 1ull << i));
    sys_cap_close(child_run(&child, change, rounds, 2, 1));
    handle_faults(handler, shared);
    child_end(&child);
    report(shared, rounds < ROUNDS_MIN ? rounds : ROUNDS_MIN);
    return finish_tests();
}
