/*
 * space.c - address spaces. Interface: space.h. Page faults are in space_fault.c, the tree of mappings in
 * mapping.c, TLB shootdown in tlb.c.
 *
 * Locking: space->lock, then an object's lock for a short time. space_list_lock is innermost, and held only
 * to link, unlink and walk.
 */
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/kernel.h>
#include <kernel/memory/slab.h>
#include <kernel/object/cap_table.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/format/routine.h>
#include <trace/mem.h>
#include <trace/process.h>

#define BLOCKS_PER_FRAME (FRAME_SIZE / sizeof(struct thread_block))
#define RIGHTS_MASK      (MAP_READ | MAP_WRITE | MAP_EXECUTE)

static LOCK_CLASS(space_class, "space");
static LOCK_CLASS(space_list_class, "space list");
static LOCK_CLASS(space_slab_class, "space slab");
static LOCK_CLASS(mapping_slab_class, "mapping slab");
static LOCK_CLASS(futex_class, "futex bucket");

static void construct_space(void *object)
{
    struct space *space = object;
    spin_init(&space->lock, &space_class);
    cap_table_construct(&space->caps);
    for (unsigned i = 0; i < 1u << FUTEX_BUCKET_BITS; i++) {
        spin_init(&space->futexes[i].lock, &futex_class);
        list_init(&space->futexes[i].waiters);
    }
    atomic_init(&space->routine_frames, 0); /* and again when its tables are gone */
}

static struct slab space_slab = SLAB("space", struct space, construct_space, &space_slab_class);
static struct slab mapping_slab = SLAB("mapping", struct mapping, NULL, &mapping_slab_class);

static struct spinlock space_list_lock = SPINLOCK(&space_list_class);
static struct list space_list = {&space_list, &space_list}; /* under space_list_lock */
static _Atomic uint32_t last_pid;                           /* changes under it */

/* ---- Creation ---- */

/* The event comes before another thread can kill it. */
static void link_space(struct space *space)
{
    spin_lock(&space_list_lock);
    space->pid = space_newest_pid() + 1;
    atomic_store_explicit(&last_pid, space->pid, memory_order_relaxed);
    trace_process_create(space->pid, space->parent_pid);
    list_add_head(&space_list, &space->all);
    spin_unlock(&space_list_lock);
}

/* Resets a reused slab object, except its locks. */
static void reset_space(struct space *space)
{
    space->mappings = NULL;
    space->mapping_count = space->private_frames = space->resident = 0;
    memset(space->block_frames, 0, sizeof space->block_frames);
    memset(space->counting_blocks, 0, sizeof space->counting_blocks);
    space->counting_frames = space->named_routines = 0;
    space->named_epoch = 0;
    memset(space->block_used, 0, sizeof space->block_used);
    list_init(&space->threads);
    space->thread_count = 0;
    space->dying = space->released = space->is_parent = space->returned = false;
    space->status = 0;
    space->routine_tables[0] = space->routine_tables[1] = NULL;
    space->heir = NULL;
    space->has_routines = false;
    space->trace_classes = 0;
    space->fault_handler = NULL;
    space->watcher = NULL;
    space->executable_path[0] = 0;
    space->executable_base = space->executable_size = space->build_id[0] = space->build_id[1] = 0;
    atomic_store_explicit(&space->cpus, 0, memory_order_relaxed);
    atomic_store_explicit(&space->references, 1, memory_order_relaxed);
    atomic_store_explicit(&space->holders, 0, memory_order_relaxed);
}

struct space *space_new(const char *name, uint32_t creator_pid, uint32_t parent_pid, bool system)
{
    struct space *space = slab_alloc(&space_slab);
    if (!space)
        return NULL;
    reset_space(space);
    if (arch_space_init(&space->arch) < 0) {
        slab_free(&space_slab, space);
        return NULL;
    }
    if (cap_table_init(&space->caps) < 0) {
        arch_space_destroy(&space->arch);
        slab_free(&space_slab, space);
        return NULL;
    }
    space->creator_pid = creator_pid;
    space->parent_pid = parent_pid;
    space->system = system;
    memset(space->name, 0, sizeof space->name);
    memcpy(space->name, name, strlen(name) < sizeof space->name ? strlen(name) : sizeof space->name - 1);
    link_space(space);
    if (!system)
        explore_start(space->pid);
    return space;
}

