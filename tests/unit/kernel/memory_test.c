/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory_test.c - compares page frames, slabs, memory objects, mappings and faults with simple models,
 * under random operations and sanitizers. Each test ends with all page frames free.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arch/boot.h>
#include <kernel/cpu/quiescent.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/endpoint.h>
#include <kernel/ipc/notification.h>
#include <kernel/memory/frame.h>
#include <kernel/memory/slab.h>
#include <kernel/space/mapping.h>
#include <kernel/space/memory.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <tests/unit/kernel/host.h>
#include <tests/unit/stub.h>

/* Stubs for what spaces need besides memory. */
DOES_NOTHING(void endpoint_put(struct endpoint *endpoint));
DOES_NOTHING(void notification_put(struct notification *notification));
DOES_NOTHING(void futex_construct(struct futex_table *table));
DOES_NOTHING(void cap_table_construct(struct cap_table *table));
RETURNS(0, int cap_table_init(struct cap_table *table));
DOES_NOTHING(void cap_table_destroy(struct cap_table *table));
DOES_NOTHING(void smp_call_urgently(enum ipi_kind kind, uint64_t targets, void (*function)(void *argument),
                                    void *argument));
DOES_NOTHING(void trace_leave_classes(struct space *space));

static unsigned seed = 1;
static unsigned pick(unsigned limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
}

/* ---- Frames ---- */

static int compare_frames(const void *a, const void *b)
{
    paddr_t x = *(const paddr_t *)a, y = *(const paddr_t *)b;
    return (x > y) - (x < y);
}

#define MERGED_ORDER 12 /* 16 MiB of 64: exists only if nearly everything merged */

static void test_all_frames(void)
{
    uint64_t before = frame_count_free(), count = 0;
    paddr_t *frames = malloc(before * sizeof *frames), frame;
    while ((frame = frame_alloc()) != FRAME_NONE) {
        memset(phys_to_virt(frame), 0xaa, FRAME_SIZE); /* the sanitizer catches writes outside */
        frames[count++] = frame;
    }
    check(count == before && frame_count_free() == 0, "every frame is allocated once (%lu)", count);
    bool reserved = false;
    for (uint64_t i = 0; i < count; i++)
        reserved |= frames[i] >= HOST_RAM_BASE + 0x10000 && frames[i] < HOST_RAM_BASE + 0x15000;
    check(!reserved, "reserved frames are never allocated");
    for (uint64_t i = 0; i < count; i++)
        frame_free(frames[i * 7919 % count]);
    check(frame_count_free() == before, "all frames are freed, in another order");
    /* Again, in order, so that the frames left in the CPU's cache are adjacent. */
    for (uint64_t i = 0; i < count; i++)
        frames[i] = frame_alloc();
    qsort(frames, count, sizeof *frames, compare_frames);
    for (uint64_t i = 0; i < count; i++)
        frame_free(frames[i]);
    free(frames);
    paddr_t big = frame_alloc_order(MERGED_ORDER);
    check(big != FRAME_NONE, "freed neighbours merge to large blocks");
    if (big != FRAME_NONE)
        frame_free_order(big, MERGED_ORDER);
}

static void test_blocks(void)
{
    uint64_t before = frame_count_free();
    paddr_t block[64] = {0};
    unsigned order[64];
    bool aligned = true, overlap = false;
    for (int round = 0; round < 5000; round++) {
        unsigned i = pick(64);
        if (block[i]) {
            frame_free_order(block[i], order[i]);
            block[i] = 0;
            continue;
        }
        order[i] = pick(8);
        block[i] = frame_alloc_order(order[i]);
        if (block[i] == FRAME_NONE)
            block[i] = 0;
        aligned &= block[i] % (FRAME_SIZE << order[i]) == 0;
        for (unsigned j = 0; block[i] && j < 64; j++)
            overlap |= j != i && block[j] && block[i] < block[j] + (FRAME_SIZE << order[j]) &&
                       block[j] < block[i] + (FRAME_SIZE << order[i]);
    }
    for (unsigned i = 0; i < 64; i++) {
        if (block[i])
            frame_free_order(block[i], order[i]);
    }
    check(aligned && !overlap, "blocks are aligned to their size and never overlap");
    check(frame_count_free() == before, "all blocks are freed");
}

/* ---- Slabs ---- */

struct thing {
    uint64_t constructed, payload[20];
};
static unsigned constructions;
static void construct_thing(void *object)
{
    ((struct thing *)object)->constructed = 0x600d;
    constructions++;
}
static LOCK_CLASS(thing_class, "thing");

