/*
 * memory.c - memory objects. Interface: memory.h.
 *
 * Page frames are in a radix tree with 512 entries per table, as deep as the object's size needs; 0 means
 * no frame (frame 0 is never allocated). Device and contiguous memory have no table.
 *
 * Locking: memory->lock covers size and table. A frame stays while a mapping may reach it. So its address
 * is valid after the lock is released, as long as the caller holds a mapping or reference.
 */
#include <base/sparse.h>
#include <kernel/kernel.h>
#include <kernel/memory/slab.h>
#include <kernel/object/cap_table.h>
#include <kernel/space/memory.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/mem.h>

#define FANOUT_BITS 9
#define FANOUT      (1u << FANOUT_BITS)

static LOCK_CLASS(memory_class, "memory object");
static LOCK_CLASS(memory_slab_class, "memory slab");

static void construct(void *object)
{
    struct memory *memory = object;
    spin_init(&memory->lock, &memory_class);
}

static struct slab memory_slab = SLAB("memory", struct memory, construct, &memory_slab_class);
static _Atomic uint32_t last_number;

/* ---- The frame table; memory->lock is held, or the object is not visible yet ---- */

static bool has_table(const struct memory *memory)
{
    return memory->kind == MEMORY_ZERO || memory->kind == MEMORY_PAGED;
}

static uint32_t depth_for(uint64_t size)
{
    uint32_t depth = 1;
    while (size > (uint64_t)FRAME_SIZE << (FANOUT_BITS * depth))
        depth++;
    return depth;
}

/* `create`: allocates missing tables. NULL: no entry. */
static paddr_t *find_entry(struct memory *memory, uint64_t page, bool create)
{
    paddr_t *link = &memory->table;
    for (uint32_t level = memory->depth; level > 0; level--) {
        if (*link == 0) {
            if (!create)
                return NULL;
            paddr_t table = frame_alloc_zeroed();
            if (table == FRAME_NONE)
                return NULL;
            *link = table;
        }
        paddr_t *table = phys_to_virt(*link);
        link = &table[page >> (FANOUT_BITS * (level - 1)) & (FANOUT - 1)];
    }
    return link;
}

/* The old root becomes the first entry of a new one. */
static int deepen(struct memory *memory, uint64_t size)
{
    uint32_t wanted = depth_for(size);
    while (memory->depth < wanted) {
        if (memory->table != 0) {
            paddr_t root = frame_alloc_zeroed();
            if (root == FRAME_NONE)
                return -E_NO_MEMORY;
            *(paddr_t *)phys_to_virt(root) = memory->table;
            memory->table = root;
        }
        memory->depth++;
    }
    return 0;
}

/* Frees pages [first, end) of a lowest table. Ends with the object's last page: most have few. */
static void free_leaf(struct memory *memory, paddr_t *entries, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; memory->frames && (i = sparse_next(entries, i, end)) < end; i++) {
        frame_free(entries[i]);
        entries[i] = 0;
        memory->frames--;
    }
}

/* Frees pages [first, end) below a table, and tables that this empties. Numbers begin at the table's first
 * page. */
static void free_pages(struct memory *memory, paddr_t *entries, uint32_t level, uint64_t first, uint64_t end)
{
    if (level == 1) {
        free_leaf(memory, entries, first, end);
        return;
    }
    const uint32_t shift = FANOUT_BITS * (level - 1);
    const uint64_t each = 1ull << shift; /* pages per entry */
    const uint64_t entries_end = (end + each - 1) >> shift;
    for (uint64_t i = first >> shift; (i = sparse_next(entries, i, entries_end)) < entries_end; i++) {
        const uint64_t at = i << shift;
        uint64_t from = at < first ? first - at : 0, to = end - at < each ? end - at : each;
        free_pages(memory, phys_to_virt(entries[i]), level - 1, from, to);
        if (to - from == each) {
            frame_free(entries[i]);
            entries[i] = 0;
        }
    }
}

static void free_frames(struct memory *memory, uint64_t first, uint64_t end)
{
    uint64_t all = 1ull << FANOUT_BITS * memory->depth;
    if (end > all)
        end = all;
    if (memory->table == 0 || first >= end)
        return;
    free_pages(memory, phys_to_virt(memory->table), memory->depth, first, end);
    if (end - first == all) {
        frame_free(memory->table);
        memory->table = 0;
    }
}

