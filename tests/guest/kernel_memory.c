/*
 * kernel_memory.c - memory as programs see it: access rights, sizes, what is resident. Zeroing and
 * copying on write: kernel_space.c; pagers: kernel_pager.c; out of memory: kernel_scarce.c.
 */
#include "probe.h"

#define MIB    (1ull << 20)
#define SECOND 0x0000000b00000000ull

/* ---- what a space has in memory -------------------------------------------------------------------- */

/* Resident bytes of this space, as the kernel reports them. */
static uint64_t resident(void)
{
    struct system_space space;
    for (uint64_t i = 0; sys_system_read(SYSTEM_SPACES, i, &space, sizeof space) == sizeof space; i++)
        if (space.pid == process_id())
            return space.resident;
    return 0;
}

static void write_pages(volatile char *pages, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++)
        pages[i * TARN_PAGE_SIZE] = 1;
}

static void read_pages(const volatile char *pages, unsigned end)
{
    for (unsigned i = 0; i < end; i++)
        (void)pages[i * TARN_PAGE_SIZE];
}

enum { PAGES = 256, WRITTEN = 100, BLOCK = 16 }; /* of test_resident; pages that a fault maps at most */

/* Where nothing may be written, a read maps what the object has of the page's aligned block. */
static unsigned mapped_with(const volatile char *pages, unsigned end)
{
    const uint64_t last = (uint64_t)(pages + (end - 1) * TARN_PAGE_SIZE),
                   mapped = ((last | (BLOCK * TARN_PAGE_SIZE - 1)) + 1 - (uint64_t)pages) / TARN_PAGE_SIZE;
    return mapped < WRITTEN ? (unsigned)mapped : WRITTEN;
}

static void test_resident(void)
{
    cap_t memory = must(sys_memory_create(PAGES * TARN_PAGE_SIZE));
    volatile char *one = memory_map(memory, PAGES * TARN_PAGE_SIZE, RW);
    volatile char *two = memory_map(memory, PAGES * TARN_PAGE_SIZE, MAP_READ);
    volatile char *own = memory_map(memory, PAGES * TARN_PAGE_SIZE, COW);
    resident(); /* makes the pages that the call itself needs resident */
    uint64_t start = resident();
    write_pages(one, 0, WRITTEN);
    write_pages(one, 0, WRITTEN);
    check(resident() == start + WRITTEN, "each touched page is resident, and counted once");
    read_pages(two, 30);
    uint64_t now = start + WRITTEN + mapped_with(two, 30);
    check(resident() == now, "a shared page is counted for each mapping");
    read_pages(two, WRITTEN - 1);
    now = start + 2 * WRITTEN;
    check(resident() == now,
          "a fault on a constant page maps its neighbours, but none that the object has not");
    read_pages(own, 20);
    check(resident() == now + 20, "a private page that was read is resident");
    write_pages(own, 10, 40);
    check(resident() == now + 40, "a copy replaces what it was copied from");
    must(sys_space_unmap(SLOT_SPACE, (uint64_t)one + 90 * TARN_PAGE_SIZE, 100 * TARN_PAGE_SIZE));
    now += 40 - 10;
    check(resident() == now, "unmapped pages are not resident");
    must(sys_space_protect(SLOT_SPACE, (uint64_t)one, 90 * TARN_PAGE_SIZE, MAP_READ));
    must(sys_space_protect(SLOT_SPACE, (uint64_t)one, 90 * TARN_PAGE_SIZE, RW));
    write_pages(one, 0, 90);
    check(resident() == now, "other rights change nothing");
    must(sys_space_unmap(SLOT_SPACE, (uint64_t)one, PAGES * TARN_PAGE_SIZE));
    memory_unmap((void *)two, PAGES * TARN_PAGE_SIZE);
    memory_unmap((void *)own, PAGES * TARN_PAGE_SIZE);
    check(resident() == start, "all unmapped: as before");
}

static uint64_t data_word; /* in the child's data */
static const char text_word[] = "what is constant";

