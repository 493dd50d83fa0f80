/*
 * frame.c - page frames: a cache per CPU in front of a buddy allocator (Knowlton, CACM 1965). Interface:
 * frame.h.
 *
 * One byte of state per frame of RAM catches double frees and shows the buddy allocator a neighbour's
 * state. Free blocks are linked through their own first bytes, in the direct map.
 *
 * Locking: buddy.lock covers lists, counts and states of free blocks. Other frames belong to their holder,
 * with their state byte.
 */
#include <arch/boot.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/lock.h>
#include <kernel/kernel.h>
#include <kernel/lib/list.h>
#include <kernel/memory/frame.h>
#include <kernel/memory/slab.h>
#include <trace/frame.h>

#define SOURCE_CACHE 0
#define SOURCE_BUDDY 1

/* State of a frame. */
#define IN_USE    0x00
#define IN_CACHE  0x40
#define INSIDE    0x41 /* inside a free block, not its first frame */
#define UNMANAGED 0x42 /* not RAM */
#define FREE_HEAD 0x80 /* first frame of a free block; the low bits are the block's order */

static LOCK_CLASS(buddy_class, "buddy");

static struct {
    struct spinlock lock;
    /* constant after frame_allocator_init: */
    uint8_t *state; /* indexed by frame number */
    uint64_t frame_limit;
    uint64_t total;
    uint64_t reserve; /* frames reserved for the system (scarce.c) */
    /* under lock: */
    struct list free[FRAME_ORDER_MAX + 1]; /* blocks by order */
    uint64_t free_count;
    /* Only the reserve is free. Also read without the lock, as a hint. */
    bool low;
} buddy = {.lock = SPINLOCK(&buddy_class)};

static uint64_t number_of(paddr_t frame)
{
    return frame / FRAME_SIZE;
}

/* Atomic: a frame's owner changes it without the lock. */
static uint8_t state_of(uint64_t number)
{
    return __atomic_load_n(&buddy.state[number], __ATOMIC_RELAXED);
}

bool frame_is_ram(paddr_t address)
{
    return number_of(address) < buddy.frame_limit && state_of(number_of(address)) != UNMANAGED;
}

/* ---- The buddy allocator; all with buddy.lock held ---- */

static void count_free(int64_t frames)
{
    buddy.free_count += (uint64_t)frames;
    __atomic_store_n(&buddy.low, buddy.free_count <= buddy.reserve, __ATOMIC_RELAXED);
}

static void insert_block(uint64_t number, unsigned order)
{
    buddy.state[number] = FREE_HEAD | order;
    list_add_head(&buddy.free[order], phys_to_virt(number * FRAME_SIZE));
}

static void free_block(uint64_t number, unsigned order)
{
    count_free(1ll << order);
    buddy.state[number] = INSIDE;
    while (order < FRAME_ORDER_MAX) {
        uint64_t neighbour = number ^ (1ull << order);
        if (neighbour >= buddy.frame_limit || state_of(neighbour) != (FREE_HEAD | order))
            break;
        list_remove(phys_to_virt(neighbour * FRAME_SIZE));
        buddy.state[neighbour] = INSIDE;
        number &= ~(1ull << order);
        order++;
    }
    insert_block(number, order);
}

static uint64_t allocate_block(unsigned order)
{
    unsigned found = order;
    while (found <= FRAME_ORDER_MAX && list_empty(&buddy.free[found]))
        found++;
    if (found > FRAME_ORDER_MAX)
        return FRAME_NONE;
    struct list *block = buddy.free[found].next;
    list_remove(block);
    uint64_t number = number_of(virt_to_phys(block));
    while (found > order) {
        found--;
        insert_block(number + (1ull << found), found);
    }
    count_free(-(1ll << order));
    return number;
}

/* ---- The reserve ---- */

#define RESERVE_PART 64u /* of all memory: 1/64 */

/* Lock held. */
static bool may_take(uint64_t count)
{
    uint64_t kept = frame_is_for_system() ? 0 : buddy.reserve;
    return buddy.free_count >= kept && buddy.free_count - kept >= count;
}