static void test_slab(void)
{
    static struct slab slab = SLAB("thing", struct thing, construct_thing, &thing_class);
    struct thing *things[200];
    bool good = true;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 200; i++) {
            things[i] = slab_alloc(&slab);
            good &= things[i]->constructed == 0x600d;
            memset(things[i]->payload, i, sizeof things[i]->payload);
        }
        for (int i = 0; i < 200; i++) {
            good &= ((unsigned char *)things[i]->payload)[159] == (unsigned char)i;
            slab_free(&slab, things[i]);
        }
    }
    check(good && slab_live(&slab) == 0, "objects keep their constructed state and do not overlap");
    check(constructions == slab.frames * slab_objects_in_frame(&slab),
          "each piece of memory is constructed once");
}

/* All CPUs except `but` leave the kernel, one after another. */
static void leave_kernel(uint32_t but)
{
    for (uint32_t i = 0; i < cpu_count; i++) {
        host_become(i);
        if (i != but)
            quiescent_report();
    }
    host_become(0);
}
#define NOBODY ~0u

static void reclaim_all(void)
{
    for (int i = 0; i < 4; i++)
        leave_kernel(NOBODY);
    while (slab_reclaim(100) > 0)
        ;
}

/* A freed object's frame is kept until every CPU has left the kernel. */
static void test_slab_frames(void)
{
    enum { COUNT = 2000 };
    static LOCK_CLASS(class, "thing");
    static struct slab slab = SLAB("thing", struct thing, construct_thing, &class);
    static struct thing *things[COUNT];
    reclaim_all();
    uint64_t before = frame_count_free();
    bool early = false;
    bool all = true;
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
        for (int i = 0; i < COUNT; i++)
            things[i] = slab_alloc(&slab);
        for (int i = 0; i < COUNT; i++)
            slab_free(&slab, things[i * 7 % COUNT]);
        for (int i = 0; i < 10; i++)
            leave_kernel(cpu);
        early |= slab_reclaim(1) > 0;
        reclaim_all();
        all &= slab.frames == 1 && frame_count_free() == before - 1;
    }
    check(!early, "an empty slab keeps its frames while one processor may hold an old pointer");
    check(all, "then all slabs but one are freed");
    for (int i = 0; i < COUNT; i++)
        things[i] = slab_alloc(&slab);
    for (int i = 0; i < COUNT; i++)
        if (i % 100)
            slab_free(&slab, things[i]);
    reclaim_all();
    check(slab.frames <= COUNT / 100 + 1, "frames with live objects stay, the others are freed");
    for (int i = 0; i < COUNT; i += 100)
        slab_free(&slab, things[i]);
    reclaim_all();
    check(frame_count_free() == before - 1, "these frames are freed with their last object");
}

/* ---- Mappings ---- */

/* Finds the first gap by testing page after page. */
static uint64_t find_gap_slowly(const bool *used, unsigned pages, unsigned from, unsigned limit,
                                unsigned size)
{
    for (unsigned at = from; at + size <= limit; at++) {
        unsigned free = 0;
        while (free < size + 2 && (at + free - 1 >= pages || !used[at + free - 1]))
            free++;
        if (free == size + 2)
            return at * TARN_PAGE_SIZE;
    }
    return 0;
}

static void test_mappings(void)
{
    enum { MAX = 200, FROM = 40, LIMIT = 440, STEP = 3 };
    static struct mapping mapping[MAX];
    static bool used[MAX], page[MAX * STEP];
    struct tree_node *root = NULL;
    bool found = true, gaps = true;
    for (int round = 0; round < 20000; round++) {
        unsigned i = pick(MAX), first = i * STEP + 1;
        if (used[i] && mapping[i].end - mapping[i].start > TARN_PAGE_SIZE && pick(2)) {
            mapping_end_at(&root, &mapping[i], mapping[i].start + TARN_PAGE_SIZE);
        } else if (used[i]) {
            mapping_remove(&root, &mapping[i]);
            used[i] = false;
        } else {
            mapping[i] = (struct mapping){.start = first * TARN_PAGE_SIZE,
                                          .end = (first + 1 + pick(2)) * TARN_PAGE_SIZE};
            mapping_insert(&root, &mapping[i]);
            used[i] = true;
        }
        for (unsigned at = 0; at < STEP; at++)
            page[i * STEP + at] = used[i] && (i * STEP + at) * TARN_PAGE_SIZE >= mapping[i].start &&
                                  (i * STEP + at) * TARN_PAGE_SIZE < mapping[i].end;
        unsigned next = pick(MAX), at = next * STEP + 1;
        while (next < MAX && !used[next])
            next++;
        found &= mapping_find(root, at * TARN_PAGE_SIZE) == (next < MAX ? &mapping[next] : NULL);
        unsigned size = 1 + pick(12), limit = LIMIT - pick(LIMIT - FROM);
        gaps &=
            mapping_find_gap(root, FROM * TARN_PAGE_SIZE, limit * TARN_PAGE_SIZE, size * TARN_PAGE_SIZE) ==
            find_gap_slowly(page, MAX * STEP, FROM, limit, size);
    }
    check(found, "the tree of mappings finds what a linear search finds");
    check(gaps, "the tree of mappings also works with gaps");
}