/* ---- Page frames in which threads count routines of their program (struct trace_program) ----
 *
 * Each thread block has its part of the address space, whose first pages are mapped, as many as the thread
 * wanted. The page tables are the only list of these frames: they change only by the thread itself, so it
 * may walk them without the lock. The frames are private frames of the space.
 */

#define COUNTING_FRAMES_MAX 2048u /* of a space: 8 MB */

static uint64_t block_number(uint64_t block_user)
{
    return (block_user - USER_THREAD_BLOCKS) / sizeof(struct thread_block);
}

uint64_t space_counting_address(uint64_t block_user)
{
    return USER_ROUTINES + block_number(block_user) * TRACE_PROGRAM_PAGES * FRAME_SIZE;
}

paddr_t space_counting_frame(struct space *space, uint64_t block_user, uint32_t number)
{
    const uint64_t block = block_number(block_user);
    uint32_t flags;
    if (!(__atomic_load_n(&space->counting_blocks[block / 64], __ATOMIC_RELAXED) >> block % 64 & 1) ||
        number >= TRACE_PROGRAM_PAGES)
        return FRAME_NONE;
    return arch_lookup_page(&space->arch, space_counting_address(block_user) + number * FRAME_SIZE, &flags);
}

/* Maps a new frame; FRAME_NONE: no memory. */
static paddr_t map_zeroed(struct space *space, uint64_t address, uint32_t rights)
{
    const paddr_t frame = frame_alloc_zeroed();
    if (frame == FRAME_NONE || arch_map_page(&space->arch, address, frame, rights) >= 0)
        return frame;
    frame_free(frame);
    return FRAME_NONE;
}

static int map_counting(struct space *space, uint64_t block_user, uint32_t number)
{
    const uint64_t block = block_number(block_user),
                   address = space_counting_address(block_user) + number * FRAME_SIZE;
    if (space->counting_frames == COUNTING_FRAMES_MAX ||
        map_zeroed(space, address, MAP_READ | MAP_WRITE) == FRAME_NONE)
        return -E_NO_MEMORY;
    space->counting_frames++;
    space->private_frames++;
    __atomic_or_fetch(&space->counting_blocks[block / 64], 1ull << block % 64, __ATOMIC_RELAXED);
    return 0;
}

int space_map_counting(struct space *space, uint64_t block_user, uint32_t number)
{
    spin_lock(&space->lock);
    int error = space->released ? -E_DEAD
                : space_counting_frame(space, block_user, number) != FRAME_NONE
                    ? 0
                    : map_counting(space, block_user, number);
    spin_unlock(&space->lock);
    return error;
}

/* All of them; the space has no threads. */
static void free_counting(struct space *space)
{
    for (uint64_t block = 0; space->counting_frames && block < sizeof space->counting_blocks * 8; block++) {
        const uint64_t block_user = USER_THREAD_BLOCKS + block * sizeof(struct thread_block);
        paddr_t frame;
        for (uint32_t i = 0; (frame = space_counting_frame(space, block_user, i)) != FRAME_NONE; i++) {
            frame_free(frame);
            space->counting_frames--;
        }
    }
}

/* ---- Destruction ---- */

/* The object's lock is held. */
static void count_uses(struct memory *memory, uint32_t uses, uint32_t difference)
{
    memory->writers += uses & MAP_WRITE ? difference : 0;
    memory->executors += uses & MAP_EXECUTE ? difference : 0;
}

static void drop_mapping(struct mapping *mapping)
{
    struct memory *memory = mapping->memory;
    spin_lock(&memory->lock);
    count_uses(memory, mapping->uses, -1u);
    if (--memory->mappings == 0)
        memory->mapped_end = 0;
    spin_unlock(&memory->lock);
    memory_put(memory);
    if (mapping->private)
        memory_put(mapping->private);
    slab_free(&mapping_slab, mapping);
}

void space_release_memory(struct space *space)
{
    struct cpu *cpu = this_cpu();
    if (cpu->space == space)
        space_unload(cpu);
    spin_lock(&space->lock);
    assert(!space->released && space->thread_count == 0);
    __atomic_store_n(&space->released, true, __ATOMIC_RELEASE); /* trace_tables_reclaim() reads it */
    /* No thread is left. Only a CPU that has not switched yet may still use these tables. */
    tlb_shootdown(space, 0, 0);
    free_counting(space);
    explore_space_ends(space);
    uint32_t frames = arch_space_destroy(&space->arch) + (uint32_t)space->private_frames;
    struct tree_node *mappings =
        space->mappings; /* ours alone: nobody reads the mappings of a released space */
    space->mappings = NULL;
    space->mapping_count = space->private_frames = space->resident = 0;
    for (unsigned i = 0; i < sizeof space->block_frames / sizeof space->block_frames[0]; i++) {
        if (space->block_frames[i]) {
            frame_free(space->block_frames[i]);
            space->block_frames[i] = 0;
            frames++;
        }
    }
    spin_unlock(&space->lock);
    for (struct mapping *mapping; (mapping = mapping_take_any(&mappings));)
        drop_mapping(mapping);
    trace_process_free(space->pid, frames);
}