static uint64_t return_seven(void)
{
    return 7;
}

static bool is_fault(struct outcome outcome, uint64_t address, uint64_t access)
{
    return outcome.faulted && outcome.reason == FAULT_PAGE && outcome.address == address &&
           outcome.access == access;
}

#define RX (MAP_READ | MAP_EXECUTE)

/* Written and executed by turns, in a private mapping: what it has copied has no other address. */
static void test_generated_code(struct child *child, cap_t memory)
{
    const uint64_t text = (uint64_t)return_seven, page = text & ~(TARN_PAGE_SIZE - 1),
                   unused = PLACE + (text - page < TARN_PAGE_SIZE / 2 ? TARN_PAGE_SIZE - 8 : 0);
    must(sys_memory_write(memory, 0, (const void *)page, TARN_PAGE_SIZE));
    child_map(child, memory, PLACE, 2 * TARN_PAGE_SIZE, COW);
    probe_store(child, unused, 1);
    must(sys_space_protect(child->space, PLACE, TARN_PAGE_SIZE, RX));
    check(probe(child, PROBE_EXECUTE, PLACE + text % TARN_PAGE_SIZE, 0).result == 7,
          "made executable, it runs");
    check(is_fault(probe(child, PROBE_WRITE, unused, 0), unused, ACCESS_WRITE),
          "and is not writable any more");
    must(sys_space_protect(child->space, PLACE, TARN_PAGE_SIZE, RW));
    probe_store(child, unused, 2);
    must(sys_space_unmap(child->space, PLACE, 2 * TARN_PAGE_SIZE));
}

static int64_t map_at(const struct child *child, cap_t memory, uint64_t address, uint32_t flags)
{
    return sys_space_map(child->space, memory, address, TARN_PAGE_SIZE, 0, flags | MAP_FIXED);
}

/* In two spaces, the child's and this one. */
static void test_two_addresses(struct child *child, cap_t memory)
{
    const uint64_t word = 1;
    const int64_t here = sys_space_map(SLOT_SPACE, memory, 0, 2 * TARN_PAGE_SIZE, 0, RW);
    check(
        all_return(-E_BUSY, map_at(child, memory, PLACE, RX), map_at(child, memory, PLACE, RX | MAP_PRIVATE)),
        "what is writable at one address is not executable at another");
    child_map(child, memory, PLACE, TARN_PAGE_SIZE, COW);
    check(sys_space_protect(child->space, PLACE, TARN_PAGE_SIZE, RX) == -E_BUSY, "nor made so");
    must(sys_space_protect(SLOT_SPACE, (uint64_t)here, TARN_PAGE_SIZE, MAP_READ));
    must(sys_space_unmap(SLOT_SPACE, (uint64_t)here + TARN_PAGE_SIZE, TARN_PAGE_SIZE));
    check(sys_space_protect(child->space, PLACE, TARN_PAGE_SIZE, RX) == 0,
          "no longer writable there, it may be executed");
    check(all_return(-E_BUSY, sys_space_protect(SLOT_SPACE, (uint64_t)here, TARN_PAGE_SIZE, RW),
                     sys_space_map(SLOT_SPACE, memory, 0, TARN_PAGE_SIZE, 0, RW),
                     sys_memory_write(memory, 0, &word, sizeof word)),
          "then nothing writes to it");
    must(sys_space_unmap(child->space, PLACE, TARN_PAGE_SIZE));
    must(sys_space_protect(SLOT_SPACE, (uint64_t)here, TARN_PAGE_SIZE, RW));
    check(sys_space_protect(SLOT_SPACE, (uint64_t)here, TARN_PAGE_SIZE, RX) == 0,
          "unmapped there, it may be written here, and executed by turns");
    must(sys_space_unmap(SLOT_SPACE, (uint64_t)here, TARN_PAGE_SIZE));
    check(sys_memory_write(memory, 0, &word, sizeof word) == sizeof word,
          "mapped nowhere, it may be written");
}