/* ---- Spaces: a model of pages ---- */

#define PAGES 64
#define BASE  0x10000000ull
/* A page of the model space: a page of an object, or a private copy with its own value. */
struct model_page {
    bool mapped;
    uint32_t flags;
    unsigned object, page;
    bool copied;
    uint64_t value; /* of the copy */
};

static uint64_t *resolve(struct space *space, uint64_t address, uint32_t access)
{
    struct fault_request request = {.address = address, .access = access};
    if (space_fault(space, &request) != FAULT_RESOLVED)
        return NULL;
    uint32_t flags;
    paddr_t frame = arch_lookup_page(&space->arch, address & ~(FRAME_SIZE - 1), &flags);
    if (frame == ~0ull || (access & FAULT_ACCESS_WRITE && !(flags & MAP_WRITE)))
        abort();
    return phys_to_virt(frame);
}

static void model_map(struct space *space, struct memory **objects, struct model_page *model)
{
    static const uint32_t kinds[] = {MAP_READ, MAP_READ | MAP_WRITE, MAP_READ | MAP_WRITE | MAP_PRIVATE,
                                     MAP_READ | MAP_PRIVATE};
    unsigned first = pick(PAGES), count = 1 + pick(8), object = pick(2), offset = pick(PAGES - 8);
    uint32_t flags = kinds[pick(4)];
    if (first + count > PAGES)
        return;
    bool taken = false;
    for (unsigned i = first; i < first + count; i++)
        taken |= model[i].mapped;
    int64_t result = space_map(space, objects[object], BASE + first * FRAME_SIZE, count * FRAME_SIZE,
                               offset * FRAME_SIZE, flags | MAP_FIXED, MAP_READ | MAP_WRITE);
    if (taken != (result == -E_EXISTS))
        abort();
    for (unsigned i = 0; !taken && i < count; i++)
        model[first + i] =
            (struct model_page){.mapped = true, .flags = flags, .object = object, .page = offset + i};
}

static void model_unmap(struct space *space, struct model_page *model)
{
    unsigned first = pick(PAGES), count = 1 + pick(6);
    if (first + count > PAGES)
        return;
    space_unmap(space, BASE + first * FRAME_SIZE, count * FRAME_SIZE);
    for (unsigned i = first; i < first + count; i++)
        model[i].mapped = false;
}

static void model_protect(struct space *space, struct model_page *model)
{
    unsigned first = pick(PAGES), count = 1 + pick(4);
    uint32_t rights = pick(2) ? MAP_READ : MAP_READ | MAP_WRITE;
    if (first + count > PAGES)
        return;
    bool all = true;
    for (unsigned i = first; i < first + count; i++)
        all &= model[i].mapped;
    if (all != (space_protect(space, BASE + first * FRAME_SIZE, count * FRAME_SIZE, rights) == 0))
        abort();
    for (unsigned i = first; all && i < first + count; i++)
        model[i].flags = (model[i].flags & MAP_PRIVATE) | rights;
}

static bool model_access(struct space *space, struct model_page *model, uint64_t (*contents)[PAGES])
{
    unsigned i = pick(PAGES);
    bool write = pick(2);
    uint64_t *word = resolve(space, BASE + i * FRAME_SIZE + 8, write ? FAULT_ACCESS_WRITE : 0);
    struct model_page *page = &model[i];
    bool allowed = page->mapped && (!write || page->flags & MAP_WRITE);
    if (allowed != (word != NULL))
        return false;
    if (!word)
        return true;
    uint32_t flags = 0;
    arch_lookup_page(&space->arch, BASE + i * FRAME_SIZE, &flags);
    if (flags & MAP_WRITE && !write && page->flags & MAP_PRIVATE && !page->copied)
        return false; /* the next write would change the object */
    uint64_t *expected = page->copied ? &page->value : &contents[page->object][page->page];
    if (write && page->flags & MAP_PRIVATE && !page->copied) {
        page->copied = true;
        page->value = *expected;
        expected = &page->value;
    }
    if (*word != *expected)
        return false;
    if (write)
        *word = *expected = seed;
    return true;
}

