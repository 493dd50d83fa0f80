/*
 * kernel_frames.c - whatever a dead program made the kernel allocate, the page frames are freed, not only the
 * objects in them.
 *
 * For each kind of object a child makes so many that they fill far more page frames than the tolerance, and
 * is killed. If a child cannot make that many, many children make a few each, so that leaks would add up.
 */
#include "child.h"
#include "leak.h"
#include "tap.h"

#include <arch/runtime.h>
#include <tests/guest/descriptor.h>

#define PLACE      0x0000002000000000ull
#define TABLE_SPAN (1ull << 21) /* covered by a last-level page table on both ports */
#define FILLED     60u          /* page frames, at least, for each kind */
/* tolerance: an empty page frame of each slab, and what servers allocate meanwhile */
#define STAYS      24u
#define IRQS_TRIED 64u  /* interrupt numbers, on both ports */
#define CHILDREN   200u /* for kinds of which each child makes few */
#define MS         1000000ull

enum { SLOT_DONE = SLOT_FIRST_FREE };
enum { MADE = 1, FAILED = 2 }; /* bits of SLOT_DONE */

/* ---- in the child ---------------------------------------------------------------------------------- */

static bool failed;

static void make_mappings(void)
{
    cap_t memory = (cap_t)sys_memory_create(TARN_PAGE_SIZE);
    for (uint64_t i = 0; i < 20000; i++)
        sys_space_map(SLOT_SPACE, memory, PLACE + i * 2 * TARN_PAGE_SIZE, TARN_PAGE_SIZE, 0,
                      MAP_READ | MAP_FIXED);
}

static void make_tables(void)
{
    cap_t memory = (cap_t)sys_memory_create(TARN_PAGE_SIZE);
    for (uint64_t i = 0; i < 500; i++) {
        sys_space_map(SLOT_SPACE, memory, PLACE + i * TABLE_SPAN, TARN_PAGE_SIZE, 0, MAP_READ | MAP_FIXED);
        (void)*(volatile char *)(PLACE + i * TABLE_SPAN);
    }
}

static void make_pages(void)
{
    const uint64_t size = 1000 * TARN_PAGE_SIZE;
    cap_t memory = (cap_t)sys_memory_create(size);
    sys_space_map(SLOT_SPACE, memory, PLACE, size, 0, MAP_READ | MAP_WRITE | MAP_FIXED);
    sys_space_map(SLOT_SPACE, memory, PLACE * 2, size, 0, MAP_READ | MAP_WRITE | MAP_PRIVATE | MAP_FIXED);
    for (uint64_t at = 0; at < size; at += TARN_PAGE_SIZE)
        *(volatile char *)(PLACE + at) = *(volatile char *)(PLACE * 2 + at) = 1;
}

static void make_memories(void)
{
    char byte = 1;
    for (int i = 0; i < 3000; i++)
        sys_memory_write((cap_t)sys_memory_create(1ull << 30), 0, &byte, i % 10 == 0);
}

static void make_endpoint(void)
{
    sys_endpoint_create();
}

static void make_notification(void)
{
    sys_notification_create();
}

static void make_capability(void)
{
    sys_cap_copy(SLOT_SPACE, SLOT_SPACE, 0, RIGHT_ALL, 0);
}

static void make_space(void)
{
    static const char name[TARN_NAME_BYTES] = "grandchild";
    sys_space_create(name, 0);
}

static void hold_call(uint64_t endpoint)
{
    for (;;)
        ipc_call_deadline((cap_t)endpoint, &(struct ipc_message){.label = 1}, deadline_after(MS / 100));
}

static int64_t make_thread(void (*entry)(uint64_t), uint64_t arg, unsigned stack)
{
    struct thread_config config = {.entry = (uint64_t)entry,
                                   .stack = arch_stack_start(CHILD_STACKS + stack * CHILD_STACK_BYTES),
                                   .arg = arg,
                                   .priority = TARN_PRIO_USER};
    return sys_thread_create(SLOT_SPACE, &config);
}