bool frame_is_low(void)
{
    return __builtin_expect(__atomic_load_n(&buddy.low, __ATOMIC_RELAXED), 0);
}

/* ---- Blocks ---- */

paddr_t frame_alloc_order(unsigned order)
{
    assert(order <= FRAME_ORDER_MAX);
    spin_lock(&buddy.lock);
    uint64_t number = may_take(1ull << order) ? allocate_block(order) : FRAME_NONE;
    if (number != FRAME_NONE) {
        for (uint64_t i = 0; i < 1ull << order; i++)
            buddy.state[number + i] = IN_USE;
    }
    spin_unlock(&buddy.lock);
    if (number == FRAME_NONE)
        return FRAME_NONE;
    trace_frame_alloc(number, order, SOURCE_BUDDY);
    return number * FRAME_SIZE;
}

void frame_free_order(paddr_t frame, unsigned order)
{
    uint64_t number = number_of(frame);
    assert(order <= FRAME_ORDER_MAX && number + (1ull << order) <= buddy.frame_limit);
    trace_frame_free(number, order, SOURCE_BUDDY);
    spin_lock(&buddy.lock);
    for (uint64_t i = 0; i < 1ull << order; i++) {
        assert(buddy.state[number + i] == IN_USE);
        buddy.state[number + i] = INSIDE;
    }
    free_block(number, order);
    spin_unlock(&buddy.lock);
}

/* ---- Runs ---- */

/* All with buddy.lock held. */
static bool is_free(uint64_t number)
{
    uint8_t state = state_of(number);
    return state == INSIDE || state >= FREE_HEAD;
}

/* Of the largest aligned block that begins at `number` and is not longer than to `end`. */
static unsigned order_at(uint64_t number, uint64_t end)
{
    unsigned order = number ? (unsigned)__builtin_ctzll(number) : FRAME_ORDER_MAX;
    if (order > FRAME_ORDER_MAX)
        order = FRAME_ORDER_MAX;
    while (1ull << order > end - number)
        order--;
    return order;
}

/* Frees [number, end), which is in no list, in the largest aligned blocks. */
static void free_range(uint64_t number, uint64_t end)
{
    for (unsigned order; number < end; number += 1ull << order) {
        order = order_at(number, end);
        free_block(number, order);
    }
}

/* Removes a free range from the blocks that contain it. */
static void take_range(uint64_t number, uint64_t end)
{
    while (number < end) {
        uint64_t head = number;
        for (unsigned order = 0; state_of(head) < FREE_HEAD; order++)
            head = number & ~((2ull << order) - 1);
        unsigned order = buddy.state[head] & ~FREE_HEAD;
        uint64_t block_end = head + (1ull << order), taken_end = end < block_end ? end : block_end;
        list_remove(phys_to_virt(head * FRAME_SIZE));
        buddy.state[head] = INSIDE;
        count_free(-(1ll << order));
        for (uint64_t i = number; i < taken_end; i++)
            buddy.state[i] = IN_USE; /* before the rest is freed, or it would merge with them */
        free_range(head, number);
        free_range(taken_end, block_end);
        number = taken_end;
    }
}

static uint64_t find_run(uint64_t count, uint64_t from)
{
    uint64_t start = from;
    for (uint64_t i = from; i < buddy.frame_limit; i++) {
        if (!is_free(i))
            start = i + 1;
        else if (i + 1 - start == count)
            return start;
    }
    return FRAME_NONE;
}

paddr_t frame_alloc_run(uint64_t count, paddr_t from)
{
    assert(count > 0);
    spin_lock(&buddy.lock);
    uint64_t number = find_run(count, number_of(from));
    if (number == FRAME_NONE)
        number = find_run(count, 0);
    if (number != FRAME_NONE)
        take_range(number, number + count);
    spin_unlock(&buddy.lock);
    if (number == FRAME_NONE)
        return FRAME_NONE;
    /* as few events as there are blocks: the rings of all CPUs are allocated while the ring is small */
    for (uint64_t i = number, order; i < number + count; i += 1ull << order) {
        order = order_at(i, number + count);
        trace_frame_alloc(i, (uint32_t)order, SOURCE_BUDDY);
    }
    return number * FRAME_SIZE;
}

