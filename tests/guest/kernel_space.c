/*
 * kernel_space.c - compares mappings, faults, copies on write and the places that the kernel chooses with
 * simple models, under random operations. Each access is made by an instruction, where it is allowed, or by
 * the kernel for a system call, which refuses accesses that are not allowed.
 */
#include "child.h"
#include "leak.h"
#include "tap.h"

#define ROUNDS REPEATS(60000u)
#define PAGES  64u
#define PLACE  0x0000000a00000000ull
#define OFFSET 8u /* of a page's word that is read and written */
#define COW    (MAP_READ | MAP_WRITE | MAP_PRIVATE)
#define RW     (MAP_READ | MAP_WRITE)

static uint64_t seed = 1;
static unsigned pick(unsigned limit)
{
    return (unsigned)next_random(&seed) % limit;
}

/* A page of an object, or a private copy with its own value. */
static struct page {
    bool is_mapped, is_copied;
    uint32_t flags;
    unsigned object, page;
    uint64_t value; /* of the copy */
} pages[PAGES];
static uint64_t contents[2][PAGES];
static cap_t objects[2], scratch;

static uint64_t address_of(unsigned page)
{
    return PLACE + page * TARN_PAGE_SIZE;
}

static bool all_mapped(unsigned first, unsigned end, bool wanted)
{
    while (first < end && pages[first].is_mapped == wanted)
        first++;
    return first >= end;
}

static bool map_some(unsigned first, unsigned count)
{
    static const uint32_t kinds[] = {MAP_READ, RW, COW, MAP_READ | MAP_PRIVATE};
    const unsigned object = pick(2), offset = pick(PAGES - 8);
    const uint32_t flags = kinds[pick(4)];
    const int64_t result = sys_space_map(SLOT_SPACE, objects[object], address_of(first),
                                         count * TARN_PAGE_SIZE, offset * TARN_PAGE_SIZE, flags | MAP_FIXED);
    if (!all_mapped(first, first + count, false))
        return result == -E_EXISTS;
    for (unsigned i = 0; i < count; i++)
        pages[first + i] = (struct page){true, false, flags, object, offset + i, 0};
    return result == (int64_t)address_of(first);
}

static bool unmap_some(unsigned first, unsigned count)
{
    const int64_t wanted = all_mapped(first, first + count, false) ? -E_NOT_FOUND : 0;
    for (unsigned i = first; i < first + count; i++)
        pages[i].is_mapped = false;
    return sys_space_unmap(SLOT_SPACE, address_of(first), count * TARN_PAGE_SIZE) == wanted;
}

static bool protect_some(unsigned first, unsigned count)
{
    const uint32_t rights = pick(2) ? MAP_READ : RW;
    const int64_t error = sys_space_protect(SLOT_SPACE, address_of(first), count * TARN_PAGE_SIZE, rights);
    if (!all_mapped(first, first + count, true))
        return error < 0;
    for (unsigned i = first; i < first + count; i++)
        pages[i].flags = (pages[i].flags & MAP_PRIVATE) | rights;
    return error == 0;
}

/* Of a word that the kernel reads or writes; false: it refuses. */
static bool access_by_kernel(uint64_t address, bool writes, uint64_t *word)
{
    int64_t result;
    if (writes) {
        sys_memory_write(scratch, 0, word, sizeof *word);
        result = sys_memory_read(scratch, 0, (void *)address, sizeof *word);
    } else {
        result = sys_memory_write(scratch, 0, (const void *)address, sizeof *word);
        sys_memory_read(scratch, 0, word, sizeof *word);
    }
    return result == sizeof *word;
}

static bool has_contents(unsigned object, unsigned page)
{
    uint64_t word = ~0ull;
    sys_memory_read(objects[object], page * TARN_PAGE_SIZE + OFFSET, &word, sizeof word);
    return word == contents[object][page];
}