paddr_t memory_frame(struct memory *memory, uint64_t offset, bool create)
{
    assert(spin_held(&memory->lock));
    if (offset >= memory->size)
        return FRAME_NONE;
    if (!has_table(memory))
        return memory->base + (offset & ~(FRAME_SIZE - 1));
    create = create && memory->kind == MEMORY_ZERO;
    paddr_t *entry = find_entry(memory, offset / FRAME_SIZE, create);
    if (!entry)
        return FRAME_NONE;
    if (*entry == 0) {
        if (!create)
            return FRAME_NONE;
        paddr_t frame = frame_alloc_zeroed();
        if (frame == FRAME_NONE)
            return FRAME_NONE;
        *entry = frame;
        memory->frames++;
    }
    return *entry;
}

void memory_frames(struct memory *memory, uint64_t offset, uint32_t count, paddr_t *frames)
{
    assert(spin_held(&memory->lock));
    const paddr_t *entry = NULL;
    uint64_t page = offset / FRAME_SIZE, limit = memory->size / FRAME_SIZE;
    for (uint32_t i = 0; i < count; i++, page++) {
        if (page >= limit) {
            frames[i] = FRAME_NONE;
        } else if (!has_table(memory)) {
            frames[i] = memory->base + page * FRAME_SIZE;
        } else {
            if (i == 0 || page % FANOUT == 0)
                entry = find_entry(memory, page, false);
            frames[i] = entry && *entry ? *entry : FRAME_NONE;
            entry += entry != NULL;
        }
    }
}

int memory_insert(struct memory *memory, uint64_t offset, paddr_t frame)
{
    assert(spin_held(&memory->lock) && has_table(memory));
    if (offset >= memory->size)
        return -E_BAD_ARGUMENT;
    paddr_t *entry = find_entry(memory, offset / FRAME_SIZE, true);
    if (!entry)
        return -E_NO_MEMORY;
    if (*entry != 0)
        return -E_EXISTS;
    *entry = frame;
    memory->frames++;
    return 0;
}

static paddr_t remove_frame(struct memory *memory, uint64_t offset)
{
    assert(spin_held(&memory->lock));
    if (!has_table(memory) || offset >= memory->size)
        return FRAME_NONE;
    paddr_t *entry = find_entry(memory, offset / FRAME_SIZE, false);
    if (!entry || *entry == 0)
        return FRAME_NONE;
    paddr_t frame = *entry;
    *entry = 0;
    memory->frames--;
    return frame;
}

uint64_t memory_free_range(struct memory *memory, uint64_t offset, uint64_t end)
{
    assert(has_table(memory));
    spin_lock(&memory->lock);
    uint64_t before = memory->frames;
    free_frames(memory, offset / FRAME_SIZE, end / FRAME_SIZE);
    uint64_t freed = before - memory->frames;
    spin_unlock(&memory->lock);
    return freed;
}

/* A page that the source lacks is zeroes. Both locks held. */
static int move_page(struct memory *target, uint64_t offset, struct memory *source, uint64_t source_offset)
{
    if (source->mappings != 0 || source->sites)
        return -E_BUSY;
    if (offset >= target->size)
        return -E_BAD_ARGUMENT;
    if (memory_frame(target, offset, false) != FRAME_NONE)
        return 0;
    paddr_t frame = remove_frame(source, source_offset);
    bool fresh = frame == FRAME_NONE;
    if (fresh && (frame = frame_alloc_zeroed()) == FRAME_NONE)
        return -E_NO_MEMORY;
    int error = memory_insert(target, offset, frame);
    if (error && fresh)
        frame_free(frame);
    else if (error)
        memory_insert(source, source_offset,
                      frame); /* back to its place: its tables exist, so this cannot fail */
    return error;
}

#define SUPPLY_MAX (1ull << 20) /* maximum per system call, because the kernel is not preempted */

int64_t sys_memory_supply(struct memory *target, uint64_t offset, struct memory *source,
                          uint64_t source_offset, uint64_t size)
{
    struct memory *lower = target < source ? target : source, *upper = target < source ? source : target;
    uint64_t done = 0;
    int error = 0;
    if (!size || size > SUPPLY_MAX || offset % FRAME_SIZE || source_offset % FRAME_SIZE || size % FRAME_SIZE)
        return -E_BAD_ARGUMENT;
    if (target->kind != MEMORY_PAGED || source->kind != MEMORY_ZERO || target == source)
        return -E_BAD_TYPE;
    while (!error && done < size) {
        spin_lock(&lower->lock);
        spin_lock(&upper->lock);
        error = move_page(target, offset + done, source, source_offset + done);
        spin_unlock(&upper->lock);
        spin_unlock(&lower->lock);
        done += error ? 0 : FRAME_SIZE;
    }
    return done ? (int64_t)done : error;
}

/* ---- Creation and destruction ---- */