void frame_free_run(paddr_t frame, uint64_t count)
{
    const uint64_t end = number_of(frame) + count;
    unsigned order;
    for (uint64_t number = end - count; number < end; number += 1ull << order) {
        order = order_at(number, end);
        frame_free_order(number * FRAME_SIZE, order);
    }
}

/* ---- Per-CPU caches ---- */

static void refill_cache(struct frame_cache *cache)
{
    spin_lock(&buddy.lock);
    while (cache->count < FRAME_CACHE_MAX / 2) {
        uint64_t number = allocate_block(0);
        if (number == FRAME_NONE)
            break;
        buddy.state[number] = IN_CACHE;
        cache->frames[cache->count++] = number * FRAME_SIZE;
    }
    uint64_t left = buddy.free_count;
    spin_unlock(&buddy.lock);
    trace_frame_refill((int32_t)cache->count, cache->count, left);
}

static void drain_cache(struct frame_cache *cache)
{
    uint32_t before = cache->count;
    spin_lock(&buddy.lock);
    while (cache->count > FRAME_CACHE_MAX / 2)
        free_block(number_of(cache->frames[--cache->count]), 0);
    uint64_t left = buddy.free_count;
    spin_unlock(&buddy.lock);
    trace_frame_refill((int32_t)cache->count - (int32_t)before, cache->count, left);
}

static inline __attribute__((always_inline)) paddr_t take_cached(struct frame_cache *cache)
{
    paddr_t frame = cache->frames[--cache->count];
    assert(buddy.state[number_of(frame)] == IN_CACHE);
    buddy.state[number_of(frame)] = IN_USE;
    trace_frame_alloc(number_of(frame), 0, SOURCE_CACHE);
    return frame;
}

static inline __attribute__((always_inline)) void put_cached(struct frame_cache *cache, paddr_t frame)
{
    cache->frames[cache->count++] = frame;
}

/* Refilling and draining are separate functions, so that the fast path has no call and saves no registers. */
static __attribute__((noinline)) paddr_t alloc_refilled(struct frame_cache *cache)
{
    refill_cache(cache);
    return cache->count ? take_cached(cache) : FRAME_NONE;
}

static __attribute__((noinline)) void free_drained(struct frame_cache *cache, paddr_t frame)
{
    drain_cache(cache);
    put_cached(cache, frame);
}

/* While memory is low, freed frames go to the reserve, not to the next program on this CPU. Only the system
 * takes frames from a cache, when no others are left. */
static __attribute__((noinline, cold)) paddr_t alloc_low(struct frame_cache *cache)
{
    slab_reclaim(FRAME_CACHE_MAX / 2);
    const paddr_t frame = frame_alloc_order(0);
    return frame == FRAME_NONE && cache->count > 0 && frame_is_for_system() ? take_cached(cache) : frame;
}

paddr_t frame_alloc(void)
{
    struct frame_cache *cache = &this_cpu()->frame_cache;
    if (explore_fail_allocation())
        return FRAME_NONE;
    if (frame_is_low())
        return alloc_low(cache);
    return cache->count ? take_cached(cache) : alloc_refilled(cache);
}

paddr_t frame_alloc_zeroed(void)
{
    paddr_t frame = frame_alloc();
    if (frame != FRAME_NONE)
        memset(phys_to_virt(frame), 0, FRAME_SIZE);
    return frame;
}

void frame_free(paddr_t frame)
{
    struct frame_cache *cache = &this_cpu()->frame_cache;
    uint64_t number = number_of(frame);
    assert(frame % FRAME_SIZE == 0 && number < buddy.frame_limit && buddy.state[number] == IN_USE);
    explore_freed(frame);
    if (frame_is_low()) {
        frame_free_order(frame, 0);
        return;
    }
    trace_frame_free(number, 0, SOURCE_CACHE);
    buddy.state[number] = IN_CACHE;
    if (cache->count < FRAME_CACHE_MAX)
        put_cached(cache, frame);
    else
        free_drained(cache, frame);
}