static void test_space(void)
{
    uint64_t warm = slab_frames_total(), before = frame_count_free();
    static struct model_page model[PAGES];
    static uint64_t contents[2][PAGES];
    struct space *space = space_new("model", 0, 0, true);
    struct memory *objects[2] = {memory_new(MEMORY_ZERO, PAGES * FRAME_SIZE),
                                 memory_new(MEMORY_ZERO, PAGES * FRAME_SIZE)};
    bool good = true;
    for (int round = 0; round < 60000 && good; round++) {
        unsigned what = pick(20);
        if (what == 0)
            model_map(space, objects, model);
        else if (what == 1)
            model_unmap(space, model);
        else if (what == 2)
            model_protect(space, model);
        else
            good = model_access(space, model, contents);
    }
    check(good, "map, unmap, protect, faults and copies on write agree with the model");
    uint64_t copies = 0;
    for (unsigned i = 0; i < PAGES; i++)
        copies += model[i].mapped && model[i].copied;
    check(space->private_frames == copies, "copies live exactly as long as their page is mapped");
    check(memory_resize(objects[0], FRAME_SIZE) == -E_BUSY || objects[0]->mappings == 0,
          "mapped pages cannot be truncated");
    struct thread_block *block;
    uint64_t user_address, blocks = 0;
    while (space_alloc_block(space, &block, &user_address) == 0)
        blocks++;
    check(blocks == 512, "a space has 512 thread blocks");
    space_put(space);
    memory_put(objects[0]);
    memory_put(objects[1]);
    uint64_t grown = slab_frames_total() - warm;
    check(frame_count_free() + grown == before, "a dead space and its objects free every frame");
}

static uint64_t first_word(struct memory *memory, uint64_t offset)
{
    uint64_t word = ~0ull;
    memory_copy_out(memory, offset, &word, sizeof word);
    return word;
}

/* ---- No memory ---- */

/* Takes all free frames but `left`, so that the next allocation after those fails. */
static paddr_t *hoard;
static uint64_t hoarded;

static void leave_frames(uint64_t left)
{
    paddr_t frame;
    while ((frame = frame_alloc()) != FRAME_NONE)
        hoard[hoarded++] = frame;
    while (left-- && hoarded)
        frame_free(hoard[--hoarded]);
}

static void release_hoard(void)
{
    while (hoarded)
        frame_free(hoard[--hoarded]);
}

/* Touches a range; returns how many faults found no memory. */
static unsigned touch(struct space *space, uint64_t address, uint64_t size)
{
    unsigned failed = 0;
    for (uint64_t at = address; at < address + size; at += 100 * FRAME_SIZE) {
        struct fault_request request = {.address = at, .access = at & 0x40000 ? 0 : FAULT_ACCESS_WRITE};
        failed += space_fault(space, &request) == FAULT_NO_MEMORY;
    }
    return failed;
}

/* Uses memory as programs do; returns how many operations failed. */
static unsigned use_space(struct space *space, struct memory *zero, struct memory *paged)
{
    const uint64_t big = 4 << 20;
    const uint32_t rw = MAP_READ | MAP_WRITE | MAP_FIXED;
    unsigned failed = 0;
    failed += space_map(space, zero, BASE, big, 0, rw, 7) < 0;
    failed += space_map(space, zero, BASE + big, big, 0, rw | MAP_PRIVATE, 7) < 0;
    failed += space_map(space, paged, BASE + 2 * big, big, 0, rw | MAP_PRIVATE, 7) < 0;
    failed += touch(space, BASE, 2 * big);
    failed += memory_resize(zero, 3ull << 30) != 0;
    uint64_t word = 815, zeroes[FRAME_SIZE / 8] = {0};
    struct memory *source = memory_new(MEMORY_ZERO, 2 * FRAME_SIZE);
    if (source && memory_copy_in(source, 0, &word, sizeof word) == sizeof word) {
        int error = memory_supply(paged, 3 << 20, source, 0);
        failed += error != 0;
        if (first_word(error ? source : paged, error ? 0 : 3 << 20) != 815)
            abort(); /* lost by the move */
    } else {
        failed++;
    }
    failed += memory_copy_in(zero, 2ull << 30, zeroes, sizeof zeroes) < 0;
    failed += touch(space, BASE, 2 * big);
    failed += space_protect(space, BASE + 64 * FRAME_SIZE, 100 * FRAME_SIZE, MAP_READ) < 0;
    failed += space_unmap(space, BASE + big + 50 * FRAME_SIZE, 300 * FRAME_SIZE) < 0;
    struct thread_block *block;
    uint64_t user_address;
    failed += space_alloc_block(space, &block, &user_address) < 0;
    struct memory *contiguous = memory_new_contiguous(8 * FRAME_SIZE);
    failed += !contiguous;
    if (contiguous)
        memory_put(contiguous);
    if (source)
        memory_put(source);
    return failed;
}