void space_defer(struct space *space, void (*work)(struct space *space))
{
    struct cpu *cpu = this_cpu();
    space->work = work;
    space->work_next = cpu->work;
    cpu->work = space;
    if (cpu->working)
        return;
    cpu->working = true;
    while ((space = cpu->work)) {
        cpu->work = space->work_next;
        space->work(space);
    }
    cpu->working = false;
}

static void destroy_space(struct space *space)
{
    cap_table_destroy(&space->caps);
    if (!space->released)
        space_release_memory(space);
    spin_lock(&space_list_lock);
    list_remove(&space->all);
    spin_unlock(&space_list_lock);
    spin_lock(&space->lock); /* a lookup that raced with the last close releases the lock first */
    assert(!space->fault_handler && !space->watcher); /* end_watch() has dropped them */
    spin_unlock(&space->lock);
    slab_free(&space_slab, space);
}

void space_put(struct space *space)
{
    /* Release and acquire: as in memory_put. */
    if (atomic_fetch_sub_explicit(&space->references, 1, memory_order_acq_rel) == 1)
        space_defer(space, destroy_space);
}

/* A capability in another space holds the space: without one, none could end it. Copies need an existing
 * capability, so 0 is final. Exception: a space may copy out its capability to itself while the last other
 * one is closed; it dies nevertheless. */
static void add_holder(const struct cap_table *table, void *object, uint32_t rights)
{
    struct space *space = object;
    (void)rights;
    if (&space->caps != table)
        atomic_fetch_add_explicit(&space->holders, 1, memory_order_relaxed);
}

static void remove_holder(const struct cap_table *table, void *object, uint32_t rights)
{
    struct space *space = object;
    (void)rights;
    if (&space->caps != table && atomic_fetch_sub_explicit(&space->holders, 1, memory_order_acq_rel) == 1)
        space_abandon(space);
}

OBJECT_TYPE(CAP_SPACE, space, .added = add_holder, .removed = remove_holder);

/* ---- Mappings ---- */

static bool bad_range(uint64_t address, uint64_t size)
{
    return address % FRAME_SIZE || size == 0 || size % FRAME_SIZE || address < USER_BASE ||
           address >= USER_END || size > USER_END - address;
}

static bool bad_flags(uint32_t flags)
{
    uint32_t rights = flags & RIGHTS_MASK;
    return rights == 0 || (rights & MAP_WRITE && rights & MAP_EXECUTE) ||
           (rights & MAP_WRITE && !(rights & MAP_READ));
}

/* The info page has a fixed user address, so nothing else may be mapped there. */
static bool hits_info_page(uint64_t address, uint64_t size)
{
    return address < USER_TRACE_INFO + FRAME_SIZE && address + size > USER_TRACE_INFO;
}

/* No page of an object is writable at one address and executable at another. Pages that a private mapping has
 * written are its own, with one address. The object's lock is held. */
static int begin_uses(struct mapping *mapping, uint32_t flags)
{
    const uint32_t counted = flags & MAP_PRIVATE ? MAP_EXECUTE : MAP_WRITE | MAP_EXECUTE,
                   begins = flags & counted & ~mapping->uses;
    const struct memory *memory = mapping->memory;
    const bool others_write = memory->writers > !!(mapping->uses & MAP_WRITE),
               others_execute = memory->executors > !!(mapping->uses & MAP_EXECUTE);
    if ((begins & MAP_EXECUTE && others_write) || (begins & MAP_WRITE && others_execute))
        return -E_BUSY;
    count_uses(mapping->memory, begins, 1);
    mapping->uses |= begins;
    return 0;
}

/* Counts a mapping of the object. -E_BAD_ARGUMENT: the object is too small, and may have shrunk since the
 * caller checked. -E_BUSY: begin_uses(). */