struct memory *memory_new(enum memory_kind kind, uint64_t size)
{
    if (size == 0 || size > MEMORY_SIZE_MAX)
        return NULL;
    struct memory *memory = slab_alloc(&memory_slab);
    if (!memory)
        return NULL;
    atomic_store_explicit(&memory->references, 1, memory_order_relaxed);
    memory->number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    memory->kind = kind;
    memory->base = 0;
    memory->pager = NULL;
    memory->size = (size + FRAME_SIZE - 1) & ~(FRAME_SIZE - 1);
    memory->frames = 0;
    memory->mapped_end = 0;
    memory->mappings = memory->writers = memory->executors = 0;
    memory->depth = depth_for(memory->size);
    memory->table = 0;
    memory->sites = NULL;
    memory->sites_agree = false;
    trace_mem_object_create(memory->number, kind, memory->size);
    return memory;
}

struct memory *memory_new_at(enum memory_kind kind, paddr_t base, uint64_t size)
{
    struct memory *memory = memory_new(kind, size);
    if (memory) {
        memory->base = base;
        memory->frames = kind == MEMORY_CONTIGUOUS ? memory->size / FRAME_SIZE : 0;
    }
    return memory;
}

void memory_put(struct memory *memory)
{
    /* Release: this user's changes. Acquire: the last user sees the changes of all. */
    if (atomic_fetch_sub_explicit(&memory->references, 1, memory_order_acq_rel) != 1)
        return;
    if (memory->sites)
        memory->forget_sites(memory->sites);
    /* Wait for a lookup that raced with the last close and still holds the lock (cap_table.h). */
    spin_lock(&memory->lock);
    uint32_t frames = (uint32_t)memory->frames;
    if (has_table(memory))
        free_frames(memory, 0, ~0ull);
    else
        frame_free_run(memory->base, frames); /* of a device: none */
    struct endpoint *pager = memory->pager;
    memory->pager = NULL;
    spin_unlock(&memory->lock);
    if (pager)
        object_put(CAP_ENDPOINT, pager);
    trace_mem_object_destroy(memory->number, frames);
    slab_free(&memory_slab, memory);
}

OBJECT_TYPE(CAP_MEMORY, memory);

int64_t sys_memory_resize(struct memory *memory, uint64_t size)
{
    if (size == 0 || size > MEMORY_SIZE_MAX)
        return -E_BAD_ARGUMENT;
    size = (size + FRAME_SIZE - 1) & ~(FRAME_SIZE - 1);
    int error = 0;
    spin_lock(&memory->lock);
    if (!has_table(memory)) {
        error = -E_BAD_TYPE;
    } else if (size < memory->size) {
        if (memory->mapped_end > size || memory->sites)
            error = -E_BUSY;
        else
            free_frames(memory, size / FRAME_SIZE, ~0ull);
    } else {
        error = deepen(memory, size);
    }
    if (!error)
        memory->size = size;
    spin_unlock(&memory->lock);
    return error;
}

/* ---- Copying ---- */

/* One piece within a frame, under the lock: otherwise a shrink could free the frame. */
static int copy_piece(struct memory *memory, uint64_t offset, void *buffer, uint64_t size,
                      enum memory_direction direction)
{
    int error = 0;
    spin_lock(&memory->lock);
    paddr_t frame = memory_frame(memory, offset, direction == MEMORY_IN);
    if (frame != FRAME_NONE && memory->kind != MEMORY_DEVICE) {
        char *bytes = (char *)phys_to_virt(frame) + offset % FRAME_SIZE;
        if (direction == MEMORY_IN && memory->executors)
            error = -E_BUSY;
        else if (direction == MEMORY_IN)
            memcpy(bytes, buffer, size);
        else
            memcpy(buffer, bytes, size);
    } else if (memory->kind == MEMORY_DEVICE) {
        error = -E_BAD_TYPE;
    } else if (offset >= memory->size || memory->kind == MEMORY_PAGED) {
        error = -E_AGAIN; /* it shrank meanwhile, or only its pager has the page */
    } else if (direction == MEMORY_IN) {
        error = -E_NO_MEMORY;
    } else {
        memset(buffer, 0, size);
    }
    spin_unlock(&memory->lock);
    return error;
}

int64_t memory_copy(struct memory *memory, uint64_t offset, void *buffer, uint64_t size,
                    enum memory_direction direction)
{
    uint64_t limit = __atomic_load_n(&memory->size, __ATOMIC_RELAXED);
    if (offset >= limit)
        return 0;
    if (size > limit - offset)
        size = limit - offset;
    uint64_t done = 0;
    while (done < size) {
        uint64_t piece = FRAME_SIZE - (offset + done) % FRAME_SIZE;
        if (piece > size - done)
            piece = size - done;
        int error = copy_piece(memory, offset + done, (char *)buffer + done, piece, direction);
        if (error)
            return done ? (int64_t)done : error;
        done += piece;
    }
    return (int64_t)done;
}