static void test_write_or_execute(struct child *child)
{
    cap_t memory = must(sys_memory_create(4 * TARN_PAGE_SIZE));
    uint64_t text = (uint64_t)return_seven;
    child_map(child, memory, PLACE, 2 * TARN_PAGE_SIZE, RW);
    check(all_return(-E_BAD_ARGUMENT, map_at(child, memory, SECOND, RW | MAP_EXECUTE),
                     map_at(child, memory, SECOND, COW | MAP_EXECUTE),
                     sys_space_protect(child->space, PLACE, TARN_PAGE_SIZE, RW | MAP_EXECUTE)),
          "no mapping is writable and executable, and none can be made so");
    const uint64_t data[] = {PLACE, CHILD_STACKS + CHILD_STACK_BYTES, (uint64_t)&data_word};
    for (unsigned i = 0; i < 3; i++)
        check(is_fault(probe(child, PROBE_EXECUTE, data[i], 0), data[i], ACCESS_EXECUTE),
              "data, stacks and variables are not executed: %#lx", data[i]);
    probe_store(child, PLACE, 1);
    check(is_fault(probe(child, PROBE_EXECUTE, PLACE, 0), PLACE, ACCESS_EXECUTE), "nor is what was written");
    check(is_fault(probe(child, PROBE_WRITE, text & ~7ull, 0), text & ~7ull, ACCESS_WRITE),
          "text is not written");
    check(all_return(-E_BAD_ADDRESS,
                     probe(child, PROBE_KERNEL_WRITE, text & ~(TARN_PAGE_SIZE - 1), 64).result,
                     probe(child, PROBE_KERNEL_WRITE, (uint64_t)text_word, 8).result),
          "nor by the kernel for a system call; nor are constants");

    must(sys_space_unmap(child->space, PLACE, 2 * TARN_PAGE_SIZE));
    test_generated_code(child, memory);
    test_two_addresses(child, memory);

    cap_t lesser = must(sys_cap_copy(SLOT_SPACE, memory, 0, RIGHT_READ | RIGHT_GRANT, 0));
    child_map(child, lesser, PLACE, TARN_PAGE_SIZE, MAP_READ);
    check(all_return(-E_BAD_RIGHT, map_at(child, lesser, SECOND, RW), map_at(child, lesser, SECOND, RX),
                     sys_space_protect(child->space, PLACE, TARN_PAGE_SIZE, RW),
                     sys_space_protect(child->space, PLACE, TARN_PAGE_SIZE, RX),
                     sys_memory_write(lesser, 0, &data_word, 8), sys_memory_resize(lesser, MIB),
                     sys_memory_supply(lesser, 0, memory, 0, TARN_PAGE_SIZE)),
          "a capability to read does not serve to write, execute, resize or supply");
    must(sys_space_unmap(child->space, PLACE, TARN_PAGE_SIZE));
}

static void test_kernel_addresses(struct child *child)
{
    /* clang-format off */
    static const uint64_t places[] = {
        0, 8, USER_BASE - 8, USER_END + MIB * 512, /* after the thread blocks */
        0x00007ffffffff000ull, /* the end of the lower half */
        0x0000800000000000ull, /* not canonical on x86_64 */
        0x000ffffffffff000ull, 0x0010000000000000ull, /* where powerpc64's page tables end */
        0x4000000000000000ull, 0x8000000000000000ull, /* unused quadrants */
        /* direct map, kernel, trace rings, devices, stacks; then the same for x86_64 */
        0xc000000000000000ull, 0xc000000000004000ull, 0xc000000000400000ull, 0xc008000000000000ull,
        0xc00a000000000000ull, 0xc00c000000000000ull,
        0xffff800000000000ull, 0xffff800000100000ull, 0xffff888000100000ull, 0xffffc00000000000ull,
        0xffffff8000000000ull, 0xffffffff80000000ull, 0xffffffff80100000ull, 0xffffffff80200000ull,
        ~0ull & ~(TARN_PAGE_SIZE - 1),
    };
    /* clang-format on */
    uint64_t kept = 1, refused = 1; /* or the last place that is not */
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (unsigned op = PROBE_READ; op <= PROBE_EXECUTE; op++) {
            const bool faulted = probe(child, op, places[i], 0).faulted;
            kept = faulted ? kept : places[i];
        }
        for (unsigned op = PROBE_KERNEL_READ; op <= PROBE_KERNEL_WRITE; op++) {
            const int64_t result = probe(child, op, places[i], 64).result;
            refused = result == -E_BAD_ADDRESS ? refused : places[i];
        }
    }
    check(kept == 1, "page 0 and the kernel's addresses cannot be read, written or executed: %#lx", kept);
    check(refused == 1, "nor can the kernel be made to do it: %#lx", refused);
    check(all_return(-E_BAD_ADDRESS, probe(child, PROBE_KERNEL_WRITE, USER_END - 8, 64).result,
                     probe(child, PROBE_KERNEL_READ, PLACE, ~0ull - PLACE - 8).result),
          "buffers that run over the end or around it are refused");
}