static int attach_memory(struct mapping *mapping, uint64_t end)
{
    struct memory *memory = mapping->memory;
    spin_lock(&memory->lock);
    const int error = end > memory->size ? -E_BAD_ARGUMENT : begin_uses(mapping, mapping->flags);
    if (!error) {
        memory->mappings++;
        if (end > memory->mapped_end)
            memory->mapped_end = end;
        memory_get(memory);
    }
    spin_unlock(&memory->lock);
    return error;
}

static int64_t place_mapping(struct space *space, struct mapping *mapping, uint64_t address, uint64_t size,
                             uint32_t flags)
{
    if (flags & MAP_FIXED) {
        struct mapping *next = mapping_find(space->mappings, address);
        if (next && next->start < address + size)
            return -E_EXISTS;
    } else {
        address = mapping_find_gap(space->mappings, USER_MMAP_BASE, USER_MMAP_END, size);
        if (address == 0)
            return -E_NO_MEMORY;
    }
    mapping->start = address;
    mapping->end = address + size;
    mapping_insert(&space->mappings, mapping);
    space->mapping_count++;
    return (int64_t)address;
}

int64_t space_map(struct space *space, struct memory *memory, uint64_t address, uint64_t size,
                  uint64_t offset, uint32_t flags, uint32_t allowed)
{
    if (offset % FRAME_SIZE || offset > MEMORY_SIZE_MAX || size > MEMORY_SIZE_MAX || bad_flags(flags) ||
        flags & ~(RIGHTS_MASK | MAP_PRIVATE | MAP_FIXED | MAP_UNCACHED))
        return -E_BAD_ARGUMENT;
    if (flags & MAP_FIXED ? bad_range(address, size) || hits_info_page(address, size)
                          : size == 0 || size % FRAME_SIZE != 0)
        return -E_BAD_ARGUMENT;
    if (flags & MAP_PRIVATE)
        allowed |= MAP_WRITE; /* writes go to page frames of the mapping itself */
    if (flags & RIGHTS_MASK & ~allowed)
        return -E_BAD_RIGHT;
    if (flags & MAP_PRIVATE && memory->kind == MEMORY_DEVICE)
        return -E_BAD_TYPE;

    struct mapping *mapping = slab_alloc(&mapping_slab);
    if (!mapping)
        return -E_NO_MEMORY;
    *mapping = (struct mapping){.offset = offset, .memory = memory, .allowed = allowed & RIGHTS_MASK};
    mapping->flags = flags & (RIGHTS_MASK | MAP_PRIVATE | MAP_UNCACHED);
    if (memory->kind == MEMORY_DEVICE)
        mapping->flags |= MAP_UNCACHED;
    const int error = attach_memory(mapping, offset + size);
    if (error) {
        slab_free(&mapping_slab, mapping);
        return error;
    }
    spin_lock(&space->lock);
    int64_t result = space->dying ? -E_DEAD : place_mapping(space, mapping, address, size, flags);
    if (result >= 0)
        trace_mem_map(mapping->start, mapping->end - mapping->start, space->pid, mapping->memory->number,
                      mapping->offset, flags);
    spin_unlock(&space->lock);
    if (result < 0)
        drop_mapping(mapping);
    return result;
}

/* Frees a mapping's private page frames; returns their number. Parts of a mapping that was split share the
 * object, at other offsets. */
static uint64_t free_private_frames(struct mapping *mapping)
{
    uint64_t end = mapping->offset + (mapping->end - mapping->start);
    return mapping->private ? memory_free_range(mapping->private, mapping->offset, end) : 0;
}

/* Splits a mapping at `address`, where `rest` begins. Lock held. */
static void split_mapping(struct space *space, struct mapping *mapping, uint64_t address,
                          struct mapping *rest)
{
    *rest = *mapping;
    rest->offset += address - mapping->start;
    rest->start = address;
    mapping_end_at(&space->mappings, mapping, address);
    spin_lock(&rest->memory->lock);
    rest->memory->mappings++;
    count_uses(rest->memory, rest->uses, 1);
    spin_unlock(&rest->memory->lock);
    memory_get(rest->memory);
    if (rest->private)
        memory_get(rest->private);
    mapping_insert(&space->mappings, rest);
    space->mapping_count++;
}

/* NULL: none. */
static struct mapping *find_crossing(struct space *space, uint64_t address)
{
    struct mapping *mapping = mapping_find(space->mappings, address);
    return mapping && mapping->start < address ? mapping : NULL;
}

/* Splits the mappings that cross the ends of a range, so that each is inside or outside. Takes nodes from
 * spare[2], allocated without the lock, and sets them to NULL. -E_NO_MEMORY: too few, nothing has changed.
 * Lock held. */