bool frame_leaves_enough(uint64_t count)
{
    uint64_t left = __atomic_load_n(&buddy.free_count, __ATOMIC_RELAXED);
    uint64_t kept = buddy.reserve + buddy.reserve / 2;
    return left > kept && left - kept >= count;
}

uint64_t frame_count_total(void)
{
    return buddy.total;
}

uint64_t frame_count_free(void)
{
    spin_lock(&buddy.lock);
    uint64_t count = buddy.free_count;
    spin_unlock(&buddy.lock);
    for (uint32_t i = 0; i < cpu_count; i++)
        count += __atomic_load_n(&cpus[i].frame_cache.count, __ATOMIC_RELAXED);
    return count;
}

/* ---- Boot ---- */

static bool is_in(const paddr_t frame, paddr_t base, uint64_t size)
{
    return frame + FRAME_SIZE > base && frame < base + size;
}

static bool is_kept(paddr_t frame, frame_kept_range *kept)
{
    paddr_t base;
    uint64_t size;
    for (uint32_t i = 0; kept(i, &base, &size); i++)
        if (is_in(frame, base, size))
            return true;
    return false;
}

/* Finds free RAM for the state bytes. */
static paddr_t place_state(uint64_t size, frame_kept_range *kept)
{
    for (uint32_t i = 0; i < boot_info.ram_count; i++) {
        const struct boot_range *range = &boot_info.ram[i];
        paddr_t start = (range->base + FRAME_SIZE - 1) & ~(FRAME_SIZE - 1);
        for (paddr_t p = start, end = start; end + FRAME_SIZE <= range->base + range->size;) {
            end += FRAME_SIZE;
            if (boot_is_occupied(end - FRAME_SIZE, FRAME_SIZE) || is_kept(end - FRAME_SIZE, kept))
                p = end;
            if (end - p >= size)
                return p;
        }
    }
    panic("no memory for the frame table of %llu bytes; give the machine more memory",
          (unsigned long long)size);
}

/* Before any frame is freed: the free lists write to free frames. */
static void mark_kept(frame_kept_range *kept)
{
    paddr_t base;
    uint64_t size;
    for (uint32_t i = 0; kept(i, &base, &size); i++)
        memset(&buddy.state[number_of(base)], IN_USE, size / FRAME_SIZE);
}

/* Frees the rest of a range of RAM, in runs: freeing writes to a frame, and writing to each would be slow. */
static void free_ram(const struct boot_range *range, paddr_t state, uint64_t state_size)
{
    uint64_t number = number_of(range->base + FRAME_SIZE - 1), end = number_of(range->base + range->size),
             run = number;
    for (; number < end; number++) {
        paddr_t frame = number * FRAME_SIZE;
        bool used = frame == 0 || is_in(frame, state, state_size) || buddy.state[number] == IN_USE ||
                    boot_is_occupied(frame, FRAME_SIZE);
        buddy.state[number] = used ? IN_USE : INSIDE;
        buddy.total++;
        if (used) {
            free_range(run, number);
            run = number + 1;
        }
    }
    free_range(run, end);
}

void frame_allocator_init(frame_kept_range *kept)
{
    for (unsigned order = 0; order <= FRAME_ORDER_MAX; order++)
        list_init(&buddy.free[order]);
    for (uint32_t i = 0; i < boot_info.ram_count; i++) {
        uint64_t limit = (boot_info.ram[i].base + boot_info.ram[i].size) / FRAME_SIZE;
        if (limit > buddy.frame_limit)
            buddy.frame_limit = limit;
    }
    uint64_t state_size = (buddy.frame_limit + FRAME_SIZE - 1) & ~(FRAME_SIZE - 1);
    paddr_t state = place_state(state_size, kept);
    buddy.state = phys_to_virt(state);
    memset(buddy.state, UNMANAGED, state_size);
    mark_kept(kept);

    spin_lock(&buddy.lock);
    for (uint32_t i = 0; i < boot_info.ram_count; i++)
        free_ram(&boot_info.ram[i], state, state_size);
    buddy.reserve = buddy.total / RESERVE_PART;
    spin_unlock(&buddy.lock);
}