static void test_kernel_pages(struct child *child)
{
    static const uint64_t pages[] = {USER_TRACE_INFO, USER_THREAD_BLOCKS};
    uint64_t ring = USER_TRACE_RINGS;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t page = pages[i];
        const char *name = i ? "thread blocks" : "the trace's info page";
        check(!probe(child, PROBE_READ, page, 0).faulted, "%s can be read", name);
        check(is_fault(probe(child, PROBE_WRITE, page, 0), page, ACCESS_WRITE) &&
                  is_fault(probe(child, PROBE_EXECUTE, page, 0), page, ACCESS_EXECUTE) &&
                  probe(child, PROBE_KERNEL_WRITE, page, 64).result == -E_BAD_ADDRESS,
              "and neither written, also by the kernel for a system call, nor executed");
        check(map_at(child, probe_memory, page, RW) == -E_BAD_ARGUMENT &&
                  sys_space_protect(child->space, page, TARN_PAGE_SIZE, RW) < 0,
              "nothing is mapped over it, nor its rights changed");
        sys_space_unmap(child->space, page, TARN_PAGE_SIZE);
        sys_space_unmap(child->space, USER_BASE, USER_LINK_ADDRESS - USER_BASE);
        check(!probe(child, PROBE_READ, page, 0).faulted, "nor can it be unmapped");
    }
    check(is_fault(probe(child, PROBE_EXECUTE, ring, 0), ring, ACCESS_EXECUTE),
          "trace rings are not executed");
}