static int cut_at_ends(struct space *space, uint64_t start, uint64_t end, struct mapping *spare[2])
{
    const uint64_t cuts[2] = {start, end};
    for (int i = 0; i < 2; i++) {
        if (find_crossing(space, cuts[i]) && !spare[i])
            return -E_NO_MEMORY;
    }
    for (int i = 0; i < 2; i++) {
        struct mapping *mapping = find_crossing(space, cuts[i]);
        if (!mapping)
            continue;
        split_mapping(space, mapping, cuts[i], spare[i]);
        spare[i] = NULL;
    }
    return 0;
}

/* NULL if there is no memory: an unmap must be possible then, too, and usually needs no node. */
static void take_spares(struct mapping *spare[2])
{
    spare[0] = slab_alloc(&mapping_slab);
    spare[1] = slab_alloc(&mapping_slab);
}

static void give_spares(struct mapping *spare[2])
{
    for (int i = 0; i < 2; i++) {
        if (spare[i])
            slab_free(&mapping_slab, spare[i]);
    }
}

int64_t sys_space_unmap(struct space *space, uint64_t address, uint64_t size)
{
    if (bad_range(address, size))
        return -E_BAD_ARGUMENT;
    struct mapping *spare[2];
    struct mapping *gone = NULL;
    take_spares(spare);
    spin_lock(&space->lock);
    int error = space->dying ? -E_DEAD : cut_at_ends(space, address, address + size, spare);
    if (!error) {
        struct mapping *mapping;
        uint64_t pages = 0;
        /* Mapping by mapping: the trace info page may be between them, and stays. */
        while ((mapping = mapping_find(space->mappings, address)) && mapping->start < address + size) {
            pages += arch_unmap_range(&space->arch, mapping->start, mapping->end - mapping->start);
            mapping_remove(&space->mappings, mapping);
            space->mapping_count--;
            mapping->next_gone = gone;
            gone = mapping;
        }
        /* Frames are freed after page tables and TLBs are clear. */
        if (pages)
            tlb_shootdown(space, address, size);
        space->resident -= pages;
        for (mapping = gone; mapping; mapping = mapping->next_gone)
            space->private_frames -= free_private_frames(mapping);
    }
    spin_unlock(&space->lock);
    if (!error && !gone)
        error = -E_NOT_FOUND;
    while (gone) {
        struct mapping *next = gone->next_gone;
        trace_mem_unmap(gone->start, gone->end - gone->start, space->pid, gone->memory->number);
        drop_mapping(gone);
        gone = next;
    }
    give_spares(spare);
    return error;
}

/* 0: the range is mapped without gaps, and all of it may get these rights. Lock held. */
static int check_protect(struct space *space, uint64_t start, uint64_t end, uint32_t flags)
{
    while (start < end) {
        struct mapping *mapping = mapping_find(space->mappings, start);
        if (!mapping || mapping->start > start)
            return -E_NOT_FOUND;
        if (flags & ~mapping->allowed)
            return -E_BAD_RIGHT;
        start = mapping->end;
    }
    return 0;
}

/* The range is about to get these rights. -E_BUSY: begin_uses(); end_old_uses() must follow. Lock held. */
static int begin_new_uses(struct space *space, uint64_t start, uint64_t end, uint32_t flags)
{
    int error = 0;
    for (struct mapping *mapping; !error && start < end; start = mapping->end) {
        mapping = mapping_find(space->mappings, start);
        spin_lock(&mapping->memory->lock);
        error = begin_uses(mapping, flags | (mapping->flags & MAP_PRIVATE));
        spin_unlock(&mapping->memory->lock);
    }
    return error;
}

/* No translation has more rights than the flags. Lock held. */
static void end_old_uses(struct space *space, uint64_t start, uint64_t end)
{
    struct mapping *mapping;
    for (; (mapping = mapping_find(space->mappings, start)) && mapping->start < end; start = mapping->end) {
        spin_lock(&mapping->memory->lock);
        count_uses(mapping->memory, mapping->uses & ~mapping->flags, -1u);
        mapping->uses &= mapping->flags;
        spin_unlock(&mapping->memory->lock);
    }
}