static unsigned use_memory(void)
{
    static struct endpoint pager = {.references = 1};
    struct space *space = space_new("poor", 0, 0, true);
    struct memory *zero = memory_new(MEMORY_ZERO, 8 << 20), *paged = memory_new(MEMORY_PAGED, 8 << 20);
    unsigned failed = !space + !zero + !paged;
    if (paged)
        paged->pager = &pager;
    if (!failed)
        failed = use_space(space, zero, paged);
    if (paged)
        memory_put(paged);
    if (zero)
        memory_put(zero);
    if (space)
        space_put(space);
    return failed;
}

static void test_no_memory(void)
{
    uint64_t before = frame_count_free() + slab_frames_total(), left = 0;
    hoard = malloc(frame_count_free() * sizeof *hoard);
    bool same = true;
    unsigned failed = 1, ever = 0;
    for (; failed && left < 1000; left++) {
        leave_frames(left);
        failed = use_memory();
        ever += failed != 0;
        release_hoard();
        same &= frame_count_free() + slab_frames_total() == before;
    }
    check(same && ever > 10 && !failed, "out of memory at each of %lu allocations: nothing is lost",
          left - 1);
    /* The same with page tables that fail; they take no frames here. */
    for (failed = 1, left = 0; failed && left < 1000; left++) {
        host_map_budget = left;
        failed = use_memory();
        same &= frame_count_free() + slab_frames_total() == before;
    }
    host_map_budget = ~0ull;
    check(same && left > 2 && !failed, "no memory for %lu pages' tables: nothing is lost", left - 1);
    free(hoard);
}

/* Where runs are, and that the blocks from which they were taken merge again. */
static void test_runs(void)
{
    uint64_t before = frame_count_free();
    paddr_t middle = boot_info.ram[0].base + (boot_info.ram[0].size / 2 & ~(FRAME_SIZE - 1)) + FRAME_SIZE;
    paddr_t first = frame_alloc_run(5, middle), second = frame_alloc_run(300, middle);
    bool ok = first >= middle && second >= first + 5 * FRAME_SIZE && frame_count_free() == before - 305;
    memset(phys_to_virt(first), 1, 5 * FRAME_SIZE);
    memset(phys_to_virt(second), 2, 300 * FRAME_SIZE);
    for (uint64_t i = 0; i < 300; i++)
        frame_free(second + i * FRAME_SIZE);
    for (uint64_t i = 0; i < 5; i++)
        frame_free(first + i * FRAME_SIZE);
    check(ok, "runs of frames are at the requested place");
    paddr_t again = frame_alloc_run(4, boot_info.ram[0].base + boot_info.ram[0].size - 3 * FRAME_SIZE);
    check(again != FRAME_NONE, "runs of frames are elsewhere if there is no space");
    for (uint64_t i = 0; i < 4; i++)
        frame_free(again + i * FRAME_SIZE);
    check(frame_alloc_run(frame_count_total() + 1, 0) == FRAME_NONE, "more frames than exist are refused");
    check(frame_count_free() == before, "all frames are freed");
}

#define KEPT_FRAMES 7
static paddr_t kept_base;

static bool keep(uint32_t index, paddr_t *base, uint64_t *size)
{
    *base = kept_base = boot_info.ram[0].base + (boot_info.ram[0].size / 4 & ~(FRAME_SIZE - 1));
    *size = KEPT_FRAMES * FRAME_SIZE;
    return index == 0;
}

static void test_kept(const char *pattern)
{
    check(memcmp(phys_to_virt(kept_base), pattern, KEPT_FRAMES * FRAME_SIZE) == 0,
          "frames kept at boot are neither written nor allocated");
}

int main(void)
{
    static char pattern[KEPT_FRAMES * FRAME_SIZE];
    paddr_t base;
    uint64_t size;
    host_start(4);
    memset(pattern, 0x5a, sizeof(pattern));
    keep(0, &base, &size);
    memset(phys_to_virt(base), 0x5a, size);
    frame_allocator_init(keep);
    test_runs();
    test_all_frames();
    test_kept(pattern);
    test_blocks();
    test_slab();
    test_slab_frames();
    test_mappings();
    test_space();
    test_no_memory();
    return finish_tests();
}