static void make_idle_thread(void)
{
    make_thread(hold_call, 0, 32); /* never resumed */
}

/* Calls that were cancelled but not replied to, also by threads that have ended since. */
static void make_replies(void)
{
    struct ipc_message message;
    cap_t endpoint = (cap_t)sys_endpoint_create();
    int64_t thread = 0;
    for (unsigned i = 0; i < 6000; i++) {
        if (i % 32 == 0) {
            if (thread > 0) {
                sys_thread_kill((cap_t)thread);
                sys_cap_close((cap_t)thread);
            }
            thread = make_thread(hold_call, endpoint, 8 + i / 32 % 48);
            sys_thread_resume((cap_t)thread);
        }
        if (ipc_receive(endpoint, &message) == 0)
            ipc_save_reply();
    }
}

static void make_contiguous(void)
{
    failed |= sys_memory_create_contiguous(SLOT_MACHINE, 16 * TARN_PAGE_SIZE) < 0;
}

/* Pages supplied by the child as its own pager; some of them are mapped. */
static void make_paged(void)
{
    const uint64_t size = 200 * TARN_PAGE_SIZE;
    cap_t source = (cap_t)sys_memory_create(size);
    cap_t paged = (cap_t)sys_memory_create_paged(size, (cap_t)sys_endpoint_create());
    failed |= sys_memory_supply(paged, 0, source, 0, size) != (int64_t)size;
    sys_space_map(SLOT_SPACE, paged, PLACE, size, 0, MAP_READ | MAP_WRITE | MAP_FIXED);
    for (uint64_t at = 0; at < size; at += 2 * TARN_PAGE_SIZE)
        *(volatile char *)(PLACE + at) = 1;
}

/* All interrupts that no driver has, with the notifications that they signal. */
static void make_interrupts(void)
{
    unsigned made = 0;
    for (uint32_t number = 0; number < IRQS_TRIED; number++) {
        int64_t irq = sys_irq_create(SLOT_MACHINE, number);
        made += irq > 0 && sys_irq_bind((cap_t)irq, (cap_t)sys_notification_create(), 1) == 0;
    }
    failed |= made == 0;
}

/* References of spaces and threads other than capabilities. */
static void make_references(void)
{
    static const char name[TARN_NAME_BYTES] = "grandchild";
    int64_t space = sys_space_create(name, 0);
    failed |= sys_space_watch((cap_t)space, (cap_t)sys_notification_create(), 1) < 0 ||
              sys_space_set_fault_handler((cap_t)space, (cap_t)sys_endpoint_create()) < 0 ||
              sys_notification_bind((cap_t)sys_notification_create()) < 0;
}

/* The first is registered, or there are too many already; the second is invalid. */
static void make_registrations(void)
{
    const struct small_descriptor good = make_descriptor("frames"), bad = make_descriptor("");
    static const uint8_t uuid[16] = {1};
    failed |= sys_trace_register(&good, sizeof good, uuid) < 0 ||
              sys_trace_register(&bad, sizeof bad, uuid) != -E_BAD_ARGUMENT;
}