static bool access_one(unsigned i)
{
    struct page *page = &pages[i];
    const bool writes = pick(2), is_allowed = page->is_mapped && (!writes || page->flags & MAP_WRITE);
    const uint64_t address = address_of(i) + OFFSET;
    uint64_t *expected = page->is_copied ? &page->value : &contents[page->object][page->page], word = seed;
    if (!is_allowed || pick(2)) {
        if (access_by_kernel(address, writes, &word) != is_allowed)
            return false;
    } else if (writes) {
        *(volatile uint64_t *)address = word;
    } else {
        word = *(volatile uint64_t *)address;
    }
    if (!is_allowed)
        return true;
    if (writes && page->flags & MAP_PRIVATE) {
        page->is_copied = true;
        expected = &page->value;
    }
    if (writes)
        *expected = word;
    return word == *expected && has_contents(page->object, page->page);
}

static bool do_something(void)
{
    const unsigned what = pick(20), first = pick(PAGES), most = PAGES - first < 8 ? PAGES - first : 8;
    return what == 0   ? map_some(first, 1 + pick(most))
           : what == 1 ? unmap_some(first, 1 + pick(most))
           : what == 2 ? protect_some(first, 1 + pick(most))
                       : access_one(first);
}

static void test_pages(void)
{
    bool good = true;
    scratch = must(sys_memory_create(TARN_PAGE_SIZE));
    for (unsigned i = 0; i < 2; i++)
        objects[i] = must(sys_memory_create(PAGES * TARN_PAGE_SIZE));
    memset(pages, 0, sizeof pages);
    memset(contents, 0, sizeof contents);
    for (unsigned round = 0; round < ROUNDS && good; round++)
        good = do_something();
    check(good, "map, unmap, protect, faults and copies on write agree with the model");
    check(map_some(0, 1) && sys_memory_resize(objects[pages[0].object], TARN_PAGE_SIZE) ==
                                (pages[0].is_mapped ? -E_BUSY : 0),
          "mapped pages cannot be truncated");
    unmap_some(0, PAGES);
    for (unsigned i = 0; i < 2; i++)
        sys_cap_close(objects[i]);
    sys_cap_close(scratch);
}

enum { GAPS = 200, WIDEST = 6 };

/* The first place with a free page before and behind, found page after page. */
static unsigned first_gap(const bool *used, unsigned size)
{
    for (unsigned at = 0, free = 1;; at++) {
        free = at < GAPS && used[at] ? 0 : free + 1;
        if (free == size + 2)
            return at - size;
    }
}

static void test_gaps(void)
{
    static const char name[TARN_NAME_BYTES] = "gaps";
    const cap_t space = must(sys_space_create(name, 0)),
                memory = must(sys_memory_create(WIDEST * TARN_PAGE_SIZE));
    bool used[GAPS] = {false}, good = true;
    for (unsigned round = 0; round < ROUNDS && good; round++) {
        const unsigned size = 1 + pick(WIDEST), first = pick(GAPS - WIDEST), place = first_gap(used, size);
        const bool maps = pick(2) && place + size < GAPS;
        if (maps)
            good = sys_space_map(space, memory, 0, size * TARN_PAGE_SIZE, 0, MAP_READ) ==
                   (int64_t)(USER_MMAP_BASE + place * TARN_PAGE_SIZE);
        else
            sys_space_unmap(space, USER_MMAP_BASE + first * TARN_PAGE_SIZE, size * TARN_PAGE_SIZE);
        memset(used + (maps ? place : first), maps, size);
    }
    check(good, "a mapping gets the first gap that is wide enough, with a page around it");
    sys_cap_close(memory);
    sys_cap_close(space);
}

int main(void)
{
    test_pages();
    test_gaps();
    struct system_stats before = first_stats();
    test_pages();
    test_gaps();
    check(same_stats_soon(&before), "all page frames and objects are freed");
    return finish_tests();
}