int64_t sys_space_protect(struct space *space, uint64_t address, uint64_t size, uint32_t flags)
{
    if (bad_range(address, size) || bad_flags(flags) || flags & ~RIGHTS_MASK)
        return -E_BAD_ARGUMENT;
    struct mapping *spare[2];
    uint64_t end = address + size;
    take_spares(spare);
    spin_lock(&space->lock);
    int error = space->dying ? -E_DEAD : check_protect(space, address, end, flags);
    if (!error)
        error = cut_at_ends(space, address, end, spare);
    if (!error)
        error = begin_new_uses(space, address, end, flags);
    if (!error) {
        for (uint64_t at = address; at < end;) {
            struct mapping *mapping = mapping_find(space->mappings, at);
            mapping->flags = (mapping->flags & ~RIGHTS_MASK) | flags;
            /* A private page becomes writable by a fault, which copies it if it is still the object's. */
            uint32_t now = mapping->flags & MAP_PRIVATE ? mapping->flags & ~MAP_WRITE : mapping->flags;
            arch_protect_range(&space->arch, mapping->start, mapping->end - mapping->start, now);
            at = mapping->end;
        }
        tlb_shootdown(space, address, size);
    }
    end_old_uses(space, address, end);
    spin_unlock(&space->lock);
    give_spares(spare);
    return error;
}

/* ---- Thread blocks ---- */

static int take_block_number(struct space *space)
{
    for (unsigned i = 0; i < sizeof space->block_used / sizeof space->block_used[0]; i++) {
        if (~space->block_used[i]) {
            unsigned bit = (unsigned)__builtin_ctzll(~space->block_used[i]);
            space->block_used[i] |= 1ull << bit;
            return (int)(i * 64 + bit);
        }
    }
    return -E_NO_SLOT;
}

static int map_block_frame(struct space *space, unsigned index)
{
    if (space->block_frames[index])
        return 0;
    const paddr_t frame = map_zeroed(space, USER_THREAD_BLOCKS + index * FRAME_SIZE, MAP_READ);
    if (frame == FRAME_NONE)
        return -E_NO_MEMORY;
    space->block_frames[index] = frame;
    return 0;
}

int space_alloc_block(struct space *space, struct thread_block **block, uint64_t *user_address)
{
    spin_lock(&space->lock);
    int number = space->released ? -E_DEAD : take_block_number(space);
    int error = number < 0 ? number : map_block_frame(space, (unsigned)number / BLOCKS_PER_FRAME);
    if (number >= 0 && error)
        space->block_used[number / 64] &= ~(1ull << number % 64);
    if (!error) {
        uint64_t offset = number % BLOCKS_PER_FRAME * sizeof(struct thread_block);
        char *frame = phys_to_virt(space->block_frames[number / BLOCKS_PER_FRAME]);
        *block = (struct thread_block *)(frame + offset);
        *user_address = USER_THREAD_BLOCKS + (uint64_t)number * sizeof(struct thread_block);
        memset(*block, 0, sizeof **block);
        (*block)->self = *user_address;
    }
    spin_unlock(&space->lock);
    return error;
}

void space_free_block(struct space *space, uint64_t user_address)
{
    uint64_t number = (user_address - USER_THREAD_BLOCKS) / sizeof(struct thread_block);
    spin_lock(&space->lock);
    assert(space->block_used[number / 64] >> number % 64 & 1);
    space->block_used[number / 64] &= ~(1ull << number % 64);
    spin_unlock(&space->lock);
}

/* ---- All spaces ---- */

uint32_t space_newest_pid(void)
{
    return atomic_load_explicit(&last_pid, memory_order_relaxed);
}

void space_for_each(void (*visit)(struct space *space, void *context), void *context)
{
    spin_lock(&space_list_lock);
    for (struct list *link = space_list.next; link != &space_list; link = link->next)
        visit(list_object(link, struct space, all), context);
    spin_unlock(&space_list_lock);
}

/* Takes a reference to a space in the list, unless its last one was just dropped. */
static bool try_get(struct space *space)
{
    uint32_t count = atomic_load_explicit(&space->references, memory_order_relaxed);
    while (count > 0 && !atomic_compare_exchange_weak_explicit(&space->references, &count, count + 1,
                                                               memory_order_relaxed, memory_order_relaxed))
        ;
    return count > 0;
}

struct space *space_next_unlocked(const struct space *previous)
{
    struct list *link = previous ? previous->all.next : space_list.next;
    return link == &space_list ? NULL : list_object(link, struct space, all);
}

struct space *space_next(struct space *previous)
{
    spin_lock(&space_list_lock);
    struct space *space = space_next_unlocked(previous);
    while (space && !try_get(space))
        space = space_next_unlocked(space);
    spin_unlock(&space_list_lock);
    if (previous)
        space_put(previous);
    return space;
}