static const struct {
    const char *name;
    void (*make)(void);
    unsigned children, times; /* in each child */
} kinds[] = {
    {"mappings", make_mappings, 1, 1},
    {"page tables", make_tables, 1, 1},
    {"pages and copies", make_pages, 1, 1},
    {"pages of a pager", make_paged, 1, 1},
    {"memory objects", make_memories, 1, 1},
    {"contiguous memory", make_contiguous, 1, 10},
    {"endpoints", make_endpoint, 1, 5000},
    {"notifications", make_notification, 1, 5000},
    {"capabilities", make_capability, 1, 60000},
    {"spaces", make_space, 1, 200},
    {"threads", make_idle_thread, 1, 500},
    {"cancelled calls", make_replies, 1, 1},
    {"interrupts", make_interrupts, CHILDREN, 1},
    {"watchers, handlers and bound notifications", make_references, CHILDREN, 1},
    {"registrations with the trace", make_registrations, CHILDREN, 4},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static void make(uint64_t kind)
{
    for (unsigned i = 0; i < kinds[kind].times; i++)
        kinds[kind].make();
    sys_notification_signal(SLOT_DONE, failed ? FAILED : MADE);
    for (;;)
        sys_thread_sleep(TARN_FOREVER);
}

/* ---- the test -------------------------------------------------------------------------------------- */

/* Returns the number of free page frames while the child lives; 0 if it failed. */
static uint64_t make_and_die(uint64_t kind)
{
    struct child child;
    cap_t done = (cap_t)sys_notification_create();
    uint64_t free = 0;
    if (child_create(&child, "maker") == 0 && child_give(&child, done, SLOT_DONE, RIGHT_ALL) == 0 &&
        child_give(&child, SLOT_MACHINE, SLOT_MACHINE, RIGHT_ALL) == 0 &&
        child_start(&child, make, kind) == 0 &&
        sys_notification_wait(done, deadline_after(100000 * MS)) == MADE)
        free = read_stats().frames_free;
    child_end(&child);
    sys_cap_close(done);
    return free;
}

/* Page frames are freed some heartbeats later than the objects. */
static bool are_back(uint64_t before)
{
    uint64_t now = 0;
    for (int i = 0; i < 3000; i++) {
        now = read_stats().frames_free;
        if (now + STAYS >= before)
            return true;
        sys_thread_sleep(deadline_after(10 * MS));
    }
    printf("# frames free: %lu before, %lu now\n", before, now);
    return false;
}

static void test_kind(uint64_t kind, uint64_t before)
{
    uint64_t free = before;
    for (unsigned i = 0; i < kinds[kind].children && free > 0; i++)
        free = make_and_die(kind);
    if (kinds[kind].children == 1)
        check(free > 0 && free + FILLED <= before, "%s use page frames (%u)", kinds[kind].name,
              (unsigned)(before - free));
    else
        check(free > 0, "%s: %u children make them", kinds[kind].name, kinds[kind].children);
    check(are_back(before), "%s: all page frames are freed", kinds[kind].name);
}

/* Blocks of all sizes that a program may have for DMA. */
static void test_blocks(void)
{
    enum { BLOCKS = 32, TURNS = 2000 };
    cap_t memory[BLOCKS] = {0};
    uint64_t at[BLOCKS], size[BLOCKS], random = 1;
    bool good = true;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        const unsigned i = (unsigned)next_random(&random) % BLOCKS;
        if (memory[i]) {
            sys_cap_close(memory[i]);
            memory[i] = 0;
            continue;
        }
        size[i] = TARN_PAGE_SIZE << next_random(&random) % 8;
        memory[i] = must(sys_memory_create_contiguous(SLOT_MACHINE, size[i]));
        at[i] = (uint64_t)sys_memory_physical(SLOT_MACHINE, memory[i], 0);
        good &= at[i] % TARN_PAGE_SIZE == 0;
        for (unsigned j = 0; j < BLOCKS; j++)
            good &= j == i || !memory[j] || at[i] >= at[j] + size[j] || at[j] >= at[i] + size[i];
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        if (memory[i])
            sys_cap_close(memory[i]);
    check(good, "blocks of page frames do not overlap");
}

int main(void)
{
    child_prepare();
    make_and_die(1); /* page tables of this process and of the servers */
    struct system_stats before = first_stats();
    for (uint64_t kind = 0; kind < KINDS; kind++)
        test_kind(kind, before.frames_free);
    test_blocks();
    check(are_back(before.frames_free), "blocks: all page frames are freed");
    check(same_stats_soon(&before), "no object is left");
    return finish_tests();
}