static void test_sizes(void)
{
    static const uint64_t bad[] = {0, (1ull << 39) + 1, 1ull << 40, 1ull << 63, ~0ull, ~0ull - 4094};
    bool refused = true;
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused &= sys_memory_create(bad[i]) == -E_BAD_ARGUMENT;
    check(refused, "objects of size 0 or beyond the maximum are refused");
    cap_t memory = must(sys_memory_create(3 * TARN_PAGE_SIZE - 5));
    check(sys_memory_size(memory) == (int64_t)(3 * TARN_PAGE_SIZE), "sizes are whole pages");
    must(sys_memory_write(memory, 2 * TARN_PAGE_SIZE, "old", 4));
    must(sys_memory_resize(memory, TARN_PAGE_SIZE));
    must(sys_memory_resize(memory, 3 * TARN_PAGE_SIZE));
    char bytes[4] = "old";
    check(sys_memory_read(memory, 2 * TARN_PAGE_SIZE, bytes, 4) == 4 && !memcmp(bytes, "\0\0\0", 4),
          "a page that a smaller size removed is zero when it is back");
    check(all_return(-E_BAD_ARGUMENT, sys_memory_resize(memory, 0), sys_memory_resize(memory, ~0ull)),
          "so are new sizes");
    static const struct {
        uint64_t address, size, offset;
    } ranges[] = {
        {PLACE + 1, TARN_PAGE_SIZE, 0},
        {PLACE, TARN_PAGE_SIZE + 1, 0},
        {PLACE, 0, 0},
        {PLACE, TARN_PAGE_SIZE, 8},
        {PLACE, 4 * TARN_PAGE_SIZE, 0},
        {PLACE, TARN_PAGE_SIZE, 3 * TARN_PAGE_SIZE},
        {PLACE, 2 * TARN_PAGE_SIZE, ~0ull - 4095},
        {PLACE, ~0ull - 4095, 0},
        {PLACE, ~0ull - 4095, TARN_PAGE_SIZE},
        {USER_END - TARN_PAGE_SIZE, 2 * TARN_PAGE_SIZE, 0},
        {USER_END, TARN_PAGE_SIZE, 0},
        {~0ull - 4095, TARN_PAGE_SIZE, 0},
        {0, TARN_PAGE_SIZE, 0},
    };
    refused = true;
    for (unsigned i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        refused &= sys_space_map(SLOT_SPACE, memory, ranges[i].address, ranges[i].size, ranges[i].offset,
                                 RW | MAP_FIXED) == -E_BAD_ARGUMENT;
    check(refused, "mappings that are odd, outside or wrap around are refused");
    for (uint32_t flags = 0; flags < 8; flags++) {
        bool good =
            flags == MAP_READ || flags == RW || flags == MAP_EXECUTE || flags == (MAP_READ | MAP_EXECUTE);
        refused &= good || sys_space_map(SLOT_SPACE, memory, 0, TARN_PAGE_SIZE, 0, flags) == -E_BAD_ARGUMENT;
    }
    refused &=
        sys_space_map(SLOT_SPACE, memory, 0, TARN_PAGE_SIZE, 0, MAP_READ | 1u << 20) == -E_BAD_ARGUMENT;
    check(refused, "so are invalid flags");
    must(sys_space_map(SLOT_SPACE, memory, PLACE, 3 * TARN_PAGE_SIZE, 0, RW | MAP_FIXED));
    check(sys_space_map(SLOT_SPACE, memory, PLACE + 2 * TARN_PAGE_SIZE, TARN_PAGE_SIZE, 0, RW | MAP_FIXED) ==
              -E_EXISTS,
          "mappings cannot overlap");
    check(sys_memory_resize(memory, 2 * TARN_PAGE_SIZE) == -E_BUSY &&
              sys_memory_resize(memory, 9 * TARN_PAGE_SIZE) == 0,
          "a mapped object can grow but not shrink");
    must(sys_space_unmap(SLOT_SPACE, PLACE, 3 * TARN_PAGE_SIZE));
    check(sys_space_unmap(SLOT_SPACE, PLACE, TARN_PAGE_SIZE) == -E_NOT_FOUND &&
              sys_space_protect(SLOT_SPACE, PLACE, TARN_PAGE_SIZE, MAP_READ) == -E_NOT_FOUND,
          "unmapped ranges cannot be unmapped or protected");
    check(sys_memory_resize(memory, TARN_PAGE_SIZE) == 0, "an unmapped one can shrink");
    char byte;
    check(sys_memory_read(memory, TARN_PAGE_SIZE, &byte, 1) == 0 &&
              sys_memory_read(memory, ~0ull, &byte, 1) == 0 &&
              sys_memory_write(memory, ~0ull - 1, &byte, 1) == 0,
          "nothing is read or written beyond the end");
    check(sys_memory_create_contiguous(memory, TARN_PAGE_SIZE) == -E_BAD_TYPE &&
              sys_memory_physical(0, memory, 0) == -E_BAD_CAP &&
              sys_device_memory(memory, 0) == -E_BAD_TYPE && sys_machine_device(memory, 0) == -E_BAD_TYPE,
          "physical memory needs a device, and that the machine");
}

int main(void)
{
    child_prepare();
    probe_prepare();
    struct child child;
    probe_child(&child, "rights");
    test_write_or_execute(&child);
    test_kernel_addresses(&child);
    test_kernel_pages(&child);
    test_sizes();
    test_resident(); /* the C library has its buffers */
    return finish_tests();
}
